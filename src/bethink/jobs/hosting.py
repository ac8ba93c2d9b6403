"""What services that learn need of a host, beyond what all services need."""

from typing import TYPE_CHECKING, Protocol

from bethink.memory.registry import Host

if TYPE_CHECKING:
    from bethink.jobs.background import Background
    from bethink.jobs.worker import Worker


class LearningHost(Host, Protocol):
    """An open memory that can learn in this process."""

    @property
    def background(self) -> "Background | None":
        """What learns in the background of this process; None if nothing does."""
        ...

    def worker(self) -> "Worker":
        """Return a worker.

        Raises:
            Unavailable: if learning is switched off.
        """
        ...
