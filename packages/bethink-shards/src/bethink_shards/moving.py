"""Moves a space to another shard while it is in use.

A move copies the archive of the space, then recent changes, round by round. Then a fence in the source shard blocks
writers, the last rows are copied, and the fence becomes final: this decides the move. Any process can run the remaining
steps: opening the new copy, updating the directory, and deleting the old copy.

If a run is killed before the decision, the next run starts over; after the decision, the next run finishes the move.
Clients lift an expired fence: its row in the source shard is either removed or made final, never both.

A run may stall while another takes over, finishes, and moves the space again. So every write transaction of a run locks
the mark with its token, and fails without it.
"""

import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio

from bethink.errors import ConfigurationError, ConflictError, DatabaseBusyError
from bethink.extensions.base import new_id
from bethink.extensions.jobs import JobKind
from bethink.extensions.storage import Database, PostgresDatabase, Tx, jobs
from bethink_shards import marks, space_rows
from bethink_shards.copying import SpaceCopy
from bethink_shards.directory import Directory, MovePlan, Shard
from bethink_shards.marks import MoveMark, MoveState, SpaceQueues
from bethink_shards.steps import MoveReport, MoveStep, OnStep, ignore_step
from bethink_shards.switching import open_target, switch

FENCE = 1.0
"""Seconds until any process may lift a fence. A mover that takes longer tries again."""
_DRAIN = 0.6
"""Seconds to wait for transactions that started before the fence."""
_CLEAR = 60.0
"""Seconds to wait for transactions of an earlier run in the new shard."""
_FENCE_ROWS = 100
"""Maximum number of rows to copy after setting the fence."""
_MAX_ROUNDS = 20
_MAX_ATTEMPTS = 10


class _FenceLifted(Exception):
    """The fence was lifted before all rows were copied. Try again."""


class SpaceMove:
    """Moves spaces between the shards of a directory. `at` is called after each step."""

    def __init__(
        self,
        directory: Directory,
        database: Callable[[str], Database],
        *,
        at: OnStep | None = None,
    ) -> None:
        self._directory = directory
        self._database = database
        self._at = at or ignore_step

    async def run(self, space: str, to: str) -> MoveReport:
        """Move a space, or finish or undo an interrupted move.

        Raises `NotFoundError` for an unknown space or shard, `ConflictError` if the space cannot move there, and
        `DatabaseBusyError` if it changes faster than it can be copied: then nothing has moved, and it can be retried.
        """
        token = new_id("mov")
        plan = await self._directory.begin_move(space, to, token=token)
        if plan is None:
            return MoveReport(space=space, source=to, target=to)
        await self._at(MoveStep.BEGUN)
        async with self._open_shard(plan.source) as source, self._open_shard(plan.target) as target:
            source.move = target.move = token
            run = _Run(self._directory, plan, source, target, at=self._at)
            return await (run.take_back() if to == plan.source.name else run.carry_out())

    @asynccontextmanager
    async def _open_shard(self, shard: Shard) -> AsyncGenerator[PostgresDatabase]:
        database = self._database(shard.dsn)
        if not isinstance(database, PostgresDatabase):
            raise ConfigurationError(
                f"Shard {shard.name!r} is not a PostgreSQL database.", hint="Use a PostgreSQL database."
            )
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
        """Move the space, or finish a decided move."""
        decided = await self._take_over()
        if decided is None:
            await self._clear()
            await self._at(MoveStep.CLEARED)
            decided = await self._decide(await self._copy.copy_all())
        await self._finish(decided)
        return self._report()

    async def take_back(self) -> MoveReport:
        """Keep the space in its source shard, and remove the copy. Raises `ConflictError` if it is decided."""
        source, target = self._plan.source.name, self._plan.target.name
        if await self._take_over() is not None:
            raise ConflictError(
                f"Space {self._space!r} has left shard {source!r}.",
                hint=f"Finish the move with '--to {target}', then move it back.",
            )
        await self._copy.erase(self._target, MoveState.ARRIVING)
        mark = MoveMark(state=MoveState.GONE, token=self._token, shard=source, version=self._plan.version)

        def leave(tx: Tx) -> None:
            self._check(tx, MoveState.ARRIVING)
            marks.mark(tx, mark, space=self._space)

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
        """Raise `ConflictError` if another run took over. Otherwise, prevent that until the transaction ends."""
        if not marks.has_mark(tx, space=self._space, token=self._token, state=state):
            raise _taken_over_error(self._space)

    def _check_target(self, tx: Tx) -> None:
        self._check(tx, MoveState.ARRIVING)

    async def _check_directory(self) -> None:
        """Raise `ConflictError` if another run took over before this one set its mark, so that its plan is outdated."""
        if not await self._directory.is_current(self._plan):
            raise _taken_over_error(self._space)

    async def _take_over(self) -> MoveMark | None:
        """Take over the move from any earlier run. Returns the mark of the source shard if the move is decided.

        The target shard comes first: an earlier run checks it between its fence and its decision, so it either loses
        its token, has its fence lifted here, or has decided.
        """
        space, plan = self._space, self._plan
        await self._check_directory()
        is_reserved = await self._mark_target()
        await self._check_directory()  # again, because a later run changes the mark from here on

        def look(tx: Tx) -> MoveMark | None:
            marks.lift(tx, space=space)
            return marks.find(tx, space=space)

        mark = await self._source.transact(look, repeatable=True)
        if mark is None or mark.state is not MoveState.GONE:
            if not is_reserved:
                raise ConflictError(
                    f"Shard {plan.target.name!r} has a space {space!r} that is not in the directory.",
                    hint="Export and forget it there, then try again.",
                )
            return None
        if is_reserved and mark.shard == plan.target.name:
            # Restore its token: clients open the target shard with the token in the source shard.
            restored = MoveMark(
                state=MoveState.ARRIVING, token=mark.token, shard=plan.source.name, version=plan.version
            )

            def rename(tx: Tx) -> None:
                if marks.has_mark(tx, space=space, token=self._token, state=MoveState.ARRIVING):
                    marks.mark(tx, restored, space=space)

            await self._target.transact(rename, repeatable=True)
        self._token = self._source.move = self._target.move = mark.token
        return mark

    async def _mark_target(self) -> bool:
        """Reserve the space in the target shard. Returns False if it has data that did not come from a move."""
        space, plan = self._space, self._plan
        arriving = MoveMark(state=MoveState.ARRIVING, token=self._token, shard=plan.source.name, version=plan.version)

        def arrive(tx: Tx, *, empty: bool) -> bool:
            is_reserved = empty or marks.find(tx, space=space) is not None
            if is_reserved:
                marks.mark(tx, arriving, space=space)
            return is_reserved

        def arrive_if_empty(tx: Tx) -> bool:
            return arrive(tx, empty=not space_rows.has_rows(tx, space=space))

        is_reserved = await self._target.transact(lambda tx: arrive(tx, empty=False), repeatable=True)
        return is_reserved or await self._target.transact(arrive_if_empty, space=space, repeatable=True)

    async def _clear(self) -> None:
        """Remove the copy of an earlier run from the target shard, after its transactions have ended."""
        if not await self._wait_for_writers(self._target, seconds=_CLEAR):
            raise DatabaseBusyError(
                f"A transaction in the target shard of {self._space!r} is still running after {_CLEAR:g} seconds.",
                hint="Nothing has moved. Check pg_stat_activity, and try again when it has ended.",
            )
        await self._copy.erase(self._target, MoveState.ARRIVING)

    async def _decide(self, since: int) -> MoveMark:
        """Copy changes until few remain, then the last ones behind the fence. Returns the mark of the source shard."""
        for attempt in range(_MAX_ATTEMPTS):
            since = await self._catch_up(since)
            await self._at(MoveStep.CAUGHT_UP)
            try:
                return await self._decide_behind_fence(since)
            except _FenceLifted:
                await anyio.sleep(random.uniform(0.2, 0.4) * 2 ** min(attempt, 4))  # noqa: S311 - not a secret
        raise DatabaseBusyError(
            f"Space {self._space!r} could not be copied within {FENCE:g} seconds.",
            hint="Nothing has moved. Try again when there are fewer writes and no long transactions.",
        )

    async def _catch_up(self, since: int) -> int:
        for _ in range(_MAX_ROUNDS):
            since, count = await self._copy.copy_since(since)
            if count <= _FENCE_ROWS:
                break
        return since

    async def _decide_behind_fence(self, since: int) -> MoveMark:
        space, plan, began = self._space, self._plan, time.monotonic()
        fence = MoveMark(state=MoveState.LEAVING, token=self._token, shard=plan.target.name, version=plan.version)
        if not await self._source.transact(
            lambda tx: marks.fence(tx, fence, space=space, seconds=FENCE), repeatable=True
        ):
            raise _FenceLifted
        decided = False
        try:
            await self._at(MoveStep.FENCED)
            if not await self._wait_for_writers(self._source, seconds=_DRAIN):
                raise _FenceLifted
            await self._at(MoveStep.QUIET)
            await self._copy.copy_since(since)
            await self._target.transact(self._check_target, repeatable=True)
            await self._at(MoveStep.EQUAL)
            version = plan.version + 1
            decided = await self._source.transact(
                lambda tx: marks.leave(tx, space=space, token=self._token, version=version)
            )
            if not decided:
                raise _FenceLifted
        finally:
            if not decided:
                with anyio.CancelScope(shield=True):
                    await self._lift_own()
        self._paused = time.monotonic() - began
        await self._at(MoveStep.DECIDED)
        return MoveMark(state=MoveState.GONE, token=self._token, shard=plan.target.name, version=version)

    async def _lift_own(self) -> None:
        def lift(tx: Tx) -> None:
            mark = marks.find(tx, space=self._space)
            if mark is not None and mark.token == self._token:
                marks.lift(tx, space=self._space)

        await self._source.transact(lift, repeatable=True)

    async def _wait_for_writers(self, database: PostgresDatabase, *, seconds: float) -> bool:
        """Wait for transactions that may not have seen the mark. Returns False on a timeout."""
        until = time.monotonic() + seconds
        before = await database.transact(marks.writers, read_only=True)
        while before:
            if time.monotonic() > until:
                return False
            await anyio.sleep(0.005)
            before &= await database.transact(marks.writers, read_only=True)
        return True

    async def _finish(self, mark: MoveMark) -> None:
        """Run the steps after the decision. Every step can be repeated."""
        space, began = self._space, time.monotonic()
        if not await open_target(self._target, space=space, token=mark.token):
            raise _taken_over_error(self._space)
        await self._at(MoveStep.OPENED)
        await switch(self._directory, space=space, source=self._plan.source.name, mark=mark)
        self._paused += time.monotonic() - began if self._paused else 0.0
        await self._at(MoveStep.SWITCHED)

        def read_queues(tx: Tx) -> SpaceQueues:
            self._check(tx, MoveState.GONE)
            return marks.queues(tx, space=space)

        queues = await self._source.transact(read_queues, space=space)

        def queue(tx: Tx) -> None:
            space_rows.put_jobs(tx, queues.jobs, space=space)
            jobs.queue(tx, space=space, kind=JobKind.INDEX, key=jobs.SPACE_KEY, watermark=0)
            tx.queued.update(JobKind(row["kind"]) for row in queues.jobs)
            if queues.pending is not None:
                space_rows.put_queues(tx, queues.pending, space=space)

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


def _taken_over_error(space: str) -> ConflictError:
    return ConflictError(f"Another run has taken over the move of space {space!r}.", hint="Wait until it finishes.")
