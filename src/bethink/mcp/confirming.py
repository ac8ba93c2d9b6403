"""Asks the user, through the client, whether a note of the model's is so. A model never sees the question.

Newer clients get the question as the answer to the call, and make the call again with what the user said; older ones
are asked while the call waits. What the question was about travels in a state that the protocol's package seals.
"""

from typing import Annotated, Any, Literal, NamedTuple

from mcp.server.elicitation import render_elicitation_schema
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import is_version_at_least
from pydantic import BaseModel, Field, ValidationError

from bethink.model.framing import inert
from bethink.model.reviews import LONGEST_STATEMENT, Review

Asking = Context[Any, Any]
ASKED_IN_ANSWER = "2026-07-28"
"""The first revision of the protocol in which a call is answered with the question."""
_ASKED = "confirm"


class Confirmation(BaseModel):
    """What the user is shown besides the question."""

    in_your_words: Annotated[
        str | None,
        Field(
            max_length=LONGEST_STATEMENT,
            title="In your own words",
            description="Leave it empty to keep the sentence as it is.",
        ),
    ] = None


class UserAnswer(NamedTuple):
    """What the user said about a claim under review."""

    review_id: str
    action: Literal["accept", "decline", "cancel"]
    words: str | None = None


def can_ask(ctx: Asking) -> bool:
    """Return whether the client has declared that it shows forms to its user, and can be reached."""
    declared = ctx.client_capabilities
    forms = None if declared is None else declared.elicitation
    if forms is None or (forms.form is None and forms.url is not None):
        return False
    return _in_answer(ctx) or ctx.session.can_send_request


def answered(ctx: Asking) -> UserAnswer | None:
    """Return what the user said, if this call is made again with it. Without our own state, an answer is none."""
    if not _in_answer(ctx) or not ctx.request_state:
        return None
    said = (ctx.input_responses or {}).get(_ASKED)
    if not isinstance(said, ElicitResult):
        return UserAnswer(ctx.request_state, "cancel")
    return _read(ctx.request_state, said.action, said.content)


async def ask(ctx: Asking, review: Review) -> UserAnswer | InputRequiredResult:
    """Ask the user, or return what lets the client ask. Whatever is not a clear yes or no counts as not answered."""
    question = question_about(review)
    if _in_answer(ctx):
        form = ElicitRequestFormParams(message=question, requested_schema=render_elicitation_schema(Confirmation))
        return InputRequiredResult(input_requests={_ASKED: ElicitRequest(params=form)}, request_state=review.id)
    try:
        said = await ctx.elicit(question, Confirmation)
    except (MCPError, ValueError):  # the client could not ask, or answered something else
        return UserAnswer(review.id, "cancel")
    return _read(review.id, said.action, said.data.model_dump() if said.action == "accept" else None)


def question_about(review: Review) -> str:
    """Write the question: what a yes means, and last, on a line of its own, what exactly would be remembered."""
    return (
        "The assistant asks to remember the following as your own word "
        f"({review.claim.fact.kind}). Accept it if it is true; if you decline, it stays the assistant's note."
        f"\n\n{shown(review)}"
    )


def shown(review: Review) -> str:
    """Return a claim as the user sees it: one line, without anything that could hide or pass for the question."""
    return inert(review.claim.fact.content, limit=LONGEST_STATEMENT)


def _read(review_id: str, action: str, content: Any) -> UserAnswer:
    if action == "decline":
        return UserAnswer(review_id, "decline")
    try:
        given = Confirmation.model_validate(content) if action == "accept" else None
    except ValidationError:
        given = None
    if given is None:
        return UserAnswer(review_id, "cancel")
    return UserAnswer(review_id, "accept", (given.in_your_words or "").strip() or None)


def _in_answer(ctx: Asking) -> bool:
    spoken = ctx.protocol_version
    return spoken is not None and is_version_at_least(spoken, ASKED_IN_ANSWER)
