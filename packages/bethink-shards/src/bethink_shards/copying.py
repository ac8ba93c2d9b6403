"""Copies the rows of a space to another shard: first all rows, then recent changes, round by round."""

import tempfile
from collections.abc import Callable
from typing import BinaryIO, cast

from bethink.extensions.storage import (
    PostgresDatabase,
    Row,
    RowChanges,
    Table,
    Tx,
    Values,
    archived,
    erasures,
    load_for_move,
    write_for_move,
)
from bethink_shards import space_rows
from bethink_shards.marks import MoveState
from bethink_shards.steps import MoveStep, OnStep

_ERASE_BATCH = 2_000

_Delta = dict[str, dict[Values, Row]]
_TableStates = dict[str, space_rows.TableState]


class SpaceCopy:
    """The copy of a space in its new shard.

    `check` is called in every write transaction, and raises if another run moves the space.
    """

    def __init__(
        self,
        source: PostgresDatabase,
        target: PostgresDatabase,
        *,
        space: str,
        check: Callable[[Tx, MoveState], None],
        at: OnStep,
    ) -> None:
        self.rows = 0
        self.rounds = 0
        self._source, self._target = source, target
        self._space, self._check, self._at = space, check, at
        self._tables = archived.tables(include_moved=True)

    def _check_target(self, tx: Tx) -> None:
        self._check(tx, MoveState.ARRIVING)

    async def copy_all(self) -> int:
        """Copy everything through an archive, and return the horizon of its contents."""
        space = self._space
        with tempfile.TemporaryFile() as file:  # so that nothing remains if this process is killed
            copy = cast("BinaryIO", file)

            def export(tx: Tx) -> tuple[int, space_rows.SpaceRow | None]:
                write_for_move(tx, copy, space=space)
                return space_rows.horizon(tx), space_rows.space_row(tx, space=space)

            since, row = await self._source.transact(export, space=space, read_only=True)
            await self._at(MoveStep.EXPORTED)
            digests = await self._source.transact(erasures.digests, repeatable=True)

            def begin(tx: Tx) -> None:
                self._check_target(tx)
                if row is not None:
                    space_rows.put_space(tx, row, space=space)
                for key in (digests.own, *digests.others):
                    erasures.add_key(tx, key)

            await self._target.transact(begin, space=space, repeatable=True)
            self.rows = await load_for_move(self._target, copy, check=self._check_target)
        await self._at(MoveStep.LOADED)
        return since

    async def copy_since(self, since: int) -> tuple[int, int]:
        """Copy the rows written since a horizon. Returns the next horizon and the number of rows."""
        space = self._space

        def read_source(tx: Tx) -> tuple[int, space_rows.SpaceRow | None, _Delta, _TableStates]:
            states = space_rows.table_states(tx, space=space, since=since)
            changed = {
                table.name: {
                    table.key_of(row): row for row in space_rows.changed_rows(tx, table, space=space, since=since)
                }
                for table in self._tables
                if states[table.name].changed
            }
            return space_rows.horizon(tx), space_rows.space_row(tx, space=space), changed, states

        following, row, delta, source_states = await self._source.transact(read_source, space=space, read_only=True)

        def write(tx: Tx) -> tuple[int, list[str]]:
            self._check_target(tx)
            side: _Delta = {}
            if row is not None:
                space_rows.put_space(tx, row, space=space)
            for table in (item for item in self._tables if item.name in delta):
                existing, changes = space_rows.at_keys(tx, table, delta[table.name], space=space), delta[table.name]
                for key in [key for key, row_here in existing.items() if changes[key] == row_here]:
                    del changes[key]
                side[table.name] = {key: row_here for key, row_here in existing.items() if key in changes}
            result = {table.name: delta.get(table.name, {}) for table in self._tables}
            count = RowChanges(_rows(side), _rows(result), space=space, for_move=True).apply(tx)
            target_states = space_rows.table_states(tx, space=space)
            return count, [name for name, state in target_states.items() if not state.same_keys(source_states[name])]

        count, unequal = await self._target.transact(write, space=space, repeatable=True)
        if unequal:
            count += await self._remove_deleted(unequal)
        self.rows += count
        self.rounds += 1
        return following, count

    async def _remove_deleted(self, names: list[str]) -> int:
        """Remove the rows that were deleted in the source shard."""
        space, tables = self._space, [table for table in reversed(self._tables) if table.name in names]

        def read_keys(tx: Tx) -> dict[str, set[Values]]:
            return {table.name: space_rows.keys(tx, table, space=space) for table in tables}

        source_keys = await self._source.transact(read_keys, space=space, read_only=True)
        [links] = [table for table in self._tables if table.name == "chain_links"]

        def remove(tx: Tx) -> int:
            self._check_target(tx)
            count = 0
            for table in tables:
                for key in space_rows.keys(tx, table, space=space) - source_keys[table.name]:
                    if table.name == "messages":  # its trigger rewrites the link of the message
                        archived.delete(tx, links, key, space=space)
                    archived.delete(tx, table, key, space=space)
                    count += 1
            return count

        return await self._target.transact(remove, space=space, repeatable=True)

    async def erase(self, database: PostgresDatabase, state: MoveState) -> None:
        """Remove the rows of an unused copy in batches, without tombstones, because the space is in another shard."""
        space = self._space

        def erase(tx: Tx, table: Table) -> int:
            self._check(tx, state)
            return space_rows.erase(tx, table, space=space, limit=_ERASE_BATCH)

        def forget(tx: Tx) -> None:
            self._check(tx, state)
            tx.run("forget_space", space=space)

        for table in reversed(self._tables):
            while await database.transact(lambda tx, table=table: erase(tx, table), space=space, repeatable=True):
                pass
        await database.transact(forget, space=space, repeatable=True)


def _rows(delta: _Delta) -> dict[str, dict[Values, dict[str, object]]]:
    return {name: {key: dict(row) for key, row in rows.items()} for name, rows in delta.items()}
