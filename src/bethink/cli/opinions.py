"""Commands by which a person says what a fact is worth: pin, unpin, pins and feedback."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import CommandContext, Result, UsageError, command
from bethink.cli.lists import Limit
from bethink.cli.refs import resolve_ref
from bethink.cli.terminal import OutputLine, one_line, when

if TYPE_CHECKING:
    from bethink.model.facts import Fact

app = typer.Typer()

FactRef = Annotated[str, typer.Argument(metavar="REF", help="A ref of a fact, as recall and facts print it.")]
_VERDICTS = ("useful", "wrong", "outdated")
_WIDTH = 100


@command(app, effect="creates")
async def pin(ctx: CommandContext, ref: FactRef) -> Result:
    """Pin a fact: context has it as long as it holds."""
    fact = await ctx.space.pin(await resolve_ref(ctx.space, ref))
    return Result(data=fact, lines=[OutputLine(f"pinned {_line(fact)}")])


@command(app, effect="changes")
async def unpin(ctx: CommandContext, ref: FactRef) -> Result:
    """Take the pin of a fact back."""
    fact = await ctx.space.unpin(await resolve_ref(ctx.space, ref))
    return Result(data=fact, lines=[OutputLine(f"not pinned {_line(fact)}")])


@command(app)
async def pins(
    ctx: CommandContext,
    *,
    limit: Limit = 100,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="DATE", help="List what was pinned at this time.")
    ] = None,
) -> Result:
    """List the facts that are pinned and hold."""
    found = await ctx.space.pins(as_of=as_of, limit=limit)
    rows = [[f"fact:{fact.id}:{fact.version}", when(fact.pinned_at), one_line(fact.content, _WIDTH)] for fact in found]
    return Result(data=found, lines=ctx.table(rows, head=["REF", "PINNED", "FACT"]))


@command(app, effect="changes")
async def feedback(
    ctx: CommandContext,
    ref: FactRef,
    verdict: Annotated[str, typer.Argument(help="useful, wrong or outdated.")],
    *,
    note: Annotated[str | None, typer.Option(metavar="TEXT", help="Why, for later.")] = None,
    by: Annotated[str, typer.Option(metavar="NAME", help="Who says so.")] = "user",
) -> Result:
    """Say that a fact was useful, is wrong, or is outdated.

    What is wrong is not recalled until it is decided with 'bethink review'. What is outdated ends now.
    """
    from bethink.model.recall import FactVerdict  # noqa: PLC0415 - as every import here, for a quick --help

    if verdict not in _VERDICTS:
        raise UsageError(f"unknown verdict {verdict!r}.", hint=f"Use one of {', '.join(_VERDICTS)}.")
    said = await ctx.space.feedback(await resolve_ref(ctx.space, ref), FactVerdict(verdict), note=note, by=by)
    review = f": bethink review show {said.review_id}" if said.review_id else ""
    return Result(data=said, lines=[OutputLine(f"{said.ref} is {said.verdict}{review}")])


def _line(fact: "Fact") -> str:
    return f"fact:{fact.id}:{fact.version}: {one_line(fact.content, _WIDTH)}"
