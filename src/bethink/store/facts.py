"""Facts: stored in versions that are never overwritten, and found by words, metadata or content."""

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from bethink.errors import VersionConflictError
from bethink.model.changes import ChangeKind
from bethink.model.facts import Evidence, Fact, Maker, Quote, SourceMessage
from bethink.model.filters import Filter
from bethink.model.jobs import JobKind
from bethink.model.kinds import kind_of
from bethink.model.moments import from_micros, from_micros_or_none, to_micros
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind
from bethink.model.text import canonical_json
from bethink.model.words import gist
from bethink.store import changes, jobs, terms
from bethink.store.candidates import search_rows
from bethink.store.db import NO_LIMIT, Row, Tx, checked_limit, until

_QUOTED = re.compile(r'"([^"]*)"')


def put(
    tx: Tx, *, space: str, fact: Fact, expected: int | None = None, pinned_at: datetime | None = None
) -> None:  # fmt: skip
    """Store a fact. It replaces the current version of the same id.

    It stays pinned if it was; `pinned_at` is for a fact that is no longer stored.
    Raises `VersionConflictError` if `expected` is given and is not the current version.
    """
    jobs.ensure_space(tx, space=space)
    lock(tx, space=space)
    existing = find(tx, space=space, fact_id=fact.id)
    current = None if existing is None else existing.version
    if expected is not None and (current or 0) != expected:
        now = "does not exist" if current is None else f"has version {current}"
        raise VersionConflictError(f"Fact {fact.id} {now}, expected version {expected}.", current=current)
    if existing is not None and existing == replace(fact, created_at=fact.created_at or existing.created_at):
        return
    last = tx.first("last_fact_version", space=space, id=fact.id)
    version = 1 if last is None or last["version"] is None else last["version"] + 1
    if existing is not None:
        retire(tx, space=space, fact_id=fact.id, successor_id=fact.id)
    pinned = replace(fact, pinned_at=pinned_at if existing is None else existing.pinned_at)
    _insert(tx, space=space, fact=pinned, version=version, effect=None, token=None)
    kind = ChangeKind.FACT_ADDED if existing is None else ChangeKind.FACT_CORRECTED
    changes.record(tx, space=space, kind=kind, ref=Ref(RefKind.FACT, fact.id, version))


class Support(NamedTuple):
    """One occurrence of a fact in messages: its effect key, the learned statement, and its quotes."""

    effect: str
    statement: str
    quotes: tuple[Quote, ...]


def learn(tx: Tx, *, space: str, fact: Fact, token: int, support: Support) -> None:
    """Store a learned fact with its quotes. The effect key of its support ensures that it is stored once."""
    _insert(tx, space=space, fact=fact, version=1, effect=support.effect, token=token)
    add_support(tx, space=space, fact_id=fact.id, support=support)
    ref = Ref(RefKind.FACT, fact.id, 1)
    changes.record(tx, space=space, kind=ChangeKind.FACT_ADDED, ref=ref, session_id=fact.source)


def add_support(tx: Tx, *, space: str, fact_id: str, support: Support) -> None:
    """Add another occurrence of a fact."""
    sources = {
        (quote.session_id, quote.number): SourceMessage(quote.session_id, quote.number) for quote in support.quotes
    }
    add_sources(tx, space=space, fact_id=fact_id, sources=sources.values())
    for position, quote in enumerate(support.quotes):
        tx.run(
            "insert_fact_quote",
            space=space, fact=fact_id, support=support.effect, place=position, session=quote.session_id,
            number=quote.number, text=quote.text, context=int(quote.context), statement=support.statement,
            parts=len(support.quotes),
        )  # fmt: skip


def supports(tx: Tx, *, space: str, fact_id: str) -> list[Support]:
    """Return the occurrences of a fact whose quotes are complete, the first one first."""
    rows_by_effect: dict[str, list[Row]] = {}
    for row in tx.all("fact_quotes", space=space, id=fact_id):
        rows_by_effect.setdefault(row["support"], []).append(row)
    complete = {effect: rows for effect, rows in rows_by_effect.items() if len(rows) == rows[0]["parts"]}
    first = learned_effect(tx, space=space, fact_id=fact_id)
    return [
        Support(effect, rows[0]["statement"], tuple(map(_quote_of, rows)))
        for effect, rows in sorted(complete.items(), key=lambda item: (item[0] != first, item[0]))
    ]


def drop_broken_supports(tx: Tx, *, space: str, fact_ids: Collection[str]) -> None:
    """Delete the occurrences of these facts that have lost a quote."""
    if fact_ids:
        tx.run("delete_broken_supports", space=space, ids=sorted(fact_ids))


def quotes_of(tx: Tx, *, space: str, fact_id: str) -> list[Quote]:
    """Return the quotes of a learned fact."""
    return [_quote_of(row) for row in tx.all("fact_quotes", space=space, id=fact_id)]


def _quote_of(row: Row) -> Quote:
    return Quote(
        session_id=row["session_id"], number=row["number"], text=row["text"], context=bool(row["context"])
    )  # fmt: skip


def mark_stated(tx: Tx, *, space: str, fact_id: str) -> None:
    """Record that a person approved a fact."""
    tx.run("mark_fact_stated", space=space, id=fact_id)


def renew(tx: Tx, *, space: str, fact_id: str, expires_at: datetime) -> None:
    """Postpone the expiry of a fact. A fact that never expires is not changed."""
    tx.run("renew_fact", space=space, id=fact_id, at=expires_at)


def pin(tx: Tx, *, space: str, fact_id: str) -> bool:
    """Pin a fact; return False if it is pinned already or does not exist."""
    return tx.run("pin_fact", space=space, id=fact_id, now=tx.now) == 1


def unpin(tx: Tx, *, space: str, fact_id: str) -> bool:
    """Unpin a fact; return False if it was not pinned."""
    return tx.run("unpin_fact", space=space, id=fact_id, now=tx.now) == 1


def learned_effect(tx: Tx, *, space: str, fact_id: str) -> str | None:
    """Return the effect key under which a fact was first learned."""
    row = tx.first("learned_effect", space=space, id=fact_id)
    return None if row is None else row["effect"]


def end(tx: Tx, *, space: str, fact: Fact, at: datetime, successor_id: str | None) -> None:
    """End a fact at a time, as a new version that names its successor, if any."""
    retire(tx, space=space, fact_id=fact.id, successor_id=fact.id)
    last = tx.first("last_fact_version", space=space, id=fact.id)
    version = 1 if last is None else (last["version"] or 0) + 1
    _insert(
        tx, space=space, fact=replace(fact, valid_to=at), version=version, effect=None, token=None,
        ended_by=successor_id
    )  # fmt: skip
    changes.record(tx, space=space, kind=ChangeKind.FACT_ENDED, ref=Ref(RefKind.FACT, fact.id, version))


def _insert(
    tx: Tx,
    *,
    space: str,
    fact: Fact,
    version: int,
    effect: str | None,
    token: int | None,
    ended_by: str | None = None,
) -> None:
    made_by = fact.created_by
    tx.run(
        "insert_fact",
        space=space,
        id=fact.id,
        version=version,
        content=fact.text,
        kind=fact.kind,
        origin=fact.origin,
        source=fact.source,
        tags=canonical_json(fact.tags),
        metadata=canonical_json(fact.metadata),
        entities=canonical_json(fact.entities),
        subject=fact.subject,
        slot=fact.slot,
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
        created_at=tx.now if fact.created_at is None else fact.created_at,
        now=tx.now,
        digest=gist(fact.text),
        effect=effect,
        token=token,
        model=made_by and made_by.model,
        prompt=made_by and made_by.prompt,
        extractor=made_by and made_by.extractor,
        evidence=fact.evidence,
        speaker=fact.speaker,
        scope=fact.scope,
        happened_from=fact.event_from,
        happened_to=fact.event_to,
        flags=canonical_json(fact.flags),
        ended_by=ended_by,
        expires_at=fact.expires_at,
        pinned_at=fact.pinned_at,
    )
    words = terms.fact_words(fact.text, fact.kind, fact.slot)
    terms.put(tx, [terms.Entry(RefKind.FACT, fact.id, version, to_micros(tx.now), words)], space=space)
    jobs.queue(tx, space=space, kind=JobKind.INDEX, key=jobs.SPACE_KEY, watermark=0)


def lock(tx: Tx, *, space: str) -> None:
    """Lock the facts of a space until this transaction ends: only one at a time may reconcile new facts."""
    tx.first("lock_space", space=space)


def add_sources(tx: Tx, *, space: str, fact_id: str, sources: Iterable[SourceMessage]) -> None:
    """Add source messages to a fact."""
    for source in sources:
        tx.run("insert_fact_source", space=space, fact=fact_id, session=source.session_id, number=source.number)


def sources_of(tx: Tx, *, space: str, fact_id: str) -> list[SourceMessage]:
    """Return the source messages of a learned fact."""
    return [SourceMessage(row["session_id"], row["number"]) for row in tx.all("fact_sources", space=space, id=fact_id)]


def learned_version(tx: Tx, *, space: str, fact_id: str) -> Fact | None:
    """Return a fact as it was learned, before any correction. Returns None if it was stated by hand."""
    row = tx.first("learned_fact", space=space, id=fact_id)
    return None if row is None else fact_of(row)


def last_said(tx: Tx, *, space: str, fact_id: str) -> datetime | None:
    """Return when the newest source message of a fact was said."""
    row = tx.first("fact_last_said", space=space, id=fact_id)
    return None if row is None else from_micros_or_none(row["at"])


def list_current(tx: Tx, *, space: str) -> list[Fact]:
    """Return every current fact of a space, the oldest first."""
    return [fact_of(row) for row in tx.all("list_facts", space=space, at=NO_LIMIT)]


def all_sources(tx: Tx, *, space: str) -> dict[str, list[SourceMessage]]:
    """Return the source messages of every learned fact of a space."""
    sources: dict[str, list[SourceMessage]] = {}
    for row in tx.all("all_fact_sources", space=space):
        sources.setdefault(row["fact_id"], []).append(SourceMessage(row["session_id"], row["number"]))
    return sources


def retire(tx: Tx, *, space: str, fact_id: str, successor_id: str) -> bool:
    """Mark a fact as replaced by its successor. The row is kept."""
    retired = tx.run("retire_fact", space=space, id=fact_id, by=successor_id, now=tx.now) == 1
    if retired:
        changes.record_retired(tx, space=space, fact_id=fact_id, successor_id=successor_id)
    return retired


def find(tx: Tx, *, space: str, fact_id: str) -> Fact | None:
    """Return the current version of a fact, if there is one."""
    row = tx.first("find_fact", space=space, id=fact_id)
    return None if row is None else fact_of(row)


def page(
    tx: Tx, *, space: str, as_of: datetime | None, limit: int, after: str, only: Filter | None = None
) -> list[Fact]:
    """Return the facts that are current, or were at a time, ordered by id, after one."""
    now = tx.now if as_of is None else as_of
    rows = tx.all("page_facts", only, space=space, at=until(as_of), now=now, limit=limit, after=after)
    return [fact_of(row) for row in rows]


def versions(tx: Tx, *, space: str, fact_id: str) -> list[Fact]:
    """Return every version of a fact, oldest first."""
    return [fact_of(row) for row in tx.all("fact_versions", space=space, id=fact_id)]


def with_same_text(tx: Tx, *, space: str, content: str) -> list[Fact]:
    """Return the current facts with the same or nearly the same words."""
    return [fact_of(row) for row in tx.all("facts_saying", space=space, digest=gist(content))]


def in_slot(tx: Tx, *, space: str, subject: str, slot: str) -> list[Fact]:
    """Return the current facts about the value of a subject's slot."""
    return [fact_of(row) for row in tx.all("facts_in_slot", space=space, subject=subject, slot=slot)]


def preferences(tx: Tx, *, space: str, kinds: list[str], limit: int) -> list[Fact]:
    """Return the valid preferences and instructions, the newest first."""
    rows = tx.all("list_wishes", space=space, kinds=kinds, now=tx.now, limit=limit)
    return [fact_of(row) for row in rows]


def attributes(tx: Tx, *, space: str, limit: int) -> list[Fact]:
    """Return the valid facts that can have only one value at a time, the newest first."""
    return [fact_of(row) for row in tx.all("list_attributes", space=space, now=tx.now, limit=limit)]


def search(
    tx: Tx, *, space: str, question: str, limit: int, as_of: datetime | None = None, only: Filter | None = None
) -> list[Fact]:
    """Return facts that share words with a question, the best match first; empty for a question without words.

    Text in double quotes must occur exactly. With `as_of`, searches the facts that were current then.
    """
    if not checked_limit(limit):
        return []
    at = until(as_of)
    literal = [part.casefold() for part in _QUOTED.findall(question) if part.strip()]
    rows = search_rows(tx, "search_facts", space=space, question=question, kind=RefKind.FACT, as_of=as_of, only=only)
    if literal:
        # Quoted text may begin inside a word, where the index cannot search.
        ranked_ids = {row["id"] for row in rows}
        rows += [row for row in tx.all("list_facts", only, space=space, at=at) if row["id"] not in ranked_ids]
        rows = [row for row in rows if all(part in row["content"].casefold() for part in literal)]
    return [fact_of(row) for row in rows[:limit]]


def with_metadata(tx: Tx, *, space: str, key: str, value: str) -> list[Fact]:
    """Return the facts whose metadata has `value` under `key`, the oldest first."""
    return [fact_of(row) for row in tx.all("facts_with_metadata", space=space, key=key, value=value)]


def delete(tx: Tx, *, space: str, fact_id: str) -> None:
    """Delete all versions of a fact. Facts that it replaced stay replaced, because they were no longer true."""
    tx.run("delete_fact", space=space, id=fact_id)
    tx.run("delete_fact_sources", space=space, id=fact_id)
    tx.run("delete_fact_quotes", space=space, id=fact_id)
    tx.run("forget_reviews_of_fact", space=space, fact=fact_id)
    tx.run("delete_feedback", space=space, fact=fact_id)
    tx.deletes = True


def count(tx: Tx, *, space: str) -> int:
    """Count the current facts of a space."""
    row = tx.first("count_facts", space=space, now=tx.now)
    return 0 if row is None else row["count"]


def fact_of(row: Row) -> Fact:
    """Read a fact from its row."""
    maker = Maker(model=row["model"], prompt=row["prompt"], extractor=row["extractor"]) if row["model"] else None
    unmarked = Evidence.QUOTED if maker is not None else Evidence.STATED  # stored before evidence was recorded
    return Fact(
        id=row["id"],
        text=row["content"],
        source=row["source"],
        tags=tuple(json.loads(row["tags"])),
        metadata=json.loads(row["metadata"]),
        created_at=from_micros(row["created_at"]),
        kind=kind_of(row["kind"]),
        origin=Origin(row["origin"]),
        entities=tuple(json.loads(row["entities"])),
        subject=row["subject"],
        slot=row["slot"],
        valid_from=from_micros_or_none(row["valid_from"]),
        valid_to=from_micros_or_none(row["valid_to"]),
        event_from=from_micros_or_none(row["happened_from"]),
        event_to=from_micros_or_none(row["happened_to"]),
        speaker=row["speaker"],
        scope=row["scope"],
        flags=tuple(json.loads(row["flags"])),
        expires_at=from_micros_or_none(row["expires_at"]),
        pinned_at=from_micros_or_none(row["pinned_at"]) if row["unpinned_at"] is None else None,
        evidence=Evidence(row["evidence"]) if row["evidence"] else unmarked,
        recorded_at=from_micros_or_none(row["recorded_at"]),
        replaced_at=from_micros_or_none(row["retired_at"]),
        replaced_by=row["retired_by"],
        version=row["version"],
        created_by=maker,
    )
