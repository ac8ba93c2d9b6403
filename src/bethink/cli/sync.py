"""The command that syncs two databases: data sync."""

from typing import Annotated

import typer

from bethink.cli.command import CommandContext, Yes, command
from bethink.cli.results import Result, UsageError
from bethink.model.plural import plural

app = typer.Typer()

_SPACES = {
    "space": (
        Annotated[list[str] | None, typer.Option(metavar="NAME", help="Space. Repeatable.  [default: all]")],
        None,
    )
}


@command(app, "data sync", effect="creates", opens=False, without=("space", "database", "api_key"), more=_SPACES)
async def sync(
    ctx: CommandContext,
    first: Annotated[str, typer.Argument(metavar="A", help="File or postgresql:// URL.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Other file or URL; a missing file is created.")],
    *,
    yes: Yes = False,
) -> Result:
    """Sync two databases in both directions. Both have the same content afterward.

    Changes on both sides are merged: the later version of a fact or a document is current, and messages of the same
    session follow one another. If the command is interrupted, run it again.
    """
    from bethink.cli.target import find_target, is_server  # noqa: PLC0415 - it loads the settings

    names: list[str] = ctx.more["space"] or []
    if is_server(first) or is_server(second):
        hint = "Run it where the databases are, or move a space with 'bethink data export --format archive'."
        raise UsageError("'bethink data sync' needs two databases, not a server.", hint=hint)
    if first == second:
        raise UsageError("A and B are the same.", hint="Name two databases.")
    ours, theirs = find_target(ctx.options.config, first), find_target(ctx.options.config, second)
    ours.must_exist()
    ctx.confirm(f"Sync {plural(len(names), 'space') if names else 'all spaces'} of {first} and {second}?", yes=yes)
    async with ours.make() as memory, theirs.make() as other:
        reports = await memory.admin.sync(other, *names)
    data = [{"space": report.space, "first": report.first, "second": report.second} for report in reports]
    rows = [[report.space, str(report.first), str(report.second)] for report in reports]
    return Result(data=data, lines=ctx.table(rows, head=("SPACE", "CHANGED IN A", "CHANGED IN B"), all_spaces=True))
