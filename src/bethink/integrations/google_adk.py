"""Google's Agent Development Kit: a memory service, with a URI scheme of its own.

    runner = Runner(agent=agent, memory_service=BethinkMemoryService(memory), …)

    adk web --memory_service_uri=bethink:memory.db agents      # after register() in agents/services.py

Each user of each app has a space.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any
from uuid import uuid4

import anyio
from google.adk.cli.service_registry import get_service_registry
from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai.types import Content, Part

import bethink
from bethink import Fact, Memory, Message, Origin, Recalled, Ref, Role, Space
from bethink.errors import Conflict, Invalid

_SCHEME = "bethink"
_ELSEWHERE = "events"
_RECALLED = "load_memory"
"""The tool of ADK that searches memory: what it returned is known already, and is not stored again."""
_OWN = "adk:"
_PAGE = 500
_LONGEST = 200


def space_name(app_name: str, user_id: str) -> str:
    """Return the name of the space of one user of one app: `app/user`."""
    return _named(f"{_escaped(app_name)}/{_escaped(user_id)}")


class BethinkMemoryService(BaseMemoryService):
    """Memory of what was said in sessions. An event that is added again is stored once.

    Only what the user typed is the user's word. What agents say, what tools return, and what is added with `add_memory`
    counts as theirs. What was deleted does not come back when its session is added again.
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
        """Use a memory, or the one that a URI names.

        Args:
            memory: A memory that is open.
            uri: `bethink:` and then what `bethink.connect` takes: a file, or the address of a database or a server. It
                is opened at first use, and stays open until the process ends or `close` is called.
            space: Names the space of an app and a user; `app/user`, if left out.
            limit: How many memories a search returns at most.
        """
        self._own = None if memory is not None else bethink.connect(_target(uri))
        self._memory = memory
        self._space = space
        self._limit = limit
        self._opening = anyio.Lock()

    async def add_session_to_memory(self, session: Session) -> None:
        """Store the events of a session that are not stored yet."""
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
        """Store events, with metadata that a search can be narrowed by."""
        name = session_id or _ELSEWHERE
        told = [message for event in events for message in _messages(name, event, custom_metadata or {})]
        if not told:
            return
        space = await self._of(app_name, user_id)
        session = await space.session(_named(name), agent=_named(app_name))
        for start in range(0, len(told), _PAGE):
            page = told[start : start + _PAGE]
            try:
                await session.append(page)
            except Conflict:  # one of them was erased, or is told in other words now: what was first stands
                for message in page:
                    with suppress(Conflict):
                        await session.append([message])

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store statements as facts. They are the assistant's word, whatever their author is said to be."""
        space = await self._of(app_name, user_id)
        for entry in memories:
            text = _text(entry.content.parts)
            if not text:
                raise Invalid("a memory has no text.", hint="Put what it says into a part with text.")
            about = {**(custom_metadata or {}), **entry.custom_metadata}
            named = _named(f"{_OWN}{entry.id or uuid4()}")
            await space.facts.save(
                Fact(
                    id=named, content=text, origin=Origin("assistant"), metadata=about, created_at=_at(entry.timestamp)
                )
            )

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return what memory knows about a question, the best first."""
        if not query.strip():
            return SearchMemoryResponse()
        found = await (await self._of(app_name, user_id)).recall(query, limit=self._limit)
        return SearchMemoryResponse(memories=[_entry(item) for item in found.items])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Erase what a search returned with this id, and what was learnt from it."""
        if memory_id:
            space = await self._of(app_name, user_id)
            await space.forget(Ref.parse(memory_id), missing_ok=True)

    async def close(self) -> None:
        """Close the memory, if this service opened it."""
        if self._own is not None and self._memory is not None:
            self._memory = None
            await self._own.close()

    async def _of(self, app_name: str, user_id: str) -> Space:
        async with self._opening:
            if self._memory is None and self._own is not None:
                await self._own.open()
                self._memory = self._own
        if self._memory is None:
            raise Invalid("no memory was passed.", hint="Pass one that is open, or a URI.")
        return self._memory.space(self._space(app_name, user_id))


def register(scheme: str = _SCHEME) -> None:
    """Let the command line of ADK know the scheme: call this in `services.py`, beside the agents."""
    get_service_registry().register_memory_service(scheme, lambda uri, **given: BethinkMemoryService(uri=uri, **given))


def _messages(session_id: str, event: Event, about: Mapping[str, object]) -> Iterator[Message]:
    """Yield what an event says, each with a key, so that it is stored once."""
    for place, message in enumerate(_said(event)):
        key = blake2b(repr((session_id, event.id, place)).encode(), digest_size=20).hexdigest()
        said_at = datetime.fromtimestamp(event.timestamp, UTC)
        yield replace(message, idempotency_key=key, said_at=said_at, metadata=about)


def _said(event: Event) -> Iterator[Message]:
    if event.partial or event.content is None:
        return
    parts = event.content.parts or []
    text = _text(parts)
    calls = [part.function_call.model_dump(mode="json", exclude_none=True) for part in parts if part.function_call]
    if event.author != "user" and (text or calls):
        yield Message(role=Role.ASSISTANT, content=text, name=event.author or None, tool_calls=calls)
    elif text and not _handed_over(event):
        yield Message(role=Role.USER, content=text)
    for part in parts:
        answer = part.function_response
        if answer is not None and answer.name != _RECALLED:
            told: dict[str, object] = answer.model_dump(mode="json")["response"] or {}
            yield Message(
                role=Role.TOOL,
                content="\n".join(str(value) for value in told.values()),
                name=answer.name or "tool",
                tool_call_id=answer.id,
                is_error="error" in told,
            )


def _handed_over(event: Event) -> bool:
    """Return whether a workflow wrote an event in the user's place: what it hands to a node was said before."""
    return bool(event.node_info.path or event.branch)


def _text(parts: Sequence[Part] | None) -> str:
    return "\n".join(part.text for part in parts or () if part.text and not part.thought)


def _entry(item: Recalled) -> MemoryEntry:
    role = "user" if item.origin == "user" else "model"
    return MemoryEntry(
        id=str(item.ref),
        content=Content(role=role, parts=[Part(text=item.text)]),
        author=item.speaker or str(item.origin),
        timestamp=item.at.isoformat(),
        custom_metadata=dict(item.metadata),
    )


def _at(timestamp: str | None) -> datetime | None:
    return None if timestamp is None else bethink.moment(timestamp)


def _target(uri: str) -> str:
    """Return what comes after the scheme: `bethink:memory.db`, `bethink:///srv/memory.db`, `bethink:postgresql://…`."""
    return uri.partition(":")[2].removeprefix("//")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("/", "%2F")


def _named(name: str) -> str:
    """Return a name that fits: one that is too long or odd is known by its digest."""
    if name and len(name) <= _LONGEST and name.isprintable():
        return name
    return f"{_OWN}{blake2b(name.encode('utf-8', 'surrogatepass'), digest_size=20).hexdigest()}"
