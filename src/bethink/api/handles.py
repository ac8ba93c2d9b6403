"""Base classes of the API handles."""

import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import anyio

from bethink.base.backoff import with_jitter
from bethink.errors import BethinkError
from bethink.host.backend import Backend
from bethink.model.operations.base import Operation, RequestT, ResultT
from bethink.model.operations.memory import AskRequest
from bethink.model.paging import Page
from bethink.model.records import SessionInfo, checked_name

if TYPE_CHECKING:
    import builtins
    from pathlib import Path

    from bethink.memory.archive.format import ArchiveManifest
    from bethink.memory.archive.load import LoadReport
    from bethink.memory.archive.sync import SyncReport
    from bethink.memory.log.history import History
    from bethink.memory.log.live import LiveHistory
    from bethink.memory.working.memory import WorkingMemory
    from bethink.model.changes import Change

T = TypeVar("T")

_WAIT = 20.0
"""Seconds that a request waits for changes."""


class Handle:
    """Runs operations on a backend."""

    def __init__(self, backend: Backend, space: str = "") -> None:
        self._backend = backend
        self._space = space

    async def _run(self, operation: Operation[RequestT, ResultT], request: RequestT) -> ResultT:
        return await self._backend.run(operation, self._space, request)

    async def _page(self, operation: Operation[RequestT, Page[T]], request: RequestT) -> Page[T]:
        """Run an operation that returns a page, which can then fetch the pages after it."""

        async def fetch(after: str) -> Page[T]:
            has_numbers = not isinstance(getattr(request, "after", ""), str)
            following = replace(cast("Any", request), after=int(after) if has_numbers else after)
            return await self._page(operation, cast("RequestT", following))

        return (await self._run(operation, request)).with_fetch(fetch)


class SpaceHandle(Handle):
    """A handle on one space."""

    @property
    def name(self) -> str:
        """The name of the space."""
        return self._space

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._space!r})"


class SessionsHandle(Handle):
    """A handle on the sessions of a space."""

    def history(self, *, agent: str = "assistant") -> "History":
        """Return the history of an agent's conversations. Requires a database in this process.

        Args:
            agent: Name of the agent.
        """
        return self._backend.local().history(self._space, agent=agent)

    def live(self, conversation: str, *, agent: str = "assistant") -> "LiveHistory":
        """Return the history that an agent works on: restored, trimmed, and written in the background.

        If memory is switched off, messages stay in this process only. It needs a database in this process.

        Args:
            conversation: Name of the conversation.
            agent: Name of the agent.
        """
        return self._backend.live(self._space, conversation, agent=agent)


class ThreadsHandle(Handle):
    """A handle on the working memory of a space."""

    def engine(self) -> "WorkingMemory":
        """Return the working memory with its queue, locks and observers. Requires a database in this process."""
        return self._backend.local().working(self._space)


class ChangesHandle(Handle):
    """A handle on the change feed of a space."""

    async def follow(self, *, after: int | None = None) -> "AsyncIterator[Change]":
        """Yield each change of the space as it happens, in order. It never ends.

        Args:
            after: Number of the last change you have seen; 0 for all that are stored (default: from now on).

        Raises:
            VersionConflictError: if changes after this number have been deleted.
        """
        from bethink.model.operations.changes import LIST_CHANGES, ListChangesRequest  # noqa: PLC0415 - few programs follow

        if after is None:
            newest = await self._run(LIST_CHANGES, ListChangesRequest(limit=1))
            after = newest[-1].number if newest else 0
        while True:
            started = time.monotonic()
            changes = await self._run(LIST_CHANGES, ListChangesRequest(after=after, limit=1_000, wait=_WAIT))
            for change in changes:
                yield change
                after = change.number
            if not changes and time.monotonic() - started < 1.0:  # the server did not wait: memory may be off
                await anyio.sleep(with_jitter(1.0))


class SpaceAdminHandle(Handle):
    """A handle on the administration of one space."""

    async def export_archive(self, path: "Path | str") -> "ArchiveManifest":
        """Write everything in the space to one file: every message, fact, document and thread in all its versions.

        The file is a zip of JSON Lines that `memory.admin.import_archive` reads, with pages for a browser. The same
        content gives the same bytes. It appears when it is complete, and replaces an existing file.

        Args:
            path: File to write.

        Raises:
            NotFoundError: if the space does not exist.
        """
        from pathlib import Path  # noqa: PLC0415 - few programs export

        return await self._backend.export_archive(self._space, Path(path))


class Opened(Protocol):
    """An open memory."""

    @property
    def backend(self) -> Backend:
        """The backend that carries out the requests."""
        ...


class AdminHandle(Handle):
    """A handle on the administration of the whole memory."""

    async def import_archive(
        self, path: "Path | str", *, space: str | None = None, dry_run: bool = False
    ) -> "LoadReport":
        """Load an archive into a space. The space must be empty or contain a part of the archive.

        The archive is checked completely before anything is stored. Items that were deleted from this memory are
        deleted again. It needs a database in this process.

        Args:
            path: File that `space.admin.export_archive` wrote.
            space: Space to load it into (default: the space named in the archive).
            dry_run: Only check the archive.

        Raises:
            CorruptDatabaseError: for a damaged archive, with the file and the line.
            ConflictError: if the space has anything that is not in the archive.
        """
        from pathlib import Path  # noqa: PLC0415 - few programs import archives

        from bethink.memory.archive.load import load_archive  # noqa: PLC0415
        from bethink.memory.deletion.replay import replay  # noqa: PLC0415

        local = self._backend.local()
        database, record = local.database, local.record().record_everything("memory.admin.import_archive")
        name = None if space is None else checked_name(space, "a space")
        report = await load_archive(database, Path(path), space=name, dry_run=dry_run, record=record)
        if not dry_run:
            await database.transact(lambda tx: replay(tx, space=report.space), space=report.space)
        return report

    async def sync(self, other: Opened, *names: str) -> "builtins.list[SyncReport]":
        """Sync with another memory in both directions. Afterwards both are equal, their archives byte for byte.

        If both changed the same fact or document, the later version wins and the other stays in its history. If both
        continued a session, their messages follow one another. Deletions are carried over, too. It needs both
        databases in this process.

        Args:
            other: The other memory, open as well.
            names: Spaces to sync (default: all spaces of either memory).

        Raises:
            DatabaseBusyError: if a space kept changing during the sync. Run it again.
            LegalHoldError: if a space is under a legal hold on either side, because the other may have deleted data.
        """
        from bethink.memory.archive.exchange import sync_memories  # noqa: PLC0415 - few programs sync

        return await sync_memories(self._backend.local(), other.backend.local(), names)


class GroupHandle(Handle):
    """A handle on several spaces. No transaction spans two of them: each is read by itself, in the order passed."""

    def __init__(self, backend: Backend, names: tuple[str, ...]) -> None:
        super().__init__(backend)
        self._names = names

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the spaces."""
        return self._names

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._names))})"

    async def _run(self, operation: Operation[RequestT, ResultT], request: RequestT) -> ResultT:
        from bethink.memory.recall.merge import merge_for  # noqa: PLC0415 - most programs search one space

        if isinstance(request, AskRequest):  # one model reads the matches of all spaces
            first, *others = self._names
            return await self._backend.run(operation, first, replace(request, spaces=tuple(others)))
        merge = merge_for(operation, request, self._names)
        for name in self._names:
            try:
                merge.add(name, await self._backend.run(operation, name, merge.next_request()))
            except BethinkError as error:
                error.args = (f"Space {name!r}: {error.args[0]}",)
                raise
        return merge.result()


class SessionHandle(Handle):
    """A handle on a session. It stays valid after the session ends. `info` is a snapshot."""

    def __init__(self, backend: Backend, info: SessionInfo) -> None:
        super().__init__(backend, info.space)
        self.info = info

    @property
    def id(self) -> str:
        """The id of the session."""
        return self.info.id

    @property
    def space(self) -> str:
        """The name of its space."""
        return self.info.space

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SessionHandle) and (self.space, self.id) == (other.space, other.id)

    def __hash__(self) -> int:
        return hash((self.space, self.id))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r}, space={self.space!r})"


def tuple_of(values: Iterable[T] | T) -> tuple[T, ...]:
    """Return a collection as a tuple. A single text is a collection of one."""
    return (cast("T", values),) if isinstance(values, str) else tuple(cast("Iterable[T]", values))
