"""One database file per agent, opened on first use."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypedDict

import anyio

from bethink.api.connect import Memory
from bethink.api.facts import Facts
from bethink.base.logs import logger
from bethink.config.settings import Settings
from bethink.errors import DatabaseError, InvalidRequestError
from bethink.extend import Redactor
from bethink.host.build import redactor_from
from bethink.host.databases import sqlite_file
from bethink.memory.log.history import History
from bethink.memory.log.live import LiveHistory
from bethink.model.records import AgentKind, Message
from bethink.store.db import Database

DEFAULT_SPACE = "default"

_MAX_CACHED = 10_000
_log = logger("memory")

Services = TypedDict("Services", {"memory.history": History, "memory.store": Facts})


def services(memory: Memory, *, space: str, agent: str = "assistant") -> Services:
    """Return the two tiers of a memory, under the names a host registers them by."""
    return {
        "memory.history": memory.backend.local().history(space, agent=agent),
        "memory.store": memory.space(space).facts,
    }


async def open_history_store(
    path: str | Path, *, agent: str = "assistant", settings: Settings | None = None
) -> tuple[History, Database]:
    """Open one file as the history of one agent, with the default settings if none are given.

    Close the database when done.
    """
    used = settings or Settings()
    database = sqlite_file(str(path), used)
    await database.open()
    return _history(database, agent, redactor_from(used, database)), database


def _history(database: Database, agent: str, redactor: Redactor) -> History:
    return History(database, space=DEFAULT_SPACE, agent=agent, kind=AgentKind.PRIMARY, redactor=redactor)


class AgentStores:
    """Database files of agents, each opened once, on first use."""

    def __init__(self, settings: Settings, *, redactor: Redactor | None = None) -> None:
        self._settings = settings
        self._redactor = redactor
        self._opened: dict[str, tuple[History, Database]] = {}
        self._recent: dict[tuple[str, str], list[Message]] = {}
        self._without_memory: set[tuple[str, str]] = set()
        self._turns: dict[tuple[str, str], anyio.Lock] = {}
        self._guard = anyio.Lock()

    def path_of(self, agent: str) -> Path | None:
        """Return the path of an agent's file, or None if it has no memory."""
        if not agent or agent in (".", "..") or set(agent) & set("/\\\0"):
            raise InvalidRequestError(
                f"{agent!r} cannot be used as an agent's folder name.", hint="Use a name without slashes."
            )
        own = self._settings.agent(agent)
        if not (self._settings.enabled and own.enabled):
            return None
        if own.data_dir:
            return Path(own.data_dir) / "memory.db"
        if not self._settings.data_dir:
            return None
        return Path(self._settings.data_dir) / "agents" / agent / "memory.db"

    async def resolve_history(self, agent: str) -> History | None:
        """Return the history of an agent, or None if its memory is switched off or has no path.

        A file that failed to open is tried again next time.
        """
        if agent in self._opened:
            return self._opened[agent][0]
        path = self.path_of(agent)
        if path is None:
            return None
        async with self._guard:
            if agent not in self._opened:
                database = sqlite_file(str(path), self._settings)
                await database.open()
                self._opened[agent] = (_history(database, agent, self._redactor_of(database)), database)
        return self._opened[agent][0]

    def _redactor_of(self, database: Database) -> Redactor:
        return self._redactor or redactor_from(self._settings, database)

    async def turn(
        self,
        agent: str,
        key: str,
        text: str,
        *,
        think: Callable[[list[Message]], Awaitable[str]],
        send: Callable[[str], Awaitable[None]],
    ) -> str:
        """Run one turn of an agent: store the message, get the answer, send it, and store it.

        The conversation is restored when this process first sees it. An answer that could not be sent is not stored.
        """
        conversation = (agent, key)
        async with self._turns.setdefault(conversation, anyio.Lock()):
            history = await self._history_or_none(agent)
            recent = self._recent.pop(conversation, None)
            if history is not None and conversation in self._without_memory:
                recent = None  # these messages were collected while its memory was unavailable
            self._without_memory.discard(conversation)
            limit = self._settings.max_history_len
            async with LiveHistory(history, key, max_history_len=limit, initial_messages=recent) as live:
                restored = live.failures == 0
                try:
                    await live.append(Message(role="user", content=text))
                    answer = await think(live.messages)
                    await send(answer)
                    await live.append(Message(role="assistant", content=answer))
                finally:
                    if restored:
                        self._cache_messages(conversation, live.messages)
                    if history is None and self.path_of(agent) is not None:
                        self._without_memory.add(conversation)
            return answer

    async def _history_or_none(self, agent: str) -> History | None:
        try:
            return await self.resolve_history(agent)
        except DatabaseError as error:
            _log.error("Agent %s continues without its memory: %s", agent, type(error).__name__)
            return None

    def _cache_messages(self, conversation: tuple[str, str], messages: list[Message]) -> None:
        self._recent[conversation] = messages
        while len(self._recent) > _MAX_CACHED:  # drop the least recently used; it is restored when needed
            oldest = next(iter(self._recent))
            del self._recent[oldest]
            self._turns.pop(oldest, None)

    async def close(self) -> None:
        """Close every file that was opened."""
        opened, self._opened = self._opened, {}
        self._recent.clear()
        async with AsyncExitStack() as stack:
            for _, database in opened.values():
                stack.push_async_callback(database.close)
