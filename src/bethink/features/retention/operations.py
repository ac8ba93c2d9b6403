"""Operations on retention rules, which delete old items, and legal holds, which block deletion."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.errors import InvalidFieldError
from bethink.features.retention.records import WITHOUT_ORIGIN, RetentionKind, RetentionReport, RetentionRule
from bethink.model.access import Scope
from bethink.model.checks import Between, Cleaned, Length, Printable, any_of
from bethink.model.holds import LegalHold
from bethink.model.operations.base import (
    Empty,
    HandleClass,
    Limit,
    Name,
    Operation,
    Request,
    Retry,
    SpanName,
    served_by,
)
from bethink.model.operations.merging import sorted_page
from bethink.model.paging import Page

READ, ERASE, OPERATE = Scope.READ, Scope.ERASE, Scope.OPERATE

_Origin = Annotated[str, Length(1, 200), Printable()]
_Reason = Annotated[str, Length(1, 500), Cleaned()]


@frozen
class _RuleRequest(Request):
    kind: RetentionKind
    """Kind of items: `message`, `session_summary`, `fact`, `document` or `thread`."""
    origin: _Origin | None = None
    """Origin: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default: any)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", any_of("kind", (self.kind,), RetentionKind)[0])
        Request.__post_init__(self)
        if self.origin is not None and self.kind in WITHOUT_ORIGIN:
            raise InvalidFieldError(
                "origin", f"cannot be set for a {self.kind.replace('_', ' ')}.", hint="Omit `origin`."
            )


@frozen
class SetRetentionRequest(_RuleRequest):
    """A retention rule to set."""

    older_than: Annotated[int, Between(1, 36_500)]
    """Age in days after which items and derived data are deleted."""


@frozen
class RemoveRetentionRequest(_RuleRequest):
    """A retention rule to remove."""


@frozen
class RunRetentionRequest(Request):
    """A run of the retention rules."""

    dry_run: bool = False
    """Whether to count the items without deleting them (default False)."""

    def retry(self, declared: Retry) -> Retry:
        """Return SAFE for a dry run."""
        return Retry.SAFE if self.dry_run else declared


@frozen
class PlaceHoldRequest(Request):
    """A legal hold to place."""

    reason: _Reason
    """Reason for the hold, such as a case number."""
    actor: Name | None = None
    """Name of the person who places the hold (default: the user who runs the program)."""


@frozen
class LiftHoldRequest(Request):
    """A legal hold to lift."""

    space: Name
    """Name of the space under the hold."""
    hold_id: Name
    """Id of the hold, as in `holds.list`."""
    reason: _Reason
    """Reason for lifting the hold."""
    actor: Name | None = None
    """Name of the person who lifts the hold (default: the user who runs the program)."""

    def named_space(self) -> str:
        """Return the space of the hold."""
        return self.space


@frozen
class ListHoldsRequest(Request):
    """A page of legal holds."""

    limit: Limit = 100
    """Maximum number of holds (default 100)."""


_RETENTION = "/spaces/{space}/retention"
_HOLDS = "/spaces/{space}/legal-holds"

LIST_RETENTION: Operation[Empty, Page[RetentionRule]] = Operation(
    "space.admin.retention.list", Empty, Page[RetentionRule], f"GET {_RETENTION}", READ, Retry.SAFE,
    "List the retention rules of the space, including the rule from the settings.",
)  # fmt: skip
SET_RETENTION: Operation[SetRetentionRequest, RetentionRule] = Operation(
    "space.admin.retention.set", SetRetentionRequest, RetentionRule, f"PUT {_RETENTION}", ERASE, Retry.IDEMPOTENT,
    "Delete items older than N days from now on, with derived data. Return the rule.",
    details=(
        "A worker deletes expired items with a receipt; `retention.run` does so immediately. The rule replaces a "
        "rule with the same kind and origin."
    ),
)  # fmt: skip
REMOVE_RETENTION: Operation[RemoveRetentionRequest, None] = Operation(
    "space.admin.retention.remove", RemoveRetentionRequest, None, f"POST {_RETENTION}/remove", ERASE, Retry.IDEMPOTENT,
    "Remove the retention rule with this kind and origin.",
    status=204,
    raises="NotFoundError: if the rule does not exist.",
)  # fmt: skip
RUN_RETENTION: Operation[RunRetentionRequest, RetentionReport] = Operation(
    "space.admin.retention.run", RunRetentionRequest, RetentionReport, f"POST {_RETENTION}/run", ERASE, Retry.ONCE,
    "Run the retention rules now: delete old items and expired facts.",
    span_name=SpanName.DELETE, timed=False,
    raises="LegalHoldError: if the space is under a legal hold.",
)  # fmt: skip
PLACE_HOLD: Operation[PlaceHoldRequest, LegalHold] = Operation(
    "space.admin.holds.place", PlaceHoldRequest, LegalHold, f"POST {_HOLDS}", ERASE, Retry.ONCE,
    "Place a legal hold. It blocks all deletions in the space until every hold is lifted.",
    status=201,
    raises="NotFoundError: if the space does not exist.",
)  # fmt: skip
LIST_HOLDS: Operation[ListHoldsRequest, Page[LegalHold]] = Operation(
    "space.admin.holds.list", ListHoldsRequest, Page[LegalHold], f"GET {_HOLDS}", ERASE, Retry.SAFE,
    "List legal holds on the space, including lifted ones. Newest first.",
)  # fmt: skip
LIFT_HOLD: Operation[LiftHoldRequest, LegalHold] = Operation(
    "memory.admin.holds.lift", LiftHoldRequest, LegalHold, "POST /legal-holds/{hold_id}/lift", OPERATE,
    Retry.IDEMPOTENT,
    "Lift a legal hold on a space. Deletions that it blocked are then finished.",
    raises="NotFoundError: if the hold does not exist.",
    details="The key needs the scope `operate`, so a key that can only delete cannot lift a hold.",
)  # fmt: skip
LIST_ALL_HOLDS: Operation[ListHoldsRequest, Page[LegalHold]] = Operation(
    "memory.admin.holds.list", ListHoldsRequest, Page[LegalHold], "GET /legal-holds", OPERATE, Retry.SAFE,
    "List active legal holds in all spaces. Newest first.",
    merge=sorted_page(lambda hold: hold.placed_at, reverse=True, cursor=None),
)  # fmt: skip

OPERATIONS = served_by(
    "bethink.features.retention.service",
    LIST_RETENTION,
    SET_RETENTION,
    REMOVE_RETENTION,
    RUN_RETENTION,
    PLACE_HOLD,
    LIST_HOLDS,
    LIFT_HOLD,
    LIST_ALL_HOLDS,
)
HANDLES = (
    HandleClass(path="space.admin.retention", class_name="SpaceRetention", summary="The retention rules of a space."),
    HandleClass(path="space.admin.holds", class_name="SpaceHolds", summary="The legal holds on a space."),
    HandleClass(path="memory.admin.holds", class_name="Holds", summary="The legal holds on all spaces."),
)
