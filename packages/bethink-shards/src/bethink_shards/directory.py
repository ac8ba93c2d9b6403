"""The directory maps spaces to shards. Placements are cached until a shard reports that a space moved."""

from collections.abc import Callable, Iterable
from dataclasses import field
from enum import StrEnum
from typing import TypeVar

from bethink.errors import ConfigurationError, ConflictError, DuplicateError, InvalidRequestError, NotFoundError
from bethink.extensions.base import checked_name, frozen, to_micros
from bethink.extensions.storage import Database, Dialect, Query, Row, Tx, compile_query

T = TypeVar("T")
_MAX_CACHED = 100_000
_ADD_SHARDS = "Add one with 'bethink admin shards add NAME DSN'."


class ShardState(StrEnum):
    """State of a shard: open or closed for new spaces."""

    OPEN = "open"
    DRAINING = "draining"


@frozen
class Shard:
    """A shard: a PostgreSQL database with its own workers. It takes spaces in proportion to its weight."""

    name: str
    dsn: str = field(repr=False)
    weight: int
    state: ShardState
    spaces: int


@frozen
class Placement:
    """Shard of a space, and the number of its placements. A higher version replaces a lower one."""

    shard: str
    version: int


@frozen
class MovePlan:
    """An unfinished move: source, target, and the version of the placement before it."""

    space: str
    source: Shard
    target: Shard
    version: int
    token: str
    """Token of the last run. Runs with another token were superseded."""


def _query(name: str, text: str) -> Query:
    return compile_query(name, text, Dialect.POSTGRES)


_SHARDS = _query("shards", "SELECT name, dsn, weight, state, spaces FROM shards ORDER BY name")
_ADD = _query(
    "add_shard", "INSERT INTO shards (name, dsn, weight, state, added_at) VALUES (:name, :dsn, :weight, 'open', :now)"
)
_STATE = _query("set_shard_state", "UPDATE shards SET state = :state WHERE name = :name")
_COUNT = _query("count_spaces", "UPDATE shards SET spaces = spaces + :more WHERE name = :name")
_EMPTIEST = _query(
    "emptiest_shard",
    "SELECT name FROM shards WHERE state = 'open' AND name <> :but "
    "ORDER BY (spaces + 1) / CAST(weight AS double precision), name LIMIT 1",
)
_LOCK_SHARDS = _query("lock_shards", "SELECT name FROM shards ORDER BY name FOR NO KEY UPDATE")
_PLACE = _query("find_place", "SELECT shard, version FROM places WHERE space_id = :space")
_PUT = _query(
    "put_place",
    "INSERT INTO places (space_id, shard, version, placed_at) VALUES (:space, :shard, 1, :now) "
    "ON CONFLICT (space_id) DO NOTHING",
)
_ADOPT = _query(
    "adopt_places",
    "INSERT INTO places (space_id, shard, version, placed_at) "
    "SELECT space, :shard, 1, :now FROM unnest(CAST(:spaces AS text[])) AS space",
)
_CONFLICTS = _query("taken_places", "SELECT space_id, shard FROM places WHERE space_id = ANY(:spaces) LIMIT 1")
_SWITCH = _query(
    "switch_place",
    "UPDATE places SET shard = :target, version = :version, placed_at = :now "
    "WHERE space_id = :space AND shard = :source AND version = :version - 1",
)
_OF_SHARD = _query(
    "places_of_shard",
    "SELECT space_id FROM places WHERE shard = :shard AND space_id > :after ORDER BY space_id LIMIT :limit",
)
_MOVE = _query("find_begun_move", "SELECT source, target, token FROM moves WHERE space_id = :space")
_MOVES = _query("begun_moves", "SELECT space_id, source, target FROM moves ORDER BY space_id LIMIT :limit")
_BEGIN = _query(
    "begin_move",
    "INSERT INTO moves (space_id, source, target, token, begun_at) VALUES (:space, :source, :target, :token, :now) "
    "ON CONFLICT (space_id) DO UPDATE SET token = excluded.token",
)
_END = _query("end_move", "DELETE FROM moves WHERE space_id = :space AND token = :token")
_ID = _query("directory_id", "SELECT id FROM directory")


class Directory:
    """Maps spaces to shards. Safe to share between tasks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._placements: dict[str, Placement] = {}

    async def open(self) -> None:
        """Connect, and create the schema if it does not exist."""
        await self._database.open()

    async def close(self) -> None:
        """Release every connection."""
        await self._database.close()

    async def id(self) -> str:
        """Return the id of this directory."""
        return await self._run_read(lambda tx: tx.all(_ID)[0]["id"])

    async def shards(self) -> dict[str, Shard]:
        """Return all shards by name."""
        return await self._run_read(_shards)

    async def check_new(self, name: str, *, weight: int) -> None:
        """Raise `InvalidRequestError` or `DuplicateError` if the name or weight of a new shard is invalid or exists."""
        await self._run_read(lambda tx: _check_new(tx, name, weight=weight))

    async def add(self, name: str, dsn: str, *, weight: int, spaces: Iterable[str] = ()) -> None:
        """Add a shard with its spaces. Raises `DuplicateError` if the name or a space exists already."""
        space_names = list(spaces)

        def body(tx: Tx) -> None:
            _check_new(tx, name, weight=weight)
            conflicts = tx.all(_CONFLICTS, spaces=space_names)
            if conflicts:
                raise DuplicateError(
                    f"Space {conflicts[0]['space_id']!r} is in this database and in shard {conflicts[0]['shard']!r}.",
                    hint="Merge them with 'bethink data sync', or export and forget one of them.",
                )
            tx.run(_ADD, name=name, dsn=dsn, weight=weight, now=tx.now)
            tx.run(_ADOPT, spaces=space_names, shard=name, now=tx.now)
            tx.run(_COUNT, name=name, more=len(space_names))

        await self._database.transact(body)

    async def set_state(self, name: str, state: ShardState) -> None:
        """Open or close a shard for new spaces. Raises `NotFoundError`."""

        def body(tx: Tx) -> None:
            if not tx.run(_STATE, name=name, state=state):
                raise _no_shard(name)

        await self._database.transact(body, repeatable=True)

    async def find(self, space: str, *, refresh: bool = False) -> Placement | None:
        """Return the placement of a space from the cache, or with `refresh` from the directory, or None."""
        placement = None if refresh else self._placements.get(space)
        if placement is None:
            placement = await self._run_read(lambda tx: _find_placement(tx, space))
            if placement is not None:
                self._cache(space, placement)
        return placement

    async def assign(self, space: str) -> Placement:
        """Assign a new space to the emptiest open shard, by weight, unless another process has."""

        def body(tx: Tx) -> Placement:
            placement = _find_placement(tx, space)
            if placement is None:
                tx.all(_LOCK_SHARDS)
                shard = _emptiest(tx)
                if tx.run(_PUT, space=space, shard=shard, now=tx.now):
                    tx.run(_COUNT, name=shard, more=1)
                placement = _find_placement(tx, space)
                assert placement is not None  # noqa: S101 - another process placed it
            return placement

        placement = await self._database.transact(body, repeatable=True)
        self._cache(space, placement)
        return placement

    async def emptiest(self, *, exclude: str = "") -> str:
        """Return the open shard for the next new space. Raises `ConfigurationError` if there is none."""
        return await self._run_read(lambda tx: _emptiest(tx, exclude=exclude))

    async def spaces_of(self, shard: str, *, after: str = "", limit: int = 1_000) -> list[str]:
        """Return the spaces of a shard by name, starting after `after`."""
        rows = await self._run_read(lambda tx: tx.all(_OF_SHARD, shard=shard, after=after, limit=limit))
        return [row["space_id"] for row in rows]

    async def moves(self, *, limit: int = 1_000) -> list[tuple[str, str, str]]:
        """Return the unfinished moves: space, source and target."""
        rows = await self._run_read(lambda tx: tx.all(_MOVES, limit=limit))
        return [(row["space_id"], row["source"], row["target"]) for row in rows]

    async def begin_move(self, space: str, to: str, *, token: str) -> MovePlan | None:
        """Start the move of a space, or resume an unfinished one. Returns None if there is nothing to do.

        Passing the source shard of an undecided move undoes it. Raises `NotFoundError`, and `ConflictError` if the
        space is moving to another shard or the shard is closed.
        """
        return await self._database.transact(lambda tx: _begin(tx, space, to, token), repeatable=True)

    async def switch(self, space: str, *, source: str, target: str, version: int) -> None:
        """Record that a space is in its new shard. A repeated call has no effect."""

        def body(tx: Tx) -> None:
            tx.all(_LOCK_SHARDS)
            if tx.run(_SWITCH, space=space, source=source, target=target, version=version, now=tx.now):
                tx.run(_COUNT, name=source, more=-1)
                tx.run(_COUNT, name=target, more=1)

        await self._database.transact(body, repeatable=True)
        self._placements.pop(space, None)

    async def is_current(self, plan: MovePlan) -> bool:
        """Return whether no later run has resumed or finished a move."""
        rows = await self._run_read(lambda tx: tx.all(_MOVE, space=plan.space))
        return bool(rows) and rows[0]["token"] == plan.token

    async def end_move(self, plan: MovePlan) -> None:
        """Record that a move is finished, unless a later run has resumed it."""
        await self._database.transact(lambda tx: tx.run(_END, space=plan.space, token=plan.token), repeatable=True)

    async def _run_read(self, body: Callable[[Tx], T]) -> T:
        return await self._database.transact(body, read_only=True)

    def _cache(self, space: str, placement: Placement) -> None:
        before = self._placements.pop(space, None)
        if before is not None and before.version > placement.version:
            placement = before
        self._placements[space] = placement
        if len(self._placements) > _MAX_CACHED:
            self._placements.pop(next(iter(self._placements)), None)


def _shards(tx: Tx) -> dict[str, Shard]:
    return {row["name"]: _shard(row) for row in tx.all(_SHARDS)}


def _check_new(tx: Tx, name: str, *, weight: int) -> None:
    checked_name(name, "a shard")
    if weight < 1:
        raise InvalidRequestError(f"`capacity` cannot be {weight}.", hint="Pass 1 or more.")
    if name in _shards(tx):
        raise DuplicateError(f"Shard {name!r} already exists.", hint="'bethink admin shards list' shows them.")


def _shard(row: Row) -> Shard:
    return Shard(
        name=row["name"], dsn=row["dsn"], weight=row["weight"], state=ShardState(row["state"]), spaces=row["spaces"]
    )


def _find_placement(tx: Tx, space: str) -> Placement | None:
    rows = tx.all(_PLACE, space=space)
    return Placement(shard=rows[0]["shard"], version=rows[0]["version"]) if rows else None


def _emptiest(tx: Tx, *, exclude: str = "") -> str:
    rows = tx.all(_EMPTIEST, but=exclude)
    if not rows:
        raise ConfigurationError("The directory has no open shard.", hint=_ADD_SHARDS)
    return rows[0]["name"]


def _no_shard(name: str) -> NotFoundError:
    return NotFoundError(f"Shard {name!r} does not exist.", hint="'bethink admin shards list' shows them.")


def _begin(tx: Tx, space: str, to: str, token: str) -> MovePlan | None:
    tx.all(_LOCK_SHARDS)
    shards, placement, unfinished = _shards(tx), _find_placement(tx, space), tx.all(_MOVE, space=space)
    if placement is None:
        raise NotFoundError(f"No space {space!r} in the directory.", hint="'bethink admin spaces' lists the spaces.")
    if to not in shards:
        raise _no_shard(to)
    if unfinished:
        source, target = unfinished[0]["source"], unfinished[0]["target"]
        if to not in (source, target):
            raise ConflictError(
                f"Space {space!r} is moving from {source!r} to {target!r}.",
                hint=f"Finish the move with '--to {target}', or undo it with '--to {source}'.",
            )
    elif placement.shard == to:
        return None
    else:
        source, target = placement.shard, to
        if shards[to].state is not ShardState.OPEN:
            raise ConflictError(f"Shard {to!r} is draining.", hint="Choose an open shard.")
    tx.run(_BEGIN, space=space, source=source, target=target, token=token, now=to_micros(tx.now))
    version = placement.version - (placement.shard == target)
    return MovePlan(space=space, source=shards[source], target=shards[target], version=version, token=token)
