"""Words for the status of a fact: every list, line and card shows the same."""

from datetime import datetime, time, timedelta

from bethink.base.frozen import frozen
from bethink.model.facts import Fact, FactStatus
from bethink.model.pages import FactEntry
from bethink.model.recall import Lineage, Match
from bethink.model.refs import Ref

_CAUSE = 100
"""Maximum number of characters of the text that a status names."""
_PLAIN = {FactStatus.CURRENT: "current", FactStatus.PENDING: "pending review"}
_WITH_CAUSE = {
    FactStatus.REPLACED: ("replaced", "by"),
    FactStatus.CORRECTED: ("corrected", "to"),
    FactStatus.DOUBTFUL: ("in doubt", "because of"),
    FactStatus.EARLIER: ("earlier;", "later"),
}

WithStatus = Fact | FactEntry | Match | Lineage
"""A fact, or a record about one or about a message that states one."""


def status_words(item: WithStatus) -> str:
    """Return the status of an item with its date or its cause, such as `replaced on 2026-03-02 by: I live in Oslo`.

    The words include stored text, so each interface escapes them as such. Empty if the item has no status.
    """
    stated = _state_of(item)
    status, fact = stated.status, stated.fact
    if status is None:
        return ""
    if status is FactStatus.UPCOMING:
        begin = None if fact is None else fact.valid_from or fact.event_from
        return "upcoming" if begin is None else f"from {_day(begin)}"
    if status is FactStatus.ENDED:
        return "ended" if fact is None else _end_words(fact)
    if status not in _WITH_CAUSE:
        return _PLAIN.get(status, status.value.replace("_", " "))
    word, preposition = _WITH_CAUSE[status]
    replaced_at = fact.valid_to or fact.replaced_at if fact is not None and status is FactStatus.REPLACED else None
    day = "" if replaced_at is None else f" on {_day(replaced_at)}"
    return f"{word}{day} {preposition}{stated.cause}" if stated.cause else f"{word}{day}".rstrip(";")


def status_mark(item: WithStatus) -> str:
    """Return the words of `status_words`, or an empty string for a current fact and for an item without status."""
    return "" if _state_of(item).status in (None, FactStatus.CURRENT) else status_words(item)


@frozen
class _Stated:
    status: FactStatus | None
    fact: Fact | None
    cause: str


def _state_of(item: WithStatus) -> _Stated:
    if isinstance(item, Fact):
        return _Stated(status=item.status, fact=item, cause=_cause_of(item))
    if isinstance(item, FactEntry):
        is_doubtful = item.status is FactStatus.DOUBTFUL
        ref, text = (
            (item.doubted_by, item.doubted_by_text) if is_doubtful else (item.replaced_by, item.replaced_by_text)
        )
        return _Stated(status=item.status, fact=item.fact, cause=_name_cause(ref, text))
    if isinstance(item, Lineage):
        status = None if item.fact is None else item.fact.status
    else:
        status = FactStatus.REPLACED if item.status is None and item.replaced_by is not None else item.status
    return _Stated(
        status=status, fact=item.fact, cause=_name_cause(item.because_of or item.replaced_by, item.because_text)
    )


def _cause_of(fact: Fact) -> str:
    if fact.status is FactStatus.DOUBTFUL:
        return _name_cause(getattr(fact, "doubted_by", None))
    return "" if fact.replaced_by == fact.id else _name_cause(fact.replaced_by)


def _name_cause(ref: Ref | str | None, text: str | None = None) -> str:
    """Return the text of a cause, or its ref if there is no text, as the end of a sentence."""
    line = " ".join((text or "").split())
    if line:
        return f": {line if len(line) <= _CAUSE else f'{line[: _CAUSE - 1].rstrip()}…'}"
    return "" if ref is None else f" {ref}"


def _end_words(fact: Fact) -> str:
    end, expiry = fact.valid_to, fact.expires_at
    if expiry is not None and (end is None or expiry < end):
        return f"expired on {_day(expiry)}"
    return "ended" if end is None else f"until {last_day(end)}"


def _day(at: datetime) -> str:
    return at.date().isoformat()


def last_day(end: datetime) -> str:
    """Return the last day of a period. One that ends at midnight ends with the day before."""
    ends_at_midnight = end.time() == time() and end.year > 1
    return _day(end - timedelta(days=1) if ends_at_midnight else end)
