"""Reads shell text into simple commands. Nothing is run, and quoted text stays an argument."""

from bethink.features.guard.shell.reader import read_shell
from bethink.features.guard.shell.records import Redirect, Script, ShellCommand, Word

__all__ = ["Redirect", "Script", "ShellCommand", "Word", "read_shell"]
