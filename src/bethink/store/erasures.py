"""Erasures and tombstones: requested deletions, their confirmations, and names that must not be stored again.

They contain no text: a tombstone is a digest with a key of the installation.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from bethink.base.frozen import frozen
from bethink.errors import ErasedKeyError
from bethink.model.erasures import DOCUMENT_KEY, Erasure, SinkState, Tombstone
from bethink.model.moments import from_micros, from_micros_or_none, to_micros
from bethink.model.pages import cursor_of, read_cursor
from bethink.model.paging import Page, page_of
from bethink.model.refs import RefKind
from bethink.model.text import canonical_json
from bethink.store.db import Row, Tx
from bethink.store.keys import deployment_key

_KEY = "tombstones"
"""The name of the installation's key; keys of others are kept as `tombstones:KEY_ID`."""


@frozen
class Digests:
    """Computes keyed digests, with the key of this installation and those from imported archives."""

    own: bytes
    others: tuple[bytes, ...] = ()

    @property
    def key_id(self) -> str:
        """Id of the key for new digests."""
        return key_id(self.own)

    def digest(self, space: str, kind: str, name: str, *, key: bytes | None = None) -> str:
        """Return the digest of a name in a space. The same name in another space has another digest."""
        text = canonical_json([space, kind, name])
        return hmac.new(key or self.own, text.encode(), hashlib.sha256).hexdigest()

    def all_digests(self, space: str, kind: str, name: str) -> list[str]:
        """Return the digest of a name with each key."""
        return [self.digest(space, kind, name, key=key) for key in (self.own, *self.others)]


def key_id(key: bytes) -> str:
    """Return the id of a key, which does not reveal the key."""
    return hashlib.sha256(b"bethink tombstones" + key).hexdigest()[:16]


def digests(tx: Tx) -> Digests:
    """Return the digests of tombstones. Their key is created on first use."""
    if _KEY not in tx.memo:
        keys = {row["name"]: row["value"] for row in tx.all("list_deployment_keys", pattern=f"{_KEY}%")}
        own = bytes.fromhex(keys[_KEY]) if _KEY in keys else deployment_key(tx, _KEY)
        others = tuple(bytes.fromhex(value) for name, value in keys.items() if name.startswith(f"{_KEY}:"))
        tx.memo[_KEY] = Digests(own=own, others=others)
    return tx.memo[_KEY]


def add_key(tx: Tx, key: bytes) -> None:
    """Store the key of another installation, whose tombstones came with an archive."""
    if key != deployment_key(tx, _KEY):
        tx.run("ensure_deployment_key", name=f"{_KEY}:{key_id(key)}", value=key.hex())
        tx.memo.pop(_KEY, None)


def record(tx: Tx, erasure: Erasure, *, plan: Mapping[str, object]) -> None:
    """Record an erasure with the sinks that must confirm it."""
    tx.run(
        "insert_erasure",
        space=erasure.space, id=erasure.id, requested_by=erasure.requested_by, key_prefix=erasure.key_prefix,
        reason=erasure.reason, now=erasure.requested_at, plan=canonical_json(plan),
    )  # fmt: skip
    tx.run(
        "insert_erasure_sinks",
        space=erasure.space, erasure=erasure.id, sinks=[state.sink for state in erasure.sinks],
        times=[None if state.confirmed_at is None else to_micros(state.confirmed_at) for state in erasure.sinks],
    )  # fmt: skip


def confirm(tx: Tx, *, space: str, erasure_id: str, sinks: Iterable[str]) -> None:
    """Record that sinks have deleted their data."""
    tx.run("confirm_erasure", space=space, erasure=erasure_id, sinks=list(sinks), now=tx.now)


def settle(tx: Tx, *, space: str, erasure_id: str, receipt: str) -> None:
    """Record that every sink has confirmed, and remove the ids of the deleted items."""
    tx.run("settle_erasure", space=space, id=erasure_id, now=tx.now, receipt=receipt)


def note_receipt(tx: Tx, *, space: str, erasure_id: str, plan: Mapping[str, object], receipt: str) -> None:
    """Store the receipt of an erasure that some sink has not confirmed yet."""
    tx.run("note_receipt", space=space, id=erasure_id, plan=canonical_json(plan), receipt=receipt)


def withdraw(tx: Tx, *, space: str, erasure_id: str) -> None:
    """Remove an erasure that deleted nothing, and restore the earlier tombstones that it replaced."""
    before = plan_of(tx, space=space, erasure_id=erasure_id).get("before", [])
    tx.run("withdraw_tombstones", space=space, erasure=erasure_id)
    tx.run("withdraw_erasure", space=space, id=erasure_id)
    for kind, key, digest, earlier, at in before:
        tx.run("bury", space=space, key_id=key, erasure=earlier, names=[f"{digest}{kind}"], times=[at])


def existing_tombstones(
    tx: Tx, names: Iterable[tuple[str, str]], *, space: str
) -> list[tuple[str, str, str, str, int]]:
    """Return the existing tombstones of names, as they are stored in a plan."""
    by_kind: dict[str, list[str]] = {}
    for kind, name in names:
        by_kind.setdefault(kind, []).append(name)
    stones = [
        stone
        for kind, kind_names in by_kind.items()
        for stone in find_tombstones(tx, kind, kind_names, space=space).values()
    ]
    return [(stone.kind, stone.key_id, stone.digest, stone.erasure_id, to_micros(stone.at)) for stone in stones]


def find(tx: Tx, *, space: str, erasure_id: str) -> Erasure | None:
    """Return an erasure; a writing transaction locks it."""
    row = tx.first("find_erasure", space=space, id=erasure_id)
    return None if row is None else _erasure(tx, row)


def plan_of(tx: Tx, *, space: str, erasure_id: str) -> dict[str, Any]:
    """Return the ids of the items that an erasure deletes; empty once it is settled."""
    return lock_plan(tx, space=space, erasure_id=erasure_id)[1]


def find_with_plan(tx: Tx, *, space: str, erasure_id: str) -> tuple[Erasure | None, dict[str, Any]]:
    """Return an erasure as `find` does, and the ids of the items that it deletes."""
    row = tx.first("find_erasure", space=space, id=erasure_id)
    return (None, {}) if row is None else (_erasure(tx, row), _plan_in(row))


def lock_plan(tx: Tx, *, space: str, erasure_id: str) -> tuple[datetime, dict[str, Any]]:
    """Lock an erasure, and return when it was requested and the ids of the items that it deletes."""
    row = tx.first("find_erasure", space=space, id=erasure_id)
    return (tx.now, {}) if row is None else (from_micros(row["requested_at"]), _plan_in(row))


def _plan_in(row: Row) -> dict[str, Any]:
    return {} if row["plan"] is None else json.loads(row["plan"])


def page(tx: Tx, *, space: str, limit: int, after: str) -> Page[Erasure]:
    """Return a page of the erasures of a space, the newest first."""
    before, last = read_cursor(after, int, str) or (None, None)
    rows = tx.all("list_erasures", space=space, limit=limit + 1, before=before, id=last)
    page_rows = page_of(rows, limit, lambda row: cursor_of(row["requested_at"], row["id"]))
    return Page(items=tuple(_erasure(tx, row) for row in page_rows), next=page_rows.next)


def open_sinks(tx: Tx, *, limit: int = 1000) -> dict[tuple[str, str], list[str]]:
    """Return the names of unconfirmed sinks in all spaces, by space and erasure."""
    sinks: dict[tuple[str, str], list[str]] = {}
    for row in tx.all("list_open_sinks", limit=limit):
        sinks.setdefault((row["space_id"], row["erasure_id"]), []).append(row["sink"])
    return sinks


def add_tombstones(tx: Tx, names: Iterable[tuple[str, str]], *, space: str, erasure_id: str, at: datetime) -> None:
    """Write tombstones for names, each with its kind."""
    hasher = digests(tx)
    kinds = {hasher.digest(space, kind, name): kind for kind, name in names}
    fields = {"space": space, "key_id": hasher.key_id, "erasure": erasure_id}
    if kinds:
        marked_names = [f"{digest}{kind}" for digest, kind in kinds.items()]
        tx.run("bury", **fields, names=marked_names, times=[to_micros(at)] * len(marked_names))
    tx.new_tombstones += [
        {**fields, "kind": kind, "digest": digest, "at": to_micros(at)} for digest, kind in kinds.items()
    ]
    tx.new_tombstones.append({"key": hasher.own.hex()})


def put(tx: Tx, stones: Iterable[Tombstone], *, keys: Iterable[bytes], space: str) -> None:
    """Store imported tombstones with their keys: from a file next to a backup, or from another installation."""
    existing = set(tombstones(tx, space=space))
    new = [stone for stone in stones if stone not in existing]
    for stone in new:
        fields = {"space": space, "key_id": stone.key_id, "erasure": stone.erasure_id}
        tx.run("bury", **fields, names=[f"{stone.digest}{stone.kind}"], times=[to_micros(stone.at)])
        tx.new_tombstones.append({**fields, "kind": stone.kind, "digest": stone.digest, "at": to_micros(stone.at)})
    for key in keys:
        add_key(tx, key)
        tx.new_tombstones += [{"key": key.hex()}] if new else []


def tombstones(tx: Tx, *, space: str, erasure_id: str | None = None) -> list[Tombstone]:
    """Return the tombstones of a space, or of one erasure."""
    if erasure_id is None:
        return [_tombstone(row) for row in tx.all("list_tombstones", space=space)]
    return [_tombstone(row) for row in tx.all("tombstones_of_erasure", space=space, erasure=erasure_id)]


def find_tombstones(tx: Tx, kind: str, names: Iterable[str], *, space: str) -> dict[str, Tombstone]:
    """Return the tombstones of names that have one."""
    hasher = digests(tx)
    names_by_digest = {digest: name for name in names for digest in hasher.all_digests(space, kind, name)}
    rows = tx.all("find_tombstones", space=space, kind=kind, digests=list(names_by_digest)) if names_by_digest else []
    return {names_by_digest[row["digest"]]: _tombstone(row) for row in rows}


def check_keys(tx: Tx, kind: str, keys: Iterable[str], *, space: str) -> None:
    """Reject a late retry of something that was deleted recently. Raises `ErasedKeyError`."""
    since = tx.now - tx.key_rejection_period
    for key, stone in find_tombstones(tx, kind, keys, space=space).items():
        if stone.at > since:
            label = "document" if kind == DOCUMENT_KEY else "message"
            raise ErasedKeyError(f"The {label} with the idempotency key {key!r} was erased on {stone.at:%Y-%m-%d}.")


def check_fact(tx: Tx, fact_id: str, *, space: str) -> None:
    """Reject a fact that was deleted recently. Raises `ErasedKeyError`."""
    stone = find_tombstones(tx, RefKind.FACT, [fact_id], space=space).get(fact_id)
    if stone is not None and stone.at > tx.now - tx.key_rejection_period:
        hint = "Do not save it again. Use another id for a new fact."
        raise ErasedKeyError(f"Fact {fact_id!r} was erased on {stone.at:%Y-%m-%d}.", hint=hint)


def note_written(tx: Tx, *, space: str, host: str, path: str, kind: str) -> None:
    """Record where a file or folder with texts of a space was written."""
    tx.run("note_written", space=space, host=host, path=path, kind=kind, now=tx.now)


def written_files(tx: Tx, *, space: str) -> list[Row]:
    """Return where files with texts of a space were written: host, path, kind, written_at."""
    return tx.all("list_written", space=space)


def drop_written(tx: Tx, *, space: str, host: str, path: str) -> None:
    """Record that a file or folder was deleted."""
    tx.run("drop_written", space=space, host=host, path=path)


def _erasure(tx: Tx, row: Row) -> Erasure:
    sinks = tx.all("list_erasure_sinks", space=row["space_id"], erasure=row["id"])
    return Erasure(
        space=row["space_id"],
        id=row["id"],
        requested_by=row["requested_by"],
        key_prefix=row["key_prefix"],
        reason=row["reason"],
        requested_at=from_micros(row["requested_at"]),
        settled_at=from_micros_or_none(row["settled_at"]),
        sinks=tuple(
            SinkState(sink=sink["sink"], confirmed_at=from_micros_or_none(sink["confirmed_at"])) for sink in sinks
        ),
        receipt=row["receipt"] or "",
    )


def _tombstone(row: Row) -> Tombstone:
    return Tombstone(
        kind=row["kind"],
        key_id=row["key_id"],
        digest=row["digest"],
        erasure_id=row["erasure_id"],
        at=from_micros(row["at"]),
    )
