"""Lists the commands and runs one."""

import os
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bethink.base.features import feature_commands
from bethink.base.installed import COMMANDS as EXTENSIONS
from bethink.base.installed import DISTRIBUTIONS, not_installed, registered
from bethink.cli.command import ExitCode, Failure, Result, failed, show
from bethink.cli.terminal import printable

COMMANDS: Mapping[str, tuple[str, str]] = {
    "init": ("init", "Write a settings file and create an empty memory."),
    "completion": ("init", "Print the completion script for a shell."),
    "config": ("init", "Show the settings."),
    "connect": ("connect", "Connect coding agents, so that they remember."),
    "demo": ("demo", "Show what Bethink does, with three months of made-up conversations."),
    "status": ("status", "Show which database is in use and what it holds."),
    "doctor": ("doctor", "Check the installation and suggest fixes."),
    "add": ("add", "Store a text."),
    "recall": ("recall", "Search memory for the answer to a question."),
    "ask": ("ask", "Answer a question from memory with the model, each sentence with its sources."),
    "context": ("recall", "Print a block of memory to begin a prompt with."),
    "show": ("recall", "Show a memory with its sources, its versions and where it was used."),
    "log": ("versions", "List the versions of a document or a fact."),
    "diff": ("versions", "Compare two versions of a document."),
    "correct": ("correct", "Write a new version of a fact or a document."),
    "review": ("review", "Decide about what was not believed at once, and about changes to documents."),
    "rules": ("rules", "Show or set what a space learns, and what a person approves first."),
    "pin": ("opinions", "Pin a fact: context has it as long as it holds."),
    "unpin": ("opinions", "Take the pin of a fact back."),
    "pins": ("opinions", "List the facts that are pinned and hold."),
    "feedback": ("opinions", "Say that a fact was useful, is wrong, or is outdated."),
    "revert": ("versions", "Restore an earlier version of a document."),
    "forget": ("forget", "Delete a memory, or all that fits some options, and everything that was learnt from it."),
    "erasures": ("erasures", "List what was forgotten, who asked, and what is not settled yet."),
    "verify-receipt": ("erasures", "Check the receipt of an erasure, without the database."),
    "facts": ("lists", "List the facts of a space, by id."),
    "sessions": ("lists", "List the sessions of a space, newest first."),
    "spaces": ("lists", "List the spaces that hold anything, by name."),
    "jobs": ("lists", "List the background jobs of a space, newest first."),
    "changes": ("changes", "List what changed in a space, in order."),
    "step": ("step", "Run one step of a thread in stepping mode, or inspect a thread."),
    "consolidate": ("worker", "Learn from what is marked in a space, and update its documents."),
    "worker": ("worker", "Run background jobs until stopped."),
    "models": ("models", "List and download models that run on this machine."),
    "reindex": ("reindex", "Build missing vectors for the configured embedder, then switch to them."),
    "serve": ("serve", "Run the HTTP server until stopped."),
    "ui": ("window", "Open the web window, already signed in."),
    "mcp": ("serve", "Serve one space as MCP tools over stdin and stdout."),
    "migrate": ("migrate", "Bring the schema of the database up to date."),
    "sync": ("sync", "Let two memories exchange what each lacks."),
    "export": ("export", "Export the messages or the documents of a space, or everything in it."),
    **feature_commands(),
}
"""The commands: the module and the summary of each, so that --help loads none of them."""


_PLAIN = None  # plain help: rich takes longer to load than all the rest


class _Declared(Mapping[str, Any]):
    """The commands by name, each loaded when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        around = typer.Typer(rich_markup_mode=_PLAIN)
        if name in COMMANDS:
            module, _ = COMMANDS[name]
            around.add_typer(import_module(module if "." in module else f"bethink.cli.{module}").app)
        elif (group := registered(EXTENSIONS, name)) is not None:
            around.add_typer(group, name=name)
        elif name in DISTRIBUTIONS:
            around.add_typer(_missing(name))
        else:
            raise KeyError(name)
        return typer.main.get_group(around).commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*COMMANDS, *DISTRIBUTIONS))

    def __len__(self) -> int:
        return len(COMMANDS) + len(DISTRIBUTIONS)


def _missing(name: str) -> typer.Typer:
    """Return a command that names the distribution to install. It takes any arguments, as the real one would."""
    group = typer.Typer(rich_markup_mode=_PLAIN)

    @group.command(
        name, add_help_option=False, context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
    )
    def report(context: typer.Context) -> int:
        result = failed(not_installed(name))
        show(result, json="--json" in context.args)
        return result.code

    return group


class _Root(TyperGroup):
    """The group of all commands, which lists them without loading one."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = _Declared()

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer names it
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])
        with formatter.section("Commands of other distributions"):
            formatter.write_dl([(name, f"{line} ({package})") for name, (package, line) in DISTRIBUTIONS.items()])


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
    """Run the command that the arguments name, and return its exit code."""
    if os.environ.get("_BETHINK_COMPLETE"):  # a shell asks for completions
        from typer._completion_classes import completion_init  # noqa: PLC0415

        completion_init()
    words = given[: given.index("--")] if "--" in given else given
    try:
        code = typer.main.get_command(app).main(given, prog_name="bethink", standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "bethink"
        hint = f"Run '{path} --help' for its arguments. Options come after the command."
        failure = Failure(code="usage", message=printable(error.format_message()), hint=hint)
        show(Result(code=ExitCode.USAGE, failure=failure), json="--json" in words)
        return ExitCode.USAGE
    except SystemExit as error:  # typer exits with 1 when the reader of --help stops reading
        if isinstance(error.__context__, BrokenPipeError):
            raise error.__context__ from None
        raise
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    return code or ExitCode.OK
