"""Commands that list: sessions, spaces and jobs."""

import shlex
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, Result, command
from bethink.cli.terminal import one_line, when

if TYPE_CHECKING:
    from bethink.api.space import Space
    from bethink.memory import Memory
    from bethink.model.records import SessionEntry

app = typer.Typer()

MOST = 1_000
"""How many entries one page can hold."""

Limit = Annotated[int, typer.Option(metavar="N", help="How many to list.", min=1, max=MOST)]
_WIDTH = 100


@command(app)
async def sessions(
    ctx: CommandContext,
    *,
    limit: Limit = 20,
    before: Annotated[str, typer.Option(metavar="ID", help="List older sessions than this one.")] = "",
) -> Result:
    """List the sessions of a space, newest first."""
    found = await ctx.space.sessions(limit=limit, before=before)
    rows = [
        [
            entry.session.id,
            when(entry.session.created_at if entry.begun_at is None else entry.begun_at),
            entry.session.end_reason or "open",
            str(entry.session.last_number),
            "to be learnt" if entry.session.invalidated_at is not None else "",
            entry.agent,
            entry.conversation,
        ]
        for entry in found
    ]
    head = ["SESSION", "BEGUN", "STATE", "MESSAGES", "MARK", "AGENT", "CONVERSATION"]
    return Result(data=found, lines=ctx.table(rows, head=head))


@command(app, without=NO_SPACE)
async def spaces(
    ctx: CommandContext,
    *,
    limit: Limit = 100,
    after: Annotated[str, typer.Option(metavar="NAME", help="List the spaces that follow this one.")] = "",
    every: Annotated[bool, typer.Option("--all", help="List all of them.")] = False,
) -> Result:
    """List the spaces that hold anything, by name."""
    if every:
        found = [space async for space in all_spaces(ctx.memory, after=after, page=limit)]
    else:
        found = await ctx.memory.spaces(limit=limit, after=after)
    if not every and len(found) == limit:
        ctx.note(f"note: there may be more; continue with --after {shlex.quote(found[-1])}, or use --all")
    return Result(data=found, lines=ctx.table([[name] for name in found], head=["SPACE"]))


async def all_spaces(memory: "Memory", *, after: str = "", page: int = MOST) -> AsyncIterator[str]:
    """Yield the name of every space, in order, one page at a time."""
    while names := await memory.spaces(limit=page, after=after):
        for name in names:
            yield name
        after = names[-1]


async def all_sessions(space: "Space") -> "list[SessionEntry]":
    """Return every session of a space, newest first."""
    found: list[SessionEntry] = []
    while page := await space.sessions(limit=MOST, before=found[-1].session.id if found else ""):
        found += page
    return found


@command(app)
async def jobs(ctx: CommandContext, *, limit: Limit = 20) -> Result:
    """List the background jobs of a space, newest first."""
    found = await ctx.space.jobs(limit=limit)
    rows = [
        [
            each.kind,
            each.status,
            (each.outcome or "").replace("_", " "),
            str(each.attempts),
            when(each.queued_at),
            when(each.finished_at),
            f"${each.usage.cost / 1e6:.4f}",
            each.key,
            one_line(each.last_error or "", _WIDTH),
        ]
        for each in found
    ]
    head = ["KIND", "STATUS", "OUTCOME", "TRIES", "QUEUED", "FINISHED", "COST", "OF", "ERROR"]
    if any(each.status == "waiting" for each in found):
        ctx.note("note: a waiting job is done for now and runs again when it is due")
    without_embedder = not (ctx.target.settings.embedder.name or ctx.target.server)
    if without_embedder and any(each.kind == "index" and each.status == "queued" for each in found):
        ctx.note("note: index jobs stay queued until an embedder is set; until then, recall searches by words")
    return Result(data=found, lines=ctx.table(rows, head=head))
