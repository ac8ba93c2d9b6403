"""The access log: entries are added, read page by page, and deleted when they are old."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, cast

from bethink.model.access import AccessEntry, Interface
from bethink.model.moments import EPOCH, from_micros
from bethink.model.pages import cursor_of, read_cursor
from bethink.model.paging import Page
from bethink.store.db import NO_LIMIT, Row, Tx, until

EVERYTHING = "*"
"""Ref of an entry that covers everything in its space, or without a space everything in the database."""
_MAX_SCANNED = 20_000
"""Maximum number of entries scanned for one page, so that a rare key costs no more than a frequent one."""


_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class NewEntry(NamedTuple):
    """An entry to add. `at` is the time of the first transaction that tries to add it."""

    id: str
    space: str
    interface: str
    key: str
    person: str
    operation: str
    refs: Sequence[str]
    at: datetime | None = None


def add(tx: Tx, entry: NewEntry) -> datetime:
    """Add an entry and return its time. An existing entry is left unchanged."""
    at = entry.at or tx.now
    tx.run(
        "insert_access",
        space=entry.space, at=at, id=entry.id, interface=entry.interface, key=entry.key, person=entry.person,
        operation=entry.operation,
        refs=_encoder.encode(entry.refs),
    )  # fmt: skip
    return at


def page(  # noqa: PLR0913 - each is a filter, and all are keyword-only
    tx: Tx,
    *,
    space: str | None,
    key: str | None,
    person: str | None,
    operation: str | None,
    ref: str | None,
    since: datetime | None,
    before: datetime | None,
    after: str,
    limit: int,
) -> Page[AccessEntry]:
    """Return a page of entries, the newest first."""
    start = cast("tuple[int, str] | None", read_cursor(after, int, str)) or (until(before), "~")
    bounds = {"since": since or EPOCH, "at": start[0], "id": start[1], "space": space}
    edge = tx.first("access_edge", window=_MAX_SCANNED - 1, **bounds)
    rows = tx.all(
        "page_access",
        **bounds, edge_at=edge["at"] if edge else -NO_LIMIT, edge_id=edge["id"] if edge else "", key=key, person=person,
        operation=operation, ref=None if ref is None else _like(ref),
        every=None if ref is None else f'%"{ref.partition(":")[0]}:*"%', everything=f'["{EVERYTHING}"]', limit=limit,
    )  # fmt: skip
    end = rows[-1] if len(rows) == limit else edge
    items = tuple(entry for entry in map(_entry, rows) if ref is None or any(covers(item, ref) for item in entry.refs))
    return Page(items=items, next="" if end is None else cursor_of(end["at"], end["id"]))


def prune(tx: Tx, *, before: datetime, limit: int) -> int:
    """Delete the oldest entries before a time, and return how many were deleted."""
    return tx.run("prune_access", before=before, limit=limit)


def _like(ref: str) -> str:
    """Return the pattern of entries that may name a memory: messages are stored as ranges."""
    kind, _, identifier = ref.partition(":")
    name = json.dumps(f"{kind}:{identifier.rpartition(':')[0] or identifier}", ensure_ascii=False)[1:-1]
    for special in "!%_":
        name = name.replace(special, f"!{special}")
    return f'%"{name}%'


def covers(entry: str, ref: str) -> bool:
    """Return whether an entry names this memory, or a range that contains it."""
    if entry in (ref, f"{ref.partition(':')[0]}:*", EVERYTHING):
        return True
    (name, first, last), (ref_name, number, _) = _parts(entry), _parts(ref)
    if first is None or number is None:  # one of the two names every version
        entry_name = entry if first is None else name
        return entry_name == (ref if number is None else ref_name)
    return name == ref_name and last is not None and first <= number <= last


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
        interface=Interface(row["interface"]),
        operation=row["operation"],
        space=row["space_id"],
        key=row["key_prefix"],
        person=row["person"],
        refs=tuple(json.loads(row["refs"])),
    )
