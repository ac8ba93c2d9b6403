"""The status of candidates that are not simply current, and the change that put one in doubt."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bethink.base.frozen import frozen
from bethink.memory.recall.candidates import Ranked
from bethink.model.facts import FactStatus
from bethink.model.operations.memory import RecallRequest
from bethink.model.refs import Ref, RefKind
from bethink.model.views import TimeView
from bethink.store import search
from bethink.store.db import Tx
from bethink.store.search import Text

_OVER = (FactStatus.ENDED, FactStatus.REPLACED, FactStatus.CORRECTED, FactStatus.PENDING, FactStatus.EARLIER)


@frozen(kw_only=False)
class StatusMark:
    """A status and its cause: the fact that replaced a statement, corrected it or put it in doubt."""

    status: FactStatus
    because_of: Ref | None = None
    because_text: str | None = None

    @property
    def is_over(self) -> bool:
        """Return whether the item is no longer true, or may not be: a later one was said about the same."""
        return self.status in _OVER

    @property
    def brings_cause(self) -> bool:
        """Return whether its cause is shown next to it: the change answers what the doubtful line leaves open."""
        is_message = self.because_of is not None and self.because_of.kind is RefKind.MESSAGE
        return self.because_of is not None and (self.status is FactStatus.DOUBTFUL or is_message)


def read_marks(
    tx: Tx,
    space: str,
    request: RecallRequest,
    *,
    ranked: Sequence[Ranked],
    texts: Mapping[Ref, Text],
    marks: Mapping[Ref, StatusMark],
) -> dict[Ref, StatusMark]:
    """Return the marks of candidates, with those of facts, and with the texts of their causes."""
    best = [candidate for candidate in ranked if candidate.fate is None][: 2 * request.limit]
    chosen = [texts[candidate.ref] for candidate in best]
    result = dict(marks) | _marks_of_corrections(chosen) | marks_of_facts(chosen)
    return with_causes(tx, space, request.view, result)


def _marks_of_corrections(texts: Sequence[Text]) -> dict[Ref, StatusMark]:
    """Return the marks of messages that a later message of their session corrected."""
    result: dict[Ref, StatusMark] = {}
    for text in texts:
        for correction in text.corrections:
            session_id, _, number = correction.cause.rpartition(":")
            cause = Ref(RefKind.MESSAGE, session_id, int(number)) if session_id and number.isdigit() else None
            result[text.ref] = StatusMark(FactStatus.CORRECTED, cause)
    return result


def marks_of_facts(texts: Sequence[Text]) -> dict[Ref, StatusMark]:
    """Return the marks of the facts among some texts."""
    result: dict[Ref, StatusMark] = {}
    for text in texts:
        fact = text.as_fact() if text.ref.kind is RefKind.FACT else None
        if fact is not None and fact.status is not FactStatus.CURRENT:
            cause = fact.doubted_by if fact.status is FactStatus.DOUBTFUL else None
            result[text.ref] = StatusMark(fact.status, None if cause is None else Ref(RefKind.FACT, cause))
    return result


def with_causes(
    tx: Tx, space: str, view: TimeView, marks: Mapping[Ref, StatusMark]
) -> dict[Ref, StatusMark]:  # fmt: skip
    """Return marks with the texts of their causes, each in its newest version."""
    causes = {mark.because_of for mark in marks.values() if mark.because_of is not None}
    fact_ids = {ref.id for ref in causes if ref.kind is RefKind.FACT}
    messages = [ref for ref in causes if ref.kind is RefKind.MESSAGE]
    newest = search.newest_facts(tx, space=space, fact_ids=fact_ids, view=view) if fact_ids else {}
    said = search.texts(tx, space=space, refs=messages, view=view) if messages else {}

    def with_text(mark: StatusMark) -> StatusMark:
        cause = mark.because_of
        text = None if cause is None else newest.get(cause.id) if cause.kind is RefKind.FACT else said.get(cause)
        return mark if text is None else replace(mark, because_of=text.ref, because_text=text.text)

    return {ref: with_text(mark) for ref, mark in marks.items()}
