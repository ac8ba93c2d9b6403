from collections.abc import Awaitable, Callable, Sized
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any, cast

import pytest

import bethink
from bethink.errors import ConflictError, InvalidRequestError, NotFoundError, SessionEndedError
from bethink.model.moments import moment
from bethink.model.records import conversation_key
from tests.conftest import KEY, FakeClock, said


async def test_a_remembered_text_is_recalled_and_explained_by_its_name(memory: bethink.Memory) -> None:
    stored = await memory.space("alice").remember("I moved to Bergen in May.")

    found = await memory.space("alice").recall("Where did I move to?")
    lineage = await memory.space("alice").explain(stored.refs[0])

    assert found.items[0].ref == stored.refs[0]
    assert lineage.text == "I moved to Bergen in May."
    assert lineage.origin == "user"


async def test_remembered_message_marks_its_session(memory: bethink.Memory) -> None:
    stored = await memory.space("alice").remember("I moved to Bergen in May.")

    assert [each.id for each in await memory.backend.local().marks().find_invalidated()] == [stored.session.id]
    assert stored.session.invalidated_at == 1


async def test_messages_are_remembered_in_the_conversation_they_belong_to(memory: bethink.Memory) -> None:
    talk = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Good day."}]
    stored = await memory.space("alice").remember(talk, conversation=KEY, agent="butler")

    [entry] = await memory.space("alice").sessions.list()
    assert entry.session == stored.session
    assert (entry.conversation, entry.agent) == (KEY, "butler")
    session = await memory.space("alice").sessions.get(stored.session.id)
    assert [record.message.content for record in await session.messages()] == ["Hello.", "Good day."]


async def test_remember_in_a_session_does_not_mark_it(memory: bethink.Memory, session: bethink.Session) -> None:
    stored = await memory.space("alice").remember("Hello.", session_id=session.id)

    assert stored.refs == (bethink.Ref.parse(f"message:{session.id}:1"),)
    assert await memory.backend.local().marks().find_invalidated() == []
    with pytest.raises(NotFoundError):
        await memory.space("bob").remember("Hello.", session_id=session.id)


async def test_a_session_that_ended_remembers_nothing_more(memory: bethink.Memory, session: bethink.Session) -> None:
    await session.end()

    with pytest.raises(SessionEndedError):
        await memory.space("alice").remember("Hello.", session_id=session.id)


async def test_repeated_key_returns_stored_refs_in_a_later_session(memory: bethink.Memory) -> None:
    first = await memory.space("alice").remember("Hello.", idempotency_key="evt-7")
    await (await memory.space("alice").sessions.get(first.session.id)).restart()
    again = await memory.space("alice").remember("Hello.", idempotency_key="evt-7")

    assert again.refs == first.refs
    with pytest.raises(ConflictError):
        await memory.space("alice").remember("Something else.", idempotency_key="evt-7")


async def test_each_message_of_a_batch_gets_a_key_of_its_own(memory: bethink.Memory) -> None:
    talk = [*said("one", "two"), bethink.Message(role="user", content="three", idempotency_key="mine")]
    stored = await memory.space("alice").remember(talk, idempotency_key="k")

    session = await memory.space("alice").sessions.get(stored.session.id)
    keys = [record.message.idempotency_key for record in await session.messages()]
    assert keys == ["k:0", "k:1", "mine"]
    assert (await memory.space("alice").remember(talk, idempotency_key="k")).refs == stored.refs


async def test_recall_finds_only_messages_of_its_space(memory: bethink.Memory) -> None:
    await memory.space("alice").remember("I live in Oslo.")

    assert (await memory.space("alice").recall("Oslo")).items
    assert not (await memory.space("bob").recall("Oslo")).items
    assert [space.name for space in await memory.spaces.list()] == ["alice"]
    for wrong in ("", "a\nb", "x" * 201):
        with pytest.raises(InvalidRequestError, match="Invalid space"):
            memory.space(wrong)


async def test_sessions_are_paged_newest_first(memory: bethink.Memory) -> None:
    opened = [
        await memory.space("alice").session(conversation_key(channel="cli", chat=str(number))) for number in range(5)
    ]
    first = await memory.space("alice").sessions.list(limit=3)
    rest = await memory.space("alice").sessions.list(limit=3, after=first[-1].session.id)

    assert {each.session.id for each in [*first, *rest]} == {each.id for each in opened}
    ids = [each.session.id for each in [*first, *rest]]
    assert ids == sorted(ids, reverse=True)
    assert await memory.space("bob").sessions.list() == []


async def test_spaces_are_paged_by_name(memory: bethink.Memory) -> None:
    for name in ("carol", "alice", "bob"):
        await memory.space(name).remember("Hello.")

    first = await memory.spaces.list(limit=2)
    assert [space.name for space in first] == ["alice", "bob"]
    assert [space.name for space in await memory.spaces.list(limit=2, after=first.next)] == ["carol"]
    assert [space.name async for space in first.iterate()] == ["alice", "bob", "carol"]


async def test_a_space_that_holds_only_a_thread_or_a_summary_is_listed(memory: bethink.Memory) -> None:
    await memory.backend.local().working("alice").open_thread("thread_one")
    await memory.backend.local().history("bob").set_summary(KEY, "in short")

    assert [space.name for space in await memory.spaces.list()] == ["alice", "bob"]
    await memory.space("alice").forget(everything=True)
    assert [space.name for space in await memory.spaces.list()] == ["bob"]


Lister = Callable[[bethink.Memory, int], Awaitable[Sized]]
LISTERS: dict[str, Lister] = {
    "sessions": lambda memory, limit: memory.space("alice").sessions.list(limit=limit),
    "jobs": lambda memory, limit: memory.space("alice").admin.jobs.list(limit=limit),
    "spaces": lambda memory, limit: memory.spaces.list(limit=limit),
    "threads": lambda memory, limit: memory.space("alice").threads.list(limit=limit),
    "facts": lambda memory, limit: memory.space("alice").facts.list(limit=limit),
    "search of facts": lambda memory, limit: memory.space("alice").facts.search("tea", limit=limit),
    "search of documents": lambda memory, limit: memory.space("alice").documents.search("tea", limit=limit),
    "change sets": lambda memory, limit: memory.space("alice").documents.changes.list(limit=limit),
}


@pytest.mark.parametrize("name", LISTERS)
async def test_a_limit_is_one_to_a_thousand_whatever_is_listed(memory: bethink.Memory, name: str) -> None:
    stored = await memory.space("alice").remember("I like tea.")
    await memory.space("alice").recall("tea", session_id=stored.session.id)
    await memory.space("alice").facts.save(bethink.Fact(id="tea", text="likes tea"))

    for wrong in (0, -1, 1_001, -(2**70), 2**70):
        with pytest.raises(InvalidRequestError, match="limit must be between 1 and 1,000"):
            await LISTERS[name](memory, wrong)
    assert len(await LISTERS[name](memory, 1)) <= 1
    await LISTERS[name](memory, 1_000)


async def test_context_log_is_listed_up_to_a_hundred_at_a_time(memory: bethink.Memory) -> None:
    log = memory.space("alice").admin.context_log

    for wrong in (0, 101):
        with pytest.raises(InvalidRequestError, match="limit must be between 1 and 100"):
            await log.list(limit=wrong)
    assert await log.list(limit=100) == []


async def test_marks_are_listed_up_to_a_limit(memory: bethink.Memory) -> None:
    await memory.space("alice").remember("I like tea.")

    for wrong in (-1, -(2**70), 2**70):
        with pytest.raises(InvalidRequestError, match="limit"):
            await memory.backend.local().marks().find_invalidated(wrong)
    assert await memory.backend.local().marks().find_invalidated(0) == []
    assert len(await memory.backend.local().marks().find_invalidated(1)) == 1


async def test_consolidate_queues_a_job_for_an_existing_space(memory: bethink.Memory) -> None:
    await memory.space("alice").remember("Hello.")
    await memory.space("alice").documents.refresh()

    assert "consolidate" in {job.kind for job in await memory.space("alice").admin.jobs.list()}
    with pytest.raises(NotFoundError):
        await memory.space("nobody").documents.refresh()


async def test_facts_are_paged_and_read_by_id(memory: bethink.Memory) -> None:
    facts = memory.space("alice").facts
    for name in ("c", "a", "b"):
        await facts.save(bethink.Fact(id=name, text=f"fact {name}"))

    assert [each.id for each in await facts.list(limit=2)] == ["a", "b"]
    assert [each.id for each in await facts.list(limit=2, after="b")] == ["c"]
    assert (await facts.get("a")).text == "fact a"
    with pytest.raises(NotFoundError):
        await memory.space("bob").facts.get("a")


async def test_threads_are_paged(memory: bethink.Memory) -> None:
    threads = memory.space("alice").threads
    for name in ("thread_b", "thread_a", "thread_c"):
        await threads.open(name)

    assert [each.id for each in await threads.list(limit=2)] == ["thread_a", "thread_b"]
    assert [each.id for each in await threads.list(after="thread_b")] == ["thread_c"]
    assert await memory.space("bob").threads.list() == []


async def test_a_day_in_words_looks_back_to_its_end(memory: bethink.Memory, clock: FakeClock) -> None:
    clock.time = moment("2026-03-01T12:00:00")
    await memory.space("alice").remember("I live in Oslo.")
    clock.time = moment("2026-03-02T00:00:01")
    await memory.space("alice").remember("I live in Bergen.")

    then = await memory.space("alice").recall("Where do I live?", as_of="2026-03-01")
    assert [item.text for item in then.items if item.ref.kind == "message"] == ["I live in Oslo."]
    with pytest.raises(InvalidRequestError):
        await memory.space("alice").recall("Where do I live?", as_of="yesterday")


def test_a_moment_is_read_from_whatever_says_when() -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)

    assert moment(noon) == moment("2026-03-01T12:00:00") == moment("2026-03-01T13:00:00+01:00")
    assert moment(noon.replace(tzinfo=None)) == moment(noon.astimezone(timezone(timedelta(hours=5))))
    end = moment("2026-03-02T00:00:00") - timedelta(microseconds=1)
    assert moment("2026-03-01") == moment(date(2026, 3, 1)) == moment("20260301") == end
    assert moment("2026-03-01T13:00:00+01:00").tzinfo is UTC
    for wrong in (
        "2026-13-01",
        "",
        "soon",
        "1712123112233",
        "9999-12-31T23:59:59-01:00",
        7,
        2**63,
        -(2**63),
        True,
        1.5,
        None,
    ):
        with pytest.raises(InvalidRequestError):
            moment(wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidRequestError):
        bethink.Message(role="user", content="", said_at=7)  # pyright: ignore[reportArgumentType]


async def test_non_string_argument_is_rejected_by_name(memory: bethink.Memory) -> None:
    no: Any = 42
    alice = memory.space("alice")
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "question": lambda: alice.recall(no),
        "session_id": lambda: alice.context(session_id=no),
        "agent": lambda: alice.session(KEY, agent=no),
        "conversation": lambda: alice.session(no),
        "idempotency_key": lambda: alice.remember("x", idempotency_key=no),
    }
    for name, call in calls.items():
        with pytest.raises(InvalidRequestError, match=rf"{name} must be str, not int"):
            await call()
    with pytest.raises(InvalidRequestError, match="question must be str"):
        await alice.recall(cast("Any", None))
    for named in (lambda: memory.space(no), lambda: conversation_key(channel="c", chat=no)):
        with pytest.raises(InvalidRequestError, match=r"must be text, not int.*Pass a str"):
            named()


@pytest.mark.parametrize("nothing", ["", "   ", "\n\t"])
async def test_an_empty_text_is_not_remembered_and_an_empty_message_is(memory: bethink.Memory, nothing: str) -> None:
    with pytest.raises(InvalidRequestError, match="`messages` is an empty string"):
        await memory.space("alice").remember(nothing)

    assert len((await memory.space("alice").remember([{"role": "user", "content": nothing}])).refs) == 1


async def test_invalid_message_is_rejected(memory: bethink.Memory) -> None:
    for wrong in (["a text"], [None], [["role", "user"]], [{"role": "user"}], [7]):
        with pytest.raises(InvalidRequestError):
            await memory.space("alice").remember(wrong)  # pyright: ignore[reportArgumentType]
