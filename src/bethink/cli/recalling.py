"""Commands that give memory back: recall and show."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.frame import Answer, Door, Usage, command
from bethink.cli.naming import ref_of
from bethink.cli.terminal import Line, columns, many, one_line

if TYPE_CHECKING:
    from bethink.model.recall import Candidate, Lineage, Recall, Recalled, Ref, RefKind

app = typer.Typer()

AsOf = Annotated[str | None, typer.Option("--as-of", metavar="DAY", help="From what was said and known by then.")]
_WIDTH = 100
_NAMED = 3


@command(app)
async def recall(
    door: Door,
    question: Annotated[str, typer.Argument(help="What to look for, in your own words.")],
    *,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say why each was found, and why others were not.")
    ] = False,
    as_of: AsOf = None,
    budget: Annotated[int | None, typer.Option(metavar="TOKENS", help="At most so many tokens.", min=1)] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="At most so many things.", min=1)] = 10,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Only message, fact, session_memory or document; repeat it for more."),
    ] = None,
) -> Answer:
    """Find what answers a question, the best first. Every line comes with the name of what it is from."""
    found = await door.memory.recall(
        question,
        space=door.space,
        limit=limit,
        budget=budget,
        as_of=as_of,
        kinds=kinds_of(kind),
        explain=explain,
    )
    if found.missing:
        door.note(f"note: {found.missing if found.items or not await _is_empty(door) else _nothing(door.space)}")
    return Answer(data=found, lines=list(recall_lines(found, explain=explain)))


@command(app)
async def show(
    door: Door,
    ref: Annotated[str, typer.Argument(help="A memory as recall names it, kind:id:number, or a document's path.")],
) -> Answer:
    """Follow a memory to its sources, versions and showings."""
    wanted = await ref_of(door.memory, ref, space=door.space)
    lineage = await door.memory.explain(wanted, space=door.space)
    return Answer(data=lineage, lines=list(lineage_lines(lineage)))


async def _is_empty(door: Door) -> bool:
    memory, space = door.memory, door.space
    return not (await memory.sessions(space=space, limit=1) or await memory.facts(space=space).length())


def _nothing(space: str) -> str:
    return f"space {space!r} holds nothing; 'bethink spaces' lists those that do"


def kinds_of(words: list[str] | None) -> "tuple[RefKind, ...]":
    """Read the kinds that somebody names; without a word, all."""
    from bethink.model.recall import RefKind  # noqa: PLC0415

    unknown = [word for word in words or () if word not in set(RefKind)]
    if unknown:
        raise Usage(f"{unknown[0]!r} is no kind of memory.", hint=f"Use some of {', '.join(RefKind)}.")
    return tuple(map(RefKind, words)) if words else tuple(RefKind)


def recall_lines(found: "Recall", *, explain: bool = False) -> Iterator[Line]:
    """Write what was recalled."""
    from bethink.cli.plain import when  # noqa: PLC0415

    for item in found.items:
        yield Line(f"{item.score:.2f}  {when(item.at)}  {_who(item)}", "bold")
        for text in item.text.splitlines():
            yield Line(f"      {text}")
        yield Line(f"      {item.ref}", "dim")
        if explain:
            reasons = next((each for each in found.candidates if each.ref == item.ref), None)
            yield from _reasons(reasons)
            for excerpt in item.excerpts:
                yield Line(f"      from: {one_line(excerpt.text, _WIDTH)} ({excerpt.origin})")
    if explain:
        yield from _left_out(found)


def _who(item: "Recalled") -> str:
    known = item.speaker is None or item.origin in (item.speaker, f"tool:{item.speaker}")
    return one_line(f"{item.ref.kind} from {item.origin}{'' if known else f' ({item.speaker})'}")


def _reasons(candidate: "Candidate | None") -> Iterator[Line]:
    if candidate is None:
        return
    told = sorted(candidate.signals.items(), key=lambda pair: -abs(pair[1].added))
    parts: list[str] = []
    total = shown = 0.0
    for name, signal in told:
        total += signal.added
        # Each is rounded with those before it, so that what is printed adds up to the score.
        hundredths = round(total, 2) - shown
        shown += hundredths
        if abs(hundredths) >= 0.005:
            parts.append(f"{name} {hundredths:+.2f}")
    if parts:
        yield Line(f"      why: {', '.join(parts)}")


def _left_out(found: "Recall") -> Iterator[Line]:
    counts: dict[str, int] = {}
    for candidate in found.candidates:
        counts[candidate.fate] = counts.get(candidate.fate, 0) + 1
        if (
            candidate.ref.kind == "fact"
            and candidate.fate in ("superseded", "ended")
            and counts[candidate.fate] <= _NAMED
        ):
            yield Line(f"left out: {one_line(candidate.text, _WIDTH)} ({candidate.fate})")
    counts.pop("shown", None)
    if counts:
        words = ", ".join(f"{count} {fate.replace('_', ' ')}" for fate, count in sorted(counts.items()))
        yield Line(f"left out in all: {words}")


def lineage_lines(lineage: "Lineage") -> Iterator[Line]:
    """Write where a memory comes from, what became of it, and where it was shown."""
    from bethink.cli.plain import when  # noqa: PLC0415

    yield Line(str(lineage.ref), "bold")
    for text in (lineage.text if lineage.text is not None else "(erased)").splitlines():
        yield Line(f"  {text}")
    facts = {
        "origin": lineage.origin,
        "at": when(lineage.at),
        "made by": lineage.made_by and f"{_model(lineage.made_by.model)}, {lineage.made_by.prompt}",
        "written by": lineage.written_by,
        "superseded by": lineage.superseded_by and str(lineage.superseded_by),
        "used": lineage.usage and f"{many(lineage.usage.times, 'time')}, last {when(lineage.usage.last)}",
    }
    yield from columns([[f"  {name}", str(value)] for name, value in facts.items() if value])
    quoted = [f"message:{each.source.session_id}:{each.source.number}" for each in lineage.sources]
    for excerpt, name in zip(lineage.sources, quoted, strict=True):
        yield Line(f"  source  {when(excerpt.said_at)}  {one_line(excerpt.text, _WIDTH)} ({excerpt.origin})")
        yield Line(f"          {name}", "dim")
    yield from _refs("rests on", [ref for ref in lineage.rests_on if str(ref) not in quoted])
    yield from _refs("used in", lineage.used_in)
    for version in lineage.versions:
        until = when(version.until) if version.until is not None else "now"
        yield Line(
            f"  version {version.ref.number}  {when(version.since)} to {until}  {one_line(version.text, _WIDTH)}"
        )
    for job in lineage.jobs:
        yield Line(f"  job  {job.kind} {job.outcome or job.status} {when(job.finished_at)}")
    for showing in lineage.shown:
        to = f" to {showing.session_id}" if showing.session_id else ""
        yield Line(f"  shown  {when(showing.shown_at)} for {showing.purpose}{to}")


def _refs(what: str, refs: "Sequence[Ref]") -> Iterator[Line]:
    """Name what is before or after a memory; of many versions of one thing, the newest."""
    newest = {(ref.kind, ref.id): ref for ref in sorted(refs, key=lambda ref: ref.number) if ref.kind == "document"}
    for ref in refs:
        if newest.get((ref.kind, ref.id), ref) == ref:
            earlier = sum(other.id == ref.id for other in refs) - 1 if ref.kind == "document" else 0
            more = f" and {many(earlier, 'earlier version')}" if earlier else ""
            yield Line(f"  {what}  {ref}{more}")


def _model(name: str) -> str:
    return "no model" if name == "none" else name
