"""Facts: stored in versions that are never overwritten, and found by words, metadata or content."""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from bethink.errors import VersionConflictError
from bethink.model.changes import ChangeKind
from bethink.model.facts import Evidence, Fact, FactStatus, Maker, Quote, SourceMessage
from bethink.model.filters import Filter
from bethink.model.ids import new_id
from bethink.model.jobs import JobKind
from bethink.model.kinds import kind_of
from bethink.model.moments import Micros, from_micros, from_micros_or_none, to_micros
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind
from bethink.model.reviews import ClaimChange
from bethink.model.text import canonical_json
from bethink.model.views import NOW, TimeView
from bethink.model.words import gist
from bethink.store import changes, jobs, statements, terms, views
from bethink.store.candidates import search_rows
from bethink.store.db import Row, Tx, checked_limit
from bethink.store.statements import SAVED, LinkKind, StatementOrigin

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
    if existing is not None:
        fact = _with_existing_times(tx, fact, existing, space=space)
    current = None if existing is None else existing.version
    if expected is not None and (current or 0) != expected:
        now = "does not exist" if current is None else f"has version {current}"
        raise VersionConflictError(f"Fact {fact.id} {now}, expected version {expected}.", current=current)
    if existing is not None and existing == fact:
        return
    last = tx.first("last_fact_version", space=space, id=fact.id)
    version = 1 if last is None or last["version"] is None else last["version"] + 1
    if existing is not None:
        retire(tx, space=space, fact_id=fact.id, successor_id=fact.id)
    pinned = replace(fact, pinned_at=pinned_at if existing is None else existing.pinned_at)
    _insert(tx, space=space, fact=pinned, version=version, effect=None, token=None)
    _state(tx, fact, existing, space=space, version=version)
    kind = ChangeKind.FACT_ADDED if existing is None else ChangeKind.FACT_CORRECTED
    changes.record(tx, space=space, kind=kind, ref=Ref(RefKind.FACT, fact.id, version))


def _state(tx: Tx, fact: Fact, existing: Fact | None, *, space: str, version: int) -> None:
    """Store when a saved fact is true. A new text alone says nothing about that, but puts dependent facts in doubt."""
    if existing is None or _times(existing) != _times(fact):
        statements.drop(tx, space=space, fact_id=fact.id)
        origin = StatementOrigin(fact.created_at or tx.now)
        support = f"{SAVED}{version}"
        statements.add(tx, fact, origin, space=space, support=support, change=ClaimChange.NEW)
    if existing is not None and existing.text != fact.text:
        statements.decide(
            tx, space=space, target_id=fact.id, kind=LinkKind.REWORDS, support=f"version:{version}"
        )  # fmt: skip
    affected = views.neighbors(tx, space=space, fact_ids=[fact.id])
    views.refresh(tx, space=space, fact_ids=affected, new=[fact.id] if existing is None else ())


def _with_existing_times(tx: Tx, fact: Fact, existing: Fact, *, space: str) -> Fact:
    """Return a fact with the times of its current version, if it is stated as before.

    Without a time, the same text is not stated again as long as it is true; after that, it is true again.
    """
    if fact.created_at is None and fact.text == existing.text and views.is_lasting(existing.status):
        fact = replace(fact, created_at=existing.created_at)
    stated = (fact.created_at, fact.valid_from, fact.valid_to, fact.subject, fact.slot)
    same = any(
        stated == (from_micros(entry.said_at), from_micros_or_none(entry.begins_at), from_micros_or_none(entry.ends_at),
                   entry.subject, entry.slot)
        for entry in statements.of_facts(tx, space=space, fact_ids=[fact.id]) if entry.dropped_at is None
    )  # fmt: skip
    return replace(
        fact, created_at=existing.created_at, valid_from=existing.valid_from, valid_to=existing.valid_to
    ) if same else fact  # fmt: skip


def _times(fact: Fact) -> tuple[object, ...]:
    return fact.created_at, fact.valid_from, fact.valid_to, fact.subject, fact.slot


class Support(NamedTuple):
    """One occurrence of a fact in messages: its effect key, the learned statement, and its quotes."""

    effect: str
    statement: str
    quotes: tuple[Quote, ...]


def learn(tx: Tx, *, space: str, fact: Fact, token: int, support: Support) -> None:
    """Store a learned fact with its quotes. The effect key of its support ensures that it is stored once.

    When it is true is stored by `store.statements` and `store.views`.
    """
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
        affected = views.neighbors(tx, space=space, fact_ids=fact_ids)
        statements.delete_unquoted(tx, space=space, fact_ids=fact_ids)
        views.refresh(tx, space=space, fact_ids=affected)


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


def mark_corrected(tx: Tx, *, space: str, fact_id: str, version: int) -> None:
    """Record that a person replaced a version of a fact because it was never true."""
    tx.run("mark_version_corrected", space=space, id=fact_id, version=version)


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


def end(tx: Tx, *, space: str, fact: Fact, at: datetime) -> None:
    """End a fact, because a person says that it is no longer true."""
    support = f"ended:{new_id('end')}"
    statements.decide(tx, space=space, target_id=fact.id, kind=LinkKind.ENDS, support=support, begins_at=at)
    views.refresh(tx, space=space, fact_ids=views.neighbors(tx, space=space, fact_ids=[fact.id]))


def _insert(
    tx: Tx,
    *,
    space: str,
    fact: Fact,
    version: int,
    effect: str | None,
    token: int | None,
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
        expires_at=fact.expires_at,
        pinned_at=fact.pinned_at,
    )
    words = terms.fact_words(fact.text, fact.kind, fact.slot)
    said_at = to_micros(fact.created_at or tx.now)
    terms.put(tx, [terms.Entry(RefKind.FACT, fact.id, version, said_at, words)], space=space)
    jobs.queue(tx, space=space, kind=JobKind.INDEX, key=jobs.SPACE_KEY, watermark=0)


def lock(tx: Tx, *, space: str) -> None:
    """Lock the facts of a space until this transaction ends: only one at a time may reconcile new facts."""
    tx.lock_space(space)


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
    return None if row is None else fact_of(row, to_micros(tx.now))


def last_said(tx: Tx, *, space: str, fact_id: str) -> datetime | None:
    """Return when the newest source message of a fact was said."""
    row = tx.first("fact_last_said", space=space, id=fact_id)
    return None if row is None else from_micros_or_none(row["at"])


def list_current(tx: Tx, *, space: str) -> list[Fact]:
    """Return every current fact of a space, the oldest first."""
    return facts_of(tx, tx.all("list_facts", space=space, now=tx.now))


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
    return None if row is None else fact_of(row, to_micros(tx.now))


def origins_of(tx: Tx, *, space: str, fact_ids: Sequence[str]) -> dict[str, Origin]:
    """Return the origins of those facts that are current."""
    rows = tx.all("origins_of_facts", space=space, ids=list(fact_ids)) if fact_ids else []
    return {row["id"]: Origin(row["origin"]) for row in rows}


def page(tx: Tx, *, space: str, view: TimeView, limit: int, after: str, only: Filter | None = None) -> list[Fact]:
    """Return the facts that are current in a view, ordered by id, after one."""
    result: list[Fact] = []
    while len(result) < limit:
        rows = tx.all(
            "page_facts", only,
            space=space, said=view.said_until, known=view.known_until, now=tx.now if view.is_now else None, limit=limit,
            after=after,
        )  # fmt: skip
        listed = views.in_view(tx, facts_of(tx, rows), space=space, view=view)
        result += [fact for fact in listed if views.is_lasting(fact.status)]
        if len(rows) < limit:
            break
        after = rows[-1]["id"]
    return result[:limit]


def versions(tx: Tx, *, space: str, fact_id: str) -> list[Fact]:
    """Return every version of a fact, oldest first."""
    return facts_of(tx, tx.all("fact_versions", space=space, id=fact_id))


def with_same_text(tx: Tx, *, space: str, content: str) -> list[Fact]:
    """Return the current facts with the same or nearly the same words."""
    return facts_of(tx, tx.all("facts_saying", space=space, digest=gist(content)))


def in_slot(tx: Tx, *, space: str, subject: str, slot: str) -> list[Fact]:
    """Return the current facts about the value of a subject's slot."""
    return facts_of(tx, tx.all("facts_in_slot", space=space, subject=subject, slot=slot))


def preferences(tx: Tx, *, space: str, kinds: list[str], limit: int) -> list[Fact]:
    """Return the valid preferences and instructions, the newest first."""
    rows = tx.all("list_wishes", space=space, kinds=kinds, now=tx.now, limit=limit)
    return facts_of(tx, rows)


def attributes(tx: Tx, *, space: str, limit: int) -> list[Fact]:
    """Return the valid facts that can have only one value at a time, the newest first."""
    return facts_of(tx, tx.all("list_attributes", space=space, now=tx.now, limit=limit))


def search(
    tx: Tx,
    *,
    space: str,
    question: str,
    limit: int,
    view: TimeView = NOW,
    only: Filter | None = None,
    past: bool = False,
) -> list[Fact]:
    """Return facts that share words with a question, the best match first; empty for a question without words.

    Text in double quotes must occur exactly. `past` adds facts that have ended.
    """
    if not checked_limit(limit):
        return []
    literal = [part.casefold() for part in _QUOTED.findall(question) if part.strip()]
    rows = search_rows(tx, "search_facts", space=space, question=question, kind=RefKind.FACT, view=view, only=only)
    if literal:
        # Quoted text may begin inside a word, where the index cannot search.
        ranked_ids = {row["id"] for row in rows}
        now = tx.now if view.is_now else None
        others = tx.all("list_facts", only, space=space, said=view.said_until, known=view.known_until, now=now)
        rows += [row for row in others if row["id"] not in ranked_ids]
        rows = [row for row in rows if all(part in row["content"].casefold() for part in literal)]
    listed = views.in_view(tx, facts_of(tx, rows), space=space, view=view)
    return [fact for fact in listed if past or views.is_lasting(fact.status)][:limit]


def delete(tx: Tx, *, space: str, fact_id: str) -> None:
    """Delete all versions of a fact. The caller refreshes its neighbors: what it had replaced is true again."""
    tx.run("delete_fact", space=space, id=fact_id)
    tx.run("delete_fact_sources", space=space, id=fact_id)
    tx.run("delete_fact_quotes", space=space, id=fact_id)
    statements.delete(tx, space=space, fact_id=fact_id)
    tx.run("forget_reviews_of_fact", space=space, fact=fact_id)
    tx.run("delete_feedback", space=space, fact=fact_id)
    tx.deletes = True


def count(tx: Tx, *, space: str) -> int:
    """Count the current facts of a space."""
    row = tx.first("count_facts", space=space, now=tx.now)
    return 0 if row is None else row["count"]


def facts_of(tx: Tx, rows: Iterable[Row]) -> list[Fact]:
    """Read facts from their rows, with their status now."""
    now = to_micros(tx.now)
    return [fact_of(row, now) for row in rows]


def fact_of(row: Row, now: Micros) -> Fact:
    """Read a fact from its row, with its status at a moment."""
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
        replaced_by=row["retired_by"] if row["retired_at"] is not None else row["ended_by"],
        status=status_of(row, now),
        doubted_by=row["doubted_by"],
        version=row["version"],
        created_by=maker,
    )


def status_of(row: Row, now: Micros) -> FactStatus:
    """Return whether a version of a fact is true at a moment, from its row."""
    if row["retired_at"] is not None:
        if row["ended_as"] == FactStatus.CORRECTED:
            return FactStatus.CORRECTED
        return FactStatus.REPLACED if row["retired_by"] else FactStatus.PENDING
    if row["valid_to"] is not None and row["valid_to"] <= now:
        return FactStatus(row["ended_as"] or FactStatus.ENDED)
    if row["expires_at"] is not None and row["expires_at"] <= now:
        return FactStatus.ENDED
    if row["valid_from"] is not None and row["valid_from"] > now:
        return FactStatus.UPCOMING
    return FactStatus.DOUBTFUL if row["doubted_at"] is not None and row["doubted_at"] <= now else FactStatus.CURRENT
