"""Deletes rows with tombstones again: after a restore, an import, or anything else that brings old rows back."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from bethink.memory.deletion import plan as planning
from bethink.memory.deletion.identity import names_of_message, names_of_version
from bethink.memory.deletion.plan import VERSION, Step
from bethink.model.erasures import CONVERSATION, OTHERS, SAID, SESSION, SPACE, THREAD, WRITTEN
from bethink.model.moments import to_micros
from bethink.model.records import Deletion
from bethink.model.refs import RefKind
from bethink.model.text import canonical_json
from bethink.store import erasures, holds, people
from bethink.store.db import Row, Tx
from bethink.store.erasures import Digests

_PLAIN = (RefKind.FACT, RefKind.SESSION_SUMMARY, RefKind.DOCUMENT, THREAD)
"""Kinds that are listed by id, with the time of recording."""
_NUMBERED = {SAID: RefKind.MESSAGE, WRITTEN: VERSION}
"""Kinds whose tombstones may also have a number, which a sync may change."""
_PAGE = 1_000


def replay(tx: Tx, *, space: str, back: bool = True) -> Deletion | None:
    """Delete items again that exist although they have a tombstone. Return None if there are none.

    Items recorded after the deletion of their name are new, and stay. So do items under a legal hold whose erasure was
    recorded but not carried out. Without `back`, the items were deleted in another copy and never here, so a hold
    protects them: raises `LegalHoldError` then.
    """
    steps = find_covered(tx, space=space)
    return planning.carry_out(tx, steps, space=space, again=back) if steps else None


def find_covered(tx: Tx, *, space: str) -> list[Step]:
    """Return the items that exist although they have a tombstone."""
    on_hold = holds.find_active(tx, space=space) is not None
    waiting = holds.open_erasures(tx, space=space) if on_hold else set[str]()
    tombstones = [stone for stone in erasures.tombstones(tx, space=space) if stone.erasure_id not in waiting]
    # In another copy, the number may belong to another item: it counts only without a better name.
    better = {(_NUMBERED[stone.kind], stone.erasure_id) for stone in tombstones if stone.kind in _NUMBERED}
    tombstones = [stone for stone in tombstones if (stone.kind, stone.erasure_id) not in better]
    stones = {(stone.kind, stone.digest): to_micros(stone.at) for stone in tombstones}
    if not stones:
        return []
    cover = _Cover(stones, erasures.digests(tx), space)
    steps = [
        Step(kind, row["id"]) for kind in _PLAIN for row in _list_recorded(tx, kind, space) if cover.has(kind, row)
    ]
    messages: dict[str, list[int]] = {}
    for row in _messages(tx, space):
        numbered_row = {**row, "id": f"{row['session_id']}:{row['number']}"}
        conversation = canonical_json([row["agent"], row["key"]])
        if (
            cover.has_name(SAID, names_of_message(row))
            or cover.has(RefKind.MESSAGE, numbered_row)
            or cover.has(SESSION, {**row, "id": row["session_id"]})
            or cover.has(CONVERSATION, {**row, "id": conversation})
        ):
            messages.setdefault(row["session_id"], []).append(row["number"])
    steps = [Step(RefKind.MESSAGE, session_id, tuple(numbers)) for session_id, numbers in messages.items()] + steps
    for kind in OTHERS:
        others = people.list_recorded(tx, kind, space=space)
        steps += [Step(kind, row["id"]) for row in others if cover.has(kind, {**row, "id": row["name"]})]
    return steps + list(_versions(tx, cover, space))


def _versions(tx: Tx, cover: "_Cover", space: str) -> Iterator[Step]:
    """Yield the covered versions of documents, or the document if all its versions are covered."""
    for name, group in groupby(tx.all("list_written_versions", space=space), key=lambda row: row["document_id"]):
        rows = list(group)
        covered = [
            row
            for row in rows
            if cover.has_name(WRITTEN, names_of_version(row))
            or (row["valid_to"] is not None and cover.has(VERSION, row))
        ]
        if len(covered) == len(rows):
            yield Step(RefKind.DOCUMENT, name)
        else:
            yield from (Step(WRITTEN, name, (row["version"],)) for row in covered)


class _Cover:
    def __init__(self, stones: Mapping[tuple[str, str], int], digests: Digests, space: str) -> None:
        self._stones = stones
        self._digests = digests
        self._space = space
        self._kinds = {kind for kind, _ in stones}
        self._emptied = max((self._at(SPACE, space)), default=-1)

    def has(self, kind: str, row: Mapping[str, object]) -> bool:
        """Return whether an item was recorded before it, or the whole space, was deleted."""
        at = int(str(row["at"]))
        if at <= self._emptied:
            return True
        return kind in self._kinds and any(at <= when for when in self._at(kind, str(row["id"])))

    def has_name(self, kind: str, names: Iterable[str]) -> bool:
        """Return whether one of these names was deleted, at any time: no new item gets such a name."""
        return kind in self._kinds and any(self._at(kind, name) for name in names)

    def _at(self, kind: str, name: str) -> list[int]:
        digests = self._digests.all_digests(self._space, kind, name)
        return [self._stones[kind, digest] for digest in digests if (kind, digest) in self._stones]


def _messages(tx: Tx, space: str) -> Iterator[Row]:
    after: dict[str, object] = {"session": "", "number": 0}
    while rows := tx.all("page_recorded_messages", space=space, limit=_PAGE, **after):
        yield from rows
        after = {"session": rows[-1]["session_id"], "number": rows[-1]["number"]}


def _list_recorded(tx: Tx, kind: str, space: str) -> list[Row]:
    return tx.all(f"list_recorded_{kind}", space=space)
