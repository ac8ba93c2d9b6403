"""Commands that show one memory, or list sessions: show and sessions."""

from typing import Annotated

import typer

from bethink.cli.command import CommandContext, command
from bethink.cli.lineage import lineage_lines
from bethink.cli.narrowing import NARROWING, narrowing
from bethink.cli.paging import After, Limit
from bethink.cli.refs import not_found, resolve_ref
from bethink.cli.results import Result, UsageError
from bethink.cli.sessions import SESSION, message_page, session_page
from bethink.cli.viewing import VIEW, view
from bethink.errors import NotFoundError

app = typer.Typer()


@command(app, more=VIEW)
async def show(
    ctx: CommandContext,
    ref: Annotated[
        str | None,
        typer.Argument(help="Ref (kind:id:number), id of a session, fact or document, or path of a document."),
    ] = None,
    *,
    conversation: Annotated[str | None, typer.Option(metavar="NAME", help="Sessions of this conversation.")] = None,
    limit: Limit = 10,
    after: After = "",
) -> Result:
    """Show a memory and its sources, or the latest sessions.

    A memory is shown with its versions and uses, a session with its messages.
    """
    times = view(ctx.more)
    if times and (ref is None or ref.startswith(SESSION)):
        raise UsageError("--as-of and --known-at show a memory.", hint="Add its ref, or leave out the option.")
    if ref is None:
        filters = {} if conversation is None else {"conversation": conversation}
        return await session_page(ctx, limit=limit, after=after, filters=filters)
    if conversation is not None:
        raise UsageError("--conversation lists sessions.", hint="Leave out the ref, or the option.")
    if ref.startswith(SESSION):
        return await message_page(ctx, ref, limit=limit, after=after)
    if after:
        raise UsageError("--after lists sessions or messages.", hint="Leave out the option, or the ref.")
    parsed = await resolve_ref(ctx.space, ref)
    try:
        lineage = await ctx.space.explain(parsed, **times)
    except NotFoundError as error:
        raise not_found(parsed, ctx.space_name) from error
    return Result(data=lineage, lines=list(lineage_lines(lineage)))


@command(app, more=NARROWING)
async def sessions(ctx: CommandContext, *, limit: Limit = 20, after: After = "") -> Result:
    """List sessions, newest first."""
    return await session_page(ctx, limit=limit, after=after, filters=narrowing(ctx.more))
