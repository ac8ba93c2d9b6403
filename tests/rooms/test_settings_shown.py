"""The active settings as an operation shows them, and the states of a thread by page."""

import json

from bethink import Memory, connect
from bethink.config.settings import load_settings
from bethink.types import Event
from tests.conftest import memory_on


async def test_settings_are_listed_with_their_origins_and_without_secrets() -> None:
    settings = load_settings(
        environ={"BETHINK_MODEL_API_KEY": "sk-secret", "BETHINK_API_KEY": "bk-secret"},
        sqlite_path=":memory:",
        model_base_url="https://user:hidden@example.org/v1?api_key=hidden",
        learn=False,
    )
    async with connect(settings=settings) as memory:
        found = {each.name: each for each in await memory.admin.settings()}

    assert found["model_api_key"].value == '"***"'
    assert (found["model_api_key"].origin, found["model_api_key"].default) == ("environment", '""')
    assert (found["learn"].value, found["learn"].origin) == ("false", "argument")
    assert found["worker_batch"].value == found["worker_batch"].default
    assert found["worker_batch"].origin == "default"
    text = json.dumps([each.value for each in found.values()])
    assert "secret" not in text
    assert "hidden" not in text


async def test_a_memory_built_by_hand_has_the_default_settings(memory: Memory) -> None:
    found = await memory_on(memory.backend.local().database).admin.settings()

    assert {each.origin for each in found} == {"default"}


async def test_the_states_of_a_thread_are_read_page_by_page(memory: Memory) -> None:
    threads = memory.space("mira").threads
    thread = await threads.open()
    for number in range(5):
        await threads.dispatch(thread.id, Event(type="USER_MESSAGE", payload={"text": f"hello {number}"}))
    every = await threads.states(thread.id)

    first = await threads.states(thread.id, limit=2)
    second = await threads.states(thread.id, after=first[-1].number, limit=2)

    assert [*first, *second] == every[:4]
    assert await threads.states(thread.id, after=every[-1].number) == []
    assert await threads.states(thread.id, after=0) == [each for each in every if each.number > 0]
