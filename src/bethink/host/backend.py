"""Backend: what carries out requests. `Local`, `Remote` and `Off` are backends; programs can wrap one in their own."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bethink.errors import Unavailable
from bethink.jobs.hosting import LearningHost
from bethink.model.operations.base import RequestT, ResultT, Verb
from bethink.model.records import AgentKind

if TYPE_CHECKING:
    from pathlib import Path

    from bethink.memory.access.record import AccessRecord
    from bethink.memory.archive.format import ArchiveManifest
    from bethink.memory.log.history import History
    from bethink.memory.log.live import LiveHistory
    from bethink.memory.log.marks import Marks
    from bethink.memory.recall.reindex import Vectors


class Backend(ABC):
    """Carries out requests: in this process, on a server, or not at all.

    Wrap one in your own class to trace, meter or refuse requests.
    """

    async def open(self) -> None:  # noqa: B027 - not every backend has something to open
        """Get ready to carry out requests."""

    async def close(self) -> None:  # noqa: B027 - as above
        """Finish what is running and release every connection."""

    @abstractmethod
    async def run(self, verb: Verb[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        """Carry out one request. `space` is empty for an operation that concerns no single space."""

    def local(self) -> "LocalBackend":
        """Return the part of memory that works in this process.

        Raises:
            Unavailable: if this process has no database.
        """
        raise Unavailable(
            "this needs a database in this process.", hint="Open a file or PostgreSQL instead of a server."
        )

    def live(self, space: str, conversation: str, *, agent: str = "assistant") -> "LiveHistory":
        """Return the history that an agent works on.

        Raises:
            Unavailable: if this process has no database.
        """
        return self.local().live(space, conversation, agent=agent)

    async def export_archive(self, space: str, path: "Path") -> "ArchiveManifest":
        """Write everything in a space to a file."""
        return await self.local().export_archive(space, path)


class LocalBackend(Backend, LearningHost):
    """A backend with a database in this process, and what only such a one can do."""

    @property
    @abstractmethod
    def can_answer(self) -> bool:
        """Whether a model is configured that answers questions. It is not loaded to find out."""

    @abstractmethod
    def record(self) -> "AccessRecord":
        """Return the access log. What does not go through `run` adds itself to it."""

    @abstractmethod
    def history(self, space: str, *, agent: str = "assistant", kind: AgentKind = AgentKind.PRIMARY) -> "History":
        """Return the history of an agent's conversations."""

    @abstractmethod
    def marks(self) -> "Marks":
        """Return the marks of sessions, for programs that learn by themselves."""

    @abstractmethod
    def vectors(self) -> "Vectors":
        """Return the vectors of the embedder in use.

        Raises:
            Misconfigured: without an embedder.
        """

    @abstractmethod
    def shadow(self, path: "Path", changes: Mapping[str, object], *, prompt: str = "") -> "LocalBackend":
        """Return a backend on a new file, with the same settings except for `changes`, by name.

        `prompt` asks the model for claims in place of ours.
        """
