"""Puts the commands together and runs one."""

import os
import sys
from typing import Annotated

import typer

from bethink.cli import (
    adding,
    demo,
    exporting,
    forgetting,
    health,
    importing,
    keys,
    recalling,
    running,
    setting_up,
    versions,
    watching,
)
from bethink.cli.frame import Answer, Code, Problem, tell
from bethink.cli.terminal import shown

app = typer.Typer(
    name="bethink",
    rich_markup_mode=None,  # plain help: rich takes longer to load than all the rest
    add_completion=False,  # `bethink completion` prints the script instead
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
)
for group in (
    setting_up,
    demo,
    health,
    adding,
    importing,
    recalling,
    versions,
    forgetting,
    watching,
    running,
    keys,
    exporting,
):
    app.add_typer(group.app)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Memory for AI agents that you can audit."""
    if version:
        from importlib.metadata import version as version_of  # noqa: PLC0415 - it takes a while

        sys.stdout.write(f"bethink {version_of('bethink')}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        sys.stdout.write(f"{context.get_help()}\n")


def run(given: list[str]) -> int:
    """Run the command that the words name, and return its exit code."""
    if os.environ.get("_BETHINK_COMPLETE"):  # a shell asks how a line goes on
        from typer._completion_classes import completion_init  # noqa: PLC0415

        completion_init()
    words = given[: given.index("--")] if "--" in given else given
    try:
        code = typer.main.get_command(app).main(given, prog_name="bethink", standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "bethink"
        hint = f"Run '{path} --help' for what it takes; options come after the command."
        problem = Problem(code="usage", message=shown(error.format_message()), hint=hint)
        tell(Answer(code=Code.USAGE, problem=problem), json="--json" in words)
        return Code.USAGE
    except SystemExit as error:  # what writes help ends the process with 1 when nobody reads on
        if isinstance(error.__context__, BrokenPipeError):
            raise error.__context__ from None
        raise
    except (KeyboardInterrupt, typer.Abort):
        return Code.INTERRUPTED
    return code or Code.OK
