"""The command that lists spaces."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, command
from bethink.cli.paging import MOST, After, Limit, list_page
from bethink.cli.results import Result

if TYPE_CHECKING:
    from bethink.api.connect import Memory

app = typer.Typer()


@command(app, "admin spaces", without=NO_SPACE)
async def spaces(
    ctx: CommandContext,
    *,
    limit: Limit = 100,
    after: After = "",
    all_pages: Annotated[bool, typer.Option("--all", help="List all pages.")] = False,
) -> Result:
    """List spaces. Empty spaces are omitted."""
    page = await ctx.memory.spaces.list(limit=limit, after=after)
    if all_pages:
        page = replace(page, items=tuple([space async for space in page.iterate()]), next="")
    return list_page(ctx, page, lambda space: [space.name], ("SPACE",))


async def all_spaces(memory: "Memory") -> AsyncIterator[str]:
    """Yield the name of every space, in order, one page at a time."""
    async for space in (await memory.spaces.list(limit=MOST)).iterate():
        yield space.name
