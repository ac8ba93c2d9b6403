"""What can be asked of a memory as a whole.

Written by tools/make_api.py from the table of verbs; change a request there and run it again.
"""

from collections.abc import Iterable

from bethink.handles import Handle, tuple_of
from bethink.model.jobs import Audit, JobKind, RunReport
from bethink.model.verbs.base import Empty
from bethink.model.verbs.service import AUDIT, LEARN, LIST_SPACES, LearnRequest, ListSpacesRequest


class MemoryVerbs(Handle):
    """What can be asked of a memory as a whole."""

    async def list_spaces(self, *, limit: int = 100, after: str = "") -> list[str]:
        """List the names of all spaces that hold anything, in order.

        Args:
            limit: How many names to return at most.
            after: Only spaces that follow this one: the last name of the previous page.
        """
        return await self._run(LIST_SPACES, ListSpacesRequest(limit=limit, after=after))

    async def audit(self) -> Audit:
        """Count the jobs that are not done by status, what was spent today, and violations of invariants."""
        return await self._run(AUDIT, Empty())

    async def learn(self, *, only: Iterable[JobKind] | None = None) -> RunReport:
        """Learn once from everything that is marked, in all spaces, and report what came of it.

        It waits for what this process has already begun in the background, and the report includes what was learnt
        there since the last call. It does not wait for other processes. What changed is then sent to webhooks,
        unless `only` is given.

        Args:
            only: Only these kinds of jobs.
        """
        return await self._run(LEARN, LearnRequest(only=None if only is None else tuple_of(only)))
