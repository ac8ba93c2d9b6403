from collections.abc import Awaitable, Callable, Sized
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any, cast

import pytest

import bethink
from bethink import conversation_key
from bethink.errors import Conflict, Invalid, NotFound, SessionEnded
from bethink.model.moments import moment
from tests.conftest import KEY, FakeClock, said


async def test_a_remembered_text_is_recalled_and_explained_by_its_name(memory: bethink.Memory) -> None:
    stored = await memory.space("alice").remember("I moved to Bergen in May.")

    found = await memory.space("alice").recall("Where did I move to?")
    lineage = await memory.space("alice").explain(stored.refs[0])

    assert found.items[0].ref == stored.refs[0]
    assert lineage.text == "I moved to Bergen in May."
    assert lineage.origin == "user"


async def test_what_is_remembered_is_marked_and_learnt_from(memory: bethink.Memory) -> None:
    stored = await memory.space("alice").remember("I moved to Bergen in May.")

    assert [each.id for each in await memory.local().marks().find_invalidated()] == [stored.session.id]
    assert stored.session.invalidated_at == 1


async def test_messages_are_remembered_in_the_conversation_they_belong_to(memory: bethink.Memory) -> None:
    talk = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Good day."}]
    stored = await memory.space("alice").remember(talk, conversation=KEY, agent="butler")

    [entry] = await memory.space("alice").sessions()
    assert entry.session == stored.session
    assert (entry.conversation, entry.agent) == (KEY, "butler")
    session = await memory.space("alice").get_session(stored.session.id)
    assert [record.message.content for record in await session.read()] == ["Hello.", "Good day."]


async def test_remembering_in_a_session_leaves_its_marks_to_whoever_keeps_it(
    memory: bethink.Memory, session: bethink.Session
) -> None:
    stored = await memory.space("alice").remember("Hello.", session_id=session.id)

    assert stored.refs == (bethink.Ref.parse(f"message:{session.id}:1"),)
    assert await memory.local().marks().find_invalidated() == []
    with pytest.raises(NotFound):
        await memory.space("bob").remember("Hello.", session_id=session.id)


async def test_a_session_that_ended_remembers_nothing_more(memory: bethink.Memory, session: bethink.Session) -> None:
    await session.end()

    with pytest.raises(SessionEnded):
        await memory.space("alice").remember("Hello.", session_id=session.id)


async def test_a_repeated_key_names_what_is_stored_already_also_in_a_later_session(memory: bethink.Memory) -> None:
    first = await memory.space("alice").remember("Hello.", idempotency_key="evt-7")
    await (await memory.space("alice").get_session(first.session.id)).reset()
    again = await memory.space("alice").remember("Hello.", idempotency_key="evt-7")

    assert again.refs == first.refs
    with pytest.raises(Conflict):
        await memory.space("alice").remember("Something else.", idempotency_key="evt-7")


async def test_each_message_of_a_batch_gets_a_key_of_its_own(memory: bethink.Memory) -> None:
    talk = [*said("one", "two"), bethink.Message(role="user", content="three", idempotency_key="mine")]
    stored = await memory.space("alice").remember(talk, idempotency_key="k")

    session = await memory.space("alice").get_session(stored.session.id)
    keys = [record.message.idempotency_key for record in await session.read()]
    assert keys == ["k:0", "k:1", "mine"]
    assert (await memory.space("alice").remember(talk, idempotency_key="k")).refs == stored.refs


async def test_a_space_finds_what_was_said_in_it_and_nothing_else(memory: bethink.Memory) -> None:
    await memory.space("alice").remember("I live in Oslo.")

    assert (await memory.space("alice").recall("Oslo")).items
    assert not (await memory.space("bob").recall("Oslo")).items
    assert await memory.list_spaces() == ["alice"]
    for wrong in ("", "a\nb", "x" * 201):
        with pytest.raises(Invalid, match="a space"):
            memory.space(wrong)


async def test_sessions_come_in_pages_the_newest_first(memory: bethink.Memory) -> None:
    opened = [
        await memory.space("alice").session(bethink.conversation_key(channel="cli", chat=str(number)))
        for number in range(5)
    ]
    first = await memory.space("alice").sessions(limit=3)
    rest = await memory.space("alice").sessions(limit=3, before=first[-1].session.id)

    assert {each.session.id for each in [*first, *rest]} == {each.id for each in opened}
    ids = [each.session.id for each in [*first, *rest]]
    assert ids == sorted(ids, reverse=True)
    assert await memory.space("bob").sessions() == []


async def test_spaces_come_in_pages_by_name(memory: bethink.Memory) -> None:
    for name in ("carol", "alice", "bob"):
        await memory.space(name).remember("Hello.")

    assert await memory.list_spaces(limit=2) == ["alice", "bob"]
    assert await memory.list_spaces(limit=2, after="bob") == ["carol"]


async def test_a_space_that_holds_only_a_thread_or_a_summary_is_listed(memory: bethink.Memory) -> None:
    await memory.local().working("alice").open_thread("thread_one")
    await memory.local().history("bob").set_summary(KEY, "in short")

    assert await memory.list_spaces() == ["alice", "bob"]
    await memory.space("alice").forget(everything=True)
    assert await memory.list_spaces() == ["bob"]


Lister = Callable[[bethink.Memory, int], Awaitable[Sized]]
LISTERS: dict[str, Lister] = {
    "sessions": lambda memory, limit: memory.space("alice").sessions(limit=limit),
    "jobs": lambda memory, limit: memory.space("alice").jobs(limit=limit),
    "spaces": lambda memory, limit: memory.list_spaces(limit=limit),
    "shown": lambda memory, limit: memory.space("alice").shown(limit=limit),
    "threads": lambda memory, limit: memory.space("alice").threads.all(limit=limit),
    "facts": lambda memory, limit: memory.space("alice").facts.all(limit=limit),
    "search of facts": lambda memory, limit: memory.space("alice").facts.search("tea", limit=limit),
    "search of documents": lambda memory, limit: memory.space("alice").documents.search("tea", limit=limit),
    "change sets": lambda memory, limit: memory.space("alice").documents.changes(limit=limit),
}


@pytest.mark.parametrize("name", LISTERS)
async def test_a_limit_is_one_to_a_thousand_whatever_is_listed(memory: bethink.Memory, name: str) -> None:
    stored = await memory.space("alice").remember("I like tea.")
    await memory.space("alice").recall("tea", session_id=stored.session.id)
    await memory.space("alice").facts.save(bethink.Fact(id="tea", content="likes tea"))

    for wrong in (0, -1, 1_001, -(2**70), 2**70):
        with pytest.raises(Invalid, match="limit must be 1 to 1,000"):
            await LISTERS[name](memory, wrong)
    assert len(await LISTERS[name](memory, 1)) <= 1
    await LISTERS[name](memory, 1_000)


async def test_marks_are_listed_up_to_a_limit(memory: bethink.Memory) -> None:
    await memory.space("alice").remember("I like tea.")

    for wrong in (-1, -(2**70), 2**70):
        with pytest.raises(Invalid, match="limit"):
            await memory.local().marks().find_invalidated(wrong)
    assert await memory.local().marks().find_invalidated(0) == []
    assert len(await memory.local().marks().find_invalidated(1)) == 1


async def test_a_consolidation_can_be_promised_for_a_space_that_is_there(memory: bethink.Memory) -> None:
    await memory.space("alice").remember("Hello.")
    await memory.space("alice").consolidate()

    assert "consolidate" in {job.kind for job in await memory.space("alice").jobs()}
    with pytest.raises(NotFound):
        await memory.space("nobody").consolidate()


async def test_a_fact_is_read_by_its_id_and_facts_come_in_pages(memory: bethink.Memory) -> None:
    facts = memory.space("alice").facts
    for name in ("c", "a", "b"):
        await facts.save(bethink.Fact(id=name, content=f"fact {name}"))

    assert [each.id for each in await facts.all(limit=2)] == ["a", "b"]
    assert [each.id for each in await facts.all(limit=2, after="b")] == ["c"]
    assert (await facts.get("a")).content == "fact a"
    with pytest.raises(NotFound):
        await memory.space("bob").facts.get("a")


async def test_threads_come_in_pages(memory: bethink.Memory) -> None:
    threads = memory.space("alice").threads
    for name in ("thread_b", "thread_a", "thread_c"):
        await threads.open(name)

    assert [each.id for each in await threads.all(limit=2)] == ["thread_a", "thread_b"]
    assert [each.id for each in await threads.all(after="thread_b")] == ["thread_c"]
    assert await memory.space("bob").threads.all() == []


async def test_a_day_in_words_looks_back_to_its_end(memory: bethink.Memory, clock: FakeClock) -> None:
    clock.time = moment("2026-03-01T12:00:00")
    await memory.space("alice").remember("I live in Oslo.")
    clock.time = moment("2026-03-02T00:00:01")
    await memory.space("alice").remember("I live in Bergen.")

    then = await memory.space("alice").recall("Where do I live?", as_of="2026-03-01")
    assert [item.text for item in then.items if item.ref.kind == "message"] == ["I live in Oslo."]
    with pytest.raises(Invalid):
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
        with pytest.raises(Invalid):
            moment(wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(Invalid):
        bethink.Message(role="user", content="", said_at=7)  # pyright: ignore[reportArgumentType]


async def test_what_is_no_text_is_refused_where_one_is_asked_for(memory: bethink.Memory) -> None:
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
        with pytest.raises(Invalid, match=rf"{name} must be str\. It was int"):
            await call()
    with pytest.raises(Invalid, match="question must be str"):
        await alice.recall(cast("Any", None))
    for named in (lambda: memory.space(no), lambda: conversation_key(channel="c", chat=no)):
        with pytest.raises(Invalid, match=r"must be text, not int.*Pass a str"):
            named()


@pytest.mark.parametrize("nothing", ["", "   ", "\n\t"])
async def test_an_empty_text_is_not_remembered_and_an_empty_message_is(memory: bethink.Memory, nothing: str) -> None:
    with pytest.raises(Invalid, match=r"text is empty.*Pass a text"):
        await memory.space("alice").remember(nothing)

    assert len((await memory.space("alice").remember([{"role": "user", "content": nothing}])).refs) == 1


async def test_what_is_no_message_is_refused(memory: bethink.Memory) -> None:
    for wrong in (["a text"], [None], [["role", "user"]], [{"role": "user"}], [7]):
        with pytest.raises(Invalid):
            await memory.space("alice").remember(wrong)  # pyright: ignore[reportArgumentType]
