"""Reads every tombstone of a database."""

from bethink.model.erasures import Tombstone
from bethink.store import erasures, jobs
from bethink.store import holds as legal_holds
from bethink.store.db import NO_LIMIT, Database, Tx
from bethink.store.tombstone_file import Buried


async def of_database(database: Database) -> Buried:
    """Return every tombstone of a database, also those of spaces that are gone."""
    names = await database.transact(_spaces, read=True)
    key = await database.transact(lambda tx: tx.one("find_deployment_key", name="tombstones"), read=True)
    others = await database.transact(lambda tx: tx.all("list_deployment_keys", pattern="tombstones:%"), read=True)
    holds = await database.transact(legal_holds.every_hold, read=True)
    held = {hold.space for hold in holds if hold.lifted_at is None}
    stones: set[tuple[str, Tombstone]] = set()
    waiting: set[str] = set()
    for name in names:
        found = await database.transact(
            lambda tx, name=name: erasures.tombstones(tx, space=name), space=name, read=True
        )
        stones |= {(name, stone) for stone in found}
        if name in held:
            waiting |= await database.transact(
                lambda tx, name=name: legal_holds.rows_open(tx, space=name), space=name, read=True
            )
    rows = [*([] if key is None else [key]), *others]
    keys = frozenset(bytes.fromhex(row["value"]) for row in rows)
    return Buried() | Buried(
        keys=keys, stones=frozenset(stones), holds=frozenset(holds), waiting=frozenset(waiting)
    )  # fmt: skip


def _spaces(tx: Tx) -> list[str]:
    # Those of erasures, and all that exist: tombstones may also have come from elsewhere.
    buried = {row["space_id"] for row in tx.all("list_buried_spaces")}
    return sorted(buried.union(jobs.spaces(tx, limit=NO_LIMIT, after="")))
