"""Operations on the change feed: list changes, and wait until a session is learned."""

from dataclasses import replace
from typing import Annotated, Self

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.changes import Change, LearnedSession
from bethink.model.checks import Between
from bethink.model.operations.base import Limit, Number, Operation, Request, Retry, served_by
from bethink.model.operations.sessions import SessionRequest
from bethink.model.paging import Page

READ, WRITE = Scope.READ, Scope.WRITE

MAX_WAIT = 60
"""Maximum number of seconds that one request can wait."""

Wait = Annotated[float, Between(0, MAX_WAIT)]


@frozen
class ListChangesRequest(Request):
    """A page of the change feed."""

    after: Number | None = None
    """Number of the last known change; 0 starts at the oldest retained change (default: the newest changes)."""
    limit: Limit = 100
    """Maximum number of changes (default 100)."""
    wait: Wait = 0.0
    """Seconds to wait if there is no change yet (default 0)."""

    def wait_seconds(self) -> float:
        """Return the number of seconds to wait for a change."""
        return self.wait

    def wait_at_most(self, seconds: float) -> Self:
        """Return the request with its wait limited to `seconds`."""
        return replace(self, wait=min(self.wait, seconds))


@frozen
class WaitUntilLearnedRequest(SessionRequest):
    """A session to wait for until learning is done."""

    timeout: Wait = 30.0
    """Maximum number of seconds to wait (default 30)."""

    def wait_seconds(self) -> float:
        """Return the number of seconds to wait for learning."""
        return self.timeout

    def wait_at_most(self, seconds: float) -> Self:
        """Return the request with its wait limited to `seconds`."""
        return replace(self, timeout=min(self.timeout, seconds))


LIST_CHANGES: Operation[ListChangesRequest, Page[Change]] = Operation(
    "space.admin.changes.list", ListChangesRequest, Page[Change], "GET /spaces/{space}/changes", READ, Retry.SAFE,
    "List changes in the space, oldest first: kinds and refs, without text.",
    raises="VersionConflictError: if changes after this number are no longer retained.",
    details="Continue with the number of the last change as `after`. `wait` returns as soon as something changes.",
)  # fmt: skip
WAIT_UNTIL_LEARNED: Operation[WaitUntilLearnedRequest, LearnedSession] = Operation(
    "session.wait_until_learned", WaitUntilLearnedRequest, LearnedSession,
    "POST /spaces/{space}/sessions/{session_id}/learned",
    WRITE,
    Retry.IDEMPOTENT,
    "Wait until Bethink has learned from all messages of the session, and return the facts and claims.",
    also_reads=True,
    raises="NotFoundError: if the space has no such session.",
    details="Queues the session if necessary, like `checkpoint(force=True)`. Returns early if the job was abandoned. "
    "`done` is True if learning finished in time.",
)  # fmt: skip
OPERATIONS = served_by("bethink.memory.changes.service", LIST_CHANGES, WAIT_UNTIL_LEARNED)
