"""Prompts are files with a version in their name; what a prompt made records which it was."""

from functools import cache
from importlib import resources


@cache
def prompt(name: str) -> str:
    """Read a prompt by its name."""
    return (resources.files("bethink.learning.prompts") / f"{name}.md").read_text(encoding="utf-8")
