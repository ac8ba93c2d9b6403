"""Prompts are files with a version in their name. Everything made with a prompt records its name."""

import hashlib
from functools import cache
from importlib import resources

from bethink.base.frozen import frozen


@frozen(kw_only=False)
class SystemPrompt:
    """A system prompt, and its name, which everything made with it records."""

    name: str
    text: str


@cache
def prompt(name: str) -> str:
    """Return the text of a prompt."""
    return (resources.files("bethink.memory.learning.prompts") / f"{name}.md").read_text(encoding="utf-8")


def builtin_prompt(name: str) -> SystemPrompt:
    """Return a built-in prompt."""
    return SystemPrompt(name, prompt(name))


def custom_prompt(text: str) -> SystemPrompt:
    """Return a custom prompt. Its name is a hash of the text, which reveals nothing of it."""
    return SystemPrompt(f"own-{hashlib.blake2b(text.encode(), digest_size=5).hexdigest()}", text)
