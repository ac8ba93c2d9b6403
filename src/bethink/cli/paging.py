"""Lists in pages: the options --limit and --after, and the result of a list command."""

import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from bethink.cli.command import CommandContext
from bethink.cli.results import Result, UsageError

if TYPE_CHECKING:
    from bethink.model.paging import Page

T = TypeVar("T")

MOST = 1_000
"""Maximum number of entries on one page."""

Limit = Annotated[int, typer.Option(metavar="N", help="Maximum number of results.", min=1, max=MOST)]
After = Annotated[str, typer.Option(metavar="CURSOR", help="Cursor of the next page, as the previous page printed it.")]


def list_page(
    ctx: CommandContext,
    page: "Page[T]",
    row: Callable[[T], Sequence[str]],
    head: Sequence[str],
    *,
    all_spaces: bool = False,
) -> Result:
    """Return a page as a table, and note how to get the next one. With --json it is `items` and `next`."""
    if page.next:
        ctx.note(f"note: there may be more; continue with --after {shlex.quote(page.next)}")
    return Result(data=page, lines=ctx.table([row(item) for item in page.items], head=head, all_spaces=all_spaces))


def slice_page(items: Sequence[T], cursor: Callable[[T], str], *, after: str, limit: int) -> "Page[T]":
    """Return the page of a complete list that follows a cursor, for lists that come without cursors."""
    from bethink.model.paging import page_of  # noqa: PLC0415 - for a quick --help

    start = 0
    if after:
        positions = [number for number, item in enumerate(items, 1) if cursor(item) == after]
        if not positions:
            raise UsageError(f"Unknown cursor {after[:80]!r}.", hint="Pass --after as the previous page printed it.")
        start = positions[0]
    return page_of(items[start:], limit, cursor)
