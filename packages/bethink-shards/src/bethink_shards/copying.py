"""Copies the rows of a space to another shard: all of them once, then what was written since, round by round."""

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
    load_whole,
    write_whole,
)
from bethink_shards import space_rows
from bethink_shards.marks import MoveState
from bethink_shards.steps import MoveStep, OnStep

_ERASED_AT_ONCE = 2_000

_Delta = dict[str, dict[Values, Row]]
_Stands = dict[str, space_rows.TableStand]


class SpaceCopy:
    """The copy of a space in its new shard.

    `check` is called in every transaction that writes, and raises if somebody else moves the space by now.
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
        self._tables = archived.tables(whole=True)

    def _check_target(self, tx: Tx) -> None:
        self._check(tx, MoveState.ARRIVING)

    async def copy_all(self) -> int:
        """Copy everything by an archive, and return the horizon of what it holds."""
        space = self._space
        with tempfile.TemporaryFile() as unnamed:  # so that nothing of it is left if this process is killed
            copy = cast("BinaryIO", unnamed)

            def export(tx: Tx) -> tuple[int, space_rows.SpaceRow | None]:
                write_whole(tx, copy, space=space)
                return space_rows.horizon(tx), space_rows.space_row(tx, space=space)

            since, row = await self._source.transact(export, space=space, read=True)
            await self._at(MoveStep.EXPORTED)
            known = await self._source.transact(erasures.digests, repeatable=True)

            def begin(tx: Tx) -> None:
                self._check_target(tx)
                if row is not None:
                    space_rows.put_space(tx, row, space=space)
                for key in (known.own, *known.others):
                    erasures.add_key(tx, key)

            await self._target.transact(begin, space=space, repeatable=True)
            self.rows = await load_whole(self._target, copy, check=self._check_target)
        await self._at(MoveStep.LOADED)
        return since

    async def copy_since(self, since: int) -> tuple[int, int]:
        """Bring over what was written since a horizon; return the next horizon, and how many rows it took."""
        space = self._space

        def read(tx: Tx) -> tuple[int, space_rows.SpaceRow | None, _Delta, _Stands]:
            stands = space_rows.stands(tx, space=space, since=since)
            found = {
                table.name: {table.key_of(row): row for row in space_rows.changed(tx, table, space=space, since=since)}
                for table in self._tables
                if stands[table.name].changed
            }
            return space_rows.horizon(tx), space_rows.space_row(tx, space=space), found, stands

        following, row, delta, there = await self._source.transact(read, space=space, read=True)

        def write(tx: Tx) -> tuple[int, list[str]]:
            self._check_target(tx)
            side: _Delta = {}
            if row is not None:
                space_rows.put_space(tx, row, space=space)
            for table in (each for each in self._tables if each.name in delta):
                found, wanted = space_rows.at_keys(tx, table, delta[table.name], space=space), delta[table.name]
                for key in [key for key, known in found.items() if wanted[key] == known]:
                    del wanted[key]
                side[table.name] = {key: known for key, known in found.items() if key in wanted}
            result = {table.name: delta.get(table.name, {}) for table in self._tables}
            count = RowChanges(_rows(side), _rows(result), space=space, whole=True).apply(tx)
            here = space_rows.stands(tx, space=space)
            return count, [name for name, stand in here.items() if not stand.same_keys(there[name])]

        count, unequal = await self._target.transact(write, space=space, repeatable=True)
        if unequal:
            count += await self._remove_gone(unequal)
        self.rows += count
        self.rounds += 1
        return following, count

    async def _remove_gone(self, names: list[str]) -> int:
        """Remove the rows that the old shard no longer has."""
        space, wanted = self._space, [table for table in reversed(self._tables) if table.name in names]

        def read(tx: Tx) -> dict[str, set[Values]]:
            return {table.name: space_rows.keys(tx, table, space=space) for table in wanted}

        there = await self._source.transact(read, space=space, read=True)
        [links] = [table for table in self._tables if table.name == "chain_links"]

        def remove(tx: Tx) -> int:
            self._check_target(tx)
            count = 0
            for table in wanted:
                for key in space_rows.keys(tx, table, space=space) - there[table.name]:
                    if table.name == "messages":  # its trigger writes the link of the message anew
                        archived.delete(tx, links, key, space=space)
                    archived.delete(tx, table, key, space=space)
                    count += 1
            return count

        return await self._target.transact(remove, space=space, repeatable=True)

    async def erase(self, database: PostgresDatabase, state: MoveState) -> None:
        """Remove the rows of a copy that is not in use, some at a time. Nothing is buried: the space is elsewhere."""
        space = self._space

        def erase(tx: Tx, table: Table) -> int:
            self._check(tx, state)
            return space_rows.erase(tx, table, space=space, limit=_ERASED_AT_ONCE)

        def forget(tx: Tx) -> None:
            self._check(tx, state)
            tx.run("forget_space", space=space)

        for table in reversed(self._tables):
            while await database.transact(lambda tx, table=table: erase(tx, table), space=space, repeatable=True):
                pass
        await database.transact(forget, space=space, repeatable=True)


def _rows(delta: _Delta) -> dict[str, dict[Values, dict[str, object]]]:
    return {name: {key: dict(row) for key, row in rows.items()} for name, rows in delta.items()}
