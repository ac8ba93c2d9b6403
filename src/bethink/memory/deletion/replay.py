"""Forgets again what tombstones cover: after a restore, an import, or anything else that brings old rows back."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from bethink.memory.deletion import plan as planning
from bethink.memory.deletion.identity import names_of_message, names_of_version
from bethink.memory.deletion.plan import VERSION, Step
from bethink.model.erasures import CONVERSATION, OTHERS, SAID, SESSION, SPACE, THREAD, WRITTEN
from bethink.model.moments import to_micros
from bethink.model.recall import RefKind
from bethink.model.records import Forgotten
from bethink.model.text import canonical_json
from bethink.store import erasures, holds, people
from bethink.store.db import Row, Tx
from bethink.store.erasures import Digests

_PLAIN = (RefKind.FACT, RefKind.SESSION_MEMORY, RefKind.DOCUMENT, THREAD)
"""What is listed by its id, with the time at which it was recorded."""
_NUMBERED = {SAID: RefKind.MESSAGE, WRITTEN: VERSION}
"""What is buried by a number, too, which a sync may change."""
_PAGE = 1_000


def replay(tx: Tx, *, space: str, back: bool = True) -> Forgotten | None:
    """Forget what is there again although it has a tombstone. Returns None if there is nothing of the kind.

    What was recorded after its name was forgotten is new, and stays. Under a legal hold, so does what an erasure names
    that has only been recorded: it was never gone. Without `back` it was forgotten elsewhere, and not here before, so
    that a hold protects it: raises `UnderLegalHold` then.
    """
    steps = covered(tx, space=space)
    return planning.carry_out(tx, steps, space=space, again=back) if steps else None


def covered(tx: Tx, *, space: str) -> list[Step]:
    """Return what is there although it has a tombstone."""
    held = holds.standing(tx, space=space) is not None
    waiting = holds.rows_open(tx, space=space) if held else set[str]()
    every = [stone for stone in erasures.tombstones(tx, space=space) if stone.erasure_id not in waiting]
    # In another copy, something else may have the number: it only counts as long as nothing better is known.
    better = {(_NUMBERED[stone.kind], stone.erasure_id) for stone in every if stone.kind in _NUMBERED}
    every = [stone for stone in every if (stone.kind, stone.erasure_id) not in better]
    stones = {(stone.kind, stone.digest): to_micros(stone.at) for stone in every}
    if not stones:
        return []
    found = _Cover(stones, erasures.digests(tx), space)
    steps = [Step(kind, row["id"]) for kind in _PLAIN for row in _listed(tx, kind, space) if found.has(kind, row)]
    messages: dict[str, list[int]] = {}
    for row in _messages(tx, space):
        named = {**row, "id": f"{row['session_id']}:{row['number']}"}
        conversation = canonical_json([row["agent"], row["key"]])
        if (
            found.knows(SAID, names_of_message(row))
            or found.has(RefKind.MESSAGE, named)
            or found.has(SESSION, {**row, "id": row["session_id"]})
            or found.has(CONVERSATION, {**row, "id": conversation})
        ):
            messages.setdefault(row["session_id"], []).append(row["number"])
    steps = [Step(RefKind.MESSAGE, each, tuple(numbers)) for each, numbers in messages.items()] + steps
    for kind in OTHERS:
        others = people.recorded(tx, kind, space=space)
        steps += [Step(kind, row["id"]) for row in others if found.has(kind, {**row, "id": row["name"]})]
    return steps + list(_versions(tx, found, space))


def _versions(tx: Tx, found: "_Cover", space: str) -> Iterator[Step]:
    """Yield the versions of documents that are covered, or a document of which all are."""
    for name, each in groupby(tx.all("list_written_versions", space=space), key=lambda row: row["document_id"]):
        rows = list(each)
        gone = [
            row
            for row in rows
            if found.knows(WRITTEN, names_of_version(row)) or (row["valid_to"] is not None and found.has(VERSION, row))
        ]
        if len(gone) == len(rows):
            yield Step(RefKind.DOCUMENT, name)
        else:
            yield from (Step(WRITTEN, name, (row["version"],)) for row in gone)


class _Cover:
    def __init__(self, stones: Mapping[tuple[str, str], int], digests: Digests, space: str) -> None:
        self._stones = stones
        self._digests = digests
        self._space = space
        self._kinds = {kind for kind, _ in stones}
        self._emptied = max((self._at(SPACE, space)), default=-1)

    def has(self, kind: str, row: Mapping[str, object]) -> bool:
        """Return whether something was recorded before it, or the whole space, was forgotten."""
        at = int(str(row["at"]))
        if at <= self._emptied:
            return True
        return kind in self._kinds and any(at <= when for when in self._at(kind, str(row["id"])))

    def knows(self, kind: str, names: Iterable[str]) -> bool:
        """Return whether one of these names was forgotten. No clock counts: nothing new gets such a name."""
        return kind in self._kinds and any(self._at(kind, name) for name in names)

    def _at(self, kind: str, name: str) -> list[int]:
        made = self._digests.every(self._space, kind, name)
        return [self._stones[kind, digest] for digest in made if (kind, digest) in self._stones]


def _messages(tx: Tx, space: str) -> Iterator[Row]:
    after: dict[str, object] = {"session": "", "number": 0}
    while rows := tx.all("page_recorded_messages", space=space, limit=_PAGE, **after):
        yield from rows
        after = {"session": rows[-1]["session_id"], "number": rows[-1]["number"]}


def _listed(tx: Tx, kind: str, space: str) -> list[Row]:
    return tx.all(f"list_recorded_{kind}", space=space)
