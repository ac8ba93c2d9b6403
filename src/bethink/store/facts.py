"""Facts: stored by id, found by their words or by their metadata."""

import json
import re

from bethink.model.ids import shard_for
from bethink.model.records import Fact
from bethink.model.text import canonical_json
from bethink.store.db import Row, Tx
from bethink.store.sql import Dialect

_WORD = re.compile(r"\w+")
_MAX_WORDS = 64


def put(tx: Tx, *, space: str, fact: Fact) -> None:
    """Store a fact, replacing the one with the same id."""
    tx.run("ensure_space", space=space, shard=shard_for(space), now=tx.now)
    tx.run(
        "put_fact",
        space=space,
        id=fact.id,
        content=fact.content,
        source=fact.source,
        tags=canonical_json(fact.tags),
        metadata=canonical_json(fact.metadata),
        created_at=tx.now if fact.created_at is None else fact.created_at,
    )


def search(tx: Tx, *, space: str, question: str, limit: int) -> list[Fact]:
    """Return the facts that share words with a question, the best match first; none for no words."""
    words = _WORD.findall(question)[:_MAX_WORDS]
    if not words or limit <= 0:
        return []
    if tx.dialect is Dialect.SQLITE:
        asked = " OR ".join(f'"{word}"' for word in words)
    else:
        asked = " | ".join(f"'{word}'" for word in words)
    return [_fact(row) for row in tx.all("search_facts", space=space, words=asked, limit=limit)]


def with_metadata(tx: Tx, *, space: str, key: str, value: str) -> list[Fact]:
    """Return the facts whose metadata holds `value` under `key`, oldest first."""
    return [_fact(row) for row in tx.all("facts_with_metadata", space=space, key=key, value=value)]


def delete(tx: Tx, *, space: str, fact_id: str) -> bool:
    """Remove a fact. False if there was none."""
    return tx.run("delete_fact", space=space, id=fact_id) == 1


def count(tx: Tx, *, space: str) -> int:
    """Count the facts of a space."""
    row = tx.one("count_facts", space=space)
    return 0 if row is None else row["count"]


def _fact(row: Row) -> Fact:
    return Fact(
        id=row["id"],
        content=row["content"],
        source=row["source"],
        tags=tuple(json.loads(row["tags"])),
        metadata=json.loads(row["metadata"]),
        created_at=row["created_at"],
    )
