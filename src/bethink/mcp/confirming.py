"""Asks the user, through the client, to confirm a model's note. The model never sees the question.

Newer clients receive the question as the result of the call and repeat the call with the user's answer. Older ones are
asked while the call waits. The id of the review travels in a state that the MCP package seals.
"""

from typing import Annotated, Any, Literal, NamedTuple

from mcp.server.elicitation import render_elicitation_schema
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import is_version_at_least
from pydantic import BaseModel, Field, ValidationError

from bethink.model.framing import inert
from bethink.model.reviews import MAX_STATEMENT_LENGTH, Review

ToolContext = Context[Any, Any]
INPUT_REQUIRED_VERSION = "2026-07-28"
"""First version of the protocol in which a call can return a question."""
_REQUEST_NAME = "confirm"


class Confirmation(BaseModel):
    """Form that the user sees below the question."""

    in_your_words: Annotated[
        str | None,
        Field(
            max_length=MAX_STATEMENT_LENGTH,
            title="In your own words",
            description="Leave empty to keep the sentence.",
        ),
    ] = None


class UserAnswer(NamedTuple):
    """The user's answer about a claim under review."""

    review_id: str
    action: Literal["accept", "decline", "cancel"]
    words: str | None = None


def can_ask(ctx: ToolContext) -> bool:
    """Return whether the client can show forms to its user."""
    declared = ctx.client_capabilities
    forms = None if declared is None else declared.elicitation
    if forms is None or (forms.form is None and forms.url is not None):
        return False
    return _supports_input_required(ctx) or ctx.session.can_send_request


def get_answer(ctx: ToolContext) -> UserAnswer | None:
    """Return the user's answer if this call contains one. An answer without our own state is ignored."""
    if not _supports_input_required(ctx) or not ctx.request_state:
        return None
    response = (ctx.input_responses or {}).get(_REQUEST_NAME)
    if not isinstance(response, ElicitResult):
        return UserAnswer(ctx.request_state, "cancel")
    return _parse_answer(ctx.request_state, response.action, response.content)


async def ask(ctx: ToolContext, review: Review) -> UserAnswer | InputRequiredResult:
    """Ask the user, or return a question for the client to ask. Anything but a clear yes or no counts as canceled."""
    question = question_about(review)
    if _supports_input_required(ctx):
        form = ElicitRequestFormParams(message=question, requested_schema=render_elicitation_schema(Confirmation))
        return InputRequiredResult(input_requests={_REQUEST_NAME: ElicitRequest(params=form)}, request_state=review.id)
    try:
        response = await ctx.elicit(question, Confirmation)
    except (MCPError, ValueError):  # the client could not ask, or sent an invalid answer
        return UserAnswer(review.id, "cancel")
    return _parse_answer(
        review.id, response.action, response.data.model_dump() if response.action == "accept" else None
    )


def question_about(review: Review) -> str:
    """Return the question: the effect of accepting, and on the last line, the exact text to remember."""
    return (
        "The assistant asks to remember the following as your own statement "
        f"({review.claim.fact.kind}). Accept it if it is true. If you decline, it remains the assistant's note."
        f"\n\n{display_text(review)}"
    )


def display_text(review: Review) -> str:
    """Return a claim as one line for display, without text that could hide or imitate the question."""
    return inert(review.claim.fact.text, limit=MAX_STATEMENT_LENGTH)


def _parse_answer(review_id: str, action: str, content: Any) -> UserAnswer:
    if action == "decline":
        return UserAnswer(review_id, "decline")
    try:
        confirmation = Confirmation.model_validate(content) if action == "accept" else None
    except ValidationError:
        confirmation = None
    if confirmation is None:
        return UserAnswer(review_id, "cancel")
    return UserAnswer(review_id, "accept", (confirmation.in_your_words or "").strip() or None)


def _supports_input_required(ctx: ToolContext) -> bool:
    version = ctx.protocol_version
    return version is not None and is_version_at_least(version, INPUT_REQUIRED_VERSION)
