"""The OpenAI Agents SDK: a `Session` that is stored in a space, with recall for each turn.

    session = BethinkSession("chat-42", memory.space("mira"))
    await Runner.run(agent, "Hi", session=session, run_config=RunConfig(session_input_callback=session.recall_first))

It imports nothing from the SDK, where any object with these methods is a session.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from anyio import CancelScope

from bethink import Message, Space
from bethink.integrations.turns import Turns
from bethink.types import Record, Role

_ITEM, _PLAIN = "openai_agents", {"role", "content"}
_PAGE = 1_000
_TEXTS = ("text", "input_text", "output_text")
_COMPACTED = ("compaction", "compaction_summary")


class BethinkSession:
    """A conversation of one agent in a space. Tasks can share it, and the same ID opens it again.

    Items are returned unchanged, except that secrets are removed before storage. Popped and cleared items stay in the
    log: `space.forget(conversation=…)` erases it.
    """

    def __init__(
        self,
        session_id: str,
        space: Space,
        *,
        agent: str = "assistant",
        session_settings: Any = None,
        tokens: int = 2_000,
    ) -> None:
        """Name a conversation. The first message creates it.

        Args:
            session_id: The name of the conversation.
            space: The space of the end user.
            agent: The name of the agent, for spaces that several agents share.
            session_settings: The `SessionSettings` of the SDK: the number of items that a run reads.
            tokens: Maximum tokens that `recall_first` adds to a turn (default 2,000).
        """
        self.session_id = session_id
        self.session_settings = session_settings
        self._turns = Turns(space, session_id, agent=agent, tokens=tokens)
        self._shown: set[str] = set()

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the items since the conversation was last cleared, or the last of them, in order."""
        count = limit if limit is not None else getattr(self.session_settings, "limit", None)
        session = await self._turns.active()
        if session is None or (count is not None and count < 1):
            return []
        if count is not None and count <= _PAGE:
            return [_item(record) for record in await session.messages(last=count)]
        records: list[Record] = []
        while page := await session.messages(after=records[-1].number if records else 0, limit=_PAGE):
            records += page
        return [_item(record) for record in records][-(count or 0) :]

    async def add_items(self, items: Sequence[Any]) -> None:
        """Store items in one transaction."""
        # A compacted history repeats messages in the log: it is stored for the model, but not learned from again.
        repeats = any(_kind(item) in _COMPACTED for item in items)
        messages = [_message(item, repeats=repeats) for item in items if _text(item) not in self._shown]
        await self._turns.store(messages)

    async def pop_item(self) -> Any:
        """Remove and return the last item, or return None."""
        with CancelScope(shield=True):
            session = await self._turns.active()
            while session is not None and (last := await session.messages(last=1)):
                if await session.retract(last[0].number):  # else another task removed it
                    return _item(last[0])
        return None

    async def clear_session(self) -> None:
        """Restart the conversation. Bethink learns from the earlier items, which stay in the log."""
        with CancelScope(shield=True):
            session = await self._turns.active()
            if session is not None:
                await session.restart()

    async def recall_first(self, history: list[Any], new: list[Any]) -> list[Any]:
        """Add the memory block before the new items of a turn. Use it as a `session_input_callback`.

        The block is not stored, so that memory does not learn from itself.
        """
        question = "\n".join(text for item in new if _role(item) == "user" and (text := _text(item)))
        block = await self._turns.recall(question)
        if block:
            self._shown.add(block.text)
        return [*history, *block.to_openai(), *new]


def _message(item: Any, *, repeats: bool) -> Message:
    fields, role, text = _fields(item), _role(item), _text(item)
    # An item is plain if its role is stored as it is; the role `developer` is stored as `system`.
    plain = set(fields) == _PLAIN and isinstance(fields["content"], str) and fields["role"] == role
    about: dict[str, object] = {} if plain else {_ITEM: item}
    if repeats:
        return Message(role=role, content=text, origin="memory", metadata=about)
    if role is Role.TOOL:
        name, call = str(fields.get("name") or "tool"), fields.get("call_id")
        return Message(role=role, content=text, name=name, tool_call_id=call and str(call), metadata=about)
    return Message(role=role, content=text, metadata=about)


def _item(record: Record) -> Any:
    message = record.message
    return message.metadata.get(_ITEM, {"role": str(message.role), "content": message.content})


def _fields(item: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", item) if isinstance(item, Mapping) else {}


def _kind(item: Any) -> str:
    return str(_fields(item).get("type", ""))


def _role(item: Any) -> Role:
    """Return the role of an item. Only items with the role `user` are the user's."""
    role = _fields(item).get("role")
    if role in ("user", "assistant"):
        return Role(role)
    if role in ("system", "developer"):
        return Role.SYSTEM
    return Role.TOOL if _kind(item).endswith("_output") else Role.ASSISTANT


def _text(item: Any) -> str:
    """Return the text of an item; empty for reasoning, images and calls."""
    fields = _fields(item)
    content: Any = fields.get("content", fields.get("output", ""))
    if isinstance(content, str):
        return content
    parts = map(_fields, cast("list[Any]", content)) if isinstance(content, list) else ()
    return "\n".join(str(part["text"]) for part in parts if part.get("type") in _TEXTS and part.get("text"))
