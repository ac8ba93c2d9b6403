"""The command that lists the changes of a space."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import CommandContext, command
from bethink.cli.paging import After, Limit, list_page
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import when

if TYPE_CHECKING:
    from bethink.model.changes import Change

app = typer.Typer()


@command(app, "admin changes")
async def changes(
    ctx: CommandContext,
    *,
    limit: Limit = 20,
    after: After = "",
    wait: Annotated[float, typer.Option(metavar="SECONDS", help="Time to wait for a change.", min=0, max=60)] = 0,
) -> Result:
    """Show recent changes in a space. With --after, list those that follow, in order; --after 0 starts at the first."""
    if after and not (after.isascii() and after.isdecimal()):
        raise UsageError(f"Unknown cursor {after[:80]!r}.", hint="Pass the number of a change, or 0.")
    page = await ctx.space.admin.changes.list(after=int(after) if after else None, limit=limit, wait=wait)
    return list_page(ctx, page, _row, ("NUMBER", "TIME", "KIND", "REF", "SESSION"))


def _row(change: "Change") -> list[str]:
    return [str(change.number), when(change.at), change.kind, change.ref, change.session_id or ""]
