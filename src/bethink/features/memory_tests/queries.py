"""Queries of memory tests."""

import json

from bethink.features.memory_tests.records import MemoryTest
from bethink.model.moments import from_micros, from_micros_or_none
from bethink.model.refs import Ref, RefKind
from bethink.model.text import canonical_json
from bethink.store import jobs
from bethink.store.db import NO_LIMIT, Row, Tx


def put(tx: Tx, test: MemoryTest, *, space: str) -> None:
    """Store a test. One with the same id is replaced and its text removed from the file."""
    jobs.ensure_space(tx, space=space)
    tx.deletes = tx.deletes or find(tx, space=space, test_id=test.id) is not None
    about = test.about
    tx.run(
        "put_test",
        space=space,
        id=test.id,
        question=test.question,
        must=canonical_json(test.must),
        must_not=canonical_json(test.must_not),
        as_of=test.as_of,
        known_at=test.known_at,
        first_items=test.limit,
        kinds=canonical_json(test.kinds),
        tags=canonical_json(test.tags),
        note=test.note,
        about_kind=about and about.kind.value,
        about_id=about and about.id,
        about_version=about and about.number,
        now=tx.now,
    )


def find(tx: Tx, *, space: str, test_id: str) -> MemoryTest | None:
    """Return a test, or None."""
    row = tx.first("find_test", space=space, id=test_id)
    return None if row is None else _test(row)


def page(tx: Tx, *, space: str, limit: int = NO_LIMIT, after: str = "") -> list[MemoryTest]:
    """Return tests, ordered by id, after `after`."""
    return [_test(row) for row in tx.all("page_tests", space=space, limit=limit, after=after)]


def remove(tx: Tx, *, space: str, test_id: str) -> bool:
    """Remove a test. Returns False if it does not exist."""
    tx.deletes = True
    return tx.run("remove_test", space=space, id=test_id) == 1


def _test(row: Row) -> MemoryTest:
    kind = row["about_kind"]
    return MemoryTest(
        id=row["id"],
        question=row["question"],
        must=tuple(json.loads(row["must"])),
        must_not=tuple(json.loads(row["must_not"])),
        as_of=from_micros_or_none(row["as_of"]),
        known_at=from_micros_or_none(row["known_at"]),
        limit=row["first_items"],
        kinds=tuple(map(RefKind, json.loads(row["kinds"]))),
        tags=tuple(json.loads(row["tags"])),
        note=row["note"],
        about=None if kind is None else Ref(RefKind(kind), row["about_id"], row["about_version"]),
        created_at=from_micros(row["created_at"]),
    )
