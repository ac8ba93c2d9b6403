"""Signs of life that a supervisor can see: a few bytes of memory that all processes of a campaign share."""

from collections.abc import Generator
from contextlib import contextmanager
from mmap import mmap


class Signs:
    """Says of the process in each slot whether it has come to its work, and whether it is in the middle of it.

    The slots from 0 on are the workers'; the last one is whose work they do.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.feeder = workers
        self.slots = workers + 1
        self._busy = mmap(-1, self.slots)
        self._worked = mmap(-1, self.slots)

    def clear(self, slot: int) -> None:
        """Forget the process that was in a slot."""
        self._busy[slot] = self._worked[slot] = 0

    @contextmanager
    def shown(self, slot: int) -> Generator[None]:
        """Show that a piece of work is going on."""
        self._worked[slot] = 1
        self._busy[slot] += 1
        try:
            yield
        finally:
            self._busy[slot] -= 1

    def busy(self, slot: int) -> bool:
        """Say whether a process is in the middle of something."""
        return self._busy[slot] > 0

    def worked(self, slot: int) -> bool:
        """Say whether a process has begun with anything since it was started."""
        return self._worked[slot] > 0
