"""Forgets as a recorded operation: a tombstone first, then every place confirms, then it is settled with a receipt."""

import getpass
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Self

from anyio import CancelScope

from bethink.base.frozen import frozen
from bethink.errors import NotFound, UnderLegalHold
from bethink.extend import Redactor
from bethink.memory.deletion import cascade, sinks
from bethink.memory.deletion import plan as planning
from bethink.memory.deletion.echoes import echoing, shown_to
from bethink.memory.deletion.plan import Step
from bethink.memory.deletion.settling import Settler, open_erasures
from bethink.memory.documents.files import clear_files
from bethink.memory.registry import Host, handles
from bethink.model.access import caller
from bethink.model.erasures import Erasure, OpenErasures, SinkState
from bethink.model.ids import new_id
from bethink.model.operations.base import Empty
from bethink.model.operations.erasures import ERASURES, OPEN_ERASURES, ErasuresRequest
from bethink.model.operations.memory import FORGET, ForgetRequest
from bethink.model.records import Forgotten
from bethink.store import erasures, holds
from bethink.store.db import Database, Tx, under_way

_RECORDED = "It is recorded and will be finished: see 'bethink erasures'."


class _Undone(Exception):
    """Not an error: it carries the outcome out of a transaction that is rolled back."""

    def __init__(self, steps: Sequence[Step], forgotten: Forgotten) -> None:
        self.steps = steps
        self.forgotten = forgotten


@frozen
class AskedBy:
    """Who asked for an erasure, with which key, and why."""

    by: str
    key_prefix: str | None = None
    reason: str = ""


class ForgetService:
    """Forgets memories, in every space of one database."""

    def __init__(self, database: Database, *, redactor: Redactor, files_folder: str = "") -> None:
        self._database = database
        self._redactor = redactor
        self._files_folder = files_folder
        self._settler = Settler(database)

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.database, redactor=host.redactor, files_folder=host.settings.learning.artefacts_dir)

    @handles(FORGET)
    async def forget(self, space: str, request: ForgetRequest) -> Forgotten:
        """Forget what a request names. A dry run does all the work and rolls it back, so that its counts are exact."""
        try:
            return await self._forget(space, request)
        except NotFound:
            if not request.missing_ok:
                raise
            return Forgotten(dry_run=request.dry_run)

    async def _forget(self, space: str, request: ForgetRequest) -> Forgotten:
        if request.dry_run:
            return (await self._tried(space, lambda tx: self._try(tx, request, space=space))).forgotten
        fitting: Sequence[Step] | None = None
        if request.only is not None:
            fitting = (await self._tried(space, lambda tx: self._try(tx, request, space=space))).steps

        asked = asker(request.by, reason=request.reason)

        def choose(tx: Tx) -> tuple[Sequence[Step], AskedBy]:
            return self._resolved(tx, request, space=space) if fitting is None else fitting, asked

        return await self.erase(space, choose) or Forgotten()

    async def erase(
        self, space: str, choose: Callable[[Tx], tuple[Sequence[Step], AskedBy] | None]
    ) -> Forgotten | None:
        """Record what is chosen in one transaction, and carry it out. Returns None if nothing is chosen.

        Raises:
            UnderLegalHold: if a hold stands on the space, or was placed meanwhile.
            NotFound: if nothing of it was there.
        """
        erasure_id = new_id("era")

        def body(tx: Tx) -> Sequence[Step] | None:
            holds.refuse_if_held(tx, space=space)
            chosen = choose(tx)
            if chosen is None:
                return None
            self._record(tx, *chosen, erasure_id, space=space)
            return chosen[0]

        steps = await self._database.transact(body, space=space)
        if steps is None:
            return None
        with under_way(hint=_RECORDED):
            return await self._carry_out(space, erasure_id, steps[0] if steps else None)

    async def would(self, space: str, choose: Callable[[Tx], Sequence[Step]]) -> Forgotten:
        """Return what would go of what is chosen, and remove nothing. Raises `UnderLegalHold`."""

        def attempt(tx: Tx) -> tuple[Sequence[Step], Forgotten]:
            holds.refuse_if_held(tx, space=space)
            steps = choose(tx)
            done = planning.carry_out(tx, steps, space=space) if steps else None
            return steps, planning.named(tx, done or Forgotten(), space=space)

        return (await self._tried(space, attempt)).forgotten

    async def _tried(self, space: str, attempt: Callable[[Tx], tuple[Sequence[Step], Forgotten]]) -> _Undone:
        """Forget something, look at what went, and roll it back."""

        def body(tx: Tx) -> None:
            steps, forgotten = attempt(tx)
            raise _Undone(steps, replace(forgotten, dry_run=True))

        try:
            await self._database.transact(body, space=space)
        except _Undone as undone:
            return undone
        raise AssertionError  # the transaction never ends otherwise

    def _try(self, tx: Tx, request: ForgetRequest, *, space: str) -> tuple[Sequence[Step], Forgotten]:
        if request.only is not None:
            steps, done = planning.carry_out_filter(tx, request.only, request.kinds, space=space)
            return steps, planning.named(tx, done, space=space)
        steps = self._resolved(tx, request, space=space)
        if request.everything:
            # A space is only counted: removing it and rolling back would block every writer there.
            done = cascade.count_space(tx, space=space)
            holds.refuse_if_held(tx, space=space)
        else:
            done = planning.carry_out(tx, steps, space=space)
        if done is None:
            raise planning.not_there(steps[0], space=space)
        done = planning.named(tx, done, space=space)
        return steps, replace(done, shown_to=shown_to(tx, space=space))

    def _resolved(self, tx: Tx, request: ForgetRequest, *, space: str) -> list[Step]:
        steps = planning.resolve(tx, request, space=space, redactor=self._redactor)
        return [*steps, *echoing(tx, steps, space=space)] if request.echoes else steps

    def _record(self, tx: Tx, steps: Sequence[Step], asked: AskedBy, erasure_id: str, *, space: str) -> None:
        """Write down what is to go before anything goes."""
        erasure = Erasure(
            space=space,
            id=erasure_id,
            asked_by=self._redactor.redact(asked.by),
            key_prefix=asked.key_prefix,
            reason=self._redactor.redact(asked.reason),
            requested_at=tx.now,
            settled_at=None,
            sinks=tuple(SinkState(sink=each) for each in sinks.sinks_of(tx.dialect)),
        )
        names = planning.names_of(tx, steps, space=space)
        before = erasures.standing(tx, names, space=space)
        erasures.record(tx, erasure, plan={"steps": steps, "folder": self._files_folder, "before": before})
        erasures.bury(tx, names, space=space, erasure_id=erasure_id, at=tx.now)

    async def _carry_out(self, space: str, erasure_id: str, first: Step | None) -> Forgotten:
        """Remove the rows, then what lies outside of the database. Raises `NotFound` if there was nothing."""
        try:
            forgotten = await self._settler.remove(space, erasure_id)
        except UnderLegalHold:  # placed since it was recorded: nothing went
            await self._withdraw(space, erasure_id)
            raise
        if forgotten is None and first is not None:
            await self._withdraw(space, erasure_id)
            raise planning.not_there(first, space=space)
        settled = await self._settle(space, erasure_id)
        return replace(
            forgotten or Forgotten(), erasure_id=erasure_id, receipt=settled.receipt, open_sinks=settled.open_sinks
        )

    async def _withdraw(self, space: str, erasure_id: str) -> None:
        await self._database.transact(lambda tx: erasures.withdraw(tx, space=space, erasure_id=erasure_id), space=space)

    async def _settle(self, space: str, erasure_id: str) -> Erasure:
        with CancelScope(shield=True):  # the rows are gone already, so finish even if the caller is cancelled
            if self._files_folder:
                await clear_files(self._files_folder, space)
            return await self._settler.settle(space, erasure_id)
        raise AssertionError  # a shielded scope is not left otherwise

    async def finish(self) -> int:
        """Finish every erasure that was interrupted, in any space. Returns how many were settled."""
        return await self._settler.finish()

    @handles(OPEN_ERASURES)
    async def open_erasures(self, space: str, request: Empty) -> OpenErasures:
        """Finish what can be finished in any space, and return what is still open."""
        del space, request
        await self.finish()
        return await self._database.transact(open_erasures)

    @handles(ERASURES)
    async def erasures(self, space: str, request: ErasuresRequest) -> list[Erasure]:
        """List the erasures of a space, the newest first, after finishing what can be finished."""
        await self.finish()
        return await self._database.transact(
            lambda tx: erasures.of_space(tx, space=space, limit=request.limit), space=space, read=True
        )


def asker(by: str | None, *, reason: str = "") -> AskedBy:
    """Return who asks, as they say or else as we know, and with which key."""
    who = caller.get()
    key = who.key
    name = by or who.person or ("" if key is None else key.name)
    if not name:
        with suppress(OSError, KeyError):
            name = getpass.getuser()
    return AskedBy(by=name or "unknown", key_prefix=None if key is None else key.prefix, reason=reason)
