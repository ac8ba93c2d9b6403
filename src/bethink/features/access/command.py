"""The command that shows who did what: access."""

from typing import Annotated

import typer

from bethink.cli.command import CommandContext, Result, command
from bethink.cli.lists import Limit
from bethink.cli.terminal import one_line, when

app = typer.Typer()

_WIDTH = 100


@command(app)
async def access(  # noqa: PLR0913 - each narrows the list, and all are named
    ctx: CommandContext,
    *,
    ref: Annotated[str | None, typer.Option(metavar="REF", help="Only what read or changed this.")] = None,
    with_key: Annotated[str | None, typer.Option(metavar="PREFIX", help="Only what was done with this key.")] = None,
    person: Annotated[str | None, typer.Option(metavar="NAME", help="Only what was done by or for a person.")] = None,
    verb: Annotated[str | None, typer.Option(metavar="VERB", help="Only calls such as space.recall.")] = None,
    since: Annotated[str | None, typer.Option(metavar="DATE", help="Only what was done from then on.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DATE", help="Only what was done up to then.")] = None,
    limit: Limit = 20,
    after: Annotated[str, typer.Option(metavar="PLACE", help="Go on where the last list ended.")] = "",
) -> Result:
    """List who read, wrote, erased or made keys, the newest first. With --space, in that space."""
    page = await ctx.memory.access(
        space=ctx.options.space,
        key=with_key,
        person=person,
        verb=verb,
        ref=ref,
        since=since,
        until=until,
        limit=limit,
        after=after,
    )
    rows = [
        [
            when(each.at),
            each.key or each.person,
            each.door,
            each.verb,
            each.space,
            one_line(" ".join(each.refs), _WIDTH),
        ]
        for each in page.items
    ]
    if page.next is not None:
        ctx.note(f"note: there may be more; continue with --after {page.next}")
    return Result(data=page, lines=ctx.table(rows, head=["WHEN", "WHO", "DOOR", "VERB", "SPACE", "REFS"]))
