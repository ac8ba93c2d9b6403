"""Prompts are files with a version in their name. Everything made with a prompt records its name."""

import hashlib
from functools import cache
from importlib import resources

from bethink.base.frozen import frozen


@frozen(kw_only=False)
class SystemPrompt:
    """A system prompt, and the name by which everything made with it records it."""

    name: str
    text: str


@cache
def prompt(name: str) -> str:
    """Return the text of a prompt."""
    return (resources.files("bethink.memory.learning.prompts") / f"{name}.md").read_text(encoding="utf-8")


def shipped(name: str) -> SystemPrompt:
    """Return a prompt that we ship."""
    return SystemPrompt(name, prompt(name))


def own(text: str) -> SystemPrompt:
    """Return a prompt of somebody's own. Its name says which text it was, and tells nothing of it."""
    return SystemPrompt(f"own-{hashlib.blake2b(text.encode(), digest_size=5).hexdigest()}", text)
