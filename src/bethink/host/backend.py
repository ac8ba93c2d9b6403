"""Backend: runs requests. `Local`, `Remote` and `Off` are backends, and programs can wrap them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bethink.errors import DatabaseUnavailableError
from bethink.jobs.hosting import LearningHost
from bethink.model.operations.base import Operation, RequestT, ResultT
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
    """Runs requests: in this process, on a server, or not at all.

    Wrap a backend in your own class to trace, meter or reject requests.
    """

    async def open(self) -> None:  # noqa: B027 - not every backend has something to open
        """Prepare to run requests."""

    async def close(self) -> None:  # noqa: B027 - as above
        """Finish running requests and release all connections."""

    @abstractmethod
    async def run(self, operation: Operation[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        """Run a request. `space` is empty for operations without a space."""

    def local(self) -> "LocalBackend":
        """Return the backend with a database in this process.

        Raises:
            DatabaseUnavailableError: if this process has no database.
        """
        raise DatabaseUnavailableError(
            "This operation needs a database in this process.",
            hint="Connect to a file or PostgreSQL instead of a server.",
        )

    def live(self, space: str, conversation: str, *, agent: str = "assistant") -> "LiveHistory":
        """Return the history that an agent works on.

        Raises:
            DatabaseUnavailableError: if this process has no database.
        """
        return self.local().live(space, conversation, agent=agent)

    async def export_archive(self, space: str, path: "Path") -> "ArchiveManifest":
        """Write everything in a space to a file."""
        return await self.local().export_archive(space, path)


class LocalBackend(Backend, LearningHost):
    """A backend with a database in this process, and its additional operations."""

    @property
    @abstractmethod
    def can_answer(self) -> bool:
        """Return whether a model for answers is configured, without loading it."""

    @abstractmethod
    def record(self) -> "AccessRecord":
        """Return the access log. Operations outside of `run` add their own entries."""

    @abstractmethod
    def history(self, space: str, *, agent: str = "assistant", kind: AgentKind = AgentKind.PRIMARY) -> "History":
        """Return the history of an agent's conversations."""

    @abstractmethod
    def marks(self) -> "Marks":
        """Return the learning marks of sessions, for programs with their own learning."""

    @abstractmethod
    def vectors(self) -> "Vectors":
        """Return the vectors of the embedder in use.

        Raises:
            ConfigurationError: without an embedder.
        """

    @abstractmethod
    def shadow(self, path: "Path", changes: Mapping[str, object], *, prompt: str = "") -> "LocalBackend":
        """Return a backend on a new file, with the same settings except for `changes`, by name.

        `prompt` replaces the prompt that asks the model for claims.
        """
