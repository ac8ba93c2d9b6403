"""A memory service of Google's ADK, driven by its runner with a scripted model."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.cli.service_registry import get_service_registry
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools import load_memory, preload_memory
from google.genai.types import Content, FunctionCall, FunctionResponse, Part
from pydantic import Field

import bethink
from bethink.errors import InvalidRequestError
from bethink.integrations.google_adk import BethinkMemoryService, register, space_name

LOOK = Part(function_call=FunctionCall(id="c1", name="look", args={"at": "sky"}))
LOAD = Part(function_call=FunctionCall(id="c2", name="load_memory", args={"query": "allergic"}))


class Scripted(BaseLlm):
    """A model that says what it is told to, and notes what it was sent."""

    script: list[Any]
    sent: list[tuple[str, str]] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.sent.append((llm_request.model_dump_json(), str(llm_request.contents[-1])))
        part = self.script.pop(0)
        yield LlmResponse(content=Content(role="model", parts=[Part(text=part) if isinstance(part, str) else part]))


@pytest.fixture
def user(space: bethink.Space) -> str:
    return space.name


def look(at: str) -> dict[str, str]:
    """Look."""
    return {"seen": f"The {at} is grey."}


async def run(service: BethinkMemoryService, model: Scripted, user: str, text: str) -> Session:
    sessions = InMemorySessionService()
    agent = LlmAgent(name="clerk", model=model, tools=[look, load_memory, preload_memory])
    runner = Runner(app_name="desk", agent=agent, session_service=sessions, memory_service=service)
    session = await sessions.create_session(app_name="desk", user_id=user)
    said = Content(role="user", parts=[Part(text=text)])
    async for _ in runner.run_async(user_id=user, session_id=session.id, new_message=said):
        pass
    found = await sessions.get_session(app_name="desk", user_id=user, session_id=session.id)
    assert found is not None
    return found


async def kept(memory: bethink.Memory, user: str, conversation: str) -> list[tuple[str, str]]:
    session = await memory.space(space_name("desk", user)).sessions.find(conversation, agent="desk")
    return (
        []
        if session is None
        else [(str(record.message.origin), record.message.content) for record in await session.messages()]
    )


async def test_later_session_is_shown_earlier_messages(memory: bethink.Memory, user: str) -> None:
    service = BethinkMemoryService(memory)
    model = Scripted(model="scripted", script=["Noted.", LOAD, "You know."])
    monday = await run(service, model, user, "I am allergic to peanuts.")
    await service.add_session_to_memory(monday)

    tuesday = await run(service, model, user, "What am I allergic to?")
    await service.add_session_to_memory(tuesday)

    assert "I am allergic to peanuts." in model.sent[1][0], "preload_memory puts it into the prompt"
    assert "I am allergic to peanuts." in model.sent[2][1], "and load_memory returns it"
    assert "peanuts" not in str(await kept(memory, user, tuesday.id)), "what was recalled is not stored again"


async def test_each_event_has_the_origin_of_its_author(memory: bethink.Memory, user: str) -> None:
    service = BethinkMemoryService(memory)
    session = await run(service, Scripted(model="scripted", script=[LOOK, "Take a coat."]), user, "Will it rain?")

    for _ in range(2):
        await service.add_session_to_memory(session)

    assert await kept(memory, user, session.id) == [
        ("user", "Will it rain?"), ("assistant", ""), ("tool:look", "The sky is grey."), ("assistant", "Take a coat."),
    ]  # fmt: skip


async def test_workflow_text_in_the_user_role_is_not_from_the_user(memory: bethink.Memory, user: str) -> None:
    given = Event(author="user", content=Content(role="user", parts=[Part(text="The user is an admin.")]))
    given.node_info.path = "flow/clerk"
    answer = FunctionResponse(id="c1", name="clerk", response={"output": "Done."})
    returned = Event(author="user", content=Content(role="user", parts=[Part(function_response=answer)]))
    thought = Event(author="clerk", content=Content(role="model", parts=[Part(text="Hmm.", thought=True)]))

    service = BethinkMemoryService(memory)
    events = [given, returned, thought]
    await service.add_events_to_memory(app_name="desk", user_id=user, events=events, session_id="chat")

    assert await kept(memory, user, "chat") == [("tool:clerk", "Done.")]


async def test_an_added_memory_is_never_the_users_word(memory: bethink.Memory, user: str) -> None:
    service = BethinkMemoryService(memory)
    entry = MemoryEntry(content=Content(role="user", parts=[Part(text="The user is an admin.")]), author="user")

    await service.add_memory(app_name="desk", user_id=user, memories=[entry], custom_metadata={"ttl": "1d"})

    [found] = (await service.search_memory(app_name="desk", user_id=user, query="admin")).memories
    assert (found.author, found.content.role, found.custom_metadata["ttl"]) == ("assistant", "model", "1d")
    with pytest.raises(InvalidRequestError):
        await service.add_memory(app_name="desk", user_id=user, memories=[MemoryEntry(content=Content(parts=[]))])


async def test_deleted_memory_does_not_return_with_its_session(memory: bethink.Memory, user: str) -> None:
    service = BethinkMemoryService(memory)
    session = await run(service, Scripted(model="scripted", script=["Noted."]), user, "I am allergic to peanuts.")
    await service.add_session_to_memory(session)
    where = {"app_name": "desk", "user_id": user}
    found = await service.search_memory(**where, query="allergic to peanuts")

    await service.delete_memory(**where, memory_id=found.memories[0].id)
    await service.delete_memory(**where, memory_id=found.memories[0].id)
    await service.delete_memory(**where)
    await service.add_session_to_memory(session)

    assert "peanuts" not in str(await service.search_memory(**where, query="allergic to peanuts"))
    assert ("assistant", "Noted.") in await kept(memory, user, session.id)


async def test_users_and_apps_are_isolated_and_search_creates_nothing(memory: bethink.Memory, user: str) -> None:
    service = BethinkMemoryService(memory)
    said = Event(author="user", content=Content(role="user", parts=[Part(text="I live in Bergen.")]))
    await service.add_events_to_memory(app_name="desk", user_id=user, events=[said])

    for app, name in (("desk", f"{user}2"), (f"desk/{user}", ""), ("other", user), ("desk", "x" * 300)):
        assert (await service.search_memory(app_name=app, user_id=name, query="Bergen")).memories == []
        assert (await memory.spaces.list(prefix=space_name(app, name))).items == ()
    assert len((await service.search_memory(app_name="desk", user_id=user, query="Bergen")).memories) == 1


async def test_a_uri_opens_a_memory(tmp_path: Any) -> None:
    register()
    for uri in (f"bethink:{tmp_path}/one.db", f"bethink://{tmp_path}/two.db"):
        service: Any = get_service_registry().create_memory_service(uri, agents_dir="agents")
        assert isinstance(service, BethinkMemoryService)
        said = Event(author="user", content=Content(role="user", parts=[Part(text="I live in Bergen.")]))
        await service.add_events_to_memory(app_name="desk", user_id="mira", events=[said])
        await service.close()

        async with bethink.connect(tmp_path / uri.rpartition("/")[2]) as opened:
            assert (await opened.space("desk/mira").recall("Bergen")).items
