"""Commands that read memory: recall and show."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, Result, UsageError, command
from bethink.cli.export import is_empty
from bethink.cli.narrowing import NARROWING, narrowing, repeatable
from bethink.cli.refs import resolve_ref
from bethink.cli.terminal import OutputLine, columns, one_line, when
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.api.space import Space
    from bethink.api.spaces import Spaces
    from bethink.model.facts import Fact, Quote
    from bethink.model.recall import Candidate, Feedback, Lineage, Recall, Recalled, Ref, RefKind

app = typer.Typer()

SEVERAL = {"space": repeatable("NAME", "The space to ask, or several, which are ranked together.  [default: default]")}
_WIDTH = 100
_NAMED = 3


@command(app, without=NO_SPACE, more={**NARROWING, **SEVERAL})
async def recall(
    ctx: CommandContext,
    question: Annotated[str, typer.Argument(help="What to look for, in plain words.")],
    *,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show why each result was found, and what was left out.")
    ] = False,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="DATE", help="Answer from what was known at this time.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(metavar="TOKENS", help="How many tokens the results may take.", min=1)
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="How many results to show.", min=1, max=1_000)] = 10,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Search only message, fact, session_memory or document. Repeatable."),
    ] = None,
) -> Result:
    """Search memory for the answer to a question. Each result comes with its ref."""
    kinds = parse_kinds(kind)
    found = await asked(ctx).recall(
        question, limit=limit, budget=budget, as_of=as_of, kinds=kinds, explain=explain, **narrowing(ctx.more)
    )
    if found.missing:
        names = space_names(ctx)
        empty = not found.items and len(names) == 1 and await is_empty(ctx.memory.space(names[0]))
        why = f"space {names[0]!r} is empty; 'bethink spaces' lists the spaces" if empty else found.missing
        ctx.note(f"note: {why}")
    return Result(data=found, lines=list(recall_lines(found, explain=explain)))


@command(app, without=NO_SPACE, more={**NARROWING, **SEVERAL})
async def context(
    ctx: CommandContext,
    question: Annotated[str, typer.Argument(help="What the prompt is about, if that is known.")] = "",
    *,
    budget: Annotated[
        int | None, typer.Option(metavar="TOKENS", help="How many tokens the block may take.", min=1)
    ] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="DATE", help="Use what was known at this time.")
    ] = None,
) -> Result:
    """Print a block of memory to begin a prompt with."""
    block = await asked(ctx).context(question, budget=budget, as_of=as_of, **narrowing(ctx.more))
    if not block:
        ctx.note("note: there is nothing to show")
    return Result(data=block, lines=[OutputLine(line) for line in block.text.splitlines()])


@command(app)
async def show(
    ctx: CommandContext,
    ref: Annotated[str, typer.Argument(help="A ref as recall prints it, kind:id:number, or the path of a document.")],
) -> Result:
    """Show a memory with its sources, its versions and where it was used."""
    lineage = await ctx.space.explain(await resolve_ref(ctx.space, ref))
    return Result(data=lineage, lines=list(lineage_lines(lineage)))


def space_names(ctx: CommandContext) -> list[str]:
    """Return the names of the spaces to ask."""
    return ctx.more["space"] or ["default"]


def asked(ctx: CommandContext) -> "Space | Spaces":
    """Return the one space to ask, or several together."""
    names = space_names(ctx)
    return ctx.memory.space(names[0]) if len(names) == 1 else ctx.memory.spaces(*names)


def parse_kinds(words: list[str] | None) -> "tuple[RefKind, ...]":
    """Parse kinds of memory; without any, return all."""
    from bethink.model.recall import RefKind  # noqa: PLC0415

    unknown = [word for word in words or () if word not in set(RefKind)]
    if unknown:
        raise UsageError(f"unknown kind {unknown[0]!r}.", hint=f"Use one of {', '.join(RefKind)}.")
    return tuple(map(RefKind, words)) if words else tuple(RefKind)


def recall_lines(found: "Recall", *, explain: bool = False) -> Iterator[OutputLine]:
    """Format what was recalled."""
    for item in found.items:
        where = f"  in {one_line(item.space)}" if item.space else ""
        yield OutputLine(f"{_certainty(item)}  {when(item.at)}  {_who(item)}{where}", "bold")
        for text in item.text.splitlines():
            yield OutputLine(f"      {text}")
        yield OutputLine(f"      {item.ref}", "dim")
        if item.superseded_by is not None:
            yield OutputLine(f"      superseded by {item.superseded_by}")
        if explain:
            same = (each for each in found.candidates if (each.ref, each.space) == (item.ref, item.space))
            yield from _reasons(next(same, None))
            for excerpt in item.excerpts:
                yield OutputLine(f"      from: {one_line(excerpt.text, _WIDTH)} ({excerpt.origin})")
    if explain:
        yield from _left_out(found)


def _certainty(item: "Recalled") -> str:
    """Return the certainty in words and as a number, in a column."""
    known = item.certainty
    return f"{item.score:.2f}" if known is None else f"{known.level:<4} {known.value:.2f}"


def _who(item: "Recalled") -> str:
    known = item.speaker is None or item.origin in (item.speaker, f"tool:{item.speaker}")
    unsure = ", quoted" if item.fact is not None and item.fact.evidence == "quoted" else ""
    return one_line(f"{item.ref.kind} from {item.origin}{'' if known else f' ({item.speaker})'}{unsure}")


def _reasons(candidate: "Candidate | None") -> Iterator[OutputLine]:
    if candidate is None:
        return
    signals = sorted(candidate.signals.items(), key=lambda pair: -abs(pair[1].added))
    parts: list[str] = []
    total = shown = 0.0
    for name, signal in signals:
        total += signal.added
        # Each is rounded with those before it, so that what is printed adds up to the score.
        hundredths = round(total, 2) - shown
        shown += hundredths
        if abs(hundredths) >= 0.005:
            parts.append(f"{name} {hundredths:+.2f}")
    if parts:
        yield OutputLine(f"      why: {', '.join(parts)}")


def _left_out(found: "Recall") -> Iterator[OutputLine]:
    counts: dict[str, int] = {}
    for candidate in found.candidates:
        counts[candidate.fate] = counts.get(candidate.fate, 0) + 1
        if (
            candidate.ref.kind == "fact"
            and candidate.fate in ("superseded", "ended")
            and counts[candidate.fate] <= _NAMED
        ):
            yield OutputLine(f"left out: {one_line(candidate.text, _WIDTH)} ({candidate.fate})")
    counts.pop("shown", None)
    if counts:
        words = ", ".join(f"{count} {fate.replace('_', ' ')}" for fate, count in sorted(counts.items()))
        yield OutputLine(f"left out in all: {words}")


def lineage_lines(lineage: "Lineage") -> Iterator[OutputLine]:
    """Format where a memory comes from, its versions, and where it was shown."""
    yield OutputLine(str(lineage.ref), "bold")
    for text in (lineage.text if lineage.text is not None else "(erased)").splitlines():
        yield OutputLine(f"  {text}")
    facts = {
        "origin": lineage.origin,
        "at": when(lineage.at),
        "file": _place(lineage.metadata),
        "made by": lineage.made_by and f"{_model(lineage.made_by.model)}, {lineage.made_by.prompt}",
        "written by": lineage.written_by,
        "superseded by": lineage.superseded_by and str(lineage.superseded_by),
        "used": lineage.usage and f"{plural(lineage.usage.times, 'time')}, last {when(lineage.usage.last)}",
        **({} if lineage.fact is None else fact_rows(lineage.fact)),
    }
    yield from columns([[f"  {name}", str(value)] for name, value in facts.items() if value])
    yield from _feedback_lines(lineage.feedback)
    yield from quote_lines(lineage.quotes)
    quoted = [f"message:{each.source.session_id}:{each.source.number}" for each in lineage.sources]
    for excerpt, name in zip(lineage.sources, quoted, strict=True):
        yield OutputLine(f"  source  {when(excerpt.said_at)}  {one_line(excerpt.text, _WIDTH)} ({excerpt.origin})")
        yield OutputLine(f"          {name}", "dim")
    yield from _refs("rests on", [ref for ref in lineage.rests_on if str(ref) not in quoted])
    yield from _refs("used in", lineage.used_in)
    for version in lineage.versions:
        until = when(version.until) if version.until is not None else "now"
        yield OutputLine(
            f"  version {version.ref.number}  {when(version.since)} to {until}  {one_line(version.text, _WIDTH)}"
        )
    for job in lineage.jobs:
        yield OutputLine(f"  job  {job.kind} {job.outcome or job.status} {when(job.finished_at)}")
    for showing in lineage.shown:
        to = f" to {showing.session_id}" if showing.session_id else ""
        yield OutputLine(f"  shown  {when(showing.shown_at)} for {showing.purpose}{to}")


def _place(metadata: Mapping[str, object]) -> str:
    """Return where in a file a message stands, if it is a passage of one."""
    if "file" not in metadata or "start" not in metadata:
        return ""
    page = f"page {metadata['page']}, " if "page" in metadata else ""
    return one_line(f"{metadata['file']}, {page}characters {metadata['start']} to {metadata.get('end')}", _WIDTH)


def _feedback_lines(said: "Sequence[Feedback]") -> Iterator[OutputLine]:
    """Count what people said about a fact, and repeat their notes."""
    if said:
        counted = Counter(str(each.verdict) for each in said)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counted.items()))
        yield OutputLine(f"  feedback  {counts}")
    for each in said:
        note = f": {one_line(each.note, _WIDTH)}" if each.note else ""
        yield OutputLine(f"            {when(each.at)} {each.verdict} by {one_line(each.by)}{note}", "dim")


def fact_rows(fact: "Fact") -> dict[str, str]:
    """Return what is known about a fact beside its text, by name."""
    happened = [when(each) for each in (fact.happened_from, fact.happened_to) if each is not None]
    return {
        "kind": str(fact.kind),
        "evidence": str(fact.evidence),
        "speaker": one_line(fact.speaker or ""),
        "scope": one_line(fact.scope or ""),
        "happened": " to ".join(happened),
        "flags": one_line(", ".join(fact.flags)),
        "expires": when(fact.expires_at),
        "pinned": when(fact.pinned_at),
    }


def quote_lines(quotes: "Sequence[Quote]") -> Iterator[OutputLine]:
    """Format the words that a fact or a claim rests on."""
    for quote in quotes:
        what = "context" if quote.context else "quote"
        yield OutputLine(f"  {what}  “{one_line(quote.text, _WIDTH)}”")
        where = f"message:{quote.session_id}:{quote.number}" if quote.session_id else f"message {quote.number}"
        yield OutputLine(f"         {where}", "dim")


def _refs(what: str, refs: "Sequence[Ref]") -> Iterator[OutputLine]:
    """List refs; of many versions of one document, only the newest."""
    newest = {(ref.kind, ref.id): ref for ref in sorted(refs, key=lambda ref: ref.number) if ref.kind == "document"}
    for ref in refs:
        if newest.get((ref.kind, ref.id), ref) == ref:
            earlier = sum(other.id == ref.id for other in refs) - 1 if ref.kind == "document" else 0
            more = f" and {plural(earlier, 'earlier version')}" if earlier else ""
            yield OutputLine(f"  {what}  {ref}{more}")


def _model(name: str) -> str:
    return "no model" if name == "none" else name
