"""The verbs by which a person steers memory: look before learning, pin facts, and say what they are worth."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.errors import Invalid
from bethink.model.access import Scope
from bethink.model.checks import Cleaned, Length, any_of
from bethink.model.facts import Fact
from bethink.model.messages import Messages
from bethink.model.moments import Moment
from bethink.model.operations.base import Conversation, Limit, MemoryOperation, Name, Request, Retry, Verb, served_by
from bethink.model.preview import Preview
from bethink.model.recall import FactVerdict, Feedback, Ref, RefKind
from bethink.model.steering import LearningRules

READ, WRITE, STEER = Scope.READ, Scope.WRITE, Scope.STEER


@frozen
class PreviewRequest(Request):
    """Messages to look at."""

    messages: Messages
    """What was said, oldest first. A text stands for one message of the user."""
    rules: LearningRules | None = None
    """Rules to try, in place of those that are set."""
    conversation: Conversation = "preview"
    """The conversation that they would belong to: its channel is told to the model."""
    agent: Name = "assistant"
    """The agent whose rules apply."""


@frozen
class PinRequest(Request):
    """A fact to pin, or no longer."""

    ref: Ref
    """The fact, in any version: `fact:id:version`, as in results."""

    def __post_init__(self) -> None:
        Request.__post_init__(self)
        _check_fact(self.ref)


@frozen
class PinsRequest(Request):
    """Which pins to list."""

    as_of: Moment | None = None
    """What was pinned at this time. A day means its end."""
    limit: Limit = 100
    """How many facts to return at most."""


@frozen
class FeedbackRequest(Request):
    """What somebody thinks of a fact."""

    ref: Ref
    """The fact, in the version that was read: `fact:id:version`, as in results."""
    verdict: FactVerdict
    """`useful`, `wrong` or `outdated`."""
    note: Annotated[str, Length(0, 1_000), Cleaned()] | None = None
    """Why, in their words."""
    by: Name = "user"
    """Who says so. It is kept, and not checked."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", any_of("verdict", (self.verdict,), FactVerdict)[0])
        Request.__post_init__(self)
        _check_fact(self.ref)


def _check_fact(ref: Ref) -> None:
    if ref.kind is not RefKind.FACT:
        raise Invalid(f"{ref} is not a fact.", hint="Pass the ref of a fact: fact:ID:VERSION.")


_SPACE = "/spaces/{space}"
_MISSING = "NotFound: if the space has no such fact, or it no longer holds."

PREVIEW: Verb[PreviewRequest, Preview] = Verb(
    "space.preview", PreviewRequest, Preview, f"POST {_SPACE}/preview", WRITE, Retry.ONCE,
    "Learn from messages without storing anything, and return what would stand, be held or be refused.",
    also_reads=True, timed=False,
    raises="Invalid: if no model is configured. Conflict: if the daily spend cap is reached.",
    details="Only its cost is counted for the day. The model is told what the space knows, as when it learns.",
)  # fmt: skip
PIN: Verb[PinRequest, Fact] = Verb(
    "space.pin", PinRequest, Fact, f"POST {_SPACE}/pin", STEER, Retry.IDEMPOTENT,
    "Pin a fact: `context` has it as long as it holds, next to what the user wants.",
    also_reads=True, operation=MemoryOperation.UPDATE,
    raises=_MISSING,
    details="A corrected fact stays pinned; one that takes its place is not.",
)  # fmt: skip
UNPIN: Verb[PinRequest, Fact] = Verb(
    "space.unpin", PinRequest, Fact, f"POST {_SPACE}/unpin", STEER, Retry.IDEMPOTENT,
    "Take the pin of a fact back.",
    also_reads=True, operation=MemoryOperation.UPDATE,
    raises=_MISSING,
)  # fmt: skip
PINS: Verb[PinsRequest, list[Fact]] = Verb(
    "space.pins", PinsRequest, list[Fact], f"GET {_SPACE}/pins", READ, Retry.SAFE,
    "List the facts that are pinned and hold, in the order they were pinned.",
)  # fmt: skip
FEEDBACK: Verb[FeedbackRequest, Feedback] = Verb(
    "space.feedback", FeedbackRequest, Feedback, f"POST {_SPACE}/feedback", STEER, Retry.ONCE,
    "Say that a fact was useful, is wrong, or is outdated, and keep who said so.",
    operation=MemoryOperation.UPDATE,
    raises="NotFound: if the space has no such fact. Stale: if the ref does not name the current version.",
    details=(
        "`useful` counts it as used. `wrong` puts it under review: it is not recalled until it is approved. "
        "`outdated` ends it now."
    ),
)  # fmt: skip

VERBS = (PREVIEW, PIN, UNPIN, PINS, FEEDBACK)
served_by("bethink.jobs.service", PREVIEW)
served_by("bethink.memory.facts.opinions", PIN, UNPIN, PINS, FEEDBACK)
