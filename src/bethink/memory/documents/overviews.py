"""The overviews of a space, made by code of the facts that hold: what people want first, then everything by subject."""

from collections.abc import Sequence
from datetime import datetime, time, timedelta

from bethink.model.documents import MAX_BODY
from bethink.model.facts import Evidence, Fact, SessionMemory
from bethink.model.kinds import FactKind, Kind
from bethink.model.rules import confidential, ends, tells, vouched

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


def may_be_written(facts: Sequence[Fact], *, now: datetime) -> list[Fact]:
    """Return the facts that pages and files may repeat: they hold, somebody vouches for them, none is in confidence."""
    return [
        fact
        for fact in facts
        if vouched(fact.origin) and not confidential(fact) and ((end := ends(fact)) is None or end > now)
    ]


def memory_text(facts: Sequence[Fact], memories: Sequence[SessionMemory]) -> str:
    """Return the text of MEMORY.md: every fact, wishes first, then by whom or what it is about; then the sessions."""
    wishes = [fact for fact in facts if is_wish(fact)]
    parts = [f"## What people want\n\n{lines_of(wishes)}"] if wishes else []
    about: dict[str, list[Fact]] = {}
    for fact in facts:
        if not is_wish(fact):
            about.setdefault(subject_of(fact), []).append(fact)
    for name, known in sorted(about.items(), key=lambda each: (each[0] != OWNER, each[0].casefold())):
        parts.append(f"## {_heading(name)}\n\n{lines_of(_by_kind(known))}")
    sessions = "\n".join(
        f"- {day_of(each.last_said)}, {each.session_id}: {each.slug or 'unnamed'}" for each in memories
    )
    return limited("\n\n".join([*parts, f"## Sessions\n\n{sessions}"] if sessions else parts))


def summary_text(facts: Sequence[Fact], memories: Sequence[SessionMemory]) -> str:
    """Return the text of memory_summary.md: wishes, what is known about the owner, and where to look further."""
    wishes = [fact for fact in facts if is_wish(fact)]
    own = [fact for fact in facts if not is_wish(fact) and subject_of(fact) == OWNER]
    others: dict[str, int] = {}
    for fact in facts:
        if not is_wish(fact) and subject_of(fact) != OWNER:
            others[subject_of(fact)] = others.get(subject_of(fact), 0) + 1
    # Health is never only a number: who reads no further must have seen it.
    care = [fact for fact in facts if "health" in fact.flags and fact not in own and fact not in wishes]
    topics = [f"- {_heading(name)}: {count} in MEMORY.md" for name, count in sorted(others.items())]
    talks = [f"- {day_of(each.last_said)}: {each.slug or each.session_id}" for each in memories]
    found = {
        "What people want": lines_of(wishes),
        _heading(OWNER): lines_of(_by_kind(own)),
        "To be careful with": lines_of(care),
        "Also known": "\n".join(topics),
        "What is in memory": "\n".join(talks),
    }
    return limited("\n\n".join(f"## {heading}\n\n{text}" for heading, text in found.items() if text))


def by_kind_text(facts: Sequence[Fact]) -> str:
    """Return facts under a heading for each kind."""
    parts = [
        f"## {heading}\n\n{lines_of(found)}"
        for kind, heading in _headings(facts).items()
        if (found := [fact for fact in facts if fact.kind == kind])
    ]
    return limited("\n\n".join(parts))


def lines_of(facts: Sequence[Fact]) -> str:
    """Return a line for each fact: what it says, where and when it holds, who said so, and its id."""
    return "\n".join(f"- {fact.content} ({_about(fact)}; {fact.id})" for fact in facts)


def is_wish(fact: Fact) -> bool:
    """Return whether a fact is what a person wants."""
    return tells(fact.kind) and fact.origin == "user"


def subject_of(fact: Fact) -> str:
    """Return the name of whom or what a fact is about."""
    named = next((name for name in fact.entities if name.strip()), None)
    return " ".join((named or fact.subject or OWNER).split()) or OWNER


def limited(text: str) -> str:
    """Return a text that fits into a document, cut after a line."""
    return text if len(text) <= MAX_BODY else text[:MAX_BODY].rpartition("\n")[0]


def day_of(at: datetime) -> str:
    """Return the day of a moment."""
    return at.date().isoformat()


def period_of(fact: Fact) -> list[str]:
    """Return when what a fact says happened, began and ended, in words."""
    found: list[str] = []
    if fact.happened_from is not None:
        first, last = day_of(fact.happened_from), _last_day(fact.happened_to or fact.happened_from)
        found.append(f"on {first}" if last <= first else f"{first} to {last}")
    found += [f"since {day_of(fact.valid_from)}"] if fact.valid_from is not None else []
    found += [f"until {_last_day(fact.valid_to)}"] if fact.valid_to is not None else []
    return found


def _about(fact: Fact) -> str:
    who = fact.speaker if fact.speaker and fact.speaker not in ("owner", OWNER) else None
    scope = [f"scope: {fact.scope}"] if fact.scope and tells(fact.kind) else []
    judged = ["only quoted"] if fact.evidence is Evidence.QUOTED else []
    return ", ".join([str(fact.origin), *([who] if who else []), *scope, *period_of(fact), *judged])


def _by_kind(facts: Sequence[Fact]) -> list[Fact]:
    order = list(_headings(facts))
    return sorted(facts, key=lambda fact: order.index(fact.kind))


def _headings(facts: Sequence[Fact]) -> dict[Kind, str]:
    """Return the kinds that everyone has, then those that only these facts have, by name."""
    own = sorted({fact.kind for fact in facts} - _KINDS.keys())
    return {**_KINDS, **{kind: kind.replace("_", " ").capitalize() for kind in own}}


def _heading(name: str) -> str:
    return "The owner" if name == OWNER else name


def _last_day(end: datetime) -> str:
    """Return the last day of a period: one that ends at midnight ended with the day before."""
    return day_of(end - timedelta(days=1) if end.time() == time() and end.year > 1 else end)
