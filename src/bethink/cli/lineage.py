"""Formats a memory with its sources, its versions and its uses."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bethink.cli.terminal import OutputLine, columns, one_line, when
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.model.facts import Fact, Quote
    from bethink.model.recall import Feedback, Lineage
    from bethink.model.refs import Ref

_WIDTH = 100


def lineage_lines(lineage: "Lineage") -> Iterator[OutputLine]:
    """Format the sources of a memory, its versions, and its uses."""
    from bethink.model.status_words import status_words  # noqa: PLC0415 - --help must not wait for it

    yield OutputLine(str(lineage.ref), "bold")
    missing = "(erased)" if lineage.hidden_by is None else "(hidden)"
    for text in (lineage.text if lineage.text is not None else missing).splitlines():
        yield OutputLine(f"  {text}")
    facts = {
        "origin": lineage.origin,
        "at": when(lineage.at),
        "file": _position(lineage.metadata),
        "made by": lineage.created_by and f"{_model(lineage.created_by.model)}, {lineage.created_by.prompt}",
        "written by": lineage.written_by,
        "status": one_line(status_words(lineage)),
        "replaced by": lineage.replaced_by and str(lineage.replaced_by),
        "hidden by": lineage.hidden_by and f"a request to forget, {lineage.hidden_by}, {when(lineage.hidden_at)}",
        "used": lineage.usage and f"{plural(lineage.usage.times, 'time')}, last {when(lineage.usage.last)}",
        **({} if lineage.fact is None else fact_rows(lineage.fact)),
    }
    yield from columns([[f"  {name}", str(value)] for name, value in facts.items() if value])
    yield from _rating_lines(lineage.feedback)
    yield from quote_lines(lineage.quotes)
    quoted = [f"message:{excerpt.source.session_id}:{excerpt.source.number}" for excerpt in lineage.sources]
    for excerpt, name in zip(lineage.sources, quoted, strict=True):
        yield OutputLine(f"  source  {when(excerpt.said_at)}  {one_line(excerpt.text, _WIDTH)} ({excerpt.origin})")
        yield OutputLine(f"          {name}", "dim")
    yield from _refs("based on", [ref for ref in lineage.source_refs if str(ref) not in quoted])
    yield from _refs("used in", lineage.derived)
    for version in lineage.versions:
        until = when(version.until) if version.until is not None else "now"
        yield OutputLine(
            f"  version {version.ref.number}  {when(version.since)} to {until}  {one_line(version.text, _WIDTH)}"
        )
    for job in lineage.jobs:
        yield OutputLine(f"  job  {job.kind} {job.outcome or job.status} {when(job.finished_at)}")
    for showing in lineage.context_log:
        to = f" to {showing.session_id}" if showing.session_id else ""
        yield OutputLine(f"  in context  {when(showing.shown_at)} for {showing.purpose}{to}")


def _position(metadata: Mapping[str, object]) -> str:
    """Return the position of a message in a file, if it is a passage of one."""
    if "file" not in metadata or "start" not in metadata:
        return ""
    page = f"page {metadata['page']}, " if "page" in metadata else ""
    return one_line(f"{metadata['file']}, {page}characters {metadata['start']} to {metadata.get('end')}", _WIDTH)


def _rating_lines(ratings: "Sequence[Feedback]") -> Iterator[OutputLine]:
    """Count the ratings of a fact, and list their notes."""
    if ratings:
        verdicts = Counter(str(rating.verdict) for rating in ratings)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        yield OutputLine(f"  ratings  {counts}")
    for rating in ratings:
        note = f": {one_line(rating.note, _WIDTH)}" if rating.note else ""
        yield OutputLine(
            f"           {when(rating.rated_at)} {rating.verdict} by {one_line(rating.actor)}{note}", "dim"
        )


def fact_rows(fact: "Fact") -> dict[str, str]:
    """Return the properties of a fact other than its text, by name."""
    happened = [when(moment) for moment in (fact.event_from, fact.event_to) if moment is not None]
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
    """Format the quotes of a fact or a claim."""
    for quote in quotes:
        label = "context" if quote.context else "quote"
        yield OutputLine(f"  {label}  “{one_line(quote.text, _WIDTH)}”")
        where = f"message:{quote.session_id}:{quote.number}" if quote.session_id else f"message {quote.number}"
        yield OutputLine(f"         {where}", "dim")


def _refs(label: str, refs: "Sequence[Ref]") -> Iterator[OutputLine]:
    """List refs; of many versions of one document, only the newest."""
    newest = {(ref.kind, ref.id): ref for ref in sorted(refs, key=lambda ref: ref.number) if ref.kind == "document"}
    for ref in refs:
        if newest.get((ref.kind, ref.id), ref) == ref:
            earlier = sum(other.id == ref.id for other in refs) - 1 if ref.kind == "document" else 0
            more = f" and {plural(earlier, 'earlier version')}" if earlier else ""
            yield OutputLine(f"  {label}  {ref}{more}")


def _model(name: str) -> str:
    return "no model" if name == "none" else name
