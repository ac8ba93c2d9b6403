"""Decisions of people about quoted words: which facts and reviews they settled, read for the words of a claim."""

from collections.abc import Collection, Iterable
from dataclasses import field

from bethink.base.frozen import frozen
from bethink.model.decisions import Decision, DecisionKind
from bethink.model.erasures import STATEMENT
from bethink.model.facts import Evidence, Fact, Quote
from bethink.model.moments import EPOCH, from_micros
from bethink.model.reviews import REPORTED_WRONG, Review, ReviewStatus
from bethink.model.text import canonical_json
from bethink.model.words import gist
from bethink.store import erasures, facts, reviews
from bethink.store.db import Row, Tx
from bethink.store.statements import LinkKind

PERSON = "user"
"""The actor of a decision whose author is not stored."""
_HIDDEN = "hidden"


@frozen
class DecidedWords:
    """Words that a person has decided about: the quotes, the texts that were claimed from them, and the decision."""

    decision: Decision
    quotes: tuple[Quote, ...]
    texts: tuple[str, ...]
    fact: Fact
    """The fact that was claimed, for its subject, slot and entities."""


@frozen
class _Words:
    """Words that a fact quotes, and the texts under which it was learned."""

    quotes: list[Quote] = field(default_factory=list[Quote])
    statements: dict[str, None] = field(default_factory=dict[str, None])


def about(tx: Tx, quotes: Iterable[Quote], *, space: str) -> list[DecidedWords]:
    """Return the decisions about the messages of some quotes, by fact and then by review."""
    numbers: dict[str, set[int]] = {}
    for quote in quotes:
        numbers.setdefault(quote.session_id, set()).add(quote.number)
    fact_ids: set[str] = set()
    decided_reviews: dict[str, Review] = {}
    for session_id, session_numbers in numbers.items():
        message_keys = {"space": space, "session": session_id, "numbers": sorted(session_numbers)}
        fact_ids |= {row["fact_id"] for row in tx.all("word_quotes_of", **message_keys)}
        for row in tx.all("reviews_of_words", **message_keys):
            decided_reviews[row["id"]] = reviews.review_of(row)
    return of_facts(tx, fact_ids, decided_reviews.values(), space=space)


def of_facts(
    tx: Tx, fact_ids: Collection[str], decided_reviews: Iterable[Review] = (), *, space: str
) -> list[DecidedWords]:  # fmt: skip
    """Return the decisions about some facts and reviews."""
    decided_reviews = list(decided_reviews)
    ids = sorted({*fact_ids, *(review.fact_id for review in decided_reviews if review.fact_id)})
    words = _words_of(tx, ids, space=space)
    links = tx.all("person_links", space=space, ids=ids) if ids else []
    versions: dict[str, list[Row]] = {}
    for row in tx.all("versions_of", space=space, ids=ids) if ids else []:
        versions.setdefault(row["id"], []).append(row)
    result: list[DecidedWords] = []
    for fact_id, rows in versions.items():
        own_reviews = [review for review in decided_reviews if review.fact_id == fact_id]
        decision = _decision_of(rows, [link for link in links if link["target_id"] == fact_id], own_reviews)
        if decision is not None:
            result.append(_decided_fact(tx, rows, decision, words.get(fact_id, _Words()), own_reviews))
    settled_ids = {entry.decision.fact_id for entry in result}
    return result + [
        _decided_review(review)
        for review in decided_reviews
        if review.status is ReviewStatus.REJECTED and review.fact_id not in settled_ids
    ]


def corrected_from(tx: Tx, text: str, *, space: str) -> list[str]:
    """Return the facts that a person corrected, and that said this before."""
    return [row["id"] for row in tx.all("facts_corrected_from", space=space, digest=gist(text))]


def names_of_fact(tx: Tx, fact_id: str, *, space: str) -> list[str]:
    """Return the tombstone names of what a fact says about its messages."""
    texts = [version.text for version in facts.versions(tx, space=space, fact_id=fact_id)]
    words = _words_of(tx, [fact_id], space=space).get(fact_id, _Words())
    last = facts.versions(tx, space=space, fact_id=fact_id)[-1:]
    topic = [(fact.subject, fact.slot) for fact in last if fact.slot is not None]
    return _names(tx, words.quotes, dict.fromkeys([*texts, *words.statements]), topic, space=space)


def find_deleted(tx: Tx, fact: Fact, quotes: Iterable[Quote], *, space: str) -> Decision | None:
    """Return the deletion of a fact that said this about the same messages, or the same about its slot."""
    if tx.first("any_deleted_words", space=space) is None:
        return None
    topic = [] if fact.slot is None else [(fact.subject, fact.slot)]
    names = _names(tx, quotes, [fact.text], topic, space=space)
    stones = erasures.find_tombstones(tx, STATEMENT, names, space=space) if names else {}
    first = min(stones.values(), key=lambda stone: stone.at, default=None)
    if first is None:
        return None
    erasure = erasures.find(tx, space=space, erasure_id=first.erasure_id)
    actor = PERSON if erasure is None else erasure.requested_by
    return Decision(kind=DecisionKind.DELETED, actor=actor, decided_at=first.at)


def _names(
    tx: Tx,
    quotes: Iterable[Quote],
    texts: Iterable[str],
    topics: Iterable[tuple[str | None, str | None]],
    *,
    space: str,
) -> list[str]:
    """Return names for texts about messages. A message is named by its time, because a sync may renumber it."""
    moments: dict[tuple[str, int], None] = {}
    for session_id, number in sorted({(quote.session_id, quote.number) for quote in quotes if not quote.context}):
        row = tx.first("moment_of_message", space=space, session=session_id, number=number)
        if row is not None:
            moments[session_id, row["recorded_at"]] = None
    meanings = [["text", gist(text)] for text in texts] + [["topic", *topic] for topic in topics]
    return [canonical_json([*moment, *meaning]) for moment in moments for meaning in meanings]


def _words_of(tx: Tx, fact_ids: Collection[str], *, space: str) -> dict[str, _Words]:
    words: dict[str, _Words] = {}
    for row in tx.all("statements_quoted", space=space, ids=sorted(fact_ids)) if fact_ids else []:
        entry = words.setdefault(row["fact_id"], _Words())
        entry.quotes.append(Quote(session_id=row["session_id"], number=row["number"], text=row["text"]))
        entry.statements[row["statement"]] = None
    return words


def _decision_of(rows: list[Row], links: list[Row], own_reviews: list[Review]) -> Decision | None:
    """Return what a person decided about a fact, the newest decision first; None if nothing."""
    newest = rows[-1]
    if newest["retired_by"] and newest["ended_as"] != _HIDDEN:
        return None  # another fact has its words now
    kind, at = DecisionKind.APPROVED, newest["recorded_at"]
    requests = [link["recorded_at"] for link in links if link["kind"] == LinkKind.FORGETS]
    ends = [link["recorded_at"] for link in links if link["kind"] in (LinkKind.ENDS, LinkKind.REPLACES)]
    reported = [review for review in own_reviews if review.reason == REPORTED_WRONG]
    if requests or newest["ended_as"] == _HIDDEN:
        kind, at = DecisionKind.FORGOTTEN, max(requests, default=newest["retired_at"])
    elif newest["retired_at"] is not None:
        is_rejected = any(review.status is ReviewStatus.REJECTED for review in reported)
        kind, at = (
            DecisionKind.REJECTED if is_rejected else DecisionKind.REPORTED_WRONG
        ), newest["retired_at"]  # fmt: skip
    elif newest["effect"] is None and any(row["effect"] is not None for row in rows):
        kind = DecisionKind.CORRECTED
    elif ends:
        kind, at = DecisionKind.ENDED, max(ends)
    elif newest["evidence"] != Evidence.STATED or newest["effect"] is None:
        return None
    decided = max(
        (review for review in own_reviews if review.decided_at is not None),
        key=lambda review: review.decided_at or EPOCH, default=None,
    )  # fmt: skip
    is_refused = kind in (DecisionKind.REJECTED, DecisionKind.REPORTED_WRONG)
    return Decision(
        kind=kind,
        actor=(decided and decided.decided_by) or PERSON,
        decided_at=(kind is not DecisionKind.CORRECTED and decided and decided.decided_at) or from_micros(at),
        fact_id=None if is_refused else newest["id"],
        text=None if is_refused or kind is DecisionKind.FORGOTTEN else newest["content"],
    )


def _decided_fact(
    tx: Tx, rows: list[Row], decision: Decision, words: _Words, own_reviews: list[Review]
) -> DecidedWords:  # fmt: skip
    claimed = [review.claim.fact.text for review in own_reviews]
    texts = dict.fromkeys([*(row["content"] for row in rows), *words.statements, *claimed])
    quotes = words.quotes + [quote for review in own_reviews for quote in review.claim.quotes if not quote.context]
    [fact] = facts.facts_of(tx, rows[-1:])
    return DecidedWords(decision=decision, quotes=tuple(quotes), texts=tuple(texts), fact=fact)


def _decided_review(review: Review) -> DecidedWords:
    decision = Decision(
        kind=DecisionKind.REJECTED, actor=review.decided_by or PERSON, decided_at=review.decided_at or review.created_at
    )  # fmt: skip
    claim = review.claim
    quotes = tuple(quote for quote in claim.quotes if not quote.context)
    return DecidedWords(decision=decision, quotes=quotes, texts=(claim.fact.text,), fact=claim.fact)
