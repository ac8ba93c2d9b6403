"""LlamaIndex: a memory block that recalls from a space, and keeps in it what was said.

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

from bethink import Message, Role, Space
from bethink.errors import Conflict
from bethink.integrations.turns import Turns

_PAGE = 500
_ROLES = {
    MessageRole.USER: Role.USER,
    MessageRole.ASSISTANT: Role.ASSISTANT,
    MessageRole.CHATBOT: Role.ASSISTANT,
    MessageRole.MODEL: Role.ASSISTANT,
    MessageRole.TOOL: Role.TOOL,
    MessageRole.FUNCTION: Role.TOOL,
}
"""Whose words are kept: instructions of the application are not part of what was said."""


class BethinkMemoryBlock(BaseMemoryBlock[str]):
    """What memory knows about the last thing that the user said, and the place where a conversation is kept.

    LlamaIndex tells a block of messages when they leave its short-term memory, which may be never. So the block keeps
    what it sees each time that it is asked, once: what the user says at once, and the answer with the next turn. To
    keep the last answer, call `await block.aput(await chat.aget_all(), session_id=chat.session_id)` at the end.
    """

    name: str = "bethink"
    space: Space
    """The space of the end user."""
    conversation: str | None = None
    """The name of the conversation; the `session_id` of the memory, if left out."""
    agent: str = "assistant"
    """The name of the agent, for spaces that several agents share."""
    tokens: int = 2_000
    """How much memory a prompt may be given."""

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """Return what memory knows about the last thing that the user said. It is shown, and not stored."""
        given = messages or []
        if len(given) > 1 and given[-1].role == given[-2].role and _text(given[-1]) == _text(given[-2]):
            given = given[:-1]  # an agent puts the question into the history, and names it once more
        named = self._named(block_kwargs.get("session_id"))
        asked = [_text(each) for each in given if each.role == MessageRole.USER]
        block = await self._turns(named).recalled(asked[-1] if asked else "")
        await self._keep(named, given)
        return block.text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Keep messages that leave the short-term memory, unless they are kept already."""
        named = next((each.additional_kwargs.get("session_id") for each in messages), None)
        await self._keep(self._named(named), messages)

    def _named(self, session_id: str | None) -> str:
        return self.conversation or session_id or "llama-index"

    def _turns(self, named: str) -> Turns:
        return Turns(self.space, named, agent=self.agent, tokens=self.tokens)

    async def _keep(self, named: str, messages: Sequence[ChatMessage]) -> None:
        turns, told = self._turns(named), list(_messages(named, messages))
        for start in range(0, len(told), _PAGE):
            page = told[start : start + _PAGE]
            try:
                await turns.keep(page)
            except Conflict:  # one of them was erased: the others are kept
                for each in page:
                    with suppress(Conflict):
                        await turns.keep([each])


def _messages(named: str, messages: Sequence[ChatMessage]) -> Iterator[Message]:
    """Yield what was said. A message of LlamaIndex has no id: it is known by its words, and which time they stand."""
    times: Counter[str] = Counter()
    tools: dict[str, str] = {}
    for each in messages:
        role, text = _ROLES.get(each.role), _text(each)
        called = [block for block in each.blocks if isinstance(block, ToolCallBlock)]
        tools |= {block.tool_call_id: block.tool_name for block in called if block.tool_call_id}
        if role is None or not (text or called):
            continue
        words = repr((str(role), text, called))
        times[words] += 1
        key = blake2b(repr((named, words, times[words])).encode("utf-8", "replace"), digest_size=20).hexdigest()
        if role is Role.TOOL:
            call = str(each.additional_kwargs.get("tool_call_id") or "")
            name = str(each.additional_kwargs.get("name") or tools.get(call) or "tool")
            yield Message(role=role, content=text, name=name, tool_call_id=call or None, idempotency_key=key)
        else:
            yield Message(role=role, content=text, tool_calls=[*map(_call, called)], idempotency_key=key)


def _text(message: ChatMessage) -> str:
    return "\n".join(block.text for block in message.blocks if isinstance(block, TextBlock) and block.text)


def _call(block: ToolCallBlock) -> dict[str, object]:
    return {"type": "tool_use", "id": block.tool_call_id, "name": block.tool_name, "input": block.tool_kwargs}
