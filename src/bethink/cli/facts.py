"""Commands for facts: list, pin, unpin and rate."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import CommandContext, command
from bethink.cli.narrowing import NARROWING, narrowing
from bethink.cli.paging import After, Limit, list_page
from bethink.cli.refs import resolve_ref
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine, one_line, when
from bethink.cli.viewing import VIEW, view

if TYPE_CHECKING:
    from bethink.model.facts import Fact

app = typer.Typer()

FactRef = Annotated[str, typer.Argument(metavar="REF", help="Ref of a fact, as recall and fact list print it.")]
_VERDICTS = ("useful", "wrong", "outdated")
_WIDTH = 100
_HEAD = ("REF", "DATE", "STATUS", "KIND", "EVIDENCE", "ORIGIN", "FACT")


@command(app, "fact list", more={**NARROWING, **VIEW})
async def list_facts(
    ctx: CommandContext,
    *,
    with_replaced: Annotated[
        bool, typer.Option("--all", help="Include ended and replaced versions, newest first.")
    ] = False,
    pinned: Annotated[bool, typer.Option("--pinned", help="Pinned facts only.")] = False,
    limit: Limit = 20,
    after: After = "",
) -> Result:
    """List facts. Current facts by default; with --all also ended and replaced ones."""
    from bethink.model.status_words import status_mark  # noqa: PLC0415 - --help must not wait for it

    filters, times = narrowing(ctx.more), view(ctx.more)
    if with_replaced and (filters or pinned):
        raise UsageError("--all takes no filters.", hint="Leave out --all, or the filters.")
    if with_replaced:
        history = await ctx.space.facts.history(limit=limit, after=after, **times)
        return list_page(ctx, history, lambda entry: _row(entry.fact, entry.status, status_mark(entry)), _HEAD)
    facts = await ctx.space.facts.list(pinned=pinned, limit=limit, after=after, **times, **filters)
    return list_page(ctx, facts, lambda fact: _row(fact, fact.status, status_mark(fact)), _HEAD)


def _row(fact: "Fact", status: str, mark: str) -> list[str]:
    notes = filter(None, ("pinned" if fact.pinned_at is not None else "", mark))
    return [
        str(fact.ref),
        when(fact.created_at),
        status,
        fact.kind,
        fact.evidence,
        fact.origin,
        one_line(fact.text, _WIDTH) + "".join(f" ({one_line(note)})" for note in notes),
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
