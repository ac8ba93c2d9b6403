"""The top level of the command line: help, the bare call, and the call of one command."""

import os
import re
import sys
from typing import Annotated, Any, get_args

import typer

from bethink.cli.catalog import COMMANDS, SECTIONS, listed_groups
from bethink.cli.command import SHARED_OPTIONS
from bethink.cli.groups import PLAIN, LazyGroup
from bethink.cli.hints import set_root
from bethink.cli.results import ExitCode, Failure, Result, show
from bethink.cli.terminal import OutputLine, columns, printable, write

_ROOT_OPTIONS = ("--help", "-h", "--version")
_GROUP_TITLE = "More commands, by group (bethink GROUP --help)"
_INTRODUCTION = """
  Memory for AI agents that you can audit.
  Without a command: show what is stored here and what to do next.
"""
_FOOTER = """
  Short forms: 'import' for 'data import', 'sessions' for 'show', 'status' for 'bethink' alone.
  --version  -h, --help
  Every command: --space NAME, --database URL, --json, -q, -v. See 'bethink help options'.
"""


class _Root(LazyGroup):
    """The top level, which lists the commands in sections."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.format_usage(ctx, formatter)
        formatter.write(_INTRODUCTION)
        for title, names in SECTIONS.items():
            _write_section(formatter, title, {name: COMMANDS[name][1] for name in names if name in COMMANDS})
        _write_section(formatter, _GROUP_TITLE, listed_groups())
        formatter.write(_FOOTER)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        formatter.write_usage(ctx.command_path, "[COMMAND] [OPTIONS]")


def _write_section(formatter: Any, title: str, lines: dict[str, str]) -> None:
    formatter.write(f"\n{title}\n")
    for name, line in lines.items():
        formatter.write(f"  {name:<8}  {line}\n")


app = typer.Typer(
    name="bethink",
    cls=_Root,
    rich_markup_mode=PLAIN,
    add_completion=False,  # `bethink admin completion` prints the script instead
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
)
set_root(lambda: typer.main.get_command(app))


@app.callback()
def root(
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Memory for AI agents that you can audit."""
    del version  # `run` answers it, without a command


def run(arguments: list[str]) -> int:
    """Run the command that the arguments name, and return its exit code."""
    if os.environ.get("_BETHINK_COMPLETE"):  # a shell asks for completions
        from typer._completion_classes import completion_init  # noqa: PLC0415

        completion_init()
    elif arguments[:1] == ["--version"]:
        return _print_version()
    elif arguments[:1] == ["help"]:
        if arguments[1:] == ["options"]:
            return _print_options()
        arguments = [*arguments[1:], "--help"]
    elif not arguments or (arguments[0].startswith("-") and arguments[0] not in _ROOT_OPTIONS):
        arguments = ["status", *arguments]
    return _call(arguments)


def _call(arguments: list[str]) -> int:
    words = arguments[: arguments.index("--")] if "--" in arguments else arguments
    try:
        code = typer.main.get_command(app).main(arguments, prog_name="bethink", standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "bethink"
        hint = f"Run '{path} --help' to see the usage. Put options after the command."
        failure = Failure(code="usage", message=printable(_message(error)), hint=hint)
        show(Result(code=ExitCode.USAGE, failure=failure), json="--json" in words)
        return ExitCode.USAGE
    except SystemExit as error:  # typer exits with 1 when the reader of --help stops reading
        if isinstance(error.__context__, BrokenPipeError):
            raise error.__context__ from None
        raise
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    return code or ExitCode.OK


def _message(error: typer.TyperException) -> str:
    """Return the message of a usage error, in our words where those of the parser are stilted."""
    return re.sub(r"^Got unexpected extra argument\S* \((.*)\)$", r"Too many arguments: \1.", error.format_message())


def _print_version() -> int:
    from importlib.metadata import version  # noqa: PLC0415 - it takes a while

    sys.stdout.write(f"bethink {version('bethink')}\n")
    return ExitCode.OK


def _print_options() -> int:
    """Print the options that all commands share."""
    rows: list[list[str]] = []
    for annotation, _ in SHARED_OPTIONS.values():
        [option] = get_args(annotation)[1:]
        flags = ", ".join((*option.param_decls, option.default))  # the short name first
        rows.append([f"  {flags} {option.metavar or ''}", option.help])
    lines = [OutputLine("Options of every command:"), OutputLine(), *columns(rows)]
    notes = (
        "A command without --database uses $BETHINK_DATABASE, the settings file, or memory.db in the data folder.",
        "A command without --space uses the space of the repository around the working directory, if there is one.",
    )
    write([*lines, OutputLine(), *map(OutputLine, notes)], sys.stdout)
    return ExitCode.OK
