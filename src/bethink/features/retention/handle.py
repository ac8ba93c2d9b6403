"""How long a space keeps what, and legal holds on it.

Written by tools/make_api.py from the table of operations; change a request there and run it again.
"""

from bethink.api.handles import Handle
from bethink.features.retention.operations import (
    HOLD,
    HOLDS,
    LIST_RETENTION,
    REMOVE_RETENTION,
    SET_RETENTION,
    SWEEP,
    HoldRequest,
    HoldsRequest,
    RemoveRetentionRequest,
    SetRetentionRequest,
    SweepRequest,
)
from bethink.features.retention.records import RetentionKind, RetentionRule, Swept
from bethink.model.holds import LegalHold
from bethink.model.operations.base import Empty


class SpaceRetention(Handle):
    """How long a space keeps what, and legal holds on it."""

    async def all(self) -> list[RetentionRule]:
        """List the rules by which the space erases what is old, with the one that the settings make for all spaces."""
        return await self._run(LIST_RETENTION, Empty())

    async def set(self, kind: RetentionKind, older_than: int, *, origin: str | None = None) -> RetentionRule:
        """Let what is older than so many days be erased from now on, and return the rule.

        A worker erases it with a receipt, or `sweep` at once. What was made of it goes, too. A rule of the same
        kind and origin is replaced.

        Args:
            kind: What it is about: message, session_memory, fact, document or thread.
            older_than: After how many days it is erased, with what was made of it.
            origin: Only what came from user, assistant, document, import, memory, tool or tool:NAME; any, if left
                out.
        """
        return await self._run(SET_RETENTION, SetRetentionRequest(kind=kind, origin=origin, older_than=older_than))

    async def remove(self, kind: RetentionKind, *, origin: str | None = None) -> None:
        """Remove the rule of a kind and origin.

        Args:
            kind: What it is about: message, session_memory, fact, document or thread.
            origin: Only what came from user, assistant, document, import, memory, tool or tool:NAME; any, if left
                out.

        Raises:
            NotFound: if the rule does not exist.
        """
        return await self._run(REMOVE_RETENTION, RemoveRetentionRequest(kind=kind, origin=origin))

    async def sweep(self, *, dry_run: bool = False) -> Swept:
        """Erase now what the rules say and facts that have expired, as a worker does by itself.

        Args:
            dry_run: Count and name what would go, and remove nothing.

        Raises:
            UnderLegalHold: if the space is under a legal hold.
        """
        return await self._run(SWEEP, SweepRequest(dry_run=dry_run))

    async def hold(self, reason: str, *, by: str | None = None) -> LegalHold:
        """Place a legal hold: nothing of the space is erased until every hold on it is lifted.

        Args:
            reason: Why nothing may be erased: a number of a case, say.
            by: Who places it, for the record; the user who runs the program, if left out.

        Raises:
            NotFound: if the space does not exist.
        """
        return await self._run(HOLD, HoldRequest(reason=reason, by=by))

    async def holds(self, *, limit: int = 100) -> list[LegalHold]:
        """List the legal holds on the space, the newest first, with those that were lifted.

        Args:
            limit: How many holds to return at most.
        """
        return await self._run(HOLDS, HoldsRequest(limit=limit))
