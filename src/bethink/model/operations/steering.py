"""Operations to preview learning rules, and to pin and rate facts."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.errors import InvalidRequestError
from bethink.model.access import Scope
from bethink.model.checks import Cleaned, Length, any_of
from bethink.model.facts import Fact
from bethink.model.messages import Messages
from bethink.model.operations.base import Conversation, Name, Operation, Request, Retry, SpanName, served_by
from bethink.model.preview import Preview
from bethink.model.recall import FactVerdict, Feedback
from bethink.model.refs import Ref, RefKind
from bethink.model.steering import LearningRules

READ, WRITE, STEER = Scope.READ, Scope.WRITE, Scope.STEER


@frozen
class PreviewRulesRequest(Request):
    """Messages to preview learning with."""

    messages: Messages
    """Messages, oldest first. A string is one user message."""
    rules: LearningRules | None = None
    """Learning rules to try (default: the stored rules)."""
    conversation: Conversation = "preview"
    """Name of the conversation (default `preview`). The model is given its channel."""
    agent: Name = "assistant"
    """Agent whose rules apply (default `assistant`)."""


@frozen
class PinFactRequest(Request):
    """A fact to pin or unpin."""

    ref: Ref
    """Ref of the fact in any version: `fact:id:version`, as in results."""

    def __post_init__(self) -> None:
        Request.__post_init__(self)
        _check_fact(self.ref)


@frozen
class RateFactRequest(Request):
    """A rating of a fact."""

    ref: Ref
    """Ref of the fact in its current version: `fact:id:version`, as in results."""
    verdict: FactVerdict
    """Rating: `useful`, `wrong` or `outdated`."""
    note: Annotated[str, Length(0, 1_000), Cleaned()] | None = None
    """Reason for the rating."""
    actor: Name = "user"
    """Name of the person who rates the fact, stored unverified (default `user`)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", any_of("verdict", (self.verdict,), FactVerdict)[0])
        Request.__post_init__(self)
        _check_fact(self.ref)


def _check_fact(ref: Ref) -> None:
    if ref.kind is not RefKind.FACT:
        raise InvalidRequestError(f"{ref} is not a fact.", hint="Pass the ref of a fact: fact:ID:VERSION.")


_SPACE = "/spaces/{space}"
_NOT_FOUND = "NotFoundError: if the space has no such current fact."

PREVIEW_RULES: Operation[PreviewRulesRequest, Preview] = Operation(
    "space.admin.rules.preview", PreviewRulesRequest, Preview, f"POST {_SPACE}/rules/preview", WRITE, Retry.ONCE,
    "Preview the facts that Bethink would learn from messages. Nothing is stored.",
    also_reads=True, timed=False,
    raises="InvalidRequestError: if no model is configured. ConflictError: if the daily budget is spent.",
    details="Calls the model with the existing facts, as learning does. The cost counts toward the daily budget.",
)  # fmt: skip
PIN_FACT: Operation[PinFactRequest, Fact] = Operation(
    "space.facts.pin", PinFactRequest, Fact, f"POST {_SPACE}/facts/pin", STEER, Retry.IDEMPOTENT,
    "Pin a fact, so that `context` always includes it while it is current.",
    also_reads=True, span_name=SpanName.UPDATE,
    raises=_NOT_FOUND,
    details="A corrected fact stays pinned. A different fact that replaces it is not pinned.",
)  # fmt: skip
UNPIN_FACT: Operation[PinFactRequest, Fact] = Operation(
    "space.facts.unpin", PinFactRequest, Fact, f"POST {_SPACE}/facts/unpin", STEER, Retry.IDEMPOTENT,
    "Unpin a fact.",
    also_reads=True, span_name=SpanName.UPDATE,
    raises=_NOT_FOUND,
)  # fmt: skip
RATE_FACT: Operation[RateFactRequest, Feedback] = Operation(
    "space.facts.rate", RateFactRequest, Feedback, f"POST {_SPACE}/facts/rate", STEER, Retry.ONCE,
    "Rate a fact as useful, wrong or outdated.",
    span_name=SpanName.UPDATE,
    raises=(
        "NotFoundError: if the space has no such fact. "
        "VersionConflictError: if the ref does not name the current version."
    ),
    details=(
        "`useful` marks the fact as used. `wrong` sends the fact to review and hides it until approval. `outdated` "
        "ends the fact now."
    ),
)  # fmt: skip

OPERATIONS = (PREVIEW_RULES, PIN_FACT, UNPIN_FACT, RATE_FACT)
served_by("bethink.jobs.service", PREVIEW_RULES)
served_by("bethink.memory.facts.opinions", PIN_FACT, UNPIN_FACT, RATE_FACT)
