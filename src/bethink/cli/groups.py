"""Groups of commands: those that run a command when they are called alone, and those that load on demand."""

import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from bethink.base.installed import COMMANDS as EXTENSIONS
from bethink.base.installed import DISTRIBUTIONS, load_entry_point, not_installed
from bethink.cli.catalog import (
    ALIASES,
    COMMANDS,
    DISTRIBUTION_GROUP,
    GROUPS,
    RENAMED,
    RUN_ALONE,
    listed_commands,
    listed_groups,
)
from bethink.cli.results import ExitCode, Failure, Result, result_of_error, show
from bethink.cli.terminal import OutputLine, write

PLAIN = None  # plain help: rich takes longer to load than all the rest


def called_alone(command: str) -> type[TyperGroup]:
    """Return a group that runs one of its commands if none is named."""

    class _Group(TyperGroup):
        default = command

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            bare = not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
            return super().parse_args(ctx, [command, *args] if bare else args)

    return _Group


class LazyCommands(Mapping[str, Any]):
    """The commands of a group, or of the top level, by name. Each is loaded when it is requested."""

    def __init__(self, group: str = "") -> None:
        self._group = group

    def __getitem__(self, name: str) -> Any:
        path = f"{self._group} {name}".strip()
        path = ALIASES.get(path, path)
        if path in COMMANDS:
            return _load(path)
        if not self._group and path in listed_groups():
            return lazy_group(path)
        if not self._group and name in RENAMED:
            return _rename_notice(name)
        return _from_distribution(self._group, name)

    def __iter__(self) -> Iterator[str]:
        yield from listed_commands(self._group)
        yield from listed_groups() if not self._group else ()
        yield from DISTRIBUTIONS if self._group == DISTRIBUTION_GROUP else ()

    def __len__(self) -> int:
        return len(list(iter(self)))


def _load(path: str) -> Any:
    module, _ = COMMANDS[path]
    around = typer.Typer(rich_markup_mode=PLAIN)
    around.add_typer(import_module(module if "." in module else f"bethink.cli.{module}").app)
    return typer.main.get_group(around).commands[path]


def _from_distribution(group: str, name: str) -> Any:
    """Return a command that another distribution adds: ours in one group, others at the top."""
    ours = name in DISTRIBUTIONS
    if group != (DISTRIBUTION_GROUP if ours else ""):
        raise KeyError(name)
    around = typer.Typer(rich_markup_mode=PLAIN)
    if (added := load_entry_point(EXTENSIONS, name)) is not None:
        around.add_typer(added, name=name)
    elif ours:
        _add_stub(around, name, lambda _: result_of_error(not_installed(name)))
    else:
        raise KeyError(name)
    return typer.main.get_group(around).commands[name]


def _rename_notice(name: str) -> Any:
    """Return a command that prints the new name of a command, and nothing else."""

    def answer(words: list[str]) -> Result:
        target = RENAMED.get(f"{name} {words[0]}" if words else name, RENAMED[name])
        return Result(code=ExitCode.USAGE, failure=Failure(code="renamed", message=f"renamed to 'bethink {target}'"))

    around = typer.Typer(rich_markup_mode=PLAIN)
    _add_stub(around, name, answer)
    return typer.main.get_group(around).commands[name]


def _add_stub(app: typer.Typer, name: str, answer: Callable[[list[str]], Result]) -> None:
    """Add a command that takes any arguments and prints an error."""

    @app.command(
        name, add_help_option=False, context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
    )
    def report(context: typer.Context) -> int:
        result = answer(context.args)
        failure = result.failure
        if failure is not None and failure.code == "renamed" and "--json" not in context.args:
            write([OutputLine(failure.message)], sys.stderr)
        else:
            show(result, json="--json" in context.args)
        return result.code


class LazyGroup(TyperGroup):
    """A group that lists its commands without loading one."""

    group = ""
    default: str | None = None

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = LazyCommands(self.group)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer names it
        """Return the names that help lists."""
        return list(self.commands)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Add the default command if none is named."""
        bare = not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
        if bare and self.default is not None:
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write the usage line."""
        formatter.write_usage(ctx.command_path, "COMMAND [OPTIONS]")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands. The options of a group are not listed."""
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the commands with their summaries."""
        with formatter.section("Commands"):
            formatter.write_dl(list(listed_commands(self.group).items()))
        if self.group == DISTRIBUTION_GROUP:
            lines = [(name, f"{line.rstrip('.')} ({package}).") for name, (package, line) in DISTRIBUTIONS.items()]
            with formatter.section("Commands in other packages"):
                formatter.write_dl(lines)


def lazy_group(name: str) -> Any:
    """Return a group of the top level, which prints its help if it is called alone and has no command for that."""
    alone = RUN_ALONE.get(name)
    default = alone if alone in listed_commands(name) else None
    kind = type(f"{name.title()}Group", (LazyGroup,), {"group": name, "default": default})
    app = typer.Typer(name=name, cls=kind, help=GROUPS[name], rich_markup_mode=PLAIN)

    @app.callback(invoke_without_command=True)
    def show_help(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            sys.stdout.write(f"{context.get_help()}\n")

    return typer.main.get_group(app)
