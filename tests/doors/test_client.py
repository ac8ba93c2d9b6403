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
from bethink import Client, Fact, Memory, Message, conversation_key
from bethink.errors import Conflict, Denied, Invalid, Misconfigured, NotFound, SessionEnded, Stale
from bethink.model.documents import DocumentDraft
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
    stored = await client.space("alice").remember("Anna plays the cello on Fridays")

    assert await beside.space("alice").get_session(session_id=stored.session.id) == stored.session
    [record] = await stored.session.read()
    assert record.message.content == "Anna plays the cello on Fridays"
    assert await stored.session.read() == [record]
    recalled = await client.space("alice").recall("Who plays the cello?", explain=True)
    assert recalled == await beside.space("alice").recall("Who plays the cello?", explain=True)
    assert recalled.items[0].ref == stored.refs[0]
    assert recalled.candidates


async def test_an_address_that_is_not_the_servers_own_is_misconfigured(served: Served) -> None:
    async with Client(f"{served.url}/v1", key=served.key, retries=0) as lost:
        with pytest.raises(Misconfigured) as wrong:
            await lost.space("alice").recall("Who plays the cello?")
        with pytest.raises(Misconfigured):
            await lost.space("alice").remember("Anna plays the cello")

    assert "without /v1" in wrong.value.hint


async def test_who_sends_far_too_much_hears_why_it_was_refused(client: Client) -> None:
    with pytest.raises(Invalid, match="Bytes of a body"):
        await client.space("alice").facts.save(Fact(id="long", content="x" * 7_500_000), expected=1)


async def test_a_conversation_goes_by_a_plain_name(client: Client, beside: Memory) -> None:
    session = await client.space("alice").session("hello")
    stored = await client.space("alice").remember("The mat is blue.", conversation="hello")

    assert stored.session.id == session.id
    assert [entry.conversation for entry in await client.space("alice").sessions()] == ["hello"]
    assert (await beside.space("alice").session("hello")).id == session.id
    with pytest.raises(Invalid, match="cannot name a conversation"):
        await client.space("alice").session("")
    assert (await client.space("alice").forget(conversation="hello")).messages == 1


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
    session = await client.space("alice").session(KEY, agent="scout")
    other = await beside.space("bob").session(KEY)

    assert await session.append([message, {"role": "assistant", "content": None}]) == [1, 2]
    await other.append([message])

    first, second = await session.read()
    assert [first.message] == [record.message for record in await other.read()]
    assert second.message.content == ""
    assert second.message.idempotency_key is not None


async def test_a_name_arrives_as_it_was_given(client: Client, beside: Memory) -> None:
    for name in ("..", ".", "ä %2e", "a?b#c&d=e"):
        assert (await client.space(name).remember("tea")).session.space == name
        await client.space(name).facts.save(Fact(id=name, content="tea"))
        assert await client.space(name).facts.get(name) == await beside.space(name).facts.get(name)


async def test_what_was_sent_twice_is_there_once(client: Client) -> None:
    session = await client.space("alice").session(KEY)
    stored = await client.space("alice").remember("tea", session_id=session.id, idempotency_key="käse 1")

    assert (await client.remember("tea", session=session, idempotency_key="käse 1")).refs == stored.refs
    assert [record.message.idempotency_key for record in await session.read()] == ["käse 1:0"]


async def test_a_session_is_led_through_its_life(client: Client, beside: Memory) -> None:
    session = await client.space("alice").session(KEY, kind=bethink.AgentKind.SUBAGENT)
    assert session == await beside.space("alice").get_session(session_id=session.id)
    assert not await session.end_turn()
    assert not await session.idle()
    assert not await session.retry()
    following = await session.reset(emergency=True)
    assert (await client.space("alice").get_session(session_id=session.id)) == await beside.space("alice").get_session(
        session_id=session.id
    )
    last = await following.compacted()
    ended = await last.end()

    assert ended.end_reason == "closed"
    assert [entry.session.id for entry in await client.space("alice").sessions()] == [last.id, following.id, session.id]
    assert await client.space("alice").sessions(before=last.id, limit=1) == await beside.space("alice").sessions(
        before=last.id, limit=1
    )
    assert await session.summary() is None
    with pytest.raises(SessionEnded) as refused:
        await ended.append([{"role": "user", "content": "late"}])
    assert refused.value.hint == SessionEnded.default_hint


async def test_a_long_session_is_read_page_by_page(client: Client) -> None:
    session = await client.space("alice").session(KEY)
    for hundred in range(5):
        await session.append([{"role": "user", "content": f"{hundred} {each}"} for each in range(100)])

    assert [record.number for record in await session.read()] == list(range(1, 501))
    assert [record.number for record in await session.read(after=40, limit=250)] == list(range(41, 291))
    assert await session.read(after=500) == []


async def test_what_was_shown_used_and_cited_is_told(client: Client, beside: Memory) -> None:
    stored = await client.space("alice").remember("The cello is in the attic")
    session = stored.session
    block = await client.space("alice").context(question="cello", session_id=session.id)
    recalled = await client.space("alice").recall("cello", session_id=session.id)

    assert block.text
    assert block == await beside.space("alice").context(question="cello")
    assert await client.space("alice").shown(session_id=session.id) == await beside.space("alice").shown(
        session_id=session.id
    )
    assert len(await client.space("alice").shown(session_id=session.id)) == 2
    assert await client.space("alice").used(stored.refs) == await beside.space("alice").used(stored.refs) == 1
    assert await session.cited(f"It is in the attic [{recalled.items[0].label}].")
    lineage = await client.space("alice").explain(stored.refs[0])
    assert lineage == await beside.space("alice").explain(str(stored.refs[0]))
    assert lineage.usage is not None


async def test_memory_as_of_a_day_is_the_same_through_both(client: Client, beside: Memory) -> None:
    await client.space("alice").remember("The cello is in the attic")

    for when in ("2020-01-01", "2100-01-01T00:00:00+01:00", datetime(2096, 10, 2, 7, 6, 40, tzinfo=UTC)):
        asked: dict[str, Any] = {
            "space": "alice",
            "as_of": when,
            "kinds": [RefKind.MESSAGE],
            "origins": ["user"],
            "budget": 100,
        }
        assert await client.recall("cello", **asked) == await beside.recall("cello", **asked)
    assert not await client.space("alice").recall("cello", as_of="2020-01-01")


async def test_forgetting_counts_first_and_then_forgets(client: Client, beside: Memory) -> None:
    stored = await client.space("alice").remember("tea")
    await client.space("alice").remember("coffee", conversation=conversation_key(channel="c", chat="a:b%"))

    counted = await client.space("alice").forget(everything=True, dry_run=True)
    assert counted == await beside.space("alice").forget(everything=True, dry_run=True)
    assert counted.messages == 2
    assert (await client.space("alice").forget(stored.refs[0])).messages == 1
    key = conversation_key(channel="c", chat="a:b%")
    assert (await client.space("alice").forget(conversation=key)).messages == 1
    with pytest.raises(NotFound):
        await client.space("alice").explain(stored.refs[0])


async def test_facts_are_written_and_read_alike(client: Client, beside: Memory) -> None:
    facts, local = client.space("alice").facts, beside.space("alice").facts
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
    tree, local = client.space("alice").documents, beside.space("alice").documents
    top = await tree.create(DocumentDraft(slug="memory", title="Memory", body="All."), document_id="top")
    assert top is not None
    child = await tree.create(DocumentDraft(slug="people", title="People", parent="top", body="Anna", links=("top",)))
    assert child is not None
    await tree.update("top", DocumentDraft(slug="memory", title="Memory", body="More."), expected=1)

    with pytest.raises(Stale) as stale:
        await tree.update("top", DocumentDraft(slug="memory", title="Memory", body="Late."), expected=1)
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
    desk, local = client.local().working("alice"), beside.local().working("alice")
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
        await client.space(name).remember("tea is nice in the morning")
    await client.space("alice").consolidate()

    assert await client.spaces() == ["alice", "bob", "carol"]
    assert await client.spaces(after="alice", limit=1) == ["bob"]
    assert await client.audit() == await beside.audit()
    assert await client.space("alice").jobs() == await beside.space("alice").jobs() != []
    report = await client.learn()
    assert report.claimed == sum(report.outcomes.values())
    assert await client.audit() == await beside.audit()


async def test_keys_are_made_rotated_and_revoked(client: Client, beside: Memory, served: Served) -> None:
    access = client.keys
    made = await access.create(name="reader", scopes=["read"], spaces=["alice"])
    assert await access.list() == await beside.keys.list()
    await client.space("alice").remember("tea")

    async with Client(served.url, key=made.key) as reader:
        assert await reader.space("alice").recall("tea")
        with pytest.raises(Denied):
            await reader.space("alice").remember("coffee")
        with pytest.raises(NotFound):
            await reader.space("bob").recall("tea")
        with pytest.raises(Denied):
            await reader.spaces()
    again = await access.rotate(made.info.prefix, overlap=0)
    assert again.info.spaces == {"alice"}
    await access.revoke(again.info.prefix)
    async with Client(served.url, key=again.key) as reader:
        with pytest.raises(Denied):
            await reader.space("alice").recall("tea")


async def test_what_cannot_be_is_refused_as_the_library_refuses_it(client: Client, beside: Memory) -> None:
    stored = await client.space("alice").remember("tea")
    for memory in (client, beside):
        with pytest.raises(Invalid):
            await memory.recall("tea")
        with pytest.raises(Invalid):
            await memory.space("alice").recall("tea")
        with pytest.raises(Invalid):
            await memory.space("bob").recall("tea", session_id=stored.session.id)
        with pytest.raises(Invalid):
            await memory.space("alice").recall("tea", as_of="yesterday")
        with pytest.raises(Invalid):
            await memory.space("alice").forget()
        with pytest.raises(Invalid):
            await stored.session.append([{"role": "nobody", "content": "x"}])
        with pytest.raises(Invalid):
            await stored.session.append([{"role": "user", "content": "x", "metadata": {"n": float("nan")}}])
        with pytest.raises(NotFound):
            await memory.space("alice").get_session(session_id="ses_none")


def test_the_blocking_client_does_what_the_other_does(served: Served) -> None:
    with bethink.sync.Client(served.url, key=served.key) as client:
        stored = client.space("alice").remember("Anna plays the cello")
        assert client.space("alice").recall("cello").items[0].ref == stored.refs[0]
        client.space("alice").facts.save(Fact(id="f", content="tea"))
        assert [fact.id for fact in client.space("alice").facts.list()] == ["f"]
        assert client.space("alice").documents.tree() == {}
        assert client.local().working("alice").open_thread("t").id == "t"
        assert "tests" in {info.name for info in client.keys.list()}


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
