"""The command that shows the access log: admin access."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import CommandContext, command
from bethink.cli.paging import After, Limit, list_page
from bethink.cli.results import Result
from bethink.cli.terminal import one_line, when

if TYPE_CHECKING:
    from bethink.model.access import AccessEntry

app = typer.Typer()

_WIDTH = 100
_HEAD = ("TIME", "ACTOR", "INTERFACE", "OPERATION", "SPACE", "REFS")


@command(app, "admin access", by_folder=False)
async def access(  # noqa: PLR0913 - each narrows the list, and all are named
    ctx: CommandContext,
    *,
    ref: Annotated[str | None, typer.Option(metavar="REF", help="Memory that was read or changed.")] = None,
    key: Annotated[str | None, typer.Option(metavar="PREFIX", help="Prefix of the API key.")] = None,
    person: Annotated[
        str | None, typer.Option(metavar="NAME", help="Person who acted, or for whom a program acted.")
    ] = None,
    operation: Annotated[str | None, typer.Option(metavar="NAME", help="Operation, such as space.recall.")] = None,
    since: Annotated[str | None, typer.Option(metavar="DATE", help="Entries from this date on.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DATE", help="Entries up to this date.")] = None,
    limit: Limit = 20,
    after: After = "",
) -> Result:
    """Show who read or changed what. Newest first; with --space, in that space."""
    page = await ctx.memory.admin.access.list(
        space=ctx.options.space,
        key=key,
        person=person,
        operation=operation,
        ref=ref,
        since=since,
        until=until,
        limit=limit,
        after=after,
    )
    return list_page(ctx, page, _row, _HEAD)


def _row(entry: "AccessEntry") -> list[str]:
    return [
        when(entry.at),
        entry.key or entry.person,
        entry.interface,
        entry.operation,
        entry.space,
        one_line(" ".join(entry.refs), _WIDTH),
    ]
