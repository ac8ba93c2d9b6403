"""Commands for facts: list, pin, unpin and rate."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import CommandContext, command
from bethink.cli.narrowing import NARROWING, narrowing
from bethink.cli.paging import After, Limit, list_page
from bethink.cli.refs import resolve_ref
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine, one_line, when

if TYPE_CHECKING:
    from bethink.model.facts import Fact
    from bethink.model.pages import FactEntry

app = typer.Typer()

FactRef = Annotated[str, typer.Argument(metavar="REF", help="Ref of a fact, as recall and fact list print it.")]
_VERDICTS = ("useful", "wrong", "outdated")
_WIDTH = 100
_HEAD = ("REF", "DATE", "STATUS", "KIND", "EVIDENCE", "ORIGIN", "FACT")


@command(app, "fact list", more=NARROWING)
async def list_facts(
    ctx: CommandContext,
    *,
    with_replaced: Annotated[
        bool, typer.Option("--all", help="Include ended and replaced versions, newest first.")
    ] = False,
    pinned: Annotated[bool, typer.Option("--pinned", help="Pinned facts only.")] = False,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="DATE", help="Facts known at this time.")] = None,
    limit: Limit = 20,
    after: After = "",
) -> Result:
    """List facts. Current facts by default; with --all also ended and replaced ones."""
    filters = narrowing(ctx.more)
    if with_replaced and (filters or pinned):
        raise UsageError("--all takes no filters.", hint="Leave out --all, or the filters.")
    if with_replaced:
        history = await ctx.space.facts.history(as_of=as_of, limit=limit, after=after)
        return list_page(ctx, history, _entry_row, _HEAD)
    facts = await ctx.space.facts.list(pinned=pinned, as_of=as_of, limit=limit, after=after, **filters)
    return list_page(ctx, facts, lambda fact: _row(fact, fact.status), _HEAD)


def _entry_row(entry: "FactEntry") -> list[str]:
    return _row(entry.fact, entry.status)


def _row(fact: "Fact", status: str) -> list[str]:
    return [
        str(fact.ref),
        when(fact.created_at),
        status,
        fact.kind,
        fact.evidence,
        fact.origin,
        one_line(fact.text, _WIDTH) + (" (pinned)" if fact.pinned_at is not None else ""),
    ]


@command(app, "fact pin", effect="creates")
async def pin(ctx: CommandContext, ref: FactRef) -> Result:
    """Always include a fact in context."""
    fact = await ctx.space.facts.pin(await resolve_ref(ctx.space, ref))
    return Result(data=fact, lines=[OutputLine(f"Pinned {_line(fact)}")])


@command(app, "fact unpin", effect="changes")
async def unpin(ctx: CommandContext, ref: FactRef) -> Result:
    """Unpin a fact."""
    fact = await ctx.space.facts.unpin(await resolve_ref(ctx.space, ref))
    return Result(data=fact, lines=[OutputLine(f"Unpinned {_line(fact)}")])


@command(app, "fact rate", effect="changes")
async def rate(
    ctx: CommandContext,
    ref: FactRef,
    verdict: Annotated[str, typer.Argument(help="useful, wrong or outdated.")],
    *,
    note: Annotated[str | None, typer.Option(metavar="TEXT", help="Note for the record.")] = None,
    actor: Annotated[str, typer.Option(metavar="NAME", help="Name of the person who rates it.")] = "user",
) -> Result:
    """Rate a fact as useful, wrong or outdated.

    A wrong fact is not recalled until it is approved with 'bethink review'. An outdated fact ends now.
    """
    from bethink.model.recall import FactVerdict  # noqa: PLC0415 - as every import here, for a quick --help

    if verdict not in _VERDICTS:
        raise UsageError(f"Unknown verdict {verdict!r}.", hint=f"Use one of {', '.join(_VERDICTS)}.")
    rating = await ctx.space.facts.rate(await resolve_ref(ctx.space, ref), FactVerdict(verdict), note=note, actor=actor)
    review = f" See 'bethink review show {rating.review_id}'." if rating.review_id else ""
    return Result(data=rating, lines=[OutputLine(f"Rated {rating.ref} as {rating.verdict}.{ctx.hint(review)}")])


def _line(fact: "Fact") -> str:
    return f"{fact.ref}: {one_line(fact.text, _WIDTH)}"
