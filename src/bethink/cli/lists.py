"""Commands that list: sessions, spaces and jobs."""

import shlex
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import NO_SPACE, CommandContext, Result, command
from bethink.cli.narrowing import NARROWING, narrowing
from bethink.cli.terminal import one_line, when

if TYPE_CHECKING:
    from bethink.api.connect import Memory
    from bethink.api.space import Space
    from bethink.model.records import SessionEntry

app = typer.Typer()

MOST = 1_000
"""How many entries one page can hold."""

Limit = Annotated[int, typer.Option(metavar="N", help="How many to list.", min=1, max=MOST)]
_WIDTH = 100


@command(app, more=NARROWING)
async def sessions(
    ctx: CommandContext,
    *,
    limit: Limit = 20,
    before: Annotated[str, typer.Option(metavar="ID", help="List older sessions than this one.")] = "",
) -> Result:
    """List the sessions of a space, newest first."""
    found = await ctx.space.sessions(limit=limit, before=before, **narrowing(ctx.more))
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


@command(app, more=NARROWING)
async def facts(
    ctx: CommandContext,
    *,
    limit: Limit = 20,
    after: Annotated[str, typer.Option(metavar="ID", help="List the facts that follow this one.")] = "",
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="DATE", help="List what was known at this time.")
    ] = None,
) -> Result:
    """List the facts of a space, by id."""
    found = await ctx.space.facts.all(limit=limit, after=after, as_of=as_of, **narrowing(ctx.more))
    rows = [
        [
            f"fact:{fact.id}:{fact.version}",
            when(fact.created_at),
            fact.kind,
            fact.evidence,
            fact.origin,
            one_line(fact.content, _WIDTH) + (" (pinned)" if fact.pinned_at is not None else ""),
        ]
        for fact in found
    ]
    if len(found) == limit:
        ctx.note(f"note: there may be more; continue with --after {shlex.quote(found[-1].id)}")
    return Result(data=found, lines=ctx.table(rows, head=["REF", "SAID", "KIND", "EVIDENCE", "ORIGIN", "FACT"]))


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
        found = await ctx.memory.list_spaces(limit=limit, after=after)
    if not every and len(found) == limit:
        ctx.note(f"note: there may be more; continue with --after {shlex.quote(found[-1])}, or use --all")
    return Result(data=found, lines=ctx.table([[name] for name in found], head=["SPACE"]))


async def all_spaces(memory: "Memory", *, after: str = "", page: int = MOST) -> AsyncIterator[str]:
    """Yield the name of every space, in order, one page at a time."""
    while names := await memory.list_spaces(limit=page, after=after):
        for name in names:
            yield name
        after = names[-1]


async def all_sessions(space: "Space", **only: Any) -> "list[SessionEntry]":
    """Return every session of a space, or of those that fit, newest first."""
    found: list[SessionEntry] = []
    while page := await space.sessions(limit=MOST, before=found[-1].session.id if found else "", **only):
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
    if _without_embedder(ctx) and any(each.kind == "index" and each.status == "queued" for each in found):
        ctx.note("note: index jobs stay queued until an embedder is set; until then, recall searches by words")
    return Result(data=found, lines=ctx.table(rows, head=head))


def _without_embedder(ctx: CommandContext) -> bool:
    from bethink.memory.plugins import embedder_in_use  # noqa: PLC0415 - as above

    return not ctx.target.server and not embedder_in_use(ctx.target.settings)
