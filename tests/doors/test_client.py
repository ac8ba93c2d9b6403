import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import bethink
import bethink.sync
from bethink import Client, ConversationKey, Fact, Memory, Message
from bethink.errors import Conflict, Denied, Invalid, Misconfigured, NotFound, SessionEnded, Stale
from bethink.model.documents import Draft
from bethink.model.moments import from_micros
from bethink.model.recall import RefKind
from bethink.model.records import FactKind
from bethink.model.working import Event, EventType, Mode
from tests.conftest import KEY
from tests.doors.client_kit import Served, connected, serving


@pytest.fixture
def served(target: str) -> Iterator[Served]:
    with serving(target) as server:
        yield server


@pytest.fixture
async def client(served: Served) -> AsyncIterator[Client]:
    async with Client(served.url, key=served.key) as opened:
        yield opened


@pytest.fixture
async def beside(target: str, served: Served) -> AsyncIterator[Memory]:
    """The same database, by the library."""
    async with connected(target) as memory:
        yield memory


async def test_what_is_remembered_through_the_client_is_what_the_library_finds(client: Client, beside: Memory) -> None:
    stored = await client.remember("Anna plays the cello on Fridays", user_id="alice")

    assert await beside.get_session(space="alice", session_id=stored.session.id) == stored.session
    [record] = await beside.read(stored.session)
    assert record.message.content == "Anna plays the cello on Fridays"
    assert await client.read(stored.session) == [record]
    recalled = await client.recall("Who plays the cello?", space="alice", explain=True)
    assert recalled == await beside.recall("Who plays the cello?", space="alice", explain=True)
    assert recalled.items[0].ref == stored.refs[0]
    assert recalled.candidates


async def test_an_address_that_is_not_the_servers_own_is_misconfigured(served: Served) -> None:
    async with Client(f"{served.url}/v1", key=served.key, retries=0) as lost:
        with pytest.raises(Misconfigured) as wrong:
            await lost.recall("Who plays the cello?", space="alice")
        with pytest.raises(Misconfigured):
            await lost.remember("Anna plays the cello", space="alice")

    assert "without /v1" in wrong.value.hint


async def test_who_sends_far_too_much_hears_why_it_was_refused(client: Client) -> None:
    with pytest.raises(Invalid, match="Bytes of a body"):
        await client.facts(space="alice").index(Fact(id="long", content="x" * 7_500_000), expected=1)


async def test_a_conversation_goes_by_a_plain_name(client: Client, beside: Memory) -> None:
    session = await client.open_session(space="alice", conversation="hello")
    stored = await client.remember("The mat is blue.", space="alice", conversation="hello")

    assert stored.session.id == session.id
    assert [entry.conversation for entry in await client.sessions(space="alice")] == ["hello"]
    assert (await beside.open_session(space="alice", conversation="hello")).id == session.id
    with pytest.raises(Invalid, match="cannot name a conversation"):
        await client.open_session(space="alice", conversation="")
    assert (await client.forget(space="alice", conversation="hello")).messages == 1


async def test_a_message_travels_with_everything_it_says(client: Client, beside: Memory) -> None:
    message = Message(
        role="tool",
        name="search",
        content="„Käse“ 🧀 \ud800 \0",
        tool_calls=[{"id": "c1", "arguments": {"deep": [1, 2.5, None]}}],
        tool_call_id="c1",
        is_error=True,
        metadata={"shop": "märkt"},
        origin="document",
        idempotency_key="mine",
        trace_parent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        said_at=from_micros(1_700_000_000_000_000),
    )
    session = await client.open_session(space="alice", conversation=KEY, agent="scout")
    other = await beside.open_session(space="bob", conversation=KEY)

    assert await client.append(session, [message, {"role": "assistant", "content": None}]) == [1, 2]
    await beside.append(other, [message])

    first, second = await client.read(session)
    assert [first.message] == [record.message for record in await beside.read(other)]
    assert second.message.content == ""
    assert second.message.idempotency_key is not None


async def test_a_name_arrives_as_it_was_given(client: Client, beside: Memory) -> None:
    for name in ("..", ".", "ä %2e", "a?b#c&d=e"):
        assert (await client.remember("tea", space=name)).session.space == name
        await client.facts(space=name).index(Fact(id=name, content="tea"))
        assert await client.facts(space=name).get(name) == await beside.facts(space=name).get(name)


async def test_what_was_sent_twice_is_there_once(client: Client) -> None:
    session = await client.open_session(space="alice", conversation=KEY)
    stored = await client.remember("tea", space="alice", session=session, idempotency_key="käse 1")

    assert (await client.remember("tea", session=session, idempotency_key="käse 1")).refs == stored.refs
    assert [record.message.idempotency_key for record in await client.read(session)] == ["käse 1:0"]


async def test_a_session_is_led_through_its_life(client: Client, beside: Memory) -> None:
    session = await client.open_session(space="alice", conversation=KEY, kind=bethink.AgentKind.SUBAGENT)
    assert session == await beside.get_session(space="alice", session_id=session.id)
    assert not await client.end_turn(session)
    assert not await client.idle(session)
    assert not await client.retry(session)
    following = await client.reset(session, emergency=True)
    assert (await client.get_session(space="alice", session_id=session.id)) == await beside.get_session(
        space="alice", session_id=session.id
    )
    last = await client.compacted(following)
    ended = await client.end_session(last)

    assert ended.end_reason == "closed"
    assert [entry.session.id for entry in await client.sessions(space="alice")] == [last.id, following.id, session.id]
    assert await client.sessions(space="alice", before=last.id, limit=1) == await beside.sessions(
        space="alice", before=last.id, limit=1
    )
    assert await client.session_memory(session) is None
    with pytest.raises(SessionEnded) as refused:
        await client.append(ended, [{"role": "user", "content": "late"}])
    assert refused.value.hint == SessionEnded.default_hint


async def test_a_long_session_is_read_page_by_page(client: Client) -> None:
    session = await client.open_session(space="alice", conversation=KEY)
    for hundred in range(5):
        await client.append(session, [{"role": "user", "content": f"{hundred} {each}"} for each in range(100)])

    assert [record.number for record in await client.read(session)] == list(range(1, 501))
    assert [record.number for record in await client.read(session, after=40, limit=250)] == list(range(41, 291))
    assert await client.read(session, after=500) == []


async def test_what_was_shown_used_and_cited_is_told(client: Client, beside: Memory) -> None:
    stored = await client.remember("The cello is in the attic", space="alice")
    session = stored.session
    block = await client.context(space="alice", question="cello", session=session)
    recalled = await client.recall("cello", space="alice", session=session)

    assert block.text
    assert block == await beside.context(space="alice", question="cello")
    assert await client.shown(space="alice", session=session) == await beside.shown(space="alice", session=session)
    assert len(await client.shown(space="alice", session=session)) == 2
    assert await client.used(stored.refs, space="alice") == await beside.used(stored.refs, space="alice") == 1
    assert await client.cited(f"It is in the attic [{recalled.items[0].label}].", session=session)
    lineage = await client.explain(stored.refs[0], space="alice")
    assert lineage == await beside.explain(str(stored.refs[0]), space="alice")
    assert lineage.usage is not None


async def test_memory_as_of_a_day_is_the_same_through_both(client: Client, beside: Memory) -> None:
    await client.remember("The cello is in the attic", space="alice")

    for when in ("2020-01-01", "2100-01-01T00:00:00+01:00", datetime(2096, 10, 2, 7, 6, 40, tzinfo=UTC)):
        asked: dict[str, Any] = {
            "space": "alice",
            "as_of": when,
            "kinds": [RefKind.MESSAGE],
            "origins": ["user"],
            "budget": 100,
        }
        assert await client.recall("cello", **asked) == await beside.recall("cello", **asked)
    assert not await client.recall("cello", space="alice", as_of="2020-01-01")


async def test_forgetting_counts_first_and_then_forgets(client: Client, beside: Memory) -> None:
    stored = await client.remember("tea", space="alice")
    await client.remember("coffee", space="alice", conversation=ConversationKey(channel="c", chat="a:b%"))

    counted = await client.forget(space="alice", everything=True, dry_run=True)
    assert counted == await beside.forget(space="alice", everything=True, dry_run=True)
    assert counted.messages == 2
    assert (await client.forget(stored.refs[0], space="alice")).messages == 1
    key = ConversationKey(channel="c", chat="a:b%")
    assert (await client.forget(space="alice", conversation=key)).messages == 1
    with pytest.raises(NotFound):
        await client.explain(stored.refs[0], space="alice")


async def test_facts_are_written_and_read_alike(client: Client, beside: Memory) -> None:
    facts, local = client.facts(space="alice"), beside.facts(space="alice")
    for name in ("f1", "f2", "f3"):
        await facts.index(
            Fact(id=name, content=f"tea {name}", tags=("drink",), metadata={"k": "v"}, kind=FactKind.DECISION)
        )
    await facts.index(Fact(id="f1", content="tea again"))

    assert facts.space == "alice"
    assert await facts.get("f1") == await local.get("f1")
    assert await facts.all() == await local.all()
    assert [fact.id for fact in await facts.all(after="f1", limit=1)] == ["f2"]
    assert await facts.search("tea", 2) == await local.search("tea", 2)
    assert [fact.version for fact in await facts.versions("f1")] == [1, 2]
    assert await facts.sources("f1") == []
    await facts.delete("f2")
    with pytest.raises(NotFound):
        await facts.get("f2")


async def test_documents_are_written_and_read_alike(client: Client, beside: Memory) -> None:
    tree, local = client.documents(space="alice"), beside.documents(space="alice")
    top = await tree.create(Draft(slug="memory", title="Memory", body="All."), document_id="top")
    assert top is not None
    child = await tree.create(Draft(slug="people", title="People", parent="top", body="Anna", links=("top",)))
    assert child is not None
    await tree.update("top", Draft(slug="memory", title="Memory", body="More."), expected=1)

    with pytest.raises(Stale) as stale:
        await tree.update("top", Draft(slug="memory", title="Memory", body="Late."), expected=1)
    assert stale.value.current == 2
    assert await tree.tree() == await local.tree()
    assert await tree.find("~/memory/people") == await local.find("~/memory/people") == await tree.get(child.id)
    assert await tree.find("~/nowhere") is None
    assert await tree.find("people") is None
    assert await tree.children("top") == await local.children("top")
    assert await tree.history("top") == await local.history("top")
    assert await tree.diff("top", 1, 2) == await local.diff("top", 1, 2)
    assert await tree.sources("top", 1) == []
    assert await tree.search("Anna", 3) == await local.search("Anna", 3)
    assert await tree.files() == await local.files()
    assert await tree.change_sets() == []
    await tree.redact("top", 1)
    await tree.delete(child.id, expected=1)
    assert await tree.restore(child.id, 1, expected=None) == await local.get(child.id)
    for settle in (tree.approve, tree.reject, tree.undo):
        with pytest.raises(NotFound):
            await settle("no run")


async def test_working_memory_is_stepped_through_alike(client: Client, beside: Memory) -> None:
    desk, local = client.desk(space="alice"), beside.desk(space="alice")
    thread = await desk.open_thread(mode=Mode.STEPPING)
    queued = await desk.dispatch(thread.id, Event(type=EventType.USER_MESSAGE, payload={"text": "tea"}))
    assert queued.processed == ()
    stepped = await desk.step(thread.id)
    assert stepped.event_processed
    assert stepped.dispatch_result is not None
    assert stepped.dispatch_result.added_chunks

    assert await desk.get_thread(thread.id) == await local.get_thread(thread.id)
    assert (await desk.current_state(thread.id)).chunks == (await local.current_state(thread.id)).chunks
    assert await desk.history(thread.id) == [
        replace(info, operations=tuple(info.operations)) for info in await local.history(thread.id)
    ]
    assert await desk.diff(thread.id, 0, 1) == await local.diff(thread.id, 0, 1)
    assert await desk.prompt(thread.id, budget=100) == await local.prompt(thread.id, budget=100)
    fork = await desk.fork(thread.id, at=1, into="copy")
    assert await desk.threads(after="") == await local.threads()
    assert await desk.get_mode(thread.id) is Mode.STEPPING
    assert (await desk.set_mode(thread.id, Mode.AUTO)).thread.mode is Mode.AUTO
    with pytest.raises(Conflict):
        await desk.step(thread.id)
    assert not await desk.has_pending_compaction(thread.id)
    assert not await desk.has_pending_truncation(thread.id)
    await desk.delete_thread(fork.id)
    with pytest.raises(NotFound):
        await desk.get_thread(fork.id)


async def test_the_service_itself_is_seen_alike(client: Client, beside: Memory) -> None:
    for name in ("alice", "bob", "carol"):
        await client.remember("tea is nice in the morning", space=name)
    await client.consolidate(space="alice")

    assert await client.spaces() == ["alice", "bob", "carol"]
    assert await client.spaces(after="alice", limit=1) == ["bob"]
    assert await client.audit() == await beside.audit()
    assert await client.jobs(space="alice") == await beside.jobs(space="alice") != []
    report = await client.learn()
    assert report.claimed == sum(report.outcomes.values())
    assert await client.audit() == await beside.audit()


async def test_keys_are_made_rotated_and_revoked(client: Client, beside: Memory, served: Served) -> None:
    access = client.access()
    made = await access.create(name="reader", scopes=["read"], spaces=["alice"])
    assert await access.list() == await beside.access().list()
    await client.remember("tea", space="alice")

    async with Client(served.url, key=made.key) as reader:
        assert await reader.recall("tea", space="alice")
        with pytest.raises(Denied):
            await reader.remember("coffee", space="alice")
        with pytest.raises(NotFound):
            await reader.recall("tea", space="bob")
        with pytest.raises(Denied):
            await reader.spaces()
    again = await access.rotate(made.info.prefix, overlap=0)
    assert again.info.spaces == {"alice"}
    await access.revoke(again.info.prefix)
    async with Client(served.url, key=again.key) as reader:
        with pytest.raises(Denied):
            await reader.recall("tea", space="alice")


async def test_what_cannot_be_is_refused_as_the_library_refuses_it(client: Client, beside: Memory) -> None:
    stored = await client.remember("tea", space="alice")
    for memory in (client, beside):
        with pytest.raises(Invalid):
            await memory.recall("tea")
        with pytest.raises(Invalid):
            await memory.recall("tea", space="alice", user_id="bob")
        with pytest.raises(Invalid):
            await memory.recall("tea", space="bob", session=stored.session)
        with pytest.raises(Invalid):
            await memory.recall("tea", space="alice", as_of="yesterday")
        with pytest.raises(Invalid):
            await memory.forget(space="alice")
        with pytest.raises(Invalid):
            await memory.append(stored.session, [{"role": "nobody", "content": "x"}])
        with pytest.raises(Invalid):
            await memory.append(stored.session, [{"role": "user", "content": "x", "metadata": {"n": float("nan")}}])
        with pytest.raises(NotFound):
            await memory.get_session(space="alice", session_id="ses_none")


def test_the_blocking_client_does_what_the_other_does(served: Served) -> None:
    with bethink.sync.Client(served.url, key=served.key) as client:
        stored = client.remember("Anna plays the cello", space="alice")
        assert client.recall("cello", space="alice").items[0].ref == stored.refs[0]
        client.facts(space="alice").index(Fact(id="f", content="tea"))
        assert [fact.id for fact in client.facts(space="alice").all()] == ["f"]
        assert client.documents(space="alice").tree() == {}
        assert client.desk(space="alice").open_thread("t").id == "t"
        assert "tests" in {info.name for info in client.access().list()}


def test_the_snippet_of_the_page_does_the_same_with_a_server(served: Served, tmp_path: Path) -> None:
    environ = {**os.environ, "MEMORY_URL": served.url, "MEMORY_KEY": served.key}
    snippet = Path(__file__).parents[2] / "docs_src" / "client.py"
    folder = tmp_path / "empty"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, str(snippet)], cwd=folder, env=environ, capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[1:] == ["Anna plays the cello on Fridays", "user"]
    assert not list(folder.iterdir())
