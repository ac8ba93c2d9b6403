"""The command `changes`."""

from typing import Annotated

import typer

from bethink.cli.command import CommandContext, Result, command
from bethink.cli.lists import Limit
from bethink.cli.terminal import when

app = typer.Typer()


@command(app)
async def changes(
    ctx: CommandContext,
    *,
    after: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="List the changes that follow this one; 0 for all that are kept.", min=0),
    ] = None,
    limit: Limit = 20,
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", help="Wait for a change if there is none.", min=0, max=60)
    ] = 0,
) -> Result:
    """List what changed in a space, in order. Without --after, list the newest."""
    found = await ctx.space.changes(after=after, limit=limit, wait=wait)
    rows = [[str(each.number), when(each.at), each.kind, each.ref, each.session_id or ""] for each in found]
    if after is not None and len(found) == limit:
        ctx.note(f"note: there may be more; continue with --after {found[-1].number}")
    return Result(data=found, lines=ctx.table(rows, head=["NUMBER", "AT", "KIND", "REF", "SESSION"]))
