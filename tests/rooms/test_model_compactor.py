import pytest

import bethink
from bethink.errors import ModelUnavailableError
from bethink.memory.working.ladder import CompactionRequest
from bethink.memory.working.memory import WorkingMemory
from bethink.memory.working.model_compactor import ModelCompactor
from bethink.model.working import Event, EventType, SubType
from bethink.providers.scripted_model import ScriptedModel
from bethink.store.db import Database
from tests.conftest import Quiet
from tests.rooms.working_kit import THREAD, engine


async def filled(database: Database, model: ScriptedModel) -> WorkingMemory:
    desk = WorkingMemory(database, space="alice", engine=engine(retain_recent=2), compactor=ModelCompactor(model))
    await desk.open_thread(THREAD)
    for number in range(6):
        await desk.dispatch(THREAD, Event(type=EventType.USER_MESSAGE, payload={"text": f"entry {number}"}))
    return desk


async def test_a_thread_is_compacted_in_a_models_words_and_replays_without_it(database: Database) -> None:
    model = ScriptedModel(["They counted to three.", "They counted on."])
    desk = await filled(database, model)
    await desk.trigger_compaction(THREAD)
    await desk.dispatch(THREAD, Event(type=EventType.USER_MESSAGE, payload={"text": "entry 6"}))

    await desk.trigger_compaction(THREAD)

    state = await desk.current_state(THREAD)
    assert [chunk.text for chunk in state.chunks if chunk.subtype is SubType.COMPACTED] == ["They counted on."]
    assert "entry 0" in model.calls[0].prompt
    assert "Earlier summaries:\nThey counted to three." in model.calls[1].prompt
    assert await desk.replay(THREAD) == state.chunks
    assert len(model.calls) == 2


async def test_a_model_that_says_nothing_is_replaced_by_quoting(database: Database) -> None:
    desk = await filled(database, ScriptedModel([" "]))

    await desk.trigger_compaction(THREAD)

    state = await desk.current_state(THREAD)
    assert any("Earlier events:" in chunk.text for chunk in state.chunks)


async def test_unavailable_model_leaves_the_thread_unchanged(database: Database) -> None:
    desk = await filled(database, ScriptedModel([ModelUnavailableError("no")]))
    before = await desk.current_state(THREAD)

    with pytest.raises(ModelUnavailableError):
        await desk.trigger_compaction(THREAD)

    assert (await desk.current_state(THREAD)).chunks == before.chunks
    assert not await desk.is_step_locked(THREAD)


async def test_compaction_prompt_keeps_both_ends_of_long_text(database: Database) -> None:
    model = ScriptedModel(["short"], window=100)
    desk = WorkingMemory(database, space="alice", engine=engine(retain_recent=2), compactor=ModelCompactor(model))
    await desk.open_thread(THREAD)
    for text in ("a" * 400, "b" * 400, "c" * 400, "d" * 400):
        await desk.dispatch(THREAD, Event(type=EventType.USER_MESSAGE, payload={"text": text}))

    await desk.trigger_compaction(THREAD)

    assert "[…]" in model.calls[0].prompt
    assert len(model.calls[0].prompt) < 400


async def compacted(memory: bethink.Memory) -> str:
    """Compact a thread of a memory, and return its summary."""
    working = memory.backend.local().working("alice")
    await working.open_thread(THREAD)
    for number in range(6):
        await working.dispatch(THREAD, Event(type=EventType.USER_MESSAGE, payload={"text": f"entry {number}"}))
    await working.trigger_compaction(THREAD)
    state = await working.current_state(THREAD)
    return next(chunk.text for chunk in state.chunks if chunk.subtype is SubType.COMPACTED)


async def test_a_memory_with_a_model_compacts_with_it(target: str) -> None:
    model = ScriptedModel(["De telte til fem."])
    async with bethink.connect(target, model=model, redactor=Quiet(), engine=engine(retain_recent=2)) as memory:
        assert await compacted(memory) == "De telte til fem."

    [call] = model.calls
    assert "everything the user wants" in call.system
    assert "Keep dates" in call.system
    assert "in the language of the\nconversation" in call.system


async def test_while_the_model_is_away_a_memory_compacts_by_quoting(target: str) -> None:
    model = ScriptedModel([ModelUnavailableError("no")])
    async with bethink.connect(target, model=model, redactor=Quiet(), engine=engine(retain_recent=2)) as memory:
        assert "entry 0" in await compacted(memory)


async def test_custom_compactor_takes_precedence(target: str) -> None:
    class Mine:
        async def compact(self, request: CompactionRequest) -> str:
            return f"{len(request.chunks)} chunks"

    model = ScriptedModel([])
    async with bethink.connect(
        target, model=model, redactor=Quiet(), engine=engine(retain_recent=2), compactor=Mine()
    ) as memory:
        assert (await compacted(memory)).endswith("chunks")
    assert model.calls == []


async def test_a_compaction_is_charged_to_the_day_like_learning(target: str) -> None:
    model = ScriptedModel(["They counted."])
    async with bethink.connect(target, model=model, redactor=Quiet(), engine=engine(retain_recent=2)) as memory:
        await compacted(memory)
        spent = (await memory.admin.audit()).spent_today

    assert spent.calls == 1
    assert spent.input_tokens > 0
    assert spent.cost > 0


async def test_compaction_over_daily_cap_quotes_without_a_model(target: str) -> None:
    model = ScriptedModel(["They counted."])
    async with bethink.connect(
        target, model=model, redactor=Quiet(), engine=engine(retain_recent=2), daily_budget=0.000001
    ) as memory:
        assert await compacted(memory) == "They counted."
        spent = (await memory.admin.audit()).spent_today
        working = memory.backend.local().working("alice")
        for number in range(6, 12):
            await working.dispatch(THREAD, Event(type=EventType.USER_MESSAGE, payload={"text": f"entry {number}"}))
        await working.trigger_compaction(THREAD)
        state = await working.current_state(THREAD)
        assert (await memory.admin.audit()).spent_today == spent

    assert len(model.calls) == 1
    assert any("Earlier events:" in chunk.text for chunk in state.chunks)
