"""Operations on relearning: propose, apply and undo."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.errors import InvalidFieldError
from bethink.model.access import Scope
from bethink.model.checks import Cleaned, Length
from bethink.model.operations.base import HandleClass, Name, Operation, Request, Retry, served_by
from bethink.model.relearning import Relearning
from bethink.model.steering import Instructions

STEER = Scope.STEER

Prompt = Annotated[str, Length(0, 20_000), Cleaned()]


@frozen
class ProposeRelearningRequest(Request):
    """Options for learning a space again."""

    model: str = ""
    """Model as `provider:name` (default: the configured model)."""
    verify_model: str = ""
    """Model of the second pass as `provider:name` (default: the same model)."""
    instructions: Instructions | None = None
    """Instructions that replace those in the learning rules; empty for none (default: unchanged)."""
    prompt: Prompt = ""
    """System prompt that replaces the built-in one, except in the second pass (default: built-in)."""
    dry_run: bool = True
    """Whether to return the changes without applying them (default True)."""

    def __post_init__(self) -> None:
        Request.__post_init__(self)
        if self.prompt and not self.prompt.strip():
            raise InvalidFieldError("prompt", "must not be blank.", hint="Write a prompt, or omit it.")


@frozen
class RelearningRequest(Request):
    """One relearning."""

    relearning_id: Name
    """Id of the relearning."""


_RELEARNINGS = "/spaces/{space}/relearnings"

PROPOSE_RELEARNING: Operation[ProposeRelearningRequest, Relearning] = Operation(
    "space.admin.relearning.propose", ProposeRelearningRequest, Relearning, f"POST {_RELEARNINGS}", STEER, Retry.ONCE,
    "Learn from all messages of the space again, and return the changes to its facts.",
    also_reads=True, timed=False,
    raises="InvalidRequestError: if no model is configured. NotFoundError: if the space does not exist. "
    "ConflictError: if the daily budget is spent.",
    details="Follows the learning rules of the space. Claims are validated as usual, whatever the prompt says.",
)  # fmt: skip
APPLY_RELEARNING: Operation[RelearningRequest, Relearning] = Operation(
    "space.admin.relearning.apply", RelearningRequest, Relearning, f"POST {_RELEARNINGS}/{{relearning_id}}/apply",
    STEER,
    Retry.IDEMPOTENT,
    "Apply a relearning in one transaction.",
    also_reads=True,
    raises="VersionConflictError: if an affected fact changed since the proposal.",
)  # fmt: skip
UNDO_RELEARNING: Operation[RelearningRequest, Relearning] = Operation(
    "space.admin.relearning.undo", RelearningRequest, Relearning, f"POST {_RELEARNINGS}/{{relearning_id}}/undo", STEER,
    Retry.IDEMPOTENT,
    "Undo an applied relearning and restore the previous facts.",
    also_reads=True,
    raises="VersionConflictError: if an affected fact changed since then.",
)  # fmt: skip

OPERATIONS = served_by("bethink.features.relearning.service", PROPOSE_RELEARNING, APPLY_RELEARNING, UNDO_RELEARNING)
HANDLES = (
    HandleClass(
        path="space.admin.relearning", class_name="Relearnings", summary="Proposals from learning a space again."
    ),
)
