"""The access log: who did what to memory. `Local.run` writes it, so that every operation is in it."""

import getpass
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import anyio

from bethink.memory.access.refs import Refs
from bethink.model.access import Caller, Interface, caller
from bethink.model.ids import new_id
from bethink.model.operations.base import Operation, RequestT, ResultT, Retry
from bethink.store import access_log
from bethink.store.access_log import NewEntry
from bethink.store.db import Database, Tx, commit_hook

_PRUNE_INTERVAL = 1_000
"""The number of entries after which old ones are pruned."""
_PRUNE_LIMIT = 2_000
"""The maximum number of old entries that are removed at once."""
_LEARNING = {"memory.learn", "space.admin.learn"}
"""Operations that only start a worker. The caller does not read or write memory."""
_FULL_READS = {"space.documents.read_all": ("document:*", "fact:*", "session_summary:*")}
"""Operations whose results have no refs because they return everything."""

Recorder = Callable[[Tx, str], None]
"""Adds the entry of a call to a transaction, given the space."""


class AccessRecord:
    """Records each call in one database: a read before its result is returned, a write in the same transaction."""

    def __init__(self, database: Database, *, keep_days: int) -> None:
        self._database = database
        self._keep = timedelta(days=keep_days)
        self._batch = _Batch()
        self._writing = anyio.Lock(fast_acquire=True)
        self._written = 0
        self._user = ""

    async def around(
        self,
        operation: Operation[RequestT, ResultT],
        space: str,
        request: RequestT,
        handler: Callable[[str, RequestT], Awaitable[ResultT]],
    ) -> ResultT:
        """Run a call and record it.

        A call that only reads is recorded when it ends, before its result is returned. One that writes, even if only to
        the context log, is recorded by its first transaction, so that neither is stored without the other. A call that
        fails before it has written anything is not recorded.
        """
        who = caller.get()
        if not self._keep or who.interface is Interface.PROBE:
            return await handler(space, request)
        call = _Call(self._database, self._entry(operation.name, space, who), operation, request)
        if operation.retry is Retry.SAFE and request.retry(operation.retry) is Retry.SAFE:
            result = await handler(space, request)
        else:
            token = commit_hook.set(call)
            try:
                result = await handler(space, request)
            finally:
                commit_hook.reset(token)
        entry = call.remaining_entry(result)
        if entry is not None:
            await self._write(entry)
        return result

    def record_everything(self, operation: str) -> Recorder:
        """Return a recorder for a call that reads or writes an entire space and is not an operation, such as an export.

        Use it in the first transaction that writes, or in one before anything is read. It adds one entry for each
        space, even if a transaction is retried. An empty space means all of them.
        """
        who, entries = caller.get(), dict[str, NewEntry]()

        def add(tx: Tx, space: str) -> None:
            if self._keep and who.interface is not Interface.PROBE:
                entry = entries.get(space) or self._entry(operation, space, who)._replace(refs=(access_log.EVERYTHING,))
                entries[space] = entry._replace(at=access_log.add(tx, entry))

        return add

    def _entry(self, operation: str, space: str, who: Caller) -> NewEntry:
        person = who.person or ("" if who.key else self._runs_as())
        key = "" if who.key is None else who.key.prefix
        return NewEntry(new_id("acc"), space, who.interface, key, person, operation, ())

    def _runs_as(self) -> str:
        if not self._user:
            try:
                self._user = getpass.getuser()
            except (OSError, KeyError, ImportError):  # the user of a container may not have a name
                self._user = "unknown"
        return self._user

    async def _write(self, entry: NewEntry) -> None:
        # Calls that end while one is being recorded are recorded together by the next.
        batch = self._batch
        batch.entries.append(entry)
        async with self._writing:
            if not batch.taken:
                self._batch, batch.taken = _Batch(), True
                with anyio.CancelScope(shield=True):  # others wait for it
                    try:
                        await self._store(batch.entries)
                    except Exception as error:  # noqa: BLE001 - raised below, in every waiting call
                        batch.error = error
        if batch.error is not None:
            raise batch.error

    async def _store(self, entries: list[NewEntry]) -> None:
        before, self._written = self._written, self._written + len(entries)
        prunes = before % _PRUNE_INTERVAL + len(entries) > _PRUNE_INTERVAL or before == 0

        def body(tx: Tx) -> None:
            for entry in entries:
                access_log.add(tx, entry)
            if prunes:
                access_log.prune(tx, before=tx.now - self._keep, limit=_PRUNE_LIMIT)

        # Not synced: a read must not wait for the disk. Once written, the entry survives the end of this process.
        await self._database.transact(body, repeatable=True, synced=False)


class _Batch:
    __slots__ = ("entries", "error", "taken")

    def __init__(self) -> None:
        self.entries: list[NewEntry] = []
        self.taken = False
        self.error: Exception | None = None


class _Call:
    """One call: its entry is stored by its first writing transaction, and later refs by later transactions."""

    def __init__(self, database: Database, entry: NewEntry, operation: Operation[Any, Any], request: Any) -> None:
        self.database = database
        self._entry = entry
        self._operation = operation
        self._request = request
        self._pending: NewEntry | None = None
        self._recorded: Refs | None = None
        self._refs = Refs()
        self._requested: Refs | None = None
        """The refs of the request, once they are known."""

    def before_commit(self, tx: Tx, result: object) -> None:
        """Record the call in the transaction that it writes with."""
        self._refs = self._collect_refs(None if self._operation.name in _LEARNING else result)
        entry = self._new_entry(self._refs)
        if entry is not None:
            pending = (self._pending or entry)._replace(refs=entry.refs)  # the same one if it is tried again
            self._pending = pending._replace(at=access_log.add(tx, pending))

    def after_commit(self) -> None:
        """Note that the transaction was committed."""
        if self._pending is not None:
            self._recorded = self._refs if self._recorded is None else self._refs.union(self._recorded)
            self._pending = None

    def remaining_entry(self, result: object) -> NewEntry | None:
        """Return the entry that is still to be recorded when the call has ended, or None."""
        entry = self._new_entry(self._collect_refs(result))
        # The caller waits for changes, and there are none yet.
        is_waiting = entry is not None and not entry.refs and getattr(self._request, "wait", 0)
        return None if is_waiting else entry

    def _new_entry(self, refs: Refs) -> NewEntry | None:
        if self._recorded is None:
            return self._entry._replace(refs=refs.texts())
        if refs.is_within(self._recorded):  # as in most calls: the transaction had the same result
            return None
        more = refs.difference(self._recorded).texts()
        return self._entry._replace(id=new_id("acc"), refs=more)

    def _collect_refs(self, result: object) -> Refs:
        if self._requested is None:
            self._requested = Refs()
            self._requested.add_request(self._request)
            for text in _FULL_READS.get(self._operation.name, ()):
                self._requested.add_text(text)
        refs = self._requested.copy()
        refs.add(result)
        return refs
