"""The bases of all API handles: the backend that carries requests out, and the space or spaces."""

import time
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, TypeVar, cast

import anyio

from bethink.base.backoff import jittered
from bethink.errors import BethinkError
from bethink.host.backend import Backend
from bethink.model.operations.base import RequestT, ResultT, Verb
from bethink.model.records import SessionInfo

if TYPE_CHECKING:
    from pathlib import Path

    from bethink.memory.archive.format import ArchiveManifest
    from bethink.memory.log.history import History
    from bethink.memory.log.live import LiveHistory
    from bethink.memory.working.memory import WorkingMemory
    from bethink.model.changes import MemoryChange

T = TypeVar("T")

_ASKED = 20.0
"""Seconds that one request waits for changes."""


class Handle:
    """Turns the arguments of a method into a request, and hands it to a backend."""

    def __init__(self, backend: Backend, space: str = "") -> None:
        self._backend = backend
        self._space = space

    async def _run(self, verb: Verb[RequestT, ResultT], request: RequestT) -> ResultT:
        return await self._backend.run(verb, self._space, request)


class SpaceHandle(Handle):
    """A handle on one space."""

    @property
    def name(self) -> str:
        """The name of the space."""
        return self._space

    def history(self, *, agent: str = "assistant") -> "History":
        """Return the history of an agent's conversations. It needs a database in this process.

        Args:
            agent: The agent whose history it is.
        """
        return self._backend.local().history(self._space, agent=agent)

    def live(self, conversation: str, *, agent: str = "assistant") -> "LiveHistory":
        """Return the history that an agent works on: restored, trimmed, and written in the background.

        If memory is switched off, it only keeps the messages at hand. It needs a database in this process.

        Args:
            conversation: The conversation that the agent works on.
            agent: The agent.
        """
        return self._backend.live(self._space, conversation, agent=agent)

    def working(self) -> "WorkingMemory":
        """Return the working memory with its queue, locks and observers. It needs a database in this process."""
        return self._backend.local().working(self._space)

    async def follow(self, *, after: int | None = None) -> "AsyncIterator[MemoryChange]":
        """Yield each change of the space, in order, as it is made: `async for change in space.follow()`. It never ends.

        Args:
            after: The number of the last change that was seen; 0 for all that are kept. Without it, from now on.

        Raises:
            Stale: if changes after this number are no longer kept.
        """
        from bethink.model.operations.changes import CHANGES, ChangesRequest  # noqa: PLC0415 - few programs follow

        if after is None:
            last = await self._run(CHANGES, ChangesRequest(limit=1))
            after = last[-1].number if last else 0
        while True:
            asked = time.monotonic()
            found = await self._run(CHANGES, ChangesRequest(after=after, limit=1_000, wait=_ASKED))
            for change in found:
                yield change
                after = change.number
            if not found and time.monotonic() - asked < 1.0:  # no one waited: memory may be switched off
                await anyio.sleep(jittered(1.0))

    async def export_archive(self, path: "Path | str") -> "ArchiveManifest":
        """Write everything in the space to one file: every message, fact, document and thread in all its versions.

        The file is a zip of JSON Lines that `import_archive` reads back, with pages for a browser. The same content
        gives the same bytes. It appears when it is complete, and replaces a file that is there.

        Args:
            path: The file to write.

        Raises:
            NotFound: if the space does not exist.
        """
        from pathlib import Path  # noqa: PLC0415 - as above

        return await self._backend.export_archive(self._space, Path(path))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._space!r})"


class SpacesHandle(Handle):
    """A handle on several spaces. No transaction spans two of them: each is read by itself, in the order given."""

    def __init__(self, backend: Backend, names: tuple[str, ...]) -> None:
        super().__init__(backend)
        self._names = names

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the spaces."""
        return self._names

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._names))})"

    async def _run(self, verb: Verb[RequestT, ResultT], request: RequestT) -> ResultT:
        from bethink.memory.recall.merge import merge_of  # noqa: PLC0415 - most programs ask one space

        merge = merge_of(verb, request, self._names)
        for name in self._names:
            try:
                merge.add(name, await self._backend.run(verb, name, merge.next_request()))
            except BethinkError as error:
                error.args = (f"space {name!r}: {error.args[0]}",)
                raise
        return merge.result()


class SessionHandle(Handle):
    """A handle on one session. It stays valid when the session ends; `info` is a snapshot from when it was read."""

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


def tuple_of(values: Iterable[T]) -> tuple[T, ...]:
    """Take a snapshot of a collection. A single text is not a collection, and is left for the request to refuse."""
    return cast("tuple[T, ...]", values) if isinstance(values, str) else tuple(values)
