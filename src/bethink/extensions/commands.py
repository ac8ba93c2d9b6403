"""CLI commands. A group is a `typer.Typer` that is registered under `bethink.commands`."""

from bethink.cli.command import NO_SPACE, CommandContext, Result, UsageError, Yes, command
from bethink.cli.terminal import OutputLine
from bethink.cli.worker import run_until_stopped
from bethink.model.plural import plural

__all__ = [
    "NO_SPACE",
    "CommandContext",
    "OutputLine",
    "Result",
    "UsageError",
    "Yes",
    "command",
    "plural",
    "run_until_stopped",
]
