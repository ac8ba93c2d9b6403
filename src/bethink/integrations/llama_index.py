"""LlamaIndex: a memory block that recalls from a space and stores the conversation in it.

block = BethinkMemoryBlock(space=memory.space("mira"))
chat = Memory.from_defaults(session_id="chat-42", memory_blocks=[block], insert_method="user")
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock
from llama_index.core.memory import BaseMemoryBlock

from bethink import Message, Space
from bethink.errors import ConflictError
from bethink.integrations.turns import Turns
from bethink.types import Role

_PAGE = 500
_ROLES = {
    MessageRole.USER: Role.USER,
    MessageRole.ASSISTANT: Role.ASSISTANT,
    MessageRole.CHATBOT: Role.ASSISTANT,
    MessageRole.MODEL: Role.ASSISTANT,
    MessageRole.TOOL: Role.TOOL,
    MessageRole.FUNCTION: Role.TOOL,
}
"""Roles that are stored. Instructions of the application are not part of the conversation."""


class BethinkMemoryBlock(BaseMemoryBlock[str]):
    """Recalls memory for the last user message, and stores the conversation.

    LlamaIndex passes messages to a block only when they leave its short-term memory, which may be never. So the block
    stores new messages at each request: the user message at once, and the answer with the next turn. To store the
    last answer, call `await block.aput(await chat.aget_all(), session_id=chat.session_id)` at the end.
    """

    name: str = "bethink"
    space: Space
    """The space of the end user."""
    conversation: str | None = None
    """The name of the conversation (default: the `session_id` of the memory)."""
    agent: str = "assistant"
    """The name of the agent, for spaces that several agents share."""
    tokens: int = 2_000
    """Maximum tokens of memory in a prompt."""

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """Return the memory block for the last user message. The block itself is not stored."""
        recent = messages or []
        if len(recent) > 1 and recent[-1].role == recent[-2].role and _text(recent[-1]) == _text(recent[-2]):
            recent = recent[:-1]  # an agent adds the question to the history and passes it again
        conversation = self._conversation_name(block_kwargs.get("session_id"))
        questions = [_text(message) for message in recent if message.role == MessageRole.USER]
        block = await self._turns(conversation).recall(questions[-1] if questions else "")
        await self._store(conversation, recent)
        return block.text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Store messages that leave the short-term memory, unless they are stored already."""
        session_id = next((message.additional_kwargs.get("session_id") for message in messages), None)
        await self._store(self._conversation_name(session_id), messages)

    def _conversation_name(self, session_id: str | None) -> str:
        return self.conversation or session_id or "llama-index"

    def _turns(self, conversation: str) -> Turns:
        return Turns(self.space, conversation, agent=self.agent, tokens=self.tokens)

    async def _store(self, conversation: str, messages: Sequence[ChatMessage]) -> None:
        turns, converted = self._turns(conversation), list(_messages(conversation, messages))
        for start in range(0, len(converted), _PAGE):
            page = converted[start : start + _PAGE]
            try:
                await turns.store(page)
            except ConflictError:  # a message was erased: store the others
                for message in page:
                    with suppress(ConflictError):
                        await turns.store([message])


def _messages(conversation: str, messages: Sequence[ChatMessage]) -> Iterator[Message]:
    """Yield messages with idempotency keys. LlamaIndex messages have no ID, so the key is text plus occurrence."""
    times: Counter[str] = Counter()
    tools: dict[str, str] = {}
    for message in messages:
        role, text = _ROLES.get(message.role), _text(message)
        called = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
        tools |= {block.tool_call_id: block.tool_name for block in called if block.tool_call_id}
        if role is None or not (text or called):
            continue
        words = repr((str(role), text, called))
        times[words] += 1
        key = blake2b(repr((conversation, words, times[words])).encode("utf-8", "replace"), digest_size=20).hexdigest()
        if role is Role.TOOL:
            call = str(message.additional_kwargs.get("tool_call_id") or "")
            name = str(message.additional_kwargs.get("name") or tools.get(call) or "tool")
            yield Message(role=role, content=text, name=name, tool_call_id=call or None, idempotency_key=key)
        else:
            yield Message(role=role, content=text, tool_calls=[*map(_call, called)], idempotency_key=key)


def _text(message: ChatMessage) -> str:
    return "\n".join(block.text for block in message.blocks if isinstance(block, TextBlock) and block.text)


def _call(block: ToolCallBlock) -> dict[str, object]:
    return {"type": "tool_use", "id": block.tool_call_id, "name": block.tool_name, "input": block.tool_kwargs}
