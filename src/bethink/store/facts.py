"""Facts: never overwritten, and found by words, by metadata, or by what they say."""

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from bethink.errors import Stale
from bethink.model.changes import ChangeKind
from bethink.model.facts import Evidence, Fact, Maker, Quote, SourceMessage
from bethink.model.filters import Filter
from bethink.model.jobs import JobKind
from bethink.model.kinds import kind_of
from bethink.model.moments import from_micros, from_micros_or_none, to_micros
from bethink.model.recall import Ref, RefKind
from bethink.model.records import Origin
from bethink.model.text import canonical_json
from bethink.model.words import gist
from bethink.store import changes, jobs, terms
from bethink.store.candidates import ranked
from bethink.store.db import NO_LIMIT, Row, Tx, checked_limit, until

_QUOTED = re.compile(r'"([^"]*)"')


def put(
    tx: Tx, *, space: str, fact: Fact, expected: int | None = None, pinned_at: datetime | None = None
) -> None:  # fmt: skip
    """Store a fact. A fact with the same id is retired and succeeded by this one.

    It stays pinned if it was; `pinned_at` is for one that is no longer there.
    Raises `Stale` if `expected` is given and is not the current version.
    """
    jobs.ensure_space(tx, space=space)
    lock(tx, space=space)
    known = find(tx, space=space, fact_id=fact.id)
    current = None if known is None else known.version
    if expected is not None and (current or 0) != expected:
        now = "does not exist" if current is None else f"has version {current}"
        raise Stale(f"fact {fact.id} {now}, you read {expected}.", current=current)
    if known is not None and known == replace(fact, created_at=fact.created_at or known.created_at):
        return
    last = tx.one("last_fact_version", space=space, id=fact.id)
    version = 1 if last is None or last["version"] is None else last["version"] + 1
    if known is not None:
        retire(tx, space=space, fact_id=fact.id, by=fact.id)
    pinned = replace(fact, pinned_at=pinned_at if known is None else known.pinned_at)
    _insert(tx, space=space, fact=pinned, version=version, effect=None, token=None)
    kind = ChangeKind.FACT_ADDED if known is None else ChangeKind.FACT_CORRECTED
    changes.record(tx, space=space, kind=kind, ref=Ref(RefKind.FACT, fact.id, version))


class Support(NamedTuple):
    """One time that something was said: the key of that learning, the statement made of it, and its quotes."""

    effect: str
    statement: str
    quotes: tuple[Quote, ...]


def learn(tx: Tx, *, space: str, fact: Fact, token: int, support: Support) -> None:
    """Store a learnt fact with the words it rests on. The effect key of its support ensures that it is stored once."""
    _insert(tx, space=space, fact=fact, version=1, effect=support.effect, token=token)
    add_support(tx, space=space, fact_id=fact.id, support=support)
    ref = Ref(RefKind.FACT, fact.id, 1)
    changes.record(tx, space=space, kind=ChangeKind.FACT_ADDED, ref=ref, session_id=fact.source)


def add_support(tx: Tx, *, space: str, fact_id: str, support: Support) -> None:
    """Add another time that a fact was said."""
    sources = {
        (quote.session_id, quote.number): SourceMessage(quote.session_id, quote.number) for quote in support.quotes
    }
    add_sources(tx, space=space, fact_id=fact_id, sources=sources.values())
    for place, quote in enumerate(support.quotes):
        tx.run(
            "insert_fact_quote",
            space=space, fact=fact_id, support=support.effect, place=place, session=quote.session_id,
            number=quote.number, text=quote.text, context=int(quote.context), statement=support.statement,
            parts=len(support.quotes),
        )  # fmt: skip


def supports(tx: Tx, *, space: str, fact_id: str) -> list[Support]:
    """Return each time a fact was said of which no quote is missing, the first one first."""
    found: dict[str, list[Row]] = {}
    for row in tx.all("fact_quotes", space=space, id=fact_id):
        found.setdefault(row["support"], []).append(row)
    whole = {effect: rows for effect, rows in found.items() if len(rows) == rows[0]["parts"]}
    first = learnt_effect(tx, space=space, fact_id=fact_id)
    return [
        Support(effect, rows[0]["statement"], tuple(map(_quote_of, rows)))
        for effect, rows in sorted(whole.items(), key=lambda each: (each[0] != first, each[0]))
    ]


def drop_broken_supports(tx: Tx, *, space: str, fact_ids: Collection[str]) -> None:
    """Remove each time that one of these facts was said of which a quote is gone."""
    if fact_ids:
        tx.run("delete_broken_supports", space=space, ids=sorted(fact_ids))


def quotes_of(tx: Tx, *, space: str, fact_id: str) -> list[Quote]:
    """Return the words that a learnt fact rests on."""
    return [_quote_of(row) for row in tx.all("fact_quotes", space=space, id=fact_id)]


def _quote_of(row: Row) -> Quote:
    return Quote(
        session_id=row["session_id"], number=row["number"], text=row["text"], context=bool(row["context"])
    )  # fmt: skip


def mark_stated(tx: Tx, *, space: str, fact_id: str) -> None:
    """Record that a person approved what a fact says."""
    tx.run("mark_fact_stated", space=space, id=fact_id)


def renew(tx: Tx, *, space: str, fact_id: str, expires_at: datetime) -> None:
    """Let a fact that expires do so later. One that never expires stays so."""
    tx.run("renew_fact", space=space, id=fact_id, at=expires_at)


def pin(tx: Tx, *, space: str, fact_id: str) -> bool:
    """Pin a fact; return False if it was pinned, or there is none."""
    return tx.run("pin_fact", space=space, id=fact_id, now=tx.now) == 1


def unpin(tx: Tx, *, space: str, fact_id: str) -> bool:
    """Take a pin back; return False if there was none."""
    return tx.run("unpin_fact", space=space, id=fact_id, now=tx.now) == 1


def learnt_effect(tx: Tx, *, space: str, fact_id: str) -> str | None:
    """Return the effect key of the learning that a fact was first stored by."""
    row = tx.one("learnt_effect", space=space, id=fact_id)
    return None if row is None else row["effect"]


def end(tx: Tx, *, space: str, fact: Fact, at: datetime, by: str | None) -> None:
    """Let a fact end at a time, as a new version that names what ends it, if anything takes its place."""
    retire(tx, space=space, fact_id=fact.id, by=fact.id)
    last = tx.one("last_fact_version", space=space, id=fact.id)
    version = 1 if last is None else (last["version"] or 0) + 1
    _insert(
        tx, space=space, fact=replace(fact, valid_to=at), version=version, effect=None, token=None, ended_by=by
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
    made_by = fact.made_by
    tx.run(
        "insert_fact",
        space=space,
        id=fact.id,
        version=version,
        content=fact.content,
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
        digest=gist(fact.content),
        effect=effect,
        token=token,
        model=made_by and made_by.model,
        prompt=made_by and made_by.prompt,
        extractor=made_by and made_by.extractor,
        evidence=fact.evidence,
        speaker=fact.speaker,
        scope=fact.scope,
        happened_from=fact.happened_from,
        happened_to=fact.happened_to,
        flags=canonical_json(fact.flags),
        ended_by=ended_by,
        expires_at=fact.expires_at,
        pinned_at=fact.pinned_at,
    )
    said = terms.fact_words(fact.content, fact.kind, fact.slot)
    terms.put(tx, [terms.Entry(RefKind.FACT, fact.id, version, to_micros(tx.now), said)], space=space)
    jobs.queue(tx, space=space, kind=JobKind.INDEX, key=jobs.SPACE_KEY, watermark=0)


def lock(tx: Tx, *, space: str) -> None:
    """Lock the facts of a space until this transaction ends: only one at a time may reconcile new facts."""
    tx.one("lock_space", space=space)


def add_sources(tx: Tx, *, space: str, fact_id: str, sources: Iterable[SourceMessage]) -> None:
    """Add messages that a fact rests on."""
    for source in sources:
        tx.run("insert_fact_source", space=space, fact=fact_id, session=source.session_id, number=source.number)


def sources_of(tx: Tx, *, space: str, fact_id: str) -> list[SourceMessage]:
    """Return the messages that a learnt fact rests on."""
    return [SourceMessage(row["session_id"], row["number"]) for row in tx.all("fact_sources", space=space, id=fact_id)]


def learnt_version(tx: Tx, *, space: str, fact_id: str) -> Fact | None:
    """Return a fact as it was learnt, before anyone corrected it. Returns None if it was stated by hand."""
    row = tx.one("learnt_fact", space=space, id=fact_id)
    return None if row is None else fact_of(row)


def last_said(tx: Tx, *, space: str, fact_id: str) -> datetime | None:
    """Return when the newest message that a fact rests on was said."""
    row = tx.one("fact_last_said", space=space, id=fact_id)
    return None if row is None else from_micros_or_none(row["at"])


def everything(tx: Tx, *, space: str) -> list[Fact]:
    """Return every current fact of a space, the oldest first."""
    return [fact_of(row) for row in tx.all("list_facts", space=space, at=NO_LIMIT)]


def all_sources(tx: Tx, *, space: str) -> dict[str, list[SourceMessage]]:
    """Return the source messages of every learnt fact of a space."""
    found: dict[str, list[SourceMessage]] = {}
    for row in tx.all("all_fact_sources", space=space):
        found.setdefault(row["fact_id"], []).append(SourceMessage(row["session_id"], row["number"]))
    return found


def retire(tx: Tx, *, space: str, fact_id: str, by: str) -> bool:
    """Retire a fact, naming its successor. The row stays as it was known."""
    retired = tx.run("retire_fact", space=space, id=fact_id, by=by, now=tx.now) == 1
    if retired:
        changes.record_retired(tx, space=space, fact_id=fact_id, by=by)
    return retired


def find(tx: Tx, *, space: str, fact_id: str) -> Fact | None:
    """Return the current version of a fact, if there is one."""
    row = tx.one("find_fact", space=space, id=fact_id)
    return None if row is None else fact_of(row)


def page(
    tx: Tx, *, space: str, as_of: datetime | None, limit: int, after: str, only: Filter | None = None
) -> list[Fact]:
    """Return the facts that are known, or were at a time, ordered by id, after one."""
    rows = tx.all("page_facts", only, space=space, at=until(as_of), limit=limit, after=after)
    return [fact_of(row) for row in rows]


def versions(tx: Tx, *, space: str, fact_id: str) -> list[Fact]:
    """Return every version of a fact, oldest first."""
    return [fact_of(row) for row in tx.all("fact_versions", space=space, id=fact_id)]


def saying(tx: Tx, *, space: str, content: str) -> list[Fact]:
    """Return the current facts that say the same, in these or nearly these words."""
    return [fact_of(row) for row in tx.all("facts_saying", space=space, digest=gist(content))]


def in_slot(tx: Tx, *, space: str, subject: str, slot: str) -> list[Fact]:
    """Return the current facts about the value of a subject's slot."""
    return [fact_of(row) for row in tx.all("facts_in_slot", space=space, subject=subject, slot=slot)]


def wishes(tx: Tx, *, space: str, kinds: list[str], limit: int) -> list[Fact]:
    """Return what people want that holds now, the newest first."""
    rows = tx.all("list_wishes", space=space, kinds=kinds, now=tx.now, limit=limit)
    return [fact_of(row) for row in rows]


def attributes(tx: Tx, *, space: str, limit: int) -> list[Fact]:
    """Return what holds now and can have only one value at a time, the newest first."""
    return [fact_of(row) for row in tx.all("list_attributes", space=space, now=tx.now, limit=limit)]


def search(
    tx: Tx, *, space: str, question: str, limit: int, as_of: datetime | None = None, only: Filter | None = None
) -> list[Fact]:
    """Return facts that share words with a question, the best match first; empty for a question without words.

    Text in double quotes must occur exactly. With `as_of`, searches what was known then.
    """
    if not checked_limit(limit):
        return []
    at = until(as_of)
    literal = [part.casefold() for part in _QUOTED.findall(question) if part.strip()]
    rows = ranked(tx, "search_facts", space=space, question=question, kind=RefKind.FACT, as_of=as_of, only=only)
    if literal:
        # Quoted text may begin inside a word, where the index cannot search.
        found = {row["id"] for row in rows}
        rows += [row for row in tx.all("list_facts", only, space=space, at=at) if row["id"] not in found]
        rows = [row for row in rows if all(part in row["content"].casefold() for part in literal)]
    return [fact_of(row) for row in rows[:limit]]


def with_metadata(tx: Tx, *, space: str, key: str, value: str) -> list[Fact]:
    """Return the facts whose metadata has `value` under `key`, the oldest first."""
    return [fact_of(row) for row in tx.all("facts_with_metadata", space=space, key=key, value=value)]


def delete(tx: Tx, *, space: str, fact_id: str) -> None:
    """Remove all versions of a fact. What it had superseded stays retired, because it was no longer true."""
    tx.run("delete_fact", space=space, id=fact_id)
    tx.run("delete_fact_sources", space=space, id=fact_id)
    tx.run("delete_fact_quotes", space=space, id=fact_id)
    tx.run("forget_reviews_of_fact", space=space, fact=fact_id)
    tx.run("delete_feedback", space=space, fact=fact_id)
    tx.forgets = True


def count(tx: Tx, *, space: str) -> int:
    """Count the current facts of a space."""
    row = tx.one("count_facts", space=space)
    return 0 if row is None else row["count"]


def fact_of(row: Row) -> Fact:
    """Read a fact from its row."""
    maker = Maker(model=row["model"], prompt=row["prompt"], extractor=row["extractor"]) if row["model"] else None
    unmarked = Evidence.QUOTED if maker is not None else Evidence.STATED  # it was stored before this was kept
    return Fact(
        id=row["id"],
        content=row["content"],
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
        happened_from=from_micros_or_none(row["happened_from"]),
        happened_to=from_micros_or_none(row["happened_to"]),
        speaker=row["speaker"],
        scope=row["scope"],
        flags=tuple(json.loads(row["flags"])),
        expires_at=from_micros_or_none(row["expires_at"]),
        pinned_at=from_micros_or_none(row["pinned_at"]) if row["unpinned_at"] is None else None,
        evidence=Evidence(row["evidence"]) if row["evidence"] else unmarked,
        recorded_at=from_micros_or_none(row["recorded_at"]),
        retired_at=from_micros_or_none(row["retired_at"]),
        retired_by=row["retired_by"],
        version=row["version"],
        made_by=maker,
    )
