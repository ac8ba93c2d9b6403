"""The verbs by which a person steers memory: look before learning, pin facts, and say what they are worth."""

from dataclasses import dataclass

from bethink.model.access import Scope
from bethink.model.messages import Messages
from bethink.model.preview import Preview
from bethink.model.steering import LearningRules
from bethink.model.verbs.base import Conversation, Name, Request, Retry, Verb

READ, WRITE = Scope.READ, Scope.WRITE


@dataclass(frozen=True, slots=True, kw_only=True)
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


_SPACE = "/spaces/{space}"

PREVIEW: Verb[PreviewRequest, Preview] = Verb(
    "space.preview", PreviewRequest, Preview, f"POST {_SPACE}/preview", WRITE, Retry.ONCE,
    "Learn from messages without storing anything, and return what would stand, be held or be refused.",
    also_reads=True, timed=False,
    raises="Unavailable: if there is no model to learn with, or the daily spend cap is reached.",
    details="Only its cost is counted for the day. The model is told what the space knows, as when it learns.",
)  # fmt: skip

VERBS = (PREVIEW,)
