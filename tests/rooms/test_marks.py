from datetime import timedelta

import pytest

from bethink import Memory, Session
from bethink.errors import InvalidRequestError, NotFoundError
from bethink.types import AgentKind, SessionInfo
from tests.conftest import KEY, FakeClock, many, said

INTERNAL = [AgentKind.MEMORY_WRITER, AgentKind.MEMORY_SEARCH, AgentKind.CONSOLIDATOR]
NOT_LEARNT_FROM = [AgentKind.SUBAGENT, *INTERNAL]


async def fresh(memory: Memory, session: Session) -> SessionInfo:
    return (await memory.space(session.space).sessions.get(session.id)).info


async def mark(memory: Memory, session: Session) -> int | None:
    return (await fresh(memory, session)).invalidated_at


@pytest.mark.spec("S0.3", "S0.17", "S1.12", "S0.1")
async def test_sixth_message_marks_the_session(memory: Memory, session: Session) -> None:
    await session.append(many(5))
    assert await mark(memory, session) is None

    await session.append(said("the sixth"))
    assert await mark(memory, session) == 6


@pytest.mark.spec("S0.3", "S0.17")
async def test_every_record_past_the_threshold_raises_the_mark(memory: Memory, session: Session) -> None:
    await session.append(many(6))
    await session.append(many(3))

    assert await mark(memory, session) == 9


async def test_a_batch_that_crosses_the_threshold_marks_its_last_record(memory: Memory, session: Session) -> None:
    await session.append(many(20))

    assert await mark(memory, session) == 20


@pytest.mark.spec("S0.4")
async def test_the_count_starts_again_from_what_was_processed(memory: Memory, session: Session) -> None:
    await session.append(many(6))
    assert await memory.backend.local().marks().mark_processed(session.info, until=6, expected=6)

    await session.append(many(5))
    assert await mark(memory, session) is None

    await session.append(many(1))
    assert await mark(memory, session) == 12


@pytest.mark.spec("S1.12")
async def test_five_turns_always_mark_the_session(memory: Memory, session: Session) -> None:
    for _ in range(5):
        await session.append(said("question", "answer"))
        await session.checkpoint()

    assert await mark(memory, session) == 10


@pytest.mark.spec("S1.12")
async def test_the_end_of_a_turn_marks_by_the_same_rule(memory: Memory, session: Session) -> None:
    await session.append(many(5))
    assert await session.checkpoint() is False

    await session.append(many(1))
    # As if the worker had learnt nothing.
    assert await memory.backend.local().marks().mark_processed(session.info, until=0, expected=6)
    assert await session.checkpoint() is True
    assert await mark(memory, session) == 6


@pytest.mark.spec("S0.1", "S0.2", "S1.16")
async def test_idle_agent_marks_its_session_at_the_last_message(memory: Memory, session: Session) -> None:
    await session.append(many(2))

    assert await session.checkpoint(force=True) is True
    assert await mark(memory, session) == 2


async def test_going_idle_with_nothing_new_marks_nothing(memory: Memory, session: Session) -> None:
    assert await session.checkpoint(force=True) is False

    await session.append(many(2))
    await session.checkpoint(force=True)
    assert await memory.backend.local().marks().mark_processed(session.info, until=2, expected=2)
    assert await session.checkpoint(force=True) is False
    assert await mark(memory, session) is None


@pytest.mark.spec("S0.1", "S0.6", "S1.13")
async def test_a_reset_marks_the_old_session(memory: Memory, session: Session) -> None:
    await session.append(many(2))
    following = await session.restart()

    assert await mark(memory, session) == 2
    assert following.info.invalidated_at is None


@pytest.mark.spec("S1.14")
async def test_an_emergency_reset_marks_the_old_session(memory: Memory, session: Session) -> None:
    await session.append(many(2))
    await session.restart("emergency")

    old = await fresh(memory, session)
    assert (old.invalidated_at, old.end_reason) == (2, "emergency")


@pytest.mark.spec("S0.5", "S1.15")
async def test_a_compaction_marks_and_archives_the_old_session(memory: Memory, session: Session) -> None:
    await session.append(many(2))
    await session.restart("compaction")

    old = await fresh(memory, session)
    assert (old.invalidated_at, old.end_reason) == (2, "compaction")
    assert old.ended_at is not None


async def test_an_empty_session_is_never_marked(memory: Memory, session: Session) -> None:
    await session.restart()

    assert await mark(memory, session) is None
    assert await memory.backend.local().marks().find_invalidated() == []


@pytest.mark.parametrize("kind", NOT_LEARNT_FROM)
@pytest.mark.spec("S1.9", "S1.17")
async def test_agents_of_other_kinds_are_not_marked_by_the_threshold(memory: Memory, kind: AgentKind) -> None:
    session = await memory.space("alice").session(KEY, agent="inner", kind=kind)
    await session.append(many(9))
    await session.checkpoint()

    assert await mark(memory, session) is None


@pytest.mark.parametrize("kind", NOT_LEARNT_FROM)
@pytest.mark.spec("S1.9", "S1.17")
async def test_agents_of_other_kinds_are_not_marked_when_idle(memory: Memory, kind: AgentKind) -> None:
    session = await memory.space("alice").session(KEY, agent="inner", kind=kind)
    await session.append(many(2))

    assert await session.checkpoint(force=True) is False
    assert await mark(memory, session) is None


@pytest.mark.parametrize("kind", NOT_LEARNT_FROM)
@pytest.mark.spec("S1.9", "S1.17")
async def test_agents_of_other_kinds_are_not_marked_by_a_reset(memory: Memory, kind: AgentKind) -> None:
    session = await memory.space("alice").session(KEY, agent="inner", kind=kind)
    await session.append(many(2))
    following = await session.restart()

    assert await mark(memory, session) is None
    assert following.info.is_learned_from is False


@pytest.mark.parametrize("kind", NOT_LEARNT_FROM)
@pytest.mark.spec("S1.9", "S1.17")
async def test_agents_of_other_kinds_are_not_marked_by_a_compaction(memory: Memory, kind: AgentKind) -> None:
    session = await memory.space("alice").session(KEY, agent="inner", kind=kind)
    await session.append(many(2))
    await session.restart("compaction")

    assert await mark(memory, session) is None
    assert await memory.backend.local().marks().invalidate(session.info, 2) is False
    assert await memory.backend.local().marks().find_invalidated() == []


@pytest.mark.spec("S0.7", "S0.10")
async def test_invalidate_sets_the_mark_and_only_ever_raises_it(memory: Memory, session: Session) -> None:
    await session.append(many(4))
    assert await mark(memory, session) is None

    assert await memory.backend.local().marks().invalidate(session.info, 3) is True
    assert await memory.backend.local().marks().invalidate(session.info, 2) is False
    assert await memory.backend.local().marks().invalidate(session.info, 3) is False
    assert await mark(memory, session) == 3
    assert await memory.backend.local().marks().invalidate(session.info, 4) is True
    assert await mark(memory, session) == 4


async def test_unknown_session_cannot_be_marked(memory: Memory, session: Session) -> None:
    stranger = SessionInfo(
        space="alice",
        id="ses_x",
        conversation_id="",
        agent_id="",
        ordinal=1,
        is_learned_from=True,
        created_at=session.info.created_at,
    )

    with pytest.raises(NotFoundError):
        await memory.backend.local().marks().invalidate(stranger, 1)
    with pytest.raises(NotFoundError):
        await Session(memory.backend, stranger).end()


@pytest.mark.spec("S0.11")
async def test_marked_sessions_are_listed_oldest_mark_first(memory: Memory, clock: FakeClock) -> None:
    marked: list[str] = []
    for space in ("zoe", "alice", "mia", "bob"):
        session = await memory.space(space).session(KEY)
        await session.append(many(2))
        clock.time += timedelta(microseconds=1000)
        if space != "mia":
            await session.checkpoint(force=True)
            marked.append(session.id)

    assert [found.id for found in await memory.backend.local().marks().find_invalidated(10)] == marked
    assert [found.id for found in await memory.backend.local().marks().find_invalidated(2)] == marked[:2]
    assert all(found.invalidated_at == 2 for found in await memory.backend.local().marks().find_invalidated(10))


async def test_raised_mark_keeps_its_queue_position(memory: Memory, session: Session) -> None:
    await session.append(many(6))
    other = await memory.space("bob").session(KEY)
    await other.append(many(6))
    await session.append(many(6))

    assert [found.id for found in await memory.backend.local().marks().find_invalidated()] == [session.id, other.id]


@pytest.mark.spec("S0.12", "S0.13", "S0.7", "S0.8")
async def test_marking_processed_clears_the_mark_that_was_expected(memory: Memory, session: Session) -> None:
    await session.append(many(6))
    assert (await fresh(memory, session)).processed_until is None

    assert await memory.backend.local().marks().mark_processed(session.info, until=6, expected=6) is True

    now = await fresh(memory, session)
    assert (now.invalidated_at, now.processed_until, now.marked_at) == (None, 6, None)
    assert await memory.backend.local().marks().find_invalidated() == []


@pytest.mark.spec("S0.12", "S0.14", "S0.21")
async def test_message_during_processing_keeps_the_session_pending(memory: Memory, session: Session) -> None:
    await session.append(many(6))
    await session.append(said("while the worker was busy"))

    assert await memory.backend.local().marks().mark_processed(session.info, until=6, expected=6) is False

    now = await fresh(memory, session)
    assert (now.invalidated_at, now.processed_until) == (7, None)
    assert [found.id for found in await memory.backend.local().marks().find_invalidated()] == [session.id]


@pytest.mark.spec("S0.21", "S1.19")
async def test_a_quiet_message_during_processing_is_left_for_the_next_time(memory: Memory, session: Session) -> None:
    await session.append(many(2))
    await session.checkpoint(force=True)
    until = (
        await memory.backend.local().marks().max_number(session.info)
    )  # what the worker has seen, taken before it works
    await session.append(said("too quiet to move the mark"))

    assert until == 2
    assert await memory.backend.local().marks().mark_processed(session.info, until=until, expected=2) is True

    processed = (await fresh(memory, session)).processed_until
    assert processed == 2
    assert [record.message.content for record in await session.messages(after=processed)] == [
        "too quiet to move the mark"
    ]


async def test_processing_an_unmarked_session_changes_nothing(memory: Memory, session: Session) -> None:
    await session.append(many(2))

    assert await memory.backend.local().marks().mark_processed(session.info, until=2, expected=2) is False
    assert (await fresh(memory, session)).processed_until is None


@pytest.mark.spec("S0.15", "S0.16")
async def test_records_are_counted_after_a_number_and_the_last_number_is_known(
    memory: Memory, session: Session
) -> None:
    assert await memory.backend.local().marks().max_number(session.info) is None
    assert await memory.backend.local().marks().count_since(session.info, 0) == 0

    await session.append(many(4))

    assert await memory.backend.local().marks().max_number(session.info) == 4
    assert [await memory.backend.local().marks().count_since(session.info, number) for number in (0, 3, 4, 99)] == [
        4,
        1,
        0,
        0,
    ]


@pytest.mark.spec("S1.19")
async def test_only_records_after_what_was_processed_are_loaded(memory: Memory, session: Session) -> None:
    await session.append(many(8))
    assert await memory.backend.local().marks().mark_processed(session.info, until=5, expected=8)

    processed = (await fresh(memory, session)).processed_until
    assert processed is not None
    assert [record.number for record in await session.messages(after=processed)] == [6, 7, 8]


async def test_mark_records_its_first_trigger_and_time(memory: Memory, session: Session) -> None:
    await session.append(many(2))
    await session.checkpoint(force=True)
    first = await fresh(memory, session)
    await session.append(many(9))
    raised = await fresh(memory, session)

    assert (first.marked_by, raised.marked_by) == ("idle", "idle")
    assert first.marked_at is not None
    assert raised.marked_at == first.marked_at

    assert await memory.backend.local().marks().mark_processed(session.info, until=11, expected=11)
    await session.append(many(6))
    assert (await fresh(memory, session)).marked_by == "turn_threshold"


@pytest.mark.parametrize("number", [0, -1, 5, 999])
async def test_a_mark_beyond_the_last_record_is_refused(memory: Memory, session: Session, number: int) -> None:
    await session.append(many(4))

    with pytest.raises(InvalidRequestError, match="The last record is 4"):
        await memory.backend.local().marks().invalidate(session.info, number)
    assert await mark(memory, session) is None


async def test_processing_beyond_the_last_record_does_not_blind_the_session(memory: Memory, session: Session) -> None:
    await session.append(many(6))
    assert await memory.backend.local().marks().mark_processed(session.info, until=1000, expected=6)
    assert (await fresh(memory, session)).processed_until == 6

    await session.append(many(6))
    assert await mark(memory, session) == 12
