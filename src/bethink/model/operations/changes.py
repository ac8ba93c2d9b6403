"""Operations on the change feed: read it, and wait for what is learned."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.changes import MemoryChange, SessionLearnt
from bethink.model.checks import Between
from bethink.model.operations.base import Limit, Number, Request, Retry, Verb, served_by
from bethink.model.operations.sessions import SessionRequest

READ, WRITE = Scope.READ, Scope.WRITE

LONGEST_WAIT = 60
"""Seconds that one request may wait."""

Wait = Annotated[float, Between(0, LONGEST_WAIT)]


@frozen
class ChangesRequest(Request):
    """A page of changes."""

    after: Number | None = None
    """Only changes with a higher number; 0 for the oldest that is kept. Without it, the newest ones."""
    limit: Limit = 100
    """How many changes to return at most."""
    wait: Wait = 0.0
    """For how many seconds to wait for a change if there is none."""


@frozen
class LearntRequest(SessionRequest):
    """A session to wait for."""

    wait: Wait = 30.0
    """For how many seconds to wait at most."""


CHANGES: Verb[ChangesRequest, list[MemoryChange]] = Verb(
    "space.changes", ChangesRequest, list[MemoryChange], "GET /spaces/{space}/changes", READ, Retry.SAFE,
    "List what changed in the space, in order: kinds and refs, never a text.",
    raises="Stale: if changes after this number are no longer kept.",
    details="Go on with the number of the last one as `after`. With `wait`, it returns as soon as something changes.",
)  # fmt: skip
LEARNT: Verb[LearntRequest, SessionLearnt] = Verb(
    "session.learnt", LearntRequest, SessionLearnt, "POST /spaces/{space}/sessions/{session_id}/learnt", WRITE,
    Retry.IDEMPOTENT,
    "Wait until all that was said in the session so far has been learnt from, and return what came of it.",
    also_reads=True,
    raises="NotFound: if the space has no such session.",
    details="It marks the session if need be, as `idle` does, and returns early if learning was given up. "
    "`done` says whether it was worth the wait.",
)  # fmt: skip
VERBS = served_by("bethink.memory.changes.service", CHANGES, LEARNT)
