"""The operations of retention: rules that delete old items, and legal holds, which forbid deletion."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.features.retention.records import WITHOUT_ORIGIN, RetentionKind, RetentionRule, Swept
from bethink.model.access import Scope
from bethink.model.checks import Between, Cleaned, InvalidField, Length, Printable, any_of
from bethink.model.holds import LegalHold
from bethink.model.operations.base import (
    Empty,
    HandleClass,
    Limit,
    MemoryOperation,
    Name,
    Request,
    Retry,
    Verb,
    served_by,
)
from bethink.model.operations.merging import sorted_page

READ, ERASE, OPERATE = Scope.READ, Scope.ERASE, Scope.OPERATE

_Origin = Annotated[str, Length(1, 200), Printable()]
_Reason = Annotated[str, Length(1, 500), Cleaned()]


@frozen
class _RuleRequest(Request):
    kind: RetentionKind
    """What it is about: message, session_memory, fact, document or thread."""
    origin: _Origin | None = None
    """Only what came from user, assistant, document, import, memory, tool or tool:NAME; any, if left out."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", any_of("kind", (self.kind,), RetentionKind)[0])
        Request.__post_init__(self)
        if self.origin is not None and self.kind in WITHOUT_ORIGIN:
            raise InvalidField("origin", f"cannot be set for a {self.kind.replace('_', ' ')}.", hint="Leave it out.")


@frozen
class SetRetentionRequest(_RuleRequest):
    """A rule to set."""

    older_than: Annotated[int, Between(1, 36_500)]
    """After how many days it is erased, with what was made of it."""


@frozen
class RemoveRetentionRequest(_RuleRequest):
    """A rule to remove."""


@frozen
class SweepRequest(Request):
    """What is due."""

    dry_run: bool = False
    """Count and name what would go, and remove nothing."""

    def retry(self, declared: Retry) -> Retry:
        """Return SAFE for a dry run."""
        return Retry.SAFE if self.dry_run else declared


@frozen
class HoldRequest(Request):
    """A legal hold to place."""

    reason: _Reason
    """Why nothing may be erased: a number of a case, say."""
    by: Name | None = None
    """Who places it, for the record; the user who runs the program, if left out."""


@frozen
class LiftRequest(Request):
    """A legal hold to lift."""

    space: Name
    """The space that it stands on."""
    hold_id: Name
    """The hold, as `hold` and `holds` name it."""
    reason: _Reason
    """Why it no longer stands."""
    by: Name | None = None
    """Who lifts it, for the record; the user who runs the program, if left out."""

    def named_space(self) -> str:
        """Return the space of the hold."""
        return self.space


@frozen
class HoldsRequest(Request):
    """A page of legal holds."""

    limit: Limit = 100
    """How many holds to return at most."""


_RETENTION = "/spaces/{space}/retention"
_HOLDS = "/spaces/{space}/legal-holds"

LIST_RETENTION: Verb[Empty, list[RetentionRule]] = Verb(
    "retention.all", Empty, list[RetentionRule], f"GET {_RETENTION}", READ, Retry.SAFE,
    "List the rules by which the space erases what is old, with the one that the settings make for all spaces.",
)  # fmt: skip
SET_RETENTION: Verb[SetRetentionRequest, RetentionRule] = Verb(
    "retention.set", SetRetentionRequest, RetentionRule, f"PUT {_RETENTION}", ERASE, Retry.IDEMPOTENT,
    "Let what is older than so many days be erased from now on, and return the rule.",
    details=(
        "A worker erases it with a receipt, or `sweep` at once. What was made of it goes, too. "
        "A rule of the same kind and origin is replaced."
    ),
)  # fmt: skip
REMOVE_RETENTION: Verb[RemoveRetentionRequest, None] = Verb(
    "retention.remove", RemoveRetentionRequest, None, f"POST {_RETENTION}/remove", ERASE, Retry.IDEMPOTENT,
    "Remove the rule of a kind and origin.",
    status=204,
    raises="NotFound: if the rule does not exist.",
)  # fmt: skip
SWEEP: Verb[SweepRequest, Swept] = Verb(
    "retention.sweep", SweepRequest, Swept, f"POST {_RETENTION}/sweep", ERASE, Retry.ONCE,
    "Erase now what the rules say and facts that have expired, as a worker does by itself.",
    operation=MemoryOperation.DELETE, timed=False,
    raises="UnderLegalHold: if the space is under a legal hold.",
)  # fmt: skip
HOLD: Verb[HoldRequest, LegalHold] = Verb(
    "retention.hold", HoldRequest, LegalHold, f"POST {_HOLDS}", ERASE, Retry.ONCE,
    "Place a legal hold: nothing of the space is erased until every hold on it is lifted.",
    status=201,
    raises="NotFound: if the space does not exist.",
)  # fmt: skip
HOLDS: Verb[HoldsRequest, list[LegalHold]] = Verb(
    "retention.holds", HoldsRequest, list[LegalHold], f"GET {_HOLDS}", ERASE, Retry.SAFE,
    "List the legal holds on the space, the newest first, with those that were lifted.",
)  # fmt: skip
LIFT: Verb[LiftRequest, LegalHold] = Verb(
    "memory.lift_legal_hold", LiftRequest, LegalHold, "POST /legal-holds/{hold_id}/lift", OPERATE, Retry.IDEMPOTENT,
    "Lift a legal hold on a space. Erasures that waited for it are finished then.",
    raises="NotFound: if the hold does not exist.",
    details="A key needs `operate`: one that may only erase cannot lift what forbids it to.",
)  # fmt: skip
ALL_HOLDS: Verb[HoldsRequest, list[LegalHold]] = Verb(
    "memory.legal_holds", HoldsRequest, list[LegalHold], "GET /legal-holds", OPERATE, Retry.SAFE,
    "List the legal holds that stand, in all spaces, the newest first.",
    merge=sorted_page(lambda hold: hold.placed_at, reverse=True),
)  # fmt: skip

VERBS = served_by(
    "bethink.features.retention.service",
    LIST_RETENTION,
    SET_RETENTION,
    REMOVE_RETENTION,
    SWEEP,
    HOLD,
    HOLDS,
    LIFT,
    ALL_HOLDS,
)
HANDLE = HandleClass(
    name="retention",
    class_name="SpaceRetention",
    parent="space",
    summary="How long a space keeps what, and legal holds on it.",
)
