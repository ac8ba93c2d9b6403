"""The access record: entries are added, read page by page, and removed when they are old."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, cast

from bethink.model.access import AccessEntry, AccessPage, Door
from bethink.model.moments import EPOCH, from_micros
from bethink.model.pages import cursor_of, read_cursor
from bethink.store.db import NO_LIMIT, Row, Tx, until

EVERYTHING = "*"
"""What stands in an entry for everything in its space; without a space, for everything in the database."""
_LOOKED = 20_000
"""How many entries one page looks at, so that a rare key costs no more than a frequent one."""


class NewEntry(NamedTuple):
    """An entry to add. `at` is the time of the transaction that first tries to."""

    id: str
    space: str
    door: str
    key: str
    person: str
    verb: str
    refs: Sequence[str]
    at: datetime | None = None


def add(tx: Tx, entry: NewEntry) -> datetime:
    """Add an entry and return its time. One that is there already is left as it is."""
    at = entry.at or tx.now
    tx.run(
        "insert_access",
        space=entry.space, at=at, id=entry.id, door=entry.door, key=entry.key, person=entry.person, verb=entry.verb,
        refs=json.dumps(entry.refs, ensure_ascii=False, separators=(",", ":")),
    )  # fmt: skip
    return at


def page(  # noqa: PLR0913 - each narrows the page, and all are named
    tx: Tx,
    *,
    space: str | None,
    key: str | None,
    person: str | None,
    verb: str | None,
    ref: str | None,
    since: datetime | None,
    before: datetime | None,
    after: str,
    limit: int,
) -> AccessPage:
    """Return a page of entries, the newest first."""
    start = cast("tuple[int, str] | None", read_cursor(after, int, str)) or (until(before), "~")
    place = {"since": since or EPOCH, "at": start[0], "id": start[1], "space": space}
    edge = tx.one("access_edge", window=_LOOKED - 1, **place)
    rows = tx.all(
        "page_access",
        **place, edge_at=edge["at"] if edge else -NO_LIMIT, edge_id=edge["id"] if edge else "", key=key, person=person,
        verb=verb, ref=None if ref is None else _like(ref),
        every=None if ref is None else f'%"{ref.partition(":")[0]}:*"%', everything=f'["{EVERYTHING}"]', limit=limit,
    )  # fmt: skip
    end = rows[-1] if len(rows) == limit else edge
    items = tuple(entry for entry in map(_entry, rows) if ref is None or any(covers(each, ref) for each in entry.refs))
    return AccessPage(items=items, next=None if end is None else cursor_of(end["at"], end["id"]))


def prune(tx: Tx, *, before: datetime, limit: int) -> int:
    """Remove the oldest entries from before a time, and return how many went."""
    return tx.run("prune_access", before=before, limit=limit)


def _like(ref: str) -> str:
    """Return the pattern of entries that may name a memory: messages stand there as ranges."""
    kind, _, rest = ref.partition(":")
    name = json.dumps(f"{kind}:{rest.rpartition(':')[0] or rest}", ensure_ascii=False)[1:-1]
    for special in "!%_":
        name = name.replace(special, f"!{special}")
    return f'%"{name}%'


def covers(entry: str, ref: str) -> bool:
    """Return whether what an entry names is this memory, or contains it."""
    if entry in (ref, f"{ref.partition(':')[0]}:*", EVERYTHING):
        return True
    (name, first, last), (asked, number, _) = _parts(entry), _parts(ref)
    if first is None or number is None:  # one of the two is about every version
        whole = entry if first is None else name
        return whole == (ref if number is None else asked)
    return name == asked and last is not None and first <= number <= last


def _parts(ref: str) -> tuple[str, int | None, int | None]:
    name, _, numbers = ref.rpartition(":")
    first, _, last = numbers.partition("-")
    if ":" not in name or not first.isdigit() or (last and not last.isdigit()):
        return ref, None, None
    return name, int(first), int(last or first)


def _entry(row: Row) -> AccessEntry:
    return AccessEntry(
        id=row["id"],
        at=from_micros(row["at"]),
        door=Door(row["door"]),
        verb=row["verb"],
        space=row["space_id"],
        key=row["key_prefix"],
        person=row["person"],
        refs=tuple(json.loads(row["refs"])),
    )
