"""Pydantic AI: a capability that recalls memory before a run and stores its messages.

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

from bethink import ContextBlock, Message, Space
from bethink.integrations.turns import Turns
from bethink.types import Role

_RESULT = "final_result"
"""Pydantic AI's name of the tool for structured answers. Its results are not stored."""


class BethinkMemory(AbstractCapability[Any]):
    """Memory for each run of an agent. Several agents and runs can share one capability.

    Recalled memory is added before the prompt in each request of the run, and never to the history. When the run has
    succeeded, its prompt, answers and tool results are stored in one transaction. Only the prompt counts as the user's
    statements; messages that tools and other capabilities add in the role of the user are omitted.
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
            space: The space of the end user, or a function that returns it, for example from `ctx.deps`.
            conversation: The name of the conversation (default: the run's `conversation_id`).
            agent: The name of the agent, for spaces that several agents share.
            tokens: Maximum tokens of memory per run (default 2,000).
            prompted_by_user: False for an agent that other agents call: its prompts then count as a model's statements.
        """
        self._space = space
        self._conversation = conversation
        self._agent = agent
        self._tokens = tokens
        self._prompted_by_user = prompted_by_user
        self._turns: Turns | None = None
        self._question = ""
        self._block: ContextBlock | None = None

    async def for_run(self, ctx: RunContext[Any]) -> "BethinkMemory":
        """Return a copy for the conversation of one run."""
        space = self._space if isinstance(self._space, Space) else self._space(ctx)
        conversation = self._conversation or ctx.conversation_id or "pydantic-ai"
        run_copy = copy(self)
        run_copy._turns = Turns(space, conversation, agent=self._agent, tokens=self._tokens)  # noqa: SLF001 - it is ours
        return run_copy

    async def before_run(self, ctx: RunContext[Any]) -> None:
        """Note the question: the prompt, or the end of a history that a user interface passes."""
        self._question = _words(ctx.prompt) if ctx.prompt is not None else _last_question(ctx.messages)

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Add the memory block before the prompt of the run, identical in each of its requests."""
        if self._block is None:
            self._block = ContextBlock() if self._turns is None else await self._turns.recall(self._question)
        if not self._block:
            return request_context
        return replace(request_context, messages=_with_block(request_context.messages, self._block.text, ctx))

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Store the messages of the run. A run that is repeated under the same ID is stored once."""
        if self._turns is not None:
            origin = None if self._prompted_by_user else "assistant"
            prompt = [Message(role=Role.USER, content=self._question, origin=origin)] if self._question else []
            messages = [*prompt, *_convert_messages(result.new_messages())]
            keys = [f"{ctx.run_id}-{index}" for index in range(len(messages))]
            await self._turns.store(
                [replace(message, idempotency_key=key) for message, key in zip(messages, keys, strict=True)]
            )
        return result


def _convert_messages(messages: Iterable[ModelMessage]) -> Iterator[Message]:
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
    """Return messages with a block before the prompt of the run: the first after the answers of earlier runs."""
    answered = [isinstance(entry, ModelResponse) and entry.run_id != ctx.run_id for entry in messages]
    start = len(messages) - answered[::-1].index(True) if True in answered else 0
    for index, message in enumerate(messages[start:], start):
        for at, part in enumerate(message.parts):
            if isinstance(message, ModelRequest) and isinstance(part, UserPromptPart) and _words(part.content):
                parts = [*message.parts[:at], UserPromptPart(block, timestamp=part.timestamp), *message.parts[at:]]
                return [*messages[:index], replace(message, parts=parts), *messages[index + 1 :]]
    return list(messages)


def _last_question(history: Sequence[ModelMessage]) -> str:
    last = history[-1] if history else None
    if not isinstance(last, ModelRequest) or any(isinstance(part, ToolReturnPart) for part in last.parts):
        return ""
    return "\n".join(filter(None, (_words(part.content) for part in last.parts if isinstance(part, UserPromptPart))))


def _words(content: str | Sequence[Any] | None) -> str:
    """Return the text that a person typed. A program adds metadata to its text."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = (_text(part) for part in content)
    return "\n".join(filter(None, texts))


def _text(part: object) -> str:
    if isinstance(part, TextContent) and part.metadata is None:
        return part.content
    return part if isinstance(part, str) else ""
