"""The history of an agent's conversations, across all their sessions."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from bethink.extend import Redactor
from bethink.memory.log import messages as log
from bethink.memory.log.listeners import Listeners
from bethink.memory.log.names import conversation_in, redacted_conversation
from bethink.memory.log.remember import store
from bethink.model.framing import text_cleaner
from bethink.model.records import AgentKind, Message, Record, message_from
from bethink.store import messages, sessions
from bethink.store.db import NO_LIMIT, Database, Tx

T = TypeVar("T")


class History:
    """The messages in the conversations of one agent. Safe to share between tasks."""

    def __init__(
        self,
        database: Database,
        *,
        space: str,
        agent: str,
        kind: AgentKind,
        redactor: Redactor,
        listeners: Listeners | None = None,
    ) -> None:
        self.space = space
        self.agent = agent
        self.kind = kind
        self._database = database
        self._redactor = redactor
        # Without listeners, thread events wait for the next event, and sessions are not learned from automatically.
        self._listeners = listeners

    async def append(self, key: str, message: Message | Mapping[str, object]) -> int:
        """Append a message to the active session of a conversation, opening one if needed, and return its number."""

        draft, name = message_from(message), redacted_conversation(key, self._redactor)
        async with self._database.lanes.turn(self.space, log.size_of([draft])) as turn:
            rows = await turn.run(partial(log.prepare, [draft], self._redactor))

            def body(tx: Tx) -> log.Appended:
                stored = self._name(tx, key, name)
                return store(tx, space=self.space, agent=self.agent, kind=self.kind, key=stored, rows=rows).appended

            appended = await log.append_once(self._database, body, space=self.space)
        if self._listeners is not None:
            await self._listeners.notify_stored(
                self.space, appended.sources[0].session_id, thread_id=appended.thread_id
            )
        return appended.numbers[0]

    async def recent(self, key: str, n: int) -> list[Record]:
        """Return the newest `n` messages in the order they were said; empty if `n` is zero or less."""
        return await self._query(
            key,
            lambda tx, conversation: messages.last_of(tx, space=self.space, conversation=conversation, limit=n),
            empty=[],
        )

    async def all(self, key: str) -> list[Record]:
        """Return every message of a conversation in the order they were said."""
        return await self.recent(key, NO_LIMIT)

    async def length(self, key: str) -> int:
        """Count the messages of a conversation."""
        return await self._query(
            key, lambda tx, conversation: messages.count_of(tx, space=self.space, conversation=conversation), empty=0
        )

    async def set_summary(self, key: str, summary: str) -> None:
        """Store the summary of a conversation, replacing the previous one."""
        cut, name = text_cleaner(self._redactor.redact), redacted_conversation(key, self._redactor)
        content = await self._database.lanes.run(self.space, len(summary), lambda: cut(summary))

        def body(tx: Tx) -> None:
            stored = self._name(tx, key, name)
            agent = sessions.ensure_agent(tx, space=self.space, name=self.agent, kind=self.kind)
            conversation = sessions.ensure_conversation(tx, agent=agent, key=stored)
            sessions.set_summary(tx, space=self.space, conversation=conversation, content=content)

        await self._database.transact(body, space=self.space, repeatable=True)

    async def get_summary(self, key: str) -> str:
        """Return the summary of a conversation, empty if it has none."""
        return await self._query(
            key,
            lambda tx, conversation: sessions.get_summary(tx, space=self.space, conversation=conversation),
            empty="",
        )

    async def _query(self, key: str, query: Callable[[Tx, str], T], *, empty: T) -> T:
        name = redacted_conversation(key, self._redactor)

        def body(tx: Tx) -> T:
            conversation = sessions.find_conversation(
                tx, space=self.space, agent=self.agent, key=self._name(tx, key, name)
            )
            return empty if conversation is None else query(tx, conversation)

        return await self._database.transact(body, space=self.space, read_only=True)

    def _name(self, tx: Tx, key: str, name: str) -> str:
        return conversation_in(tx, space=self.space, agent=self.agent, key=key, name=name)
