"""Overviews of a space, built from current facts: preferences first, then everything by subject."""

from collections.abc import Sequence
from datetime import datetime, time, timedelta

from bethink.model.documents import MAX_BODY
from bethink.model.facts import Evidence, Fact, FactStatus, SessionSummary
from bethink.model.kinds import FactKind, Kind
from bethink.model.rules import is_confidential, is_directive, is_vouched_for, valid_until

OWNER = "user"
_KINDS: dict[Kind, str] = {
    FactKind.PREFERENCE: "Preferences",
    FactKind.INSTRUCTION: "Instructions",
    FactKind.PROCEDURE: "Procedures",
    FactKind.DETAIL: "Details",
    FactKind.DECISION: "Decisions",
    FactKind.GOAL: "Goals",
    FactKind.EVENT: "Events",
    FactKind.KNOWLEDGE: "Knowledge",
}


def writable_facts(facts: Sequence[Fact], *, now: datetime) -> list[Fact]:
    """Return the facts that pages and files may repeat: current or upcoming, vouched for, and not confidential."""
    return [
        fact
        for fact in facts
        if is_vouched_for(fact.origin)
        and not is_confidential(fact)
        and ((end := valid_until(fact)) is None or end > now)
    ]


def memory_text(facts: Sequence[Fact], memories: Sequence[SessionSummary]) -> str:
    """Return the text of MEMORY.md: every fact, preferences first, then by subject; then the sessions."""
    preferences = [fact for fact in facts if is_preference(fact)]
    parts = [f"## What people want\n\n{lines_of(preferences)}"] if preferences else []
    about: dict[str, list[Fact]] = {}
    for fact in facts:
        if not is_preference(fact):
            about.setdefault(subject_of(fact), []).append(fact)
    for name, subject_facts in sorted(about.items(), key=lambda item: (item[0] != OWNER, item[0].casefold())):
        parts.append(f"## {_heading(name)}\n\n{lines_of(_by_kind(subject_facts))}")
    sessions = "\n".join(
        f"- {day_of(item.last_said)}, {item.session_id}: {item.slug or 'unnamed'}" for item in memories
    )
    return limit_body("\n\n".join([*parts, f"## Sessions\n\n{sessions}"] if sessions else parts))


def summary_text(facts: Sequence[Fact], memories: Sequence[SessionSummary]) -> str:
    """Return the text of memory_summary.md: preferences, facts about the owner, and other topics."""
    preferences = [fact for fact in facts if is_preference(fact)]
    own = [fact for fact in facts if not is_preference(fact) and subject_of(fact) == OWNER]
    others: dict[str, int] = {}
    for fact in facts:
        if not is_preference(fact) and subject_of(fact) != OWNER:
            others[subject_of(fact)] = others.get(subject_of(fact), 0) + 1
    # Health facts are always listed in full: a reader may not open MEMORY.md.
    sensitive = [fact for fact in facts if "health" in fact.flags and fact not in own and fact not in preferences]
    topics = [f"- {_heading(name)}: {count} in MEMORY.md" for name, count in sorted(others.items())]
    sessions = [f"- {day_of(summary.last_said)}: {summary.slug or summary.session_id}" for summary in memories]
    sections = {
        "What people want": lines_of(preferences),
        _heading(OWNER): lines_of(_by_kind(own)),
        "Handle with care": lines_of(sensitive),
        "Other topics": "\n".join(topics),
        "Sessions": "\n".join(sessions),
    }
    return limit_body("\n\n".join(f"## {heading}\n\n{text}" for heading, text in sections.items() if text))


def by_kind_text(facts: Sequence[Fact]) -> str:
    """Return facts under a heading for each kind."""
    parts = [
        f"## {heading}\n\n{lines_of(matches)}"
        for kind, heading in _headings(facts).items()
        if (matches := [fact for fact in facts if fact.kind == kind])
    ]
    return limit_body("\n\n".join(parts))


def lines_of(facts: Sequence[Fact]) -> str:
    """Return a line for each fact: its text, scope, period, speaker and id."""
    return "\n".join(f"- {fact.text} ({_about(fact)}; {fact.id})" for fact in facts)


def is_preference(fact: Fact) -> bool:
    """Return whether a fact is a preference or an instruction of a person."""
    return is_directive(fact.kind) and fact.origin == "user"


def subject_of(fact: Fact) -> str:
    """Return the name of the subject of a fact."""
    entity = next((name for name in fact.entities if name.strip()), None)
    return " ".join((entity or fact.subject or OWNER).split()) or OWNER


def limit_body(text: str) -> str:
    """Return a text that fits into a document, cut after a line."""
    return text if len(text) <= MAX_BODY else text[:MAX_BODY].rpartition("\n")[0]


def day_of(at: datetime) -> str:
    """Return the day of a moment."""
    return at.date().isoformat()


def period_of(fact: Fact) -> list[str]:
    """Return the event time, start and end of a fact, in words."""
    parts: list[str] = []
    if fact.event_from is not None:
        first, last = day_of(fact.event_from), _last_day(fact.event_to or fact.event_from)
        parts.append(f"on {first}" if last <= first else f"{first} to {last}")
    parts += [f"since {day_of(fact.valid_from)}"] if fact.valid_from is not None else []
    parts += [f"until {_last_day(fact.valid_to)}"] if fact.valid_to is not None else []
    return parts


def _about(fact: Fact) -> str:
    who = fact.speaker if fact.speaker and fact.speaker not in ("owner", OWNER) else None
    scope = [f"scope: {fact.scope}"] if fact.scope and is_directive(fact.kind) else []
    evidence = ["only quoted"] if fact.evidence is Evidence.QUOTED else []
    doubt = [f"in doubt because of {fact.doubted_by}"] if fact.status is FactStatus.DOUBTFUL else []
    return ", ".join([str(fact.origin), *([who] if who else []), *scope, *period_of(fact), *evidence, *doubt])


def _by_kind(facts: Sequence[Fact]) -> list[Fact]:
    order = list(_headings(facts))
    return sorted(facts, key=lambda fact: order.index(fact.kind))


def _headings(facts: Sequence[Fact]) -> dict[Kind, str]:
    """Return the built-in kinds, then the other kinds of these facts by name."""
    own = sorted({fact.kind for fact in facts} - _KINDS.keys())
    return {**_KINDS, **{kind: kind.replace("_", " ").capitalize() for kind in own}}


def _heading(name: str) -> str:
    return "The owner" if name == OWNER else name


def _last_day(end: datetime) -> str:
    """Return the last day of a period: one that ends at midnight ended with the day before."""
    return day_of(end - timedelta(days=1) if end.time() == time() and end.year > 1 else end)
