"""Deletes data as a recorded operation: first a tombstone, then confirmation by every sink, then a receipt."""

import getpass
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Self

from anyio import CancelScope

from bethink.errors import LegalHoldError, NotFoundError
from bethink.extend import Redactor
from bethink.memory.deletion import cascade
from bethink.memory.deletion import plan as planning
from bethink.memory.deletion.echoes import exposed_sessions, find_repeats
from bethink.memory.deletion.plan import Step
from bethink.memory.deletion.recording import Requester, record_plan
from bethink.memory.deletion.settling import Settler, open_erasures, public_key
from bethink.memory.documents.files import clear_files
from bethink.memory.registry import Host, handles
from bethink.model.access import caller
from bethink.model.erasures import Erasure, OpenErasure
from bethink.model.ids import new_id
from bethink.model.operations.base import Empty
from bethink.model.operations.erasures import GET_PUBLIC_KEY, LIST_ERASURES, LIST_OPEN_ERASURES, ListErasuresRequest
from bethink.model.operations.memory import FORGET, ForgetRequest
from bethink.model.paging import Page
from bethink.model.records import Deletion
from bethink.store import erasures, holds
from bethink.store.db import Database, Tx, after_first_commit

_RECORDED = "The erasure is recorded and will be finished. See 'bethink admin erasures'."


class _RolledBack(Exception):
    """Raised to roll back a dry run. Carries its result out of the transaction."""

    def __init__(self, steps: Sequence[Step], deletion: Deletion) -> None:
        self.steps = steps
        self.deletion = deletion


class ForgetService:
    """Deletes data in every space of one database."""

    def __init__(self, database: Database, *, redactor: Redactor, files_folder: str = "") -> None:
        self._database = database
        self._redactor = redactor
        self._files_folder = files_folder
        self._settler = Settler(database)

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Create the service from the parts of an open memory."""
        return cls(host.database, redactor=host.redactor, files_folder=host.settings.learning.artifacts_dir)

    @handles(FORGET)
    async def forget(self, space: str, request: ForgetRequest) -> Deletion:
        """Delete the target of a request. A dry run performs the deletion, counts it and rolls it back."""
        try:
            return await self._forget(space, request)
        except NotFoundError:
            if not request.missing_ok:
                raise
            return Deletion(dry_run=request.dry_run)

    async def _forget(self, space: str, request: ForgetRequest) -> Deletion:
        if request.dry_run:
            return (await self._dry_run(space, lambda tx: self._attempt(tx, request, space=space))).deletion
        matches: Sequence[Step] | None = None
        if request.only is not None:
            matches = (await self._dry_run(space, lambda tx: self._attempt(tx, request, space=space))).steps

        requester = requester_of(request.actor, reason=request.reason)

        def choose(tx: Tx) -> tuple[Sequence[Step], Requester]:
            return self._resolve_steps(tx, request, space=space) if matches is None else matches, requester

        return await self.erase(space, choose) or Deletion()

    async def erase(
        self, space: str, choose: Callable[[Tx], tuple[Sequence[Step], Requester] | None]
    ) -> Deletion | None:
        """Record the chosen steps in one transaction, and carry them out. Return None if nothing is chosen.

        Raises:
            LegalHoldError: if the space has a legal hold, or got one in the meantime.
            NotFoundError: if none of the items exists.
        """
        erasure_id = new_id("era")

        def body(tx: Tx) -> Sequence[Step] | None:
            holds.check_not_on_hold(tx, space=space)
            chosen = choose(tx)
            if chosen is None:
                return None
            self._record(tx, *chosen, erasure_id, space=space)
            return chosen[0]

        steps = await self._database.transact(body, space=space)
        if steps is None:
            return None
        with after_first_commit(hint=_RECORDED):
            return await self._carry_out(space, erasure_id, steps[0] if steps else None)

    async def preview(self, space: str, choose: Callable[[Tx], Sequence[Step]]) -> Deletion:
        """Return the items that the chosen steps would delete, without deleting them. Raises `LegalHoldError`."""

        def attempt(tx: Tx) -> tuple[Sequence[Step], Deletion]:
            holds.check_not_on_hold(tx, space=space)
            steps = choose(tx)
            done = planning.carry_out(tx, steps, space=space) if steps else None
            return steps, planning.add_refs(tx, done or Deletion(), space=space)

        return (await self._dry_run(space, attempt)).deletion

    async def _dry_run(self, space: str, attempt: Callable[[Tx], tuple[Sequence[Step], Deletion]]) -> _RolledBack:
        """Delete in a transaction, count the deleted items, and roll it back."""

        def body(tx: Tx) -> None:
            steps, deletion = attempt(tx)
            raise _RolledBack(steps, replace(deletion, dry_run=True))

        try:
            await self._database.transact(body, space=space)
        except _RolledBack as rolled_back:
            return rolled_back
        raise AssertionError  # unreachable: the transaction always raises

    def _attempt(self, tx: Tx, request: ForgetRequest, *, space: str) -> tuple[Sequence[Step], Deletion]:
        if request.only is not None:
            steps, done = planning.carry_out_filter(tx, request.only, request.kinds, space=space)
            return steps, planning.add_refs(tx, done, space=space)
        steps = self._resolve_steps(tx, request, space=space)
        if request.everything:
            # A space is only counted: removing it and rolling back would block every writer there.
            done = cascade.count_space(tx, space=space)
            holds.check_not_on_hold(tx, space=space)
        else:
            done = planning.carry_out(tx, steps, space=space)
        if done is None:
            raise planning.not_found_error(steps[0], space=space)
        done = planning.add_refs(tx, done, space=space)
        return steps, replace(done, exposed_sessions=exposed_sessions(tx, space=space))

    def _resolve_steps(self, tx: Tx, request: ForgetRequest, *, space: str) -> list[Step]:
        steps = planning.resolve(tx, request, space=space, redactor=self._redactor)
        return [*steps, *find_repeats(tx, steps, space=space)] if request.include_repeats else steps

    def _record(self, tx: Tx, steps: Sequence[Step], requester: Requester, erasure_id: str, *, space: str) -> None:
        """Record the planned deletion before anything is deleted."""
        redacted = replace(
            requester,
            name=self._redactor.redact(requester.name),
            reason=self._redactor.redact(requester.reason),
        )
        record_plan(tx, steps, redacted, erasure_id, space=space, folder=self._files_folder)

    async def _carry_out(self, space: str, erasure_id: str, first: Step | None) -> Deletion:
        """Delete the rows, then the data outside the database. Raises `NotFoundError` if nothing was deleted."""
        try:
            deletion = await self._settler.remove(space, erasure_id)
        except LegalHoldError:  # placed since the erasure was recorded: nothing was deleted
            await self._withdraw(space, erasure_id)
            raise
        if deletion is None and first is not None:
            await self._withdraw(space, erasure_id)
            raise planning.not_found_error(first, space=space)
        settled = await self._settle(space, erasure_id)
        return replace(
            deletion or Deletion(), erasure_id=erasure_id, receipt=settled.receipt, pending=settled.open_sinks
        )

    async def _withdraw(self, space: str, erasure_id: str) -> None:
        await self._database.transact(lambda tx: erasures.withdraw(tx, space=space, erasure_id=erasure_id), space=space)

    async def _settle(self, space: str, erasure_id: str) -> Erasure:
        with CancelScope(shield=True):  # the rows are already deleted, so finish even if the caller is canceled
            if self._files_folder:
                await clear_files(self._files_folder, space)
            return await self._settler.settle(space, erasure_id)
        raise AssertionError  # unreachable: the shielded block always returns

    async def finish(self) -> int:
        """Finish every interrupted erasure, in any space. Return the number of settled erasures."""
        return await self._settler.finish()

    @handles(LIST_OPEN_ERASURES)
    async def open_erasures(self, space: str, request: Empty) -> Page[OpenErasure]:
        """Finish the erasures that can be finished in any space, and return those that are still open."""
        del space, request
        await self.finish()
        return await self._database.transact(open_erasures)

    @handles(GET_PUBLIC_KEY)
    async def public_key(self, space: str, request: Empty) -> str:
        """Return the public key that verifies receipts."""
        del space, request
        return await self._database.transact(public_key)

    @handles(LIST_ERASURES)
    async def erasures(self, space: str, request: ListErasuresRequest) -> Page[Erasure]:
        """List the erasures of a space, newest first, after finishing those that can be finished."""
        await self.finish()
        return await self._database.transact(
            lambda tx: erasures.page(tx, space=space, limit=request.limit, after=request.after),
            space=space,
            read_only=True,
        )


def requester_of(actor: str | None, *, reason: str = "") -> Requester:
    """Return the requester: the stated name, or else the caller, with the key."""
    who = caller.get()
    key = who.key
    name = actor or who.person or ("" if key is None else key.name)
    if not name:
        with suppress(OSError, KeyError):
            name = getpass.getuser()
    return Requester(name=name or "unknown", key_prefix=None if key is None else key.prefix, reason=reason)
