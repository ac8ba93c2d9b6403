"""Moves a space to another shard while it is in use.

It is copied by its archive, then caught up with what was written meanwhile, round by round. Then a fence in the old
shard refuses writers, the last rows follow, and the fence becomes final: that is the moment of decision. What comes
after it (opening the new copy, the directory, erasing the old copy) only has to be done, by anyone.

Killed before the decision, a second run starts over; killed after it, a second run finishes. A fence that its mover did
not end is lifted by the clients: its row in the old shard is either removed or made final, never both.

A run may sleep while another takes over, finishes, and moves the space on. So each transaction of a run that writes
holds the mark with the run's own token, and is refused without it.
"""

import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio

from bethink.errors import Busy, Conflict, Misconfigured
from bethink.extensions.base import new_id
from bethink.extensions.jobs import JobKind
from bethink.extensions.storage import Database, PostgresDatabase, Tx, jobs
from bethink_shards import marks, space_rows
from bethink_shards.copying import SpaceCopy
from bethink_shards.directory import Directory, MovePlan, Shard
from bethink_shards.marks import MoveMark, MoveState, SpaceQueues
from bethink_shards.steps import MoveReport, MoveStep, OnStep, nothing
from bethink_shards.switching import open_arrived, switch

FENCE = 1.0
"""Seconds after which anyone may lift a fence; a mover that takes longer tries again."""
_DRAIN = 0.6
"""Seconds to wait for transactions that began before the fence."""
_CLEAR = 60.0
"""Seconds to wait for transactions of an earlier run in the new shard."""
_FEW = 100
"""So few rows to catch up with are left for the fence."""
_ROUNDS = 20
_TRIES = 10


class _Lifted(Exception):
    """The fence did not hold until everything was over there: try again."""


class SpaceMove:
    """Moves spaces between the shards of a directory. `at` is told of each step."""

    def __init__(
        self,
        directory: Directory,
        database: Callable[[str], Database],
        *,
        at: OnStep | None = None,
    ) -> None:
        self._directory = directory
        self._database = database
        self._at = at or nothing

    async def run(self, space: str, to: str) -> MoveReport:
        """Move a space, or finish, or take back, a move that was interrupted.

        Raises `NotFound` for an unknown space or shard, `Conflict` if it cannot go there, and `Busy` if it is written
        to faster than it can be caught up with: nothing has moved then, and the command can be run again.
        """
        token = new_id("mov")
        plan = await self._directory.begin_move(space, to, token=token)
        if plan is None:
            return MoveReport(space=space, source=to, target=to)
        await self._at(MoveStep.BEGUN)
        async with self._opened(plan.source) as source, self._opened(plan.target) as target:
            source.move = target.move = token
            run = _Run(self._directory, plan, source, target, at=self._at)
            return await (run.take_back() if to == plan.source.name else run.carry_out())

    @asynccontextmanager
    async def _opened(self, shard: Shard) -> AsyncGenerator[PostgresDatabase]:
        database = self._database(shard.dsn)
        if not isinstance(database, PostgresDatabase):
            raise Misconfigured(f"shard {shard.name!r} is not on PostgreSQL.", hint="Shards are PostgreSQL databases.")
        await database.open()
        try:
            yield database
        finally:
            await database.close()


class _Run:
    """One run of a move."""

    def __init__(
        self,
        directory: Directory,
        plan: MovePlan,
        source: PostgresDatabase,
        target: PostgresDatabase,
        *,
        at: OnStep,
    ) -> None:
        self._directory, self._plan = directory, plan
        self._source, self._target = source, target
        self._space, self._token, self._at = plan.space, source.move, at
        self._copy = SpaceCopy(source, target, space=plan.space, check=self._check, at=at)
        self._paused = 0.0

    async def carry_out(self) -> MoveReport:
        """Move the space, or finish what is decided."""
        decided = await self._claim()
        if decided is None:
            await self._clear()
            await self._at(MoveStep.CLEARED)
            decided = await self._decide(await self._copy.copy_all())
        await self._finish(decided)
        return self._report()

    async def take_back(self) -> MoveReport:
        """Leave the space where it is, and remove what is in the other shard. Raises `Conflict` if it is decided."""
        source, target = self._plan.source.name, self._plan.target.name
        if await self._claim() is not None:
            raise Conflict(
                f"space {self._space!r} has left shard {source!r}.",
                hint=f"Finish the move with '--to {target}', then move it back.",
            )
        await self._copy.erase(self._target, MoveState.ARRIVING)
        gone = MoveMark(state=MoveState.GONE, token=self._token, shard=source, version=self._plan.version)

        def leave(tx: Tx) -> None:
            self._check(tx, MoveState.ARRIVING)
            marks.mark(tx, gone, space=self._space)

        await self._target.transact(leave, repeatable=True)
        await self._directory.end_move(self._plan)
        return MoveReport(space=self._space, source=target, target=source)

    def _report(self) -> MoveReport:
        plan = self._plan
        return MoveReport(
            space=self._space, source=plan.source.name, target=plan.target.name, rows=self._copy.rows,
            rounds=self._copy.rounds, paused=self._paused,
        )  # fmt: skip

    def _check(self, tx: Tx, state: MoveState) -> None:
        """Raise `Conflict` if this run was overtaken. Otherwise it stays the last until the transaction ends."""
        if not marks.holds(tx, space=self._space, token=self._token, state=state):
            raise _overtaken(self._space)

    def _check_target(self, tx: Tx) -> None:
        self._check(tx, MoveState.ARRIVING)

    async def _check_directory(self) -> None:
        """Raise `Conflict` if this run was overtaken before it has marked anything: its plan may be an old one."""
        if not await self._directory.is_current(self._plan):
            raise _overtaken(self._space)

    async def _claim(self) -> MoveMark | None:
        """Take the move over from any earlier run. Returns what the old shard says if the move is decided.

        The new shard first: an earlier run looks there between its fence and its decision, so that it either finds its
        token gone, or has its fence lifted here, or has decided.
        """
        space, plan = self._space, self._plan
        await self._check_directory()
        closed = await self._mark_target()
        await self._check_directory()  # again: a run that takes over from here on changes the mark

        def look(tx: Tx) -> MoveMark | None:
            marks.lift(tx, space=space)
            return marks.find(tx, space=space)

        found = await self._source.transact(look, repeatable=True)
        if found is None or found.state is not MoveState.GONE:
            if not closed:
                raise Conflict(
                    f"shard {plan.target.name!r} holds a space {space!r} that the directory does not know of.",
                    hint="Export and forget it there, then run this again.",
                )
            return None
        if closed and found.shard == plan.target.name:
            # Its own token again: clients open the new shard by the token that the old one names.
            same = MoveMark(state=MoveState.ARRIVING, token=found.token, shard=plan.source.name, version=plan.version)

            def rename(tx: Tx) -> None:
                if marks.holds(tx, space=space, token=self._token, state=MoveState.ARRIVING):
                    marks.mark(tx, same, space=space)

            await self._target.transact(rename, repeatable=True)
        self._token = self._source.move = self._target.move = found.token
        return found

    async def _mark_target(self) -> bool:
        """Keep everyone else out of the new shard. Returns False if something is there that did not come by a move."""
        space, plan = self._space, self._plan
        arriving = MoveMark(state=MoveState.ARRIVING, token=self._token, shard=plan.source.name, version=plan.version)

        def arrive(tx: Tx, *, empty: bool) -> bool:
            closed = empty or marks.find(tx, space=space) is not None
            if closed:
                marks.mark(tx, arriving, space=space)
            return closed

        def arrive_if_empty(tx: Tx) -> bool:
            return arrive(tx, empty=not space_rows.holds_any(tx, space=space))

        closed = await self._target.transact(lambda tx: arrive(tx, empty=False), repeatable=True)
        return closed or await self._target.transact(arrive_if_empty, space=space, repeatable=True)

    async def _clear(self) -> None:
        """Remove what an earlier run left in the new shard, once nothing of it writes there any more."""
        if not await self._is_quiet(self._target, seconds=_CLEAR):
            raise Busy(
                f"a transaction in the new shard of space {self._space!r} has not ended for {_CLEAR:g} seconds.",
                hint="Nothing has moved. Run it again when it has ended; pg_stat_activity shows it.",
            )
        await self._copy.erase(self._target, MoveState.ARRIVING)

    async def _decide(self, since: int) -> MoveMark:
        """Catch up until little is left, then with the fence up. Returns what the old shard says from then on."""
        for attempt in range(_TRIES):
            since = await self._catch_up(since)
            await self._at(MoveStep.CAUGHT_UP)
            try:
                return await self._fenced(since)
            except _Lifted:
                await anyio.sleep(random.uniform(0.2, 0.4) * 2 ** min(attempt, 4))  # noqa: S311 - not a secret
        raise Busy(
            f"space {self._space!r} could not be caught up with within {FENCE:g} seconds.",
            hint="Nothing has moved. Run it again when less is written, or no long transaction runs in the old shard.",
        )

    async def _catch_up(self, since: int) -> int:
        for _ in range(_ROUNDS):
            since, count = await self._copy.copy_since(since)
            if count <= _FEW:
                break
        return since

    async def _fenced(self, since: int) -> MoveMark:
        space, plan, began = self._space, self._plan, time.monotonic()
        fence = MoveMark(state=MoveState.LEAVING, token=self._token, shard=plan.target.name, version=plan.version)
        if not await self._source.transact(
            lambda tx: marks.fence(tx, fence, space=space, seconds=FENCE), repeatable=True
        ):
            raise _Lifted
        decided = False
        try:
            await self._at(MoveStep.FENCED)
            if not await self._is_quiet(self._source, seconds=_DRAIN):
                raise _Lifted
            await self._at(MoveStep.QUIET)
            await self._copy.copy_since(since)
            await self._target.transact(self._check_target, repeatable=True)
            await self._at(MoveStep.EQUAL)
            version = plan.version + 1
            decided = await self._source.transact(
                lambda tx: marks.leave(tx, space=space, token=self._token, version=version)
            )
            if not decided:
                raise _Lifted
        finally:
            if not decided:
                with anyio.CancelScope(shield=True):
                    await self._lift_own()
        self._paused = time.monotonic() - began
        await self._at(MoveStep.DECIDED)
        return MoveMark(state=MoveState.GONE, token=self._token, shard=plan.target.name, version=version)

    async def _lift_own(self) -> None:
        def lift(tx: Tx) -> None:
            found = marks.find(tx, space=self._space)
            if found is not None and found.token == self._token:
                marks.lift(tx, space=self._space)

        await self._source.transact(lift, repeatable=True)

    async def _is_quiet(self, database: PostgresDatabase, *, seconds: float) -> bool:
        """Wait until every transaction that may not have seen the mark has ended. Returns False if one does not."""
        until = time.monotonic() + seconds
        before = await database.transact(marks.writers, read=True)
        while before:
            if time.monotonic() > until:
                return False
            await anyio.sleep(0.005)
            before &= await database.transact(marks.writers, read=True)
        return True

    async def _finish(self, mark: MoveMark) -> None:
        """Do what is left to do after the decision. Every step may be done again."""
        space, began = self._space, time.monotonic()
        if not await open_arrived(self._target, space=space, token=mark.token):
            raise _overtaken(self._space)
        await self._at(MoveStep.OPENED)
        await switch(self._directory, space=space, source=self._plan.source.name, mark=mark)
        self._paused += time.monotonic() - began if self._paused else 0.0
        await self._at(MoveStep.SWITCHED)

        def read(tx: Tx) -> SpaceQueues:
            self._check(tx, MoveState.GONE)
            return marks.queues(tx, space=space)

        taken = await self._source.transact(read, space=space)

        def queue(tx: Tx) -> None:
            space_rows.put_jobs(tx, taken.jobs, space=space)
            jobs.queue(tx, space=space, kind=JobKind.INDEX, key=jobs.SPACE_KEY, watermark=0)
            tx.queued.update(JobKind(row["kind"]) for row in taken.jobs)
            if taken.pending is not None:
                space_rows.put_queues(tx, taken.pending, space=space)

        def drop(tx: Tx) -> None:
            self._check(tx, MoveState.GONE)
            marks.drop_queues(tx, space=space)

        await self._target.transact(queue, space=space, repeatable=True)
        await self._source.transact(drop, space=space, repeatable=True)
        await self._at(MoveStep.QUEUED)
        await self._copy.erase(self._source, MoveState.GONE)
        await self._at(MoveStep.ERASED)
        await self._directory.end_move(self._plan)
        await self._at(MoveStep.ENDED)


def _overtaken(space: str) -> Conflict:
    return Conflict(f"another run has taken over the move of space {space!r}.", hint="Let it finish, then look again.")
