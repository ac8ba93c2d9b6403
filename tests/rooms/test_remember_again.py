"""Storing the same messages again stores nothing and opens no session."""

import bethink
from bethink import Memory, Message
from tests.conftest import said


async def test_remember_with_same_key_after_end_opens_no_session(memory: Memory) -> None:
    alice = memory.space("alice")
    first = await alice.remember("The key is under the mat.", conversation="home", idempotency_key="k")
    await (await alice.sessions.get(first.session.id)).end()

    again = await alice.remember("The key is under the mat.", conversation="home", idempotency_key="k")

    assert (again.session.id, again.refs) == (first.session.id, first.refs)
    assert [entry.session.id for entry in await alice.sessions.list()] == [first.session.id]


async def test_remember_with_same_key_returns_the_older_session(memory: Memory) -> None:
    alice = memory.space("alice")
    first = await alice.remember(said("a", "b"), conversation="home", idempotency_key="k")
    await (await alice.sessions.get(first.session.id)).restart()

    again = await alice.remember(said("a", "b"), conversation="home", idempotency_key="k")

    assert (again.session.id, again.refs) == (first.session.id, first.refs)


async def test_partly_stored_batch_continues_in_a_new_session(memory: Memory) -> None:
    alice = memory.space("alice")
    first = await alice.remember(said("a"), conversation="home", idempotency_key="k")
    await (await alice.sessions.get(first.session.id)).end()

    more = await alice.remember(said("a", "b"), conversation="home", idempotency_key="k")

    assert more.refs[0] == first.refs[0]
    assert more.refs[1].id == more.session.id != first.session.id


async def test_a_history_appends_a_message_once_even_after_the_session_ended(memory: Memory) -> None:
    alice, history = memory.space("alice"), memory.backend.local().history("alice")
    message = Message(role="user", content="a", idempotency_key="k")
    number = await history.append("home", message)
    [entry] = await alice.sessions.list()
    await bethink.Session(memory.backend, entry.session).end()

    assert await history.append("home", message) == number
    assert len(await alice.sessions.list()) == 1
