"""The host that learning services need, in addition to the host of all services."""

from typing import TYPE_CHECKING, Protocol

from bethink.memory.registry import Host

if TYPE_CHECKING:
    from bethink.jobs.background import Background
    from bethink.jobs.worker import Worker


class LearningHost(Host, Protocol):
    """An open memory that can learn in this process."""

    @property
    def background(self) -> "Background | None":
        """The background learner of this process; None if there is none."""
        ...

    def worker(self) -> "Worker":
        """Return a worker.

        Raises:
            DatabaseUnavailableError: if learning is turned off.
        """
        ...
