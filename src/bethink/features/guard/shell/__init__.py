"""Reads shell text into simple commands. Nothing is run, and quoted text stays an argument."""

from bethink.features.guard.shell.reader import read_shell
from bethink.features.guard.shell.records import Command, Redirect, Script, Word

__all__ = ["Command", "Redirect", "Script", "Word", "read_shell"]
