"""Commands that search: recall and context."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, command
from bethink.cli.narrowing import NARROWING, narrowing, repeatable
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine, one_line, when
from bethink.cli.viewing import VIEW, view

if TYPE_CHECKING:
    from bethink.api.group import SpaceGroup
    from bethink.api.space import Space
    from bethink.model.recall import Candidate, Certainty, Match, RecallResult
    from bethink.model.refs import RefKind

app = typer.Typer()

SEVERAL = {"space": repeatable("NAME", "Space. Repeat to search several together.  [default: this repository's]")}
_WIDTH = 100
_NAMED = 3
_LEVELS = ("high", "fair", "weak")


@command(app, without=NO_SPACE, more={**NARROWING, **SEVERAL, **VIEW})
async def recall(
    ctx: CommandContext,
    question: Annotated[str, typer.Argument(help="Question, in plain words.")],
    *,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the signals of each result, and excluded candidates.")
    ] = False,
    budget: Annotated[int | None, typer.Option(metavar="TOKENS", help="Maximum size of the results.", min=1)] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="Maximum number of results.", min=1, max=1_000)] = 10,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Kind: message, fact, session_summary or document. Repeatable."),
    ] = None,
    min_certainty: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="Minimum certainty: high, fair or weak.")
    ] = None,
) -> Result:
    """Search memory. Best match first; each result has its ref."""
    result = await spaces_in_use(ctx).recall(
        question,
        limit=limit,
        budget=budget,
        kinds=parse_kinds(kind),
        min_certainty=_parse_certainty(min_certainty),
        explain=explain,
        **view(ctx.more),
        **narrowing(ctx.more),
    )
    if result.note:
        ctx.note(await _missing(ctx, result))
    return Result(data=result, lines=list(recall_lines(result, explain=explain)))


async def _missing(ctx: CommandContext, result: "RecallResult") -> str:
    """Return why nothing matches: the space is empty, or the reason that the search reports."""
    if not result.items and (note := await _empty_note(ctx)):
        return note
    return f"note: {result.note}" if result.items else result.note or "No match. Try other words or another space."


async def _empty_note(ctx: CommandContext) -> str:
    names = space_names(ctx)
    return await ctx.empty_space_note(names[0]) if len(names) == 1 else ""


def _parse_certainty(word: str | None) -> "Certainty | None":
    from bethink.model.recall import Certainty  # noqa: PLC0415 - --help must not wait for it

    if word is None:
        return None
    if word not in _LEVELS:
        raise UsageError(f"Unknown certainty {word!r}.", hint=f"Use one of {', '.join(_LEVELS)}.")
    return Certainty(word)


@command(app, without=NO_SPACE, more={**NARROWING, **SEVERAL, **VIEW})
async def context(
    ctx: CommandContext,
    question: Annotated[str, typer.Argument(help="Topic of the prompt, if known.")] = "",
    *,
    budget: Annotated[int | None, typer.Option(metavar="TOKENS", help="Maximum size of the block.", min=1)] = None,
) -> Result:
    """Print the memory block for a prompt."""
    # A terminal strips no citations from replies.
    block = await spaces_in_use(ctx).context(
        question, budget=budget, citations=False, **view(ctx.more), **narrowing(ctx.more)
    )
    if not block:
        ctx.note(await _empty_note(ctx) or "No match. Try other words or another space.")
    return Result(data=block, lines=[OutputLine(line) for line in block.text.splitlines()])


def space_names(ctx: CommandContext) -> list[str]:
    """Return the names of the spaces to search."""
    return ctx.more["space"] or [ctx.space_name]


def spaces_in_use(ctx: CommandContext) -> "Space | SpaceGroup":
    """Return the space to search, or several together."""
    names = space_names(ctx)
    return ctx.memory.space(names[0]) if len(names) == 1 else ctx.memory.group(*names)


def parse_kinds(words: list[str] | None) -> "tuple[RefKind, ...]":
    """Parse kinds of memory; without any, return all."""
    from bethink.model.refs import RefKind  # noqa: PLC0415

    unknown = [word for word in words or () if word not in set(RefKind)]
    if unknown:
        raise UsageError(f"Unknown kind {unknown[0]!r}.", hint=f"Use one of {', '.join(RefKind)}.")
    return tuple(map(RefKind, words)) if words else tuple(RefKind)


def recall_lines(result: "RecallResult", *, explain: bool = False) -> Iterator[OutputLine]:
    """Format the matches of a search."""
    from bethink.model.status_words import status_mark  # noqa: PLC0415 - --help must not wait for it

    for item in result.items:
        where = f"  in {one_line(item.space)}" if item.space else ""
        yield OutputLine(f"{_certainty(item)}  {when(item.said_at)}  {_source(item)}{where}", "bold")
        for text in item.text.splitlines():
            yield OutputLine(f"      {text}")
        if item.reply_to is not None:
            yield OutputLine(f"      reply to: {one_line(item.reply_to.text, _WIDTH)}", "dim")
        yield OutputLine(f"      {item.ref}", "dim")
        if mark := status_mark(item):
            yield OutputLine(f"      {one_line(mark)}")
        if explain:
            same = (other for other in result.candidates if (other.ref, other.space) == (item.ref, item.space))
            yield from _signals(next(same, None))
            for excerpt in item.excerpts:
                yield OutputLine(f"      from: {one_line(excerpt.text, _WIDTH)} ({excerpt.origin})")
    if explain:
        yield from _omissions(result)


def _certainty(item: "Match") -> str:
    """Return the certainty in words and as a number, in a column."""
    return f"{item.certainty:<4} {item.probability:.2f}"


def _source(item: "Match") -> str:
    is_named = item.speaker is None or item.origin in (item.speaker, f"tool:{item.speaker}")
    unsure = ", quoted" if item.fact is not None and item.fact.evidence == "quoted" else ""
    return one_line(f"{item.ref.kind} from {item.origin}{'' if is_named else f' ({item.speaker})'}{unsure}")


def _signals(candidate: "Candidate | None") -> Iterator[OutputLine]:
    if candidate is None:
        return
    signals = sorted(candidate.signals.items(), key=lambda pair: -abs(pair[1].added))
    parts: list[str] = []
    total = printed = 0.0
    for name, signal in signals:
        total += signal.added
        # Each is rounded with those before it, so that the printed numbers add up to the score.
        hundredths = round(total, 2) - printed
        printed += hundredths
        if abs(hundredths) >= 0.005:
            parts.append(f"{name} {hundredths:+.2f}")
    if parts:
        yield OutputLine(f"      why: {', '.join(parts)}")


def _fate_label(fate: str) -> str:
    return "replaced" if fate == "superseded" else fate.replace("_", " ")


def _omissions(result: "RecallResult") -> Iterator[OutputLine]:
    counts: dict[str, int] = {}
    for candidate in result.candidates:
        counts[candidate.fate] = counts.get(candidate.fate, 0) + 1
        if (
            candidate.ref.kind == "fact"
            and candidate.fate in ("superseded", "ended")
            and counts[candidate.fate] <= _NAMED
        ):
            yield OutputLine(f"left out: {one_line(candidate.text, _WIDTH)} ({_fate_label(candidate.fate)})")
    counts.pop("shown", None)
    if counts:
        words = ", ".join(f"{count} {_fate_label(fate)}" for fate, count in sorted(counts.items()))
        yield OutputLine(f"left out in total: {words}")
