"""Statements of facts, and the links by which a later statement changes an earlier fact. Both are only added to."""

from collections.abc import Collection, Iterable
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from bethink.model.facts import Fact
from bethink.model.moments import to_micros
from bethink.model.reviews import ClaimChange
from bethink.model.rules import rank
from bethink.store.db import Row, Tx

Key = tuple[int, str, int, int]
"""The order in which statements were made: by time, then by session, message and position."""


class LinkKind(StrEnum):
    """Effect of a statement on an earlier fact."""

    REPLACES = "replaces"
    """The fact was true until then."""
    CORRECTS = "corrects"
    """The fact was never true."""
    ENDS = "ends"
    """The fact was true until then, and nothing takes its place."""
    FORGETS = "forgets"
    """A person asked to forget the fact: it is hidden, whatever time a question asks about."""
    REWORDS = "rewords"
    """A person wrote another text. Facts that rest on this one are in doubt."""
    RESTS_ON = "rests_on"
    """The statement depends on the fact."""


SAVED = "saved:"
"""Begins the support of a statement that a program stored, without a message."""

LINK_OF_CHANGE = {
    ClaimChange.REPLACES: LinkKind.REPLACES,
    ClaimChange.CORRECTS: LinkKind.CORRECTS,
    ClaimChange.ENDS: LinkKind.ENDS,
    ClaimChange.FORGET: LinkKind.FORGETS,
}
"""The link that a claim makes to the facts it names."""


class Statement(NamedTuple):
    """One time that a fact was stated."""

    fact_id: str
    support: str
    key: Key
    recorded_at: int
    dropped_at: int | None
    begins_at: int | None
    ends_at: int | None
    subject: str | None
    slot: str | None
    trust: int
    change: str

    @property
    def said_at(self) -> int:
        """Return the time when it was said, in microseconds."""
        return self.key[0]

    def is_dropped(self, *, said_until: int, known_until: int) -> bool:
        """Return whether it no longer counts. What a program stored counts for the time before it stored another."""
        until = min(said_until, known_until) if self.support.startswith(SAVED) else known_until
        return self.dropped_at is not None and self.dropped_at <= until

    def fits(self, begins_at: int | None, ends_at: int | None) -> bool:
        """Return whether the same words with these named days may be about the same period."""
        is_after = ends_at is not None and self.begins_at is not None and ends_at <= self.begins_at != begins_at
        is_before = begins_at is not None and self.ends_at is not None and self.ends_at <= begins_at
        return not is_after and not is_before

    @property
    def topic(self) -> tuple[str, str] | None:
        """Its subject and slot, of which only one value is true at a time."""
        return None if self.subject is None or self.slot is None else (self.subject, self.slot)


class Link(NamedTuple):
    """Effect of a statement on an earlier fact. `fact_id` is empty if a person did so directly."""

    target_id: str
    kind: str
    fact_id: str
    support: str
    key: Key
    recorded_at: int
    begins_at: int

    @property
    def said_at(self) -> int:
        """Return the time when it was said, in microseconds."""
        return self.key[0]


class StatementOrigin(NamedTuple):
    """Time and message of a statement, and the position of the claim in its answer."""

    said_at: datetime
    session_id: str = ""
    number: int = 0
    position: int = 0


def add(tx: Tx, fact: Fact, origin: StatementOrigin, *, space: str, support: str, change: ClaimChange) -> None:
    """Store that a fact was stated, with the period that its words name."""
    tx.run(
        "insert_statement",
        space=space, fact=fact.id, support=support, said_at=origin.said_at, session=origin.session_id,
        number=origin.number, position=origin.position, begins_at=fact.valid_from, ends_at=fact.valid_to,
        subject=fact.subject, slot=fact.slot, trust=rank(fact.origin), change=change, now=tx.now,
    )  # fmt: skip


def drop(tx: Tx, *, space: str, fact_id: str) -> None:
    """Stop counting the statements of a fact. What memory believed before stays known."""
    tx.run("drop_statements", space=space, fact=fact_id, now=tx.now)


def restore(tx: Tx, *, space: str, fact_id: str, dropped_at: datetime, version: int) -> None:
    """Count the statements of a fact again that were dropped at a time, in place of that of a saved version."""
    tx.run("delete_statement", space=space, fact=fact_id, support=f"saved:{version}")
    for at in (dropped_at, tx.now):
        tx.run("restore_statements", space=space, fact=fact_id, at=at)


def link(tx: Tx, source: Statement, *, space: str, target_id: str, kind: LinkKind) -> None:
    """Store what a statement does to a fact. It only affects what was said before it."""
    said_at, session, number, position = source.key
    tx.run(
        "insert_link",
        space=space, target=target_id, kind=kind, fact=source.fact_id, support=source.support, said_at=said_at,
        session=session, number=number, position=position, now=tx.now,
        begins_at=said_at if source.begins_at is None else source.begins_at,
    )  # fmt: skip


def decide(
    tx: Tx,
    *,
    space: str,
    target_id: str,
    kind: LinkKind,
    support: str,
    said_at: datetime | None = None,
    begins_at: datetime | None = None,
) -> None:
    """Store what a person does to a fact directly: said now by default, and from when it was said."""
    at = tx.now if said_at is None else said_at
    tx.run(
        "insert_link",
        space=space, target=target_id, kind=kind, fact="", support=support, said_at=at, session="", number=0,
        position=0, begins_at=begins_at or at, now=tx.now,
    )  # fmt: skip


def withdraw(tx: Tx, *, space: str, kind: LinkKind, support: str) -> None:
    """Remove the links with a support, such as a request to forget that was rejected."""
    tx.run("delete_links_of", space=space, kind=kind, support=support)


def targets_of(tx: Tx, *, space: str, kind: LinkKind, support: str) -> list[str]:
    """Return the facts that the links with a support lead to."""
    return [row["target_id"] for row in tx.all("targets_of_links", space=space, kind=kind, support=support)]


def of_facts(tx: Tx, *, space: str, fact_ids: Collection[str]) -> list[Statement]:
    """Return the statements of some facts, in the order they were made."""
    rows = tx.all("statements_of", space=space, ids=sorted(fact_ids)) if fact_ids else []
    return sorted(map(statement_of, rows), key=lambda statement: statement.key)


def links_to(tx: Tx, *, space: str, fact_ids: Collection[str]) -> list[Link]:
    """Return what later statements do to some facts."""
    return [link_of(row) for row in tx.all("links_to", space=space, ids=sorted(fact_ids))] if fact_ids else []


def links_from(tx: Tx, *, space: str, fact_ids: Collection[str]) -> list[Link]:
    """Return what the statements of some facts do to others."""
    return [link_of(row) for row in tx.all("links_from", space=space, ids=sorted(fact_ids))] if fact_ids else []


def delete(tx: Tx, *, space: str, fact_id: str) -> None:
    """Delete the statements and links of a fact."""
    tx.run("delete_statements", space=space, id=fact_id)
    tx.run("delete_links", space=space, id=fact_id)


def delete_unquoted(tx: Tx, *, space: str, fact_ids: Iterable[str]) -> None:
    """Delete the statements of these facts that have lost their quotes, with their links."""
    ids = sorted(fact_ids)
    tx.run("delete_unquoted_statements", space=space, ids=ids)
    tx.run("delete_unstated_links", space=space, ids=ids)


def move(tx: Tx, *, space: str, fact_id: str, support: str, heir: str) -> None:
    """Give a statement and its links to the fact that now has its text."""
    tx.run("move_statement", space=space, id=fact_id, support=support, heir=heir)
    tx.run("move_links_from", space=space, id=fact_id, support=support, heir=heir)


def statement_of(row: Row) -> Statement:
    """Read a statement from its row."""
    return Statement(
        row["fact_id"], row["support"], _key_of(row), row["recorded_at"], row["dropped_at"], row["begins_at"],
        row["ends_at"], row["subject"], row["slot"], row["trust"], row["change"],
    )  # fmt: skip


def link_of(row: Row) -> Link:
    """Read a link from its row."""
    return Link(
        row["target_id"], row["kind"], row["fact_id"], row["support"], _key_of(row), row["recorded_at"],
        row["begins_at"],
    )  # fmt: skip


def _key_of(row: Row) -> Key:
    return row["said_at"], row["session_id"], row["number"], row["position"]


def micros(at: datetime) -> int:
    """Return a time as statements store it."""
    return int(to_micros(at))
