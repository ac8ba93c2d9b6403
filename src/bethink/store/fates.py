"""Whether a memory counts in a view, and if not, what took its place."""

from collections.abc import Collection

from bethink.model.moments import to_micros
from bethink.model.recall import Fate
from bethink.model.refs import Ref, RefKind
from bethink.model.views import TimeView
from bethink.store.db import Row, Tx
from bethink.store.views import read_timelines


def bounds_of(tx: Tx, kind: RefKind, view: TimeView) -> dict[str, object]:
    """Return until when texts of a kind count: a text made from others counts from when it was written."""
    is_made = kind in (RefKind.DOCUMENT, RefKind.SESSION_SUMMARY)
    at = view.written_until if is_made else view.said_until
    return {
        "at": at, "said": view.said_until, "known": view.known_until, "now": to_micros(view.at(tx.now)),
        "view": None if view.is_now else True,
    }  # fmt: skip


class FateJudge:
    """Determines the fate of a memory in a view, because a vector may refer to an outdated one."""

    def __init__(self, tx: Tx, space: str, view: TimeView, fact_ids: Collection[str]) -> None:
        self._tx = tx
        self._space = space
        self._is_now = view.is_now  # in another view, only versions that were the newest then are matched
        self._at = to_micros(view.at(tx.now))
        self._timelines = read_timelines(tx, space=space, fact_ids=fact_ids, view=view) if fact_ids else None
        self._written_until = view.written_until

    def was_said(self, fact_id: str) -> bool:
        """Return whether a fact had been said in the view."""
        return self._timelines is not None and self._timelines.of(fact_id, self._at) is not None

    def fate_of(self, ref: Ref, row: Row) -> tuple[Fate | None, Ref | None]:
        """Return the fate of an outdated memory, and what took its place."""
        if ref.kind is RefKind.FACT:
            return self._fate_of_fact(ref, row)
        retired_at = row.get("retired_at")
        is_old = retired_at is not None and retired_at <= self._written_until
        return (Fate.SUPERSEDED if is_old else None), None

    def _fate_of_fact(self, ref: Ref, row: Row) -> tuple[Fate | None, Ref | None]:
        is_newest = row.get("is_newest", not self._is_now or row["retired_at"] is None)
        if not is_newest:
            return Fate.SUPERSEDED, self._successor(ref, row["retired_by"])
        ends, cause = row["valid_to"], row["ended_by"]
        if self._timelines is not None:
            times = self._timelines.of(ref.id, self._at)
            ends, cause = (None, None) if times is None else (times.valid_to, times.cause)
        if ends is not None and ends <= self._at:
            return (Fate.SUPERSEDED, self._successor(ref, cause)) if cause else (Fate.ENDED, None)
        is_expired = row["expires_at"] is not None and row["expires_at"] <= self._at
        return (Fate.ENDED if is_expired else None), None

    def _successor(self, ref: Ref, successor_id: str | None) -> Ref | None:
        return successor(self._tx, space=self._space, ref=ref, successor_id=successor_id)


def successor(tx: Tx, *, space: str, ref: Ref, successor_id: str | None) -> Ref | None:
    """Return the successor of a version of a fact: the next version, or the newest of the fact that replaced it."""
    if successor_id is None:
        return None
    if successor_id == ref.id:
        return Ref(RefKind.FACT, successor_id, ref.number + 1)
    last = tx.first("last_fact_version", space=space, id=successor_id)
    return None if last is None or last["version"] is None else Ref(RefKind.FACT, successor_id, last["version"])
