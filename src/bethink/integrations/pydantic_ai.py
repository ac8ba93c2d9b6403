"""Pydantic AI: a capability that recalls before a run and captures what was said in it.

    agent = Agent(model, capabilities=[BethinkMemory(memory.space("mira"))])

For the notebook of its harness, see `pydantic_ai_harness.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from pydantic_ai import AgentRunResult, ModelMessage, ModelRequest, ModelResponse, RunContext, TextContent, TextPart
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ToolReturnPart, UserPromptPart
from pydantic_ai.models import ModelRequestContext

from bethink import Block, Message, Role, Space
from bethink.integrations.turns import Turns

_RESULT = "final_result"
"""What Pydantic AI calls the tool by which a model gives a structured answer; what that returns says nothing."""


class BethinkMemory(AbstractCapability[Any]):
    """Memory for each run of an agent. Give one to as many agents and runs as you like.

    What is recalled stands before the prompt of the run, in each of its requests, and in no history. When the run has
    succeeded, its prompt, the answers and what tools returned are stored in one transaction. Only the prompt is the
    user's word: what tools and other capabilities add in the role of the user is left out.
    """

    def __init__(
        self,
        space: Space | Callable[[RunContext[Any]], Space],
        *,
        conversation: str | None = None,
        agent: str = "assistant",
        tokens: int = 2_000,
        prompted_by_user: bool = True,
    ) -> None:
        """Use a space.

        Args:
            space: The space of the end user, or a function that finds it, say from `ctx.deps`.
            conversation: The name of the conversation; the run's `conversation_id`, if left out.
            agent: The name of the agent, for spaces that several agents share.
            tokens: How much memory a run may be shown.
            prompted_by_user: False for an agent that other agents call: its prompts are the words of a model.
        """
        self._space = space
        self._conversation = conversation
        self._agent = agent
        self._tokens = tokens
        self._prompted_by_user = prompted_by_user
        self._turns: Turns | None = None
        self._question = ""
        self._block: Block | None = None

    async def for_run(self, ctx: RunContext[Any]) -> "BethinkMemory":
        """Return a copy that knows the conversation of one run."""
        space = self._space if isinstance(self._space, Space) else self._space(ctx)
        named = self._conversation or ctx.conversation_id or "pydantic-ai"
        made = copy(self)
        made._turns = Turns(space, named, agent=self._agent, tokens=self._tokens)  # noqa: SLF001 - it is ours
        return made

    async def before_run(self, ctx: RunContext[Any]) -> None:
        """Note what the user asks: the prompt, or the end of a history that a user interface hands over."""
        self._question = _words(ctx.prompt) if ctx.prompt is not None else _asked_last(ctx.messages)

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Put what memory knows before the prompt of the run: the same bytes in each of its requests."""
        if self._block is None:
            self._block = Block() if self._turns is None else await self._turns.recalled(self._question)
        if not self._block:
            return request_context
        return replace(request_context, messages=_with_block(request_context.messages, self._block.text, ctx))

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Store what was said. A run that is carried out again under the same id is stored once."""
        if self._turns is not None:
            origin = None if self._prompted_by_user else "assistant"
            asked = [Message(role=Role.USER, content=self._question, origin=origin)] if self._question else []
            told = [*asked, *_told(result.new_messages())]
            keys = [f"{ctx.run_id}-{place}" for place in range(len(told))]
            await self._turns.keep([replace(each, idempotency_key=key) for each, key in zip(told, keys, strict=True)])
        return result


def _told(messages: Iterable[ModelMessage]) -> Iterator[Message]:
    for message in messages:
        if isinstance(message, ModelResponse):
            text = "\n".join(part.content for part in message.parts if isinstance(part, TextPart) and part.content)
            calls = [
                {"type": "tool_use", "id": call.tool_call_id, "name": call.tool_name, "input": call.args_as_dict()}
                for call in message.tool_calls
            ]
            if text or calls:
                yield Message(role=Role.ASSISTANT, content=text, tool_calls=calls)
            continue
        for part in message.parts:
            if isinstance(part, ToolReturnPart) and not part.tool_name.startswith(_RESULT):
                yield Message(
                    role=Role.TOOL,
                    content=part.model_response_str(),
                    name=part.tool_name,
                    tool_call_id=part.tool_call_id,
                    is_error=part.outcome in ("failed", "retried"),
                )


def _with_block(messages: Sequence[ModelMessage], block: str, ctx: RunContext[Any]) -> list[ModelMessage]:
    """Return messages with a block before the prompt of the run: the first after what earlier runs answered."""
    answered = [isinstance(each, ModelResponse) and each.run_id != ctx.run_id for each in messages]
    start = len(messages) - answered[::-1].index(True) if True in answered else 0
    for place, message in enumerate(messages[start:], start):
        for at, part in enumerate(message.parts):
            if isinstance(message, ModelRequest) and isinstance(part, UserPromptPart) and _words(part.content):
                parts = [*message.parts[:at], UserPromptPart(block, timestamp=part.timestamp), *message.parts[at:]]
                return [*messages[:place], replace(message, parts=parts), *messages[place + 1 :]]
    return list(messages)


def _asked_last(history: Sequence[ModelMessage]) -> str:
    last = history[-1] if history else None
    if not isinstance(last, ModelRequest) or any(isinstance(part, ToolReturnPart) for part in last.parts):
        return ""
    return "\n".join(filter(None, (_words(part.content) for part in last.parts if isinstance(part, UserPromptPart))))


def _words(content: str | Sequence[Any] | None) -> str:
    """Return what a person typed. A text that carries metadata was added by a program."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = (_text(each) for each in content)
    return "\n".join(filter(None, texts))


def _text(each: object) -> str:
    if isinstance(each, TextContent) and each.metadata is None:
        return each.content
    return each if isinstance(each, str) else ""
