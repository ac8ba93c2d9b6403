"""The command that connects coding agents: connect."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.base.installed import install_hint
from bethink.cli.command import NO_SPACE, CommandContext, DryRun, Yes, command
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine, columns
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.agents.clients import Client
    from bethink.agents.connect import Connector, FileChange

app = typer.Typer()
_STYLES = {"+": "green", "-": "red"}


@command(app, effect="creates", opens=False, local=True, without=NO_SPACE)
def connect(
    ctx: CommandContext,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="claude-code, codex, cursor or vscode. Omit to list them."),
    ] = None,
    *,
    undo: Annotated[bool, typer.Option("--undo", help="Restore the original files.")] = False,
    project_only: Annotated[
        bool, typer.Option("--project-only", help="Use memory in projects only, without the space 'default'.")
    ] = False,
    http: Annotated[
        bool, typer.Option("--http/--no-http", help="Use HTTP for Claude Code hooks, not a process per event.")
    ] = True,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Connect Claude Code, Codex, Cursor or VS Code.

    The command shows the changes to their files and makes backups. Sessions are stored in one space per project, and
    outside of projects in the space 'default'. Stored sessions stay after --undo. A .bethinkignore file excludes its
    folder.
    """
    from bethink.agents.clients import clients  # noqa: PLC0415 - few commands need it
    from bethink.agents.connect import Connector  # noqa: PLC0415
    from bethink.agents.folder import AgentFolder  # noqa: PLC0415

    options = {"--config": ctx.options.config, "--database": ctx.options.database}
    more = [word for name, value in options.items() if value is not None for word in (name, _absolute(value))]
    connector = Connector(AgentFolder(), more=more, http=http, project_only=project_only)
    programs = clients()
    if not names:
        return _list_clients(list(programs.values()), connector)
    unknown = [name for name in names if name not in programs]
    if unknown:
        raise UsageError(f"Unknown program {unknown[0]!r}.", hint=f"Use one of {', '.join(programs)}.")
    chosen = [programs[name] for name in dict.fromkeys(names)]
    plans = [(client, connector.undo(client) if undo else connector.changes(client)) for client in chosen]
    for _, changes in plans:
        _show(ctx, changes)
    files = sum(len(changes) for _, changes in plans)
    if not dry_run:
        ctx.confirm(f"Change {plural(files, 'file')}?", yes=yes or not files)
        for client, changes in plans:
            (connector.apply_undo if undo else connector.apply)(client, changes)
    return _report(ctx, plans, connector, undo=undo, dry_run=dry_run)


def _absolute(value: str) -> str:
    from pathlib import Path  # noqa: PLC0415

    return value if "://" in value or value == ":memory:" else str(Path(value).expanduser().resolve())


def _list_clients(programs: "list[Client]", connector: "Connector") -> Result:
    states = [(client, _state(client, connector)) for client in programs]
    rows = [[client.name, client.title, state] for client, state in states]
    lines = [*columns(rows, head=["NAME", "PROGRAM", "STATE"])]
    if any(state == "found" for _, state in states):
        first = next(client.name for client, state in states if state == "found")
        lines += [OutputLine(), OutputLine(f"Connect one with: bethink connect {first}")]
    return Result(
        data=[{"name": client.name, "title": client.title, "state": state} for client, state in states], lines=lines
    )


def _state(client: "Client", connector: "Connector") -> str:
    if connector.is_connected(client):
        return "connected"
    return "found" if client.is_installed else "not found"


def _show(ctx: CommandContext, changes: "list[FileChange]") -> None:
    from bethink.cli.terminal import write  # noqa: PLC0415

    if ctx.options.json or ctx.options.quiet:
        return
    import sys  # noqa: PLC0415

    for change in changes:
        write([OutputLine(line, _STYLES.get(line[:1], "")) for line in change.diff()], sys.stderr)


def _report(
    ctx: CommandContext,
    plans: "list[tuple[Client, list[FileChange]]]",
    connector: "Connector",
    *,
    undo: bool,
    dry_run: bool,
) -> Result:
    data: list[dict[str, Any]] = []
    lines: list[OutputLine] = []
    for client, changes in plans:
        paths = [str(change.path) for change in changes]
        verb = ("would change" if dry_run else "restored" if undo else "changed") if paths else "nothing to change in"
        lines.append(OutputLine(f"{client.title}: {verb} {', '.join(paths) or 'its files'}"))
        for change in changes:
            if not change.exact:
                ctx.note(f"note: {change.path} has changed since; only Bethink's own entries were removed")
        if not undo and not dry_run and client.after:
            lines.append(OutputLine(f"  {client.after}"))
        data.append({"name": client.name, "files": paths, "exact": all(change.exact for change in changes)})
    if not undo and not connector.wiring.mcp:
        ctx.note(f"note: no MCP tools without the extra `mcp`. {install_hint('mcp')}, then connect again")
    return Result(data={"undo": undo, "dry_run": dry_run, "programs": data}, lines=lines)
