"""Names the commands and runs one."""

import os
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bethink.cli.frame import Answer, Code, Problem, tell
from bethink.cli.terminal import shown

COMMANDS: Mapping[str, tuple[str, str]] = {
    "init": ("setting_up", "Write a settings file, make an empty memory, and say what to do next."),
    "completion": ("setting_up", "Print the completion script of a shell."),
    "config": ("setting_up", "Look at the settings."),
    "demo": ("demo", "Show what it does, on three made-up months."),
    "status": ("health", "Show which memory this is, and what it holds."),
    "doctor": ("health", "Look for what is broken, and say how to mend it."),
    "add": ("adding", "Remember a text; it is durable when this returns."),
    "import": ("importing", "Store messages from a file."),
    "recall": ("recalling", "Find what answers a question, the best first."),
    "show": ("recalling", "Follow a memory to its sources, versions and showings."),
    "log": ("versions", "Show the versions of a document or a fact."),
    "diff": ("versions", "Show what changed between two versions of a document."),
    "correct": ("correcting", "Write a new version of a fact or a document."),
    "restore": ("versions", "Write an old version of a document again as its newest."),
    "forget": ("forgetting", "Forget something and all that was learnt from it."),
    "sessions": ("watching", "List the sessions of a space, the newest first."),
    "spaces": ("watching", "List the spaces that hold anything, by name."),
    "jobs": ("watching", "List the jobs of a space, the newest promise first."),
    "step": ("watching", "Take a step of a thread's working memory, or look at it."),
    "consolidate": (
        "running",
        "Turn what a space has learnt into documents, now, and learn what else is due, in all spaces.",
    ),
    "worker": ("running", "Learn from whatever is marked, until told to stop."),
    "reindex": (
        "indexing",
        "Make what vectors the embedder in the settings lacks, in every space, and find by them from then on.",
    ),
    "serve": ("running", "Serve memory over HTTP, until told to stop."),
    "mcp": ("running", "Offer one space as MCP tools on stdin and stdout."),
    "keys": ("keys", "Make, list, rotate and revoke the API keys of a server."),
    "export": ("exporting", "Give out the messages or the documents of a space."),
}
"""The commands: the module that declares each, and what it does in a line, so that --help need not load them."""


_PLAIN = None  # plain help: rich takes longer to load than all the rest


class _Declared(Mapping[str, Any]):
    """The commands by name, each declared when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        module, _ = COMMANDS[name]
        around = typer.Typer(rich_markup_mode=_PLAIN)
        around.add_typer(import_module(f"bethink.cli.{module}").app)
        return typer.main.get_group(around).commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Root(TyperGroup):
    """The group of all commands, which lists them without declaring one."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = _Declared()

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer names it
        return list(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


app = typer.Typer(
    name="bethink",
    cls=_Root,
    rich_markup_mode=_PLAIN,
    add_completion=False,  # `bethink completion` prints the script instead
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
)


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
