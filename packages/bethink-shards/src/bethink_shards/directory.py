"""The directory: which shard holds which space. What was read is remembered until a shard says that it moved."""

from collections.abc import Callable, Iterable
from dataclasses import field
from enum import StrEnum
from typing import TypeVar

from bethink.errors import Conflict, Duplicate, Invalid, Misconfigured, NotFound
from bethink.extensions.base import checked_name, frozen, to_micros
from bethink.extensions.storage import Database, Dialect, Query, Row, Tx, spelt

T = TypeVar("T")
_MOST_REMEMBERED = 100_000
_ADD_SHARDS = "Add one with 'bethink shards add NAME DSN'."


class ShardState(StrEnum):
    """Whether a shard takes new spaces."""

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
class Place:
    """Where a space is, and how many times it was placed: of two, the one with the higher version is true."""

    shard: str
    version: int


@frozen
class MovePlan:
    """A move that has begun: from where to where, and the version of the place before it."""

    space: str
    source: Shard
    target: Shard
    version: int
    token: str
    """The run that took it up last. One with another token was overtaken."""


def _query(name: str, text: str) -> Query:
    return spelt(name, text, Dialect.POSTGRES)


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
_TAKEN = _query("taken_places", "SELECT space_id, shard FROM places WHERE space_id = ANY(:spaces) LIMIT 1")
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
    """Which shard holds which space. Safe to share between tasks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._places: dict[str, Place] = {}

    async def open(self) -> None:
        """Connect, and make the schema where there is none."""
        await self._database.open()

    async def close(self) -> None:
        """Release every connection."""
        await self._database.close()

    async def id(self) -> str:
        """Return what tells this directory from others."""
        return await self._read(lambda tx: tx.all(_ID)[0]["id"])

    async def shards(self) -> dict[str, Shard]:
        """Return every shard by its name."""
        return await self._read(_shards)

    async def check_new(self, name: str, *, weight: int) -> None:
        """Raise `Invalid` or `Duplicate` if no shard can be added with this name and weight."""
        await self._read(lambda tx: _check_new(tx, name, weight=weight))

    async def add(self, name: str, dsn: str, *, weight: int, spaces: Iterable[str] = ()) -> None:
        """Add a shard with the spaces that it holds. Raises `Duplicate` if the name or a space is taken."""
        held = list(spaces)

        def body(tx: Tx) -> None:
            _check_new(tx, name, weight=weight)
            taken = tx.all(_TAKEN, spaces=held)
            if taken:
                raise Duplicate(
                    f"space {taken[0]['space_id']!r} is in this database and in shard {taken[0]['shard']!r}.",
                    hint="Bring them together with 'bethink sync', or export and forget one of them.",
                )
            tx.run(_ADD, name=name, dsn=dsn, weight=weight, now=tx.now)
            tx.run(_ADOPT, spaces=held, shard=name, now=tx.now)
            tx.run(_COUNT, name=name, more=len(held))

        await self._database.transact(body)

    async def set_state(self, name: str, state: ShardState) -> None:
        """Let a shard take new spaces, or no more. Raises `NotFound`."""

        def body(tx: Tx) -> None:
            if not tx.run(_STATE, name=name, state=state):
                raise _no_shard(name)

        await self._database.transact(body, repeatable=True)

    async def find(self, space: str, *, anew: bool = False) -> Place | None:
        """Return where a space is, as far as this process knows, or as the directory says now; None if nowhere."""
        known = None if anew else self._places.get(space)
        if known is None:
            known = await self._read(lambda tx: _place(tx, space))
            if known is not None:
                self._remember(space, known)
        return known

    async def assign(self, space: str) -> Place:
        """Give a new space to the emptiest open shard, by weight; another process may have done so."""

        def body(tx: Tx) -> Place:
            found = _place(tx, space)
            if found is None:
                tx.all(_LOCK_SHARDS)
                shard = _emptiest(tx)
                if tx.run(_PUT, space=space, shard=shard, now=tx.now):
                    tx.run(_COUNT, name=shard, more=1)
                found = _place(tx, space)
                assert found is not None  # noqa: S101 - someone has placed it by now
            return found

        found = await self._database.transact(body, repeatable=True)
        self._remember(space, found)
        return found

    async def emptiest(self, *, but: str = "") -> str:
        """Return the open shard that a new space would go to. Raises `Misconfigured` if there is none."""
        return await self._read(lambda tx: _emptiest(tx, but=but))

    async def spaces_of(self, shard: str, *, after: str = "", limit: int = 1_000) -> list[str]:
        """Return the spaces of a shard, in order after one."""
        rows = await self._read(lambda tx: tx.all(_OF_SHARD, shard=shard, after=after, limit=limit))
        return [row["space_id"] for row in rows]

    async def moves(self, *, limit: int = 1_000) -> list[tuple[str, str, str]]:
        """Return the moves that have not ended: space, source and target."""
        rows = await self._read(lambda tx: tx.all(_MOVES, limit=limit))
        return [(row["space_id"], row["source"], row["target"]) for row in rows]

    async def begin_move(self, space: str, to: str, *, token: str) -> MovePlan | None:
        """Record that a space moves, or take up a move that has not ended. None if there is nothing to do.

        To name the shard that it was to leave ends a move that is not decided yet. Raises `NotFound`, and `Conflict` if
        it is on its way to another shard or that shard is closed.
        """
        return await self._database.transact(lambda tx: _begin(tx, space, to, token), repeatable=True)

    async def switch(self, space: str, *, source: str, target: str, version: int) -> None:
        """Say that a space is in its new shard. To say it again changes nothing."""

        def body(tx: Tx) -> None:
            tx.all(_LOCK_SHARDS)
            if tx.run(_SWITCH, space=space, source=source, target=target, version=version, now=tx.now):
                tx.run(_COUNT, name=source, more=-1)
                tx.run(_COUNT, name=target, more=1)

        await self._database.transact(body, repeatable=True)
        self._places.pop(space, None)

    async def is_current(self, plan: MovePlan) -> bool:
        """Return whether no later run has taken up a move, or ended it."""
        rows = await self._read(lambda tx: tx.all(_MOVE, space=plan.space))
        return bool(rows) and rows[0]["token"] == plan.token

    async def end_move(self, plan: MovePlan) -> None:
        """Record that nothing of a move is left to do, unless a later run has taken it up."""
        await self._database.transact(lambda tx: tx.run(_END, space=plan.space, token=plan.token), repeatable=True)

    async def _read(self, body: Callable[[Tx], T]) -> T:
        return await self._database.transact(body, read=True)

    def _remember(self, space: str, place: Place) -> None:
        before = self._places.pop(space, None)
        if before is not None and before.version > place.version:
            place = before
        self._places[space] = place
        if len(self._places) > _MOST_REMEMBERED:
            self._places.pop(next(iter(self._places)), None)


def _shards(tx: Tx) -> dict[str, Shard]:
    return {row["name"]: _shard(row) for row in tx.all(_SHARDS)}


def _check_new(tx: Tx, name: str, *, weight: int) -> None:
    checked_name(name, "a shard")
    if weight < 1:
        raise Invalid(f"a shard cannot have the weight {weight}.", hint="Give 1 or more.")
    if name in _shards(tx):
        raise Duplicate(f"there is a shard {name!r} already.", hint="'bethink shards list' shows them.")


def _shard(row: Row) -> Shard:
    return Shard(
        name=row["name"], dsn=row["dsn"], weight=row["weight"], state=ShardState(row["state"]), spaces=row["spaces"]
    )


def _place(tx: Tx, space: str) -> Place | None:
    rows = tx.all(_PLACE, space=space)
    return Place(shard=rows[0]["shard"], version=rows[0]["version"]) if rows else None


def _emptiest(tx: Tx, *, but: str = "") -> str:
    rows = tx.all(_EMPTIEST, but=but)
    if not rows:
        raise Misconfigured("the directory has no open shard for a space.", hint=_ADD_SHARDS)
    return rows[0]["name"]


def _no_shard(name: str) -> NotFound:
    return NotFound(f"the shard {name!r} does not exist.", hint="'bethink shards list' shows them.")


def _begin(tx: Tx, space: str, to: str, token: str) -> MovePlan | None:
    tx.all(_LOCK_SHARDS)
    shards, place, begun = _shards(tx), _place(tx, space), tx.all(_MOVE, space=space)
    if place is None:
        raise NotFound(f"no space {space!r} in the directory.", hint="'bethink spaces' lists the spaces.")
    if to not in shards:
        raise _no_shard(to)
    if begun:
        source, target = begun[0]["source"], begun[0]["target"]
        if to not in (source, target):
            raise Conflict(
                f"space {space!r} is on its way from {source!r} to {target!r}.",
                hint=f"Finish it with '--to {target}', or take it back with '--to {source}'.",
            )
    elif place.shard == to:
        return None
    else:
        source, target = place.shard, to
        if shards[to].state is not ShardState.OPEN:
            raise Conflict(f"shard {to!r} is being drained.", hint="Name a shard that is open.")
    tx.run(_BEGIN, space=space, source=source, target=target, token=token, now=to_micros(tx.now))
    version = place.version - (place.shard == target)
    return MovePlan(space=space, source=shards[source], target=shards[target], version=version, token=token)
