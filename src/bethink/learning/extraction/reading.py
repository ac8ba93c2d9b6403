"""Read the input of an extraction: the new records, the context before them, and an answer recorded earlier."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bethink.extend import Tokens
from bethink.learning.extraction.transcript import entry, fitting, shortened
from bethink.model.jobs import Claim
from bethink.model.moments import EPOCH
from bethink.model.records import Record
from bethink.store import learning, ledger, messages, search, sessions
from bethink.store.db import Tx
from bethink.store.learning import RecordedAnswer

_NEW = 500
_HEAD = 50
_TAIL = 150
_LEAST = 100
_SHOWINGS = 50
_FRAME = re.compile(r"</?(?:transcript|notes_so_far)[^<>]{0,50}>", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionInput:
    """A snapshot of a session to learn from: the records after `start` up to `until`, and earlier ones for context.

    Later records are not lost: the watermark moves only to `until`.
    """

    exists: bool
    start: int = 0
    until: int = 0
    agent_id: str = ""
    updated_at: datetime = EPOCH
    run: str = ""
    prompt: str = ""
    whole: Sequence[Record] = ()
    recorded: RecordedAnswer | None = None
    numbered: Mapping[int, Record] = field(default_factory=dict[int, Record])
    shown: Sequence[str] = ()

    def said_at(self, number: int) -> datetime:
        """Return when a record was said."""
        record = self.numbered[number]
        return record.message.said_at or record.recorded_at


def begin(tx: Tx, claim: Claim, *, budget: int | None, tokens: Tokens, version: str) -> ExtractionInput:
    """Take the snapshot. If the new records exceed the budget, take the first ones; the session stays marked."""
    session = sessions.find(tx, space=claim.space, session_id=claim.key)
    if session is None:
        return ExtractionInput(exists=False)
    start = session.processed_until or 0
    if session.invalidated_at is None or not session.learns:
        # Nothing to learn, or a session that memory created itself: it counts as processed.
        until = start if session.invalidated_at is None else session.last_number
        return ExtractionInput(exists=True, start=start, until=max(start, until))
    new = messages.after(tx, space=claim.space, session_id=claim.key, number=start, limit=_NEW)
    until = new[-1].number if len(new) == _NEW else session.last_number
    recorded = _recorded(tx, claim, start=start, until=until, version=version)
    if recorded is not None:
        new, until = [record for record in new if record.number <= recorded[1]], recorded[1]
    earlier = _earlier(tx, claim, start)
    notes = learning.find_memory(tx, space=claim.space, session_id=claim.key) if start else None
    share = None if budget is None else budget // 2 if earlier else budget
    if share is not None and recorded is None:
        new, until = _first(new, until, share, tokens)
    if not new:
        return ExtractionInput(exists=True, start=start, until=until, agent_id=session.agent_id)
    return ExtractionInput(
        exists=True,
        start=start,
        until=until,
        agent_id=session.agent_id,
        updated_at=new[-1].recorded_at,
        run=f"{version}:{start}-{until}",
        prompt=_prompt(earlier, new, budget, tokens, notes="" if notes is None else notes.raw_memory),
        whole=[*earlier, *new],
        recorded=None if recorded is None else recorded[0],
        numbered={record.number: record for record in (*earlier, *new)},
        shown=_shown(tx, claim),
    )


def _shown(tx: Tx, claim: Claim) -> list[str]:
    """Return the texts that memory showed to the session, as far as they still exist."""
    showings = ledger.showings(tx, space=claim.space, session_id=claim.key, limit=_SHOWINGS)
    refs = {ref for showing in showings for ref in showing.refs}
    return [text.text for text in search.texts(tx, space=claim.space, refs=refs, as_of=None).values()]


def _recorded(tx: Tx, claim: Claim, *, start: int, until: int, version: str) -> tuple[RecordedAnswer, int] | None:
    """Return an answer about these records that was recorded but not applied, and its last record."""
    for answer in learning.answers(tx, space=claim.space, kind=claim.kind, key=claim.key, limit=1):
        made_by, _, span = answer.run.partition(":")
        first, _, last = span.partition("-")
        if made_by == version and int(first) == start and start < int(last) <= until:
            return answer, int(last)
    return None


def _earlier(tx: Tx, claim: Claim, start: int) -> list[Record]:
    if start <= _HEAD + _TAIL:
        return messages.after(tx, space=claim.space, session_id=claim.key, number=0, limit=start) if start else []
    head = messages.after(tx, space=claim.space, session_id=claim.key, number=0, limit=_HEAD)
    tail = messages.after(tx, space=claim.space, session_id=claim.key, number=start - _TAIL, limit=_TAIL)
    return [*head, *(record for record in tail if record.number <= start)]


def _first(new: list[Record], until: int, budget: int, tokens: Tokens) -> tuple[list[Record], int]:
    taken: list[Record] = []
    for record in new:
        budget -= tokens.count(entry(record)) + 2
        if taken and budget < 0:
            return taken, taken[-1].number
        taken.append(record)
    return taken, until


def _prompt(earlier: Sequence[Record], new: Sequence[Record], budget: int | None, tokens: Tokens, *, notes: str) -> str:
    recent = [text for text in map(entry, new) if text]
    if not recent:
        return ""
    if budget is None:
        return "\n\n".join(recent)
    recent = [shortened(text, budget=max(100, budget // 2), tokens=tokens) for text in recent]
    left = budget - sum(tokens.count(text) + 2 for text in recent)
    before = [text for text in map(entry, earlier) if text]
    if notes and left > _LEAST:
        notes = shortened(notes, budget=left // 2, tokens=tokens)
        left -= tokens.count(notes)
    kept = fitting(before, budget=left, tokens=tokens) if before and left > 0 else []
    body = _FRAME.sub("", "\n\n".join([*kept, *recent]))
    header = f"<notes_so_far>\n{_FRAME.sub('', notes)}\n</notes_so_far>\n\n" if notes else ""
    return f"{header}<transcript>\n{body}\n</transcript>"
