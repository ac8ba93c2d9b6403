"""Erasures and tombstones: what was asked to be forgotten, who has confirmed it, and what may not come back.

None of it holds a text: a tombstone is a digest with a key of the installation.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from bethink.base.frozen import frozen
from bethink.errors import ErasedKey
from bethink.model.erasures import DOCUMENT_KEY, Erasure, SinkState, Tombstone
from bethink.model.moments import from_micros, from_micros_or_none, to_micros
from bethink.model.recall import RefKind
from bethink.model.text import canonical_json
from bethink.store.db import Row, Tx
from bethink.store.keys import deployment_key

_KEY = "tombstones"
"""The name of the installation's key; keys of others are kept as `tombstones:KEY_ID`."""


@frozen
class Digests:
    """Makes keyed digests, with the key of this installation and those that came with archives of others."""

    own: bytes
    others: tuple[bytes, ...] = ()

    @property
    def key_id(self) -> str:
        """Which key new digests are made with."""
        return key_id(self.own)

    def of(self, space: str, kind: str, name: str, *, key: bytes | None = None) -> str:
        """Return the digest of one name in a space: the same name elsewhere has another."""
        text = canonical_json([space, kind, name])
        return hmac.new(key or self.own, text.encode(), hashlib.sha256).hexdigest()

    def every(self, space: str, kind: str, name: str) -> list[str]:
        """Return the digest of a name with each key."""
        return [self.of(space, kind, name, key=key) for key in (self.own, *self.others)]


def key_id(key: bytes) -> str:
    """Return the name of a key, which does not tell the key."""
    return hashlib.sha256(b"bethink tombstones" + key).hexdigest()[:16]


def digests(tx: Tx) -> Digests:
    """Return what makes the digests of tombstones. The key is made when it is first needed."""
    own = deployment_key(tx, _KEY)
    others = tx.all("list_deployment_keys", pattern=f"{_KEY}:%")
    return Digests(own=own, others=tuple(bytes.fromhex(row["value"]) for row in others))


def add_key(tx: Tx, key: bytes) -> None:
    """Keep the key of another installation, whose tombstones came with an archive."""
    if key != deployment_key(tx, _KEY):
        tx.run("ensure_deployment_key", name=f"{_KEY}:{key_id(key)}", value=key.hex())


def record(tx: Tx, erasure: Erasure, *, plan: Mapping[str, object]) -> None:
    """Record an erasure with the places that have to confirm it."""
    tx.run(
        "insert_erasure",
        space=erasure.space, id=erasure.id, asked_by=erasure.asked_by, key_prefix=erasure.key_prefix,
        reason=erasure.reason, now=erasure.requested_at, plan=canonical_json(plan),
    )  # fmt: skip
    for each in erasure.sinks:
        at = each.confirmed_at
        tx.run(
            "insert_erasure_sink", space=erasure.space, erasure=erasure.id, sink=each.sink, confirmed_at=at
        )  # fmt: skip


def confirm(tx: Tx, *, space: str, erasure_id: str, sinks: Iterable[str]) -> None:
    """Record that places hold nothing of it any more."""
    for sink in sinks:
        tx.run("confirm_erasure", space=space, erasure=erasure_id, sink=sink, now=tx.now)


def settle(tx: Tx, *, space: str, erasure_id: str, receipt: str) -> None:
    """Record that every place has confirmed; the ids of what went are removed."""
    tx.run("settle_erasure", space=space, id=erasure_id, now=tx.now, receipt=receipt)


def note_receipt(tx: Tx, *, space: str, erasure_id: str, plan: Mapping[str, object], receipt: str) -> None:
    """Keep the receipt of an erasure that some place has still to confirm."""
    tx.run("note_receipt", space=space, id=erasure_id, plan=canonical_json(plan), receipt=receipt)


def withdraw(tx: Tx, *, space: str, erasure_id: str) -> None:
    """Remove an erasure of what was not there. Tombstones of an earlier one, which its own replaced, stand again."""
    before = plan_of(tx, space=space, erasure_id=erasure_id).get("before", [])
    tx.run("withdraw_tombstones", space=space, erasure=erasure_id)
    tx.run("withdraw_erasure", space=space, id=erasure_id)
    for kind, key, digest, earlier, at in before:
        tx.run("bury", space=space, kind=kind, key_id=key, erasure=earlier, digests=[digest], times=[at])


def standing(tx: Tx, names: Iterable[tuple[str, str]], *, space: str) -> list[tuple[str, str, str, str, int]]:
    """Return the tombstones that names have already, each with its kind, as a plan holds them."""
    by_kind: dict[str, list[str]] = {}
    for kind, name in names:
        by_kind.setdefault(kind, []).append(name)
    found = [stone for kind, each in by_kind.items() for stone in buried(tx, kind, each, space=space).values()]
    return [(stone.kind, stone.key_id, stone.digest, stone.erasure_id, to_micros(stone.at)) for stone in found]


def find(tx: Tx, *, space: str, erasure_id: str) -> Erasure | None:
    """Return an erasure; a writing transaction locks it."""
    row = tx.one("find_erasure", space=space, id=erasure_id)
    return None if row is None else _erasure(tx, row)


def plan_of(tx: Tx, *, space: str, erasure_id: str) -> dict[str, Any]:
    """Return the ids of what an erasure removes; nothing once it is settled."""
    row = tx.one("find_erasure", space=space, id=erasure_id)
    return {} if row is None or row["plan"] is None else json.loads(row["plan"])


def of_space(tx: Tx, *, space: str, limit: int) -> list[Erasure]:
    """Return the erasures of a space, the newest first."""
    return [_erasure(tx, row) for row in tx.all("list_erasures", space=space, limit=limit)]


def open_sinks(tx: Tx, *, limit: int = 1000) -> dict[tuple[str, str], list[str]]:
    """Return what is still to be confirmed in any space: by space and erasure, the names of the places."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in tx.all("list_open_sinks", limit=limit):
        found.setdefault((row["space_id"], row["erasure_id"]), []).append(row["sink"])
    return found


def bury(tx: Tx, names: Iterable[tuple[str, str]], *, space: str, erasure_id: str, at: datetime) -> None:
    """Write tombstones for names, each with its kind."""
    made = digests(tx)
    by_kind: dict[str, dict[str, None]] = {}
    for kind, name in names:
        by_kind.setdefault(kind, {})[made.of(space, kind, name)] = None
    for kind, found in by_kind.items():
        given = {"space": space, "kind": kind, "key_id": made.key_id, "erasure": erasure_id}
        tx.run("bury", **given, digests=list(found), times=[to_micros(at)] * len(found))
        tx.buried += [{**given, "digest": digest, "at": to_micros(at)} for digest in found]
    tx.buried.append({"key": made.own.hex()})


def put(tx: Tx, stones: Iterable[Tombstone], *, keys: Iterable[bytes], space: str) -> None:
    """Keep tombstones from elsewhere with their keys: of a file beside a backup, or of another installation."""
    known = set(tombstones(tx, space=space))
    new = [stone for stone in stones if stone not in known]
    for stone in new:
        given = {"space": space, "kind": stone.kind, "key_id": stone.key_id, "erasure": stone.erasure_id}
        tx.run("bury", **given, digests=[stone.digest], times=[to_micros(stone.at)])
        tx.buried.append({**given, "digest": stone.digest, "at": to_micros(stone.at)})
    for key in keys:
        add_key(tx, key)
        tx.buried += [{"key": key.hex()}] if new else []


def tombstones(tx: Tx, *, space: str, erasure_id: str | None = None) -> list[Tombstone]:
    """Return the tombstones of a space, or of one erasure."""
    if erasure_id is None:
        return [_stone(row) for row in tx.all("list_tombstones", space=space)]
    return [_stone(row) for row in tx.all("tombstones_of_erasure", space=space, erasure=erasure_id)]


def buried(tx: Tx, kind: str, names: Iterable[str], *, space: str) -> dict[str, Tombstone]:
    """Return the tombstones of those names that have one."""
    made = digests(tx)
    named = {digest: name for name in names for digest in made.every(space, kind, name)}
    rows = tx.all("find_tombstones", space=space, kind=kind, digests=list(named)) if named else []
    return {named[row["digest"]]: _stone(row) for row in rows}


def check_keys(tx: Tx, kind: str, keys: Iterable[str], *, space: str) -> None:
    """Refuse a late retry of what was erased not long ago. Raises `ErasedKey`."""
    since = tx.now - tx.keys_refused
    for key, stone in buried(tx, kind, keys, space=space).items():
        if stone.at > since:
            what = "document" if kind == DOCUMENT_KEY else "message"
            raise ErasedKey(f"the {what} with the idempotency key {key!r} was erased on {stone.at:%Y-%m-%d}.")


def check_fact(tx: Tx, fact_id: str, *, space: str) -> None:
    """Refuse a fact that was erased not long ago. Raises `ErasedKey`."""
    stone = buried(tx, RefKind.FACT, [fact_id], space=space).get(fact_id)
    if stone is not None and stone.at > tx.now - tx.keys_refused:
        hint = "Do not save it again. If it is something new, give it another id."
        raise ErasedKey(f"fact {fact_id!r} was erased on {stone.at:%Y-%m-%d}.", hint=hint)


def note_written(tx: Tx, *, space: str, host: str, path: str, kind: str) -> None:
    """Record where a file or folder with texts of a space was written."""
    tx.run("note_written", space=space, host=host, path=path, kind=kind, now=tx.now)


def written(tx: Tx, *, space: str) -> list[Row]:
    """Return where files with texts of a space were written: host, path, kind, written_at."""
    return tx.all("list_written", space=space)


def drop_written(tx: Tx, *, space: str, host: str, path: str) -> None:
    """Record that a file or folder is gone."""
    tx.run("drop_written", space=space, host=host, path=path)


def _erasure(tx: Tx, row: Row) -> Erasure:
    sinks = tx.all("list_erasure_sinks", space=row["space_id"], erasure=row["id"])
    return Erasure(
        space=row["space_id"],
        id=row["id"],
        asked_by=row["asked_by"],
        key_prefix=row["key_prefix"],
        reason=row["reason"],
        requested_at=from_micros(row["requested_at"]),
        settled_at=from_micros_or_none(row["settled_at"]),
        sinks=tuple(
            SinkState(sink=each["sink"], confirmed_at=from_micros_or_none(each["confirmed_at"])) for each in sinks
        ),
        receipt=row["receipt"] or "",
    )


def _stone(row: Row) -> Tombstone:
    return Tombstone(
        kind=row["kind"],
        key_id=row["key_id"],
        digest=row["digest"],
        erasure_id=row["erasure_id"],
        at=from_micros(row["at"]),
    )
