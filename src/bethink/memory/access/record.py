"""The access log: who did what to memory. `Local.run` writes it, so that every operation is in it."""

import getpass
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import anyio

from bethink.memory.access.refs import Refs
from bethink.model.access import Caller, Door, caller
from bethink.model.ids import new_id
from bethink.model.operations.base import RequestT, ResultT, Retry, Verb
from bethink.store import access_log
from bethink.store.access_log import NewEntry
from bethink.store.db import Database, Tx, rider

_EVERY = 1_000
"""Entries after which old ones are looked for."""
_AT_ONCE = 2_000
"""How many old entries are removed together."""
_LEARNS = {"memory.learn", "space.learn"}
"""Verbs that let a worker do its own work, which the caller neither reads nor writes."""
_WHOLE = {"documents.files": ("document:*", "fact:*", "session_memory:*")}
"""Verbs whose results name nothing: they show all there is."""

Recorder = Callable[[Tx, str], None]
"""Adds the entry of a call to a transaction, given the space."""


class AccessRecord:
    """Records each call in one database. What was read is recorded before it is returned; what is written, with it."""

    def __init__(self, database: Database, *, keep_days: int) -> None:
        self._database = database
        self._keep = timedelta(days=keep_days)
        self._batch = _Batch()
        self._writing = anyio.Lock(fast_acquire=True)
        self._written = 0
        self._user = ""

    async def around(
        self,
        verb: Verb[RequestT, ResultT],
        space: str,
        request: RequestT,
        handler: Callable[[str, RequestT], Awaitable[ResultT]],
    ) -> ResultT:
        """Carry a call out and record it.

        A call that only reads is recorded once it has ended, and its result is held back until then. One that writes,
        if only into the ledger, is recorded by its first transaction, so that neither is stored without the other. A
        call that fails before it has written anything is not recorded.
        """
        who = caller.get()
        if not self._keep or who.door is Door.PROBE:
            return await handler(space, request)
        call = _Call(self._database, self._entry(verb.name, space, who), verb, request)
        if verb.retry is Retry.SAFE and request.retry(verb.retry) is Retry.SAFE:
            result = await handler(space, request)
        else:
            token = rider.set(call)
            try:
                result = await handler(space, request)
            finally:
                rider.reset(token)
        entry = call.rest(result)
        if entry is not None:
            await self._write(entry)
        return result

    def of_everything(self, verb: str) -> Recorder:
        """Return what records a call that reads or writes everything in a space, such as an export: it is not a verb.

        Use it in the first transaction that writes, or in one before anything is read. It adds one entry for each
        space, also where a transaction is tried again. The space is empty for all of them together.
        """
        who, made = caller.get(), dict[str, NewEntry]()

        def add(tx: Tx, space: str) -> None:
            if self._keep and who.door is not Door.PROBE:
                entry = made.get(space) or self._entry(verb, space, who)._replace(refs=(access_log.EVERYTHING,))
                made[space] = entry._replace(at=access_log.add(tx, entry))

        return add

    def _entry(self, verb: str, space: str, who: Caller) -> NewEntry:
        person = who.person or ("" if who.key else self._runs_as())
        key = "" if who.key is None else who.key.prefix
        return NewEntry(new_id("acc"), space, who.door, key, person, verb, ())

    def _runs_as(self) -> str:
        if not self._user:
            try:
                self._user = getpass.getuser()
            except (OSError, KeyError, ImportError):  # a container may have no name for its user
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
                    except Exception as error:  # noqa: BLE001 - raised below, in each that waits
                        batch.error = error
        if batch.error is not None:
            raise batch.error

    async def _store(self, entries: list[NewEntry]) -> None:
        before, self._written = self._written, self._written + len(entries)
        prunes = before % _EVERY + len(entries) > _EVERY or before == 0

        def body(tx: Tx) -> None:
            for entry in entries:
                access_log.add(tx, entry)
            if prunes:
                access_log.prune(tx, before=tx.now - self._keep, limit=_AT_ONCE)

        # Not synced: a read must not wait for the disk. Once written it outlives this process.
        await self._database.transact(body, repeatable=True, synced=False)


class _Batch:
    __slots__ = ("entries", "error", "taken")

    def __init__(self) -> None:
        self.entries: list[NewEntry] = []
        self.taken = False
        self.error: Exception | None = None


class _Call:
    """One call: its entry rides with its first writing transaction, and what comes to light later with later ones."""

    def __init__(self, database: Database, entry: NewEntry, verb: Verb[Any, Any], request: Any) -> None:
        self.database = database
        self._entry = entry
        self._verb = verb
        self._request = request
        self._riding: NewEntry | None = None
        self._recorded: Refs | None = None
        self._found = Refs()

    def ride(self, tx: Tx, result: object) -> None:
        """Record the call in the transaction that it writes with."""
        self._found = self._named(None if self._verb.name in _LEARNS else result)
        entry = self._missing(self._found)
        if entry is not None:
            self._riding = self._riding or entry  # the same one where the transaction is tried again
            self._riding = self._riding._replace(refs=entry.refs)
            self._riding = self._riding._replace(at=access_log.add(tx, self._riding))

    def arrived(self) -> None:
        """Note that the transaction was committed."""
        if self._riding is not None:
            self._recorded, self._riding = self._found.plus(self._recorded), None

    def rest(self, result: object) -> NewEntry | None:
        """Return what is still to be recorded when the call has ended; None if nothing is."""
        entry = self._missing(self._named(result))
        # Somebody waits for changes, and there are none yet.
        waits = entry is not None and not entry.refs and getattr(self._request, "wait", 0)
        return None if waits else entry

    def _missing(self, found: Refs) -> NewEntry | None:
        if self._recorded is None:
            return self._entry._replace(refs=found.texts())
        more = found.minus(self._recorded).texts()
        return self._entry._replace(id=new_id("acc"), refs=more) if more else None

    def _named(self, result: object) -> Refs:
        found = Refs()
        found.add_request(self._request)
        found.add(result)
        for every in _WHOLE.get(self._verb.name, ()):
            found.add_text(every)
        return found
