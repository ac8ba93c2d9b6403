"""Reads every tombstone of a database."""

from bethink.model.erasures import Tombstone
from bethink.store import erasures, jobs
from bethink.store import holds as legal_holds
from bethink.store.db import NO_LIMIT, Database, Tx
from bethink.store.tombstone_file import TombstoneSet


async def load_tombstones(database: Database) -> TombstoneSet:
    """Return every tombstone of a database, including those of deleted spaces."""
    names = await database.transact(_spaces, read_only=True)
    key = await database.transact(lambda tx: tx.first("find_deployment_key", name="tombstones"), read_only=True)
    others = await database.transact(lambda tx: tx.all("list_deployment_keys", pattern="tombstones:%"), read_only=True)
    holds = await database.transact(legal_holds.all_holds, read_only=True)
    held_spaces = {hold.space for hold in holds if hold.lifted_at is None}
    stones: set[tuple[str, Tombstone]] = set()
    waiting: set[str] = set()
    for name in names:
        space_stones = await database.transact(
            lambda tx, name=name: erasures.tombstones(tx, space=name), space=name, read_only=True
        )
        stones |= {(name, stone) for stone in space_stones}
        if name in held_spaces:
            waiting |= await database.transact(
                lambda tx, name=name: legal_holds.open_erasures(tx, space=name), space=name, read_only=True
            )
    rows = [*([] if key is None else [key]), *others]
    keys = frozenset(bytes.fromhex(row["value"]) for row in rows)
    return TombstoneSet() | TombstoneSet(
        keys=keys, stones=frozenset(stones), holds=frozenset(holds), waiting=frozenset(waiting)
    )  # fmt: skip


def _spaces(tx: Tx) -> list[str]:
    # Spaces with erasures and all that exist, because tombstones may also be imported.
    erased = {row["space_id"] for row in tx.all("list_buried_spaces")}
    return sorted(erased.union(jobs.spaces(tx, limit=NO_LIMIT, after="")))
