"""The verbs of relearning: learn a space again beside what is known, look at the difference, apply it or undo it."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.checks import Cleaned, InvalidField, Length
from bethink.model.operations.base import Name, Request, Retry, Verb, served_by
from bethink.model.relearning import Relearning
from bethink.model.steering import Instructions

STEER = Scope.STEER

Prompt = Annotated[str, Length(0, 20_000), Cleaned()]


@frozen
class RelearnRequest(Request):
    """How to learn again."""

    model: str = ""
    """The model, as PROVIDER:NAME. The one that learns here, if left out."""
    second_model: str = ""
    """The model of the second reading. The same model, if left out."""
    instructions: Instructions | None = None
    """What to learn, in place of the instructions in the rules, of the space and of its agents; empty for none."""
    prompt: Prompt = ""
    """A system prompt for the model, in place of ours. The second reading keeps its own."""
    dry_run: bool = True
    """Only show what would change. Otherwise it is applied at once."""

    def __post_init__(self) -> None:
        Request.__post_init__(self)
        if self.prompt and not self.prompt.strip():
            raise InvalidField("prompt", "is blank.", hint="Write a prompt, or leave it out.")


@frozen
class RelearningRequest(Request):
    """One relearning."""

    relearning_id: Name
    """The relearning."""


_RELEARNINGS = "/spaces/{space}/relearnings"

RELEARN: Verb[RelearnRequest, Relearning] = Verb(
    "space.relearn", RelearnRequest, Relearning, f"POST {_RELEARNINGS}", STEER, Retry.ONCE,
    "Learn from the whole log again, beside what is known, and return what would change.",
    also_reads=True, timed=False,
    raises="Invalid: if no model is configured. NotFound: for an unknown space. "
    "Conflict: if the daily spend cap is reached.",
    details="It follows the rules of the space. Claims are checked as ever, whatever the prompt says.",
)  # fmt: skip
APPLY_RELEARNING: Verb[RelearningRequest, Relearning] = Verb(
    "space.apply_relearning", RelearningRequest, Relearning, f"POST {_RELEARNINGS}/{{relearning_id}}/apply", STEER,
    Retry.IDEMPOTENT,
    "Apply a proposed relearning as one change.",
    also_reads=True,
    raises="Stale: if a fact that it would change was changed since.",
)  # fmt: skip
UNDO_RELEARNING: Verb[RelearningRequest, Relearning] = Verb(
    "space.undo_relearning", RelearningRequest, Relearning, f"POST {_RELEARNINGS}/{{relearning_id}}/undo", STEER,
    Retry.IDEMPOTENT,
    "Undo an applied relearning: the facts are as they were before it.",
    also_reads=True,
    raises="Stale: if a fact that it brought was changed since.",
)  # fmt: skip

VERBS = served_by("bethink.features.relearning.service", RELEARN, APPLY_RELEARNING, UNDO_RELEARNING)
