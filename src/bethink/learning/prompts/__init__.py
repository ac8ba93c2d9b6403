"""Prompts are files with a version in their name. Everything made with a prompt records its name."""

from functools import cache
from importlib import resources


@cache
def prompt(name: str) -> str:
    """Return the text of a prompt."""
    return (resources.files("bethink.learning.prompts") / f"{name}.md").read_text(encoding="utf-8")
