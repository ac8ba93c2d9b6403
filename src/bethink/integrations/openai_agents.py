"""The OpenAI Agents SDK: a `Session` that is kept in a space, and recall for each turn.

    session = BethinkSession("chat-42", memory.space("mira"))
    await Runner.run(agent, "Hi", session=session, run_config=RunConfig(session_input_callback=session.recall_first))

It imports nothing of the SDK: a session there is whatever has these methods.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from anyio import CancelScope

from bethink import Message, Record, Role, Space
from bethink.integrations.turns import Turns

_ITEM, _PLAIN = "openai_agents", {"role", "content"}
_PAGE = 1_000
_TEXTS = ("text", "input_text", "output_text")
_COMPACTED = ("compaction", "compaction_summary")


class BethinkSession:
    """A conversation of one agent in a space. Safe to share between tasks, and to open again by the same id.

    Items come back as they were given, but for secrets, which are cut out before they are stored. What is popped or
    cleared stays in the log: `space.forget(conversation=…)` erases it.
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
        """Name a conversation. Nothing is created before something is said.

        Args:
            session_id: The name of the conversation.
            space: The space of the end user.
            agent: The name of the agent, for spaces that several agents share.
            session_settings: The `SessionSettings` of the SDK: how many items a run reads.
            tokens: How much memory `recall_first` may add to a turn.
        """
        self.session_id = session_id
        self.session_settings = session_settings
        self._turns = Turns(space, session_id, agent=agent, tokens=tokens)
        self._shown: set[str] = set()

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the items since the conversation was last cleared, or the last of them, in order."""
        wanted = limit if limit is not None else getattr(self.session_settings, "limit", None)
        session = await self._turns.active()
        if session is None or (wanted is not None and wanted < 1):
            return []
        if wanted is not None and wanted <= _PAGE:
            return [_item(record) for record in await session.read(last=wanted)]
        found: list[Record] = []
        while page := await session.read(after=found[-1].number if found else 0, limit=_PAGE):
            found += page
        return [_item(record) for record in found][-(wanted or 0) :]

    async def add_items(self, items: Sequence[Any]) -> None:
        """Store items in one transaction."""
        # A compacted history repeats what the log has already: it is kept for the model, and not learnt from again.
        repeats = any(_kind(item) in _COMPACTED for item in items)
        told = [_message(item, repeats=repeats) for item in items if _text(item) not in self._shown]
        await self._turns.keep(told)

    async def pop_item(self) -> Any:
        """Take the last item back, and return it; None if there is none."""
        with CancelScope(shield=True):
            session = await self._turns.active()
            while session is not None and (last := await session.read(last=1)):
                if await session.retract(last[0].number):  # else another task took it
                    return _item(last[0])
        return None

    async def clear_session(self) -> None:
        """Begin the conversation anew. What was said so far is learnt from, and stays in the log."""
        with CancelScope(shield=True):
            session = await self._turns.active()
            if session is not None:
                await session.reset()

    async def recall_first(self, history: list[Any], new: list[Any]) -> list[Any]:
        """Put what memory knows before the new items of a turn: a `session_input_callback`.

        It is shown to the model and not stored, so that memory does not learn from itself.
        """
        question = "\n".join(text for item in new if _role(item) == "user" and (text := _text(item)))
        block = await self._turns.recalled(question)
        if block:
            self._shown.add(block.text)
        return [*history, *block.to_openai(), *new]


def _message(item: Any, *, repeats: bool) -> Message:
    fields, role, text = _fields(item), _role(item), _text(item)
    # What a record holds apart from it is the role as it was given: a developer's is stored as the system's.
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
    """Return who said an item: only what has the role of the user is the user's."""
    named = _fields(item).get("role")
    if named in ("user", "assistant"):
        return Role(named)
    if named in ("system", "developer"):
        return Role.SYSTEM
    return Role.TOOL if _kind(item).endswith("_output") else Role.ASSISTANT


def _text(item: Any) -> str:
    """Return what an item says in words; nothing for reasoning, images and calls."""
    fields = _fields(item)
    content: Any = fields.get("content", fields.get("output", ""))
    if isinstance(content, str):
        return content
    parts = map(_fields, cast("list[Any]", content)) if isinstance(content, list) else ()
    return "\n".join(str(part["text"]) for part in parts if part.get("type") in _TEXTS and part.get("text"))
