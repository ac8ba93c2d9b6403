"""Google's Agent Development Kit: a memory service with its own URI scheme.

    runner = Runner(agent=agent, memory_service=BethinkMemoryService(memory), …)

    adk web --memory_service_uri=bethink:memory.db agents      # after register() in agents/services.py

Each user of each app has a space.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, cast
from uuid import uuid4

import anyio
from google.adk.cli.service_registry import get_service_registry
from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai.types import Content, Part

import bethink
from bethink import Fact, Match, Memory, Message, Ref, Space
from bethink.errors import ConflictError, InvalidRequestError
from bethink.types import Origin, Role

_SCHEME = "bethink"
_NO_SESSION = "events"
_SEARCH_TOOL = "load_memory"
"""The ADK tool that searches memory. Its results are already stored and are not stored again."""
_OWN = "adk:"
_PAGE = 500
_MAX_NAME = 200


def space_name(app_name: str, user_id: str) -> str:
    """Return the name of the space of one user of one app: `app/user`."""
    return _safe_name(f"{_escape(app_name)}/{_escape(user_id)}")


class BethinkMemoryService(BaseMemoryService):
    """Memory of sessions. An event that is added twice is stored once.

    Only text that the user typed counts as the user's statements, unlike agent messages, tool results and entries of
    `add_memory`. Deleted events stay deleted when their session is added again.
    """

    def __init__(
        self,
        memory: Memory | None = None,
        *,
        uri: str = f"{_SCHEME}:",
        space: Callable[[str, str], str] = space_name,
        limit: int = 10,
        **_: Any,
    ) -> None:
        """Use a memory, or open the one at a URI.

        Args:
            memory: An open memory.
            uri: `bethink:` and a target of `bethink.connect`: a file, or the address of a database or a server. It
                is opened at first use and stays open until the process ends or `close` is called.
            space: Returns the name of the space for an app and a user (default `app/user`).
            limit: Maximum number of results (default 10).
        """
        self._own = None if memory is not None else bethink.connect(_target(uri))
        self._memory = memory
        self._space = space
        self._limit = limit
        self._opening = anyio.Lock()

    async def add_session_to_memory(self, session: Session) -> None:
        """Store the new events of a session."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store events, with metadata for filters."""
        name = session_id or _NO_SESSION
        messages = [message for event in events for message in _messages(name, event, custom_metadata or {})]
        if not messages:
            return
        space = await self._open_space(app_name, user_id)
        session = await space.session(_safe_name(name), agent=_safe_name(app_name))
        for start in range(0, len(messages), _PAGE):
            page = messages[start : start + _PAGE]
            try:
                await session.append(page)
            except ConflictError:  # a message was erased, or its text changed: the first version stays
                for message in page:
                    with suppress(ConflictError):
                        await session.append([message])

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store statements as facts. They count as the assistant's statements, whatever their author is."""
        space = await self._open_space(app_name, user_id)
        for entry in memories:
            text = _text(entry.content.parts)
            if not text:
                raise InvalidRequestError("The memory has no text.", hint="Add a part with text.")
            about = {**(custom_metadata or {}), **entry.custom_metadata}
            fact_id = _safe_name(f"{_OWN}{entry.id or uuid4()}")
            await space.facts.save(
                Fact(
                    id=fact_id,
                    text=text,
                    origin=Origin("assistant"),
                    metadata=about,
                    created_at=cast("datetime | None", entry.timestamp),  # a fact also takes ISO text
                )
            )

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Search memory. Best match first."""
        if not query.strip():
            return SearchMemoryResponse()
        result = await (await self._open_space(app_name, user_id)).recall(query, limit=self._limit)
        return SearchMemoryResponse(memories=[_entry(item) for item in result.items])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Permanently delete a search result by its ID, with derived data."""
        if memory_id:
            space = await self._open_space(app_name, user_id)
            await space.forget(Ref.parse(memory_id), missing_ok=True)

    async def close(self) -> None:
        """Close the memory, if this service opened it."""
        if self._own is not None and self._memory is not None:
            self._memory = None
            await self._own.close()

    async def _open_space(self, app_name: str, user_id: str) -> Space:
        async with self._opening:
            if self._memory is None and self._own is not None:
                await self._own.open()
                self._memory = self._own
        if self._memory is None:
            raise InvalidRequestError("No memory is open.", hint="Pass an open `memory` or a `uri`.")
        return self._memory.space(self._space(app_name, user_id))


def register(scheme: str = _SCHEME) -> None:
    """Register the URI scheme with the ADK command line. Call this in `services.py` next to the agents."""
    get_service_registry().register_memory_service(
        scheme, lambda uri, **options: BethinkMemoryService(uri=uri, **options)
    )


def _messages(session_id: str, event: Event, about: Mapping[str, object]) -> Iterator[Message]:
    """Yield the messages of an event, each with an idempotency key."""
    for index, message in enumerate(_event_messages(event)):
        key = blake2b(repr((session_id, event.id, index)).encode(), digest_size=20).hexdigest()
        said_at = datetime.fromtimestamp(event.timestamp, UTC)
        yield replace(message, idempotency_key=key, said_at=said_at, metadata=about)


def _event_messages(event: Event) -> Iterator[Message]:
    if event.partial or event.content is None:
        return
    parts = event.content.parts or []
    text = _text(parts)
    calls = [part.function_call.model_dump(mode="json", exclude_none=True) for part in parts if part.function_call]
    if event.author != "user" and (text or calls):
        yield Message(role=Role.ASSISTANT, content=text, name=event.author or None, tool_calls=calls)
    elif text and not _is_handed_over(event):
        yield Message(role=Role.USER, content=text)
    for part in parts:
        answer = part.function_response
        if answer is not None and answer.name != _SEARCH_TOOL:
            response: dict[str, object] = answer.model_dump(mode="json")["response"] or {}
            yield Message(
                role=Role.TOOL,
                content="\n".join(str(value) for value in response.values()),
                name=answer.name or "tool",
                tool_call_id=answer.id,
                is_error="error" in response,
            )


def _is_handed_over(event: Event) -> bool:
    """Return whether a workflow wrote an event as the user. Its input to a node is stored already."""
    return bool(event.node_info.path or event.branch)


def _text(parts: Sequence[Part] | None) -> str:
    return "\n".join(part.text for part in parts or () if part.text and not part.thought)


def _entry(item: Match) -> MemoryEntry:
    role = "user" if item.origin == "user" else "model"
    return MemoryEntry(
        id=str(item.ref),
        content=Content(role=role, parts=[Part(text=item.text)]),
        author=item.speaker or str(item.origin),
        timestamp=item.said_at.isoformat(),
        custom_metadata=dict(item.metadata),
    )


def _target(uri: str) -> str:
    """Return the target after the scheme: `bethink:memory.db`, `bethink:///srv/memory.db`, `bethink:postgresql://…`."""
    return uri.partition(":")[2].removeprefix("//")


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("/", "%2F")


def _safe_name(name: str) -> str:
    """Return the name, or its digest if it is too long or not printable."""
    if name and len(name) <= _MAX_NAME and name.isprintable():
        return name
    return f"{_OWN}{blake2b(name.encode('utf-8', 'surrogatepass'), digest_size=20).hexdigest()}"
