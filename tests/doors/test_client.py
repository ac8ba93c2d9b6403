"""One API for a file, a database and a server: the same tests run in this process and over HTTP."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import bethink
import bethink.sync
import bethink.types
from bethink import Fact, Memory, Message, Space
from bethink.errors import (
    ConfigurationError,
    ConflictError,
    DuplicateError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    SessionEndedError,
    VersionConflictError,
)
from bethink.model.access import Scope
from bethink.model.documents import Author, DocumentDraft, Provenance
from bethink.model.moments import from_micros
from bethink.model.records import conversation_key
from bethink.model.working import Event, EventType, Mode
from bethink.types import FactKind, RefKind
from tests.conftest import KEY
from tests.doors.client_kit import Served, client_of, connected, serving


@pytest.fixture
def served(target: str) -> Iterator[Served]:
    with serving(target) as server:
        yield server


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, target: str) -> Served:
    """What `connect` takes: a database in this process, then a server on it, with its key."""
    return Served(url=target, key="") if request.param == "file" else request.getfixturevalue("served")


@pytest.fixture
async def memory(place: Served) -> AsyncIterator[Memory]:
    """The same handles, whichever it is."""
    async with connected(place.url, key=place.key) as opened:
        yield opened


@pytest.fixture
def alice(memory: Memory) -> Space:
    return memory.space("alice")


@pytest.fixture
async def beside(target: str, memory: Memory) -> AsyncIterator[Memory]:
    """The same database, opened once more in this process."""
    async with connected(target) as opened:
        yield opened


@pytest.fixture
def hers(beside: Memory) -> Space:
    """The space of Alice, by the other way."""
    return beside.space("alice")


async def test_client_writes_are_visible_in_the_database(alice: Space, hers: Space) -> None:
    stored = await alice.remember("Anna plays the cello on Fridays")
    session = await alice.sessions.get(stored.session.id)

    assert session.info == (await hers.sessions.get(session.id)).info
    [record] = await session.messages()
    assert record.message.content == "Anna plays the cello on Fridays"
    assert await (await hers.sessions.get(session.id)).messages() == [record]
    recalled = await alice.recall("Who plays the cello?", explain=True)
    assert recalled == await hers.recall("Who plays the cello?", explain=True)
    assert recalled.items[0].ref == stored.refs[0]
    assert recalled.candidates


async def test_conversation_has_a_plain_name(alice: Space, hers: Space) -> None:
    session = await alice.session("hello")
    stored = await alice.remember("The mat is blue.", conversation="hello")

    assert stored.session.id == session.id
    assert [entry.conversation for entry in await alice.sessions.list()] == ["hello"]
    assert (await hers.session("hello")).id == session.id
    with pytest.raises(InvalidRequestError, match="conversation must be"):
        await alice.session("")
    assert (await alice.forget(conversation="hello")).messages == 1


async def test_message_is_transferred_completely(alice: Space, beside: Memory) -> None:
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
    session = await alice.session(KEY, agent="scout")
    other = await beside.space("bob").session(KEY)

    assert await session.append([message, {"role": "assistant", "content": None}]) == [1, 2]
    await other.append([message])

    first, second = await session.messages()
    assert [first.message] == [record.message for record in await other.messages()]
    assert second.message.content == ""


async def test_names_arrive_unchanged(memory: Memory, beside: Memory) -> None:
    for name in ("..", ".", "ä %2e", "a?b#c&d=e", "a/b"):
        assert (await memory.space(name).remember("tea")).session.space == name
        await memory.space(name).facts.save(Fact(id=name, text="tea"))
        assert await memory.space(name).facts.get(name) == await beside.space(name).facts.get(name)


async def test_repeated_remember_is_stored_once(alice: Space) -> None:
    session = await alice.session(KEY)
    stored = await alice.remember("tea", session_id=session.id, idempotency_key="käse 1")

    assert (await alice.remember("tea", session_id=session.id, idempotency_key="käse 1")).refs == stored.refs
    assert [record.message.idempotency_key for record in await session.messages()] == ["käse 1:0"]


async def test_a_session_is_led_through_its_life(alice: Space, hers: Space) -> None:
    session = await alice.session(KEY, kind=bethink.types.AgentKind.SUBAGENT)
    assert session.info == (await hers.sessions.get(session.id)).info
    assert not await session.checkpoint()
    assert not await session.checkpoint(force=True)
    assert not await alice.sessions.relearn(session.id)
    following = await session.restart("emergency")
    assert (await alice.sessions.get(session.id)).info == (await hers.sessions.get(session.id)).info
    last = await following.restart("compaction")
    ended = await last.end()

    assert ended.info.end_reason == "closed"
    assert [entry.session.id for entry in await alice.sessions.list()] == [last.id, following.id, session.id]
    assert await alice.sessions.list(after=last.id, limit=1) == await hers.sessions.list(after=last.id, limit=1)
    assert await session.summary() is None
    with pytest.raises(SessionEndedError) as refused:
        await ended.append([{"role": "user", "content": "late"}])
    assert refused.value.hint == SessionEndedError.default_hint
    assert (await session.forget(dry_run=True)).messages == 0


async def test_a_long_session_is_read_page_by_page(alice: Space) -> None:
    session = await alice.session(KEY)
    for hundred in range(5):
        await session.append([{"role": "user", "content": f"{hundred} {each}"} for each in range(100)])

    assert [record.number for record in await session.messages()] == list(range(1, 501))
    assert [record.number for record in await session.messages(after=40, limit=250)] == list(range(41, 291))
    assert await session.messages(after=500) == []


async def test_client_reports_shown_used_and_cited_items(alice: Space, hers: Space) -> None:
    stored = await alice.remember("The cello is in the attic")
    session = await alice.sessions.get(stored.session.id)
    block = await session.context("cello")
    recalled = await session.recall("cello")

    assert block.text
    assert block == await hers.context("cello")
    assert await alice.admin.context_log.list(session_id=session.id) == await hers.admin.context_log.list(
        session_id=session.id
    )
    assert len(await alice.admin.context_log.list(session_id=session.id)) == 2
    assert (
        await alice.admin.context_log.mark_used(stored.refs) == await hers.admin.context_log.mark_used(stored.refs) == 1
    )
    assert await session.strip_citations(f"It is in the attic [{recalled.items[0].label}].")
    lineage = await alice.explain(stored.refs[0])
    assert lineage == await hers.explain(str(stored.refs[0]))
    assert lineage.usage is not None


async def test_memory_as_of_a_day_is_the_same_through_both(alice: Space, hers: Space) -> None:
    await alice.remember("The cello is in the attic")

    for when in ("2020-01-01", "2100-01-01T00:00:00+01:00", datetime(2096, 10, 2, 7, 6, 40, tzinfo=UTC)):
        found, other = [
            await each.recall("cello", as_of=when, kinds=[RefKind.MESSAGE], origin=["user"], budget=100)
            for each in (alice, hers)
        ]
        assert found == other
    assert not await alice.recall("cello", as_of="2020-01-01")


async def test_forgetting_counts_first_and_then_forgets(alice: Space, hers: Space) -> None:
    stored = await alice.remember("tea")
    key = conversation_key(channel="c", chat="a:b%")
    await alice.remember("coffee", conversation=key)

    counted = await alice.forget(everything=True, dry_run=True)
    assert counted == await hers.forget(everything=True, dry_run=True)
    assert counted.messages == 2
    assert (await alice.forget(stored.refs[0])).messages == 1
    assert (await alice.forget(conversation=key)).messages == 1
    with pytest.raises(NotFoundError):
        await alice.explain(stored.refs[0])


async def test_facts_behave_the_same_on_a_client(alice: Space, hers: Space) -> None:
    facts, local = alice.facts, hers.facts
    for name in ("f1", "f2", "f3"):
        await facts.save(
            Fact(id=name, text=f"tea {name}", tags=("drink",), metadata={"k": "v"}, kind=FactKind.DECISION)
        )
    again = await facts.save(Fact(id="f1", text="tea again"))

    assert again == await facts.get("f1") == await local.get("f1")
    assert again.version == 2
    assert await facts.list() == await local.list()
    assert [fact.id for fact in await facts.list(after="f1", limit=1)] == ["f2"]
    assert await facts.search("tea", limit=2) == await local.search("tea", limit=2)
    assert [fact.id for fact in await facts.list(where={"k": "v"})] == ["f2", "f3"]
    assert await facts.count() == 3
    assert await facts.versions("f1") == await local.versions("f1")
    assert len(await facts.versions("f1")) == 2
    assert await facts.sources("f1") == []
    with pytest.raises(VersionConflictError) as stale:
        await facts.save(Fact(id="f1", text="late"), if_version=1)
    assert stale.value.current == 2
    assert (await alice.forget("fact:f2:0")).facts == 1
    with pytest.raises(NotFoundError):
        await facts.get("f2")


async def test_documents_behave_the_same_on_a_client(alice: Space, hers: Space) -> None:
    tree, local = alice.documents, hers.documents
    await tree.create(DocumentDraft(slug="memory", title="Memory", body="All."), document_id="top")
    child = await tree.create(DocumentDraft(slug="people", title="People", parent="top", body="Anna", links=("top",)))
    await tree.update("top", DocumentDraft(slug="memory", title="Memory", body="More."), if_version=1)

    with pytest.raises(VersionConflictError) as stale:
        await tree.update("top", DocumentDraft(slug="memory", title="Memory", body="Late."), if_version=1)
    assert stale.value.current == 2
    with pytest.raises(DuplicateError):
        await tree.create(DocumentDraft(slug="other", title="Other"), document_id="top")
    with pytest.raises(DuplicateError):
        await tree.create(DocumentDraft(slug="memory", title="Memory"))
    assert await tree.list() == await local.list()
    assert await tree.find("~/memory/people") == await local.find("~/memory/people") == await tree.get(child.id)
    assert await tree.find("~/nowhere") is None
    assert await tree.find("people") is None
    assert await tree.children("top") == await local.children("top")
    assert await tree.versions("top") == await local.versions("top")
    assert await tree.diff("top", 1, 2) == await local.diff("top", 1, 2)
    assert await tree.sources("top", 1) == []
    assert await tree.search("Anna", limit=3) == await local.search("Anna", limit=3)
    assert await tree.read_all() == await local.read_all()
    assert await tree.changes.list() == []
    assert (await alice.forget("document:top:1", version_only=True)).documents == 1
    await tree.delete(child.id, if_version=1)
    assert await tree.restore(child.id, 1, if_version=None) == await local.get(child.id)
    for settle in (tree.changes.approve, tree.changes.reject, tree.changes.undo):
        with pytest.raises(NotFoundError):
            await settle("no run")


async def test_threads_behave_the_same_on_a_client(alice: Space, hers: Space) -> None:
    threads, local = alice.threads, hers.threads
    thread = await threads.open(mode=Mode.STEPPING)
    event = Event(type=EventType.USER_MESSAGE, payload={"text": "tea"})
    queued = await threads.dispatch(thread.id, event)
    assert queued.processed == ()
    assert [each.event for each in await threads.queue(thread.id)] == [event]
    stepped = await threads.step(thread.id)
    assert stepped.event_processed
    assert stepped.dispatch_result is not None
    assert stepped.dispatch_result.added_chunks

    assert await threads.get(thread.id) == await local.get(thread.id)
    assert await threads.state(thread.id) == await local.state(thread.id)
    assert await threads.state(thread.id, 0) == await local.state(thread.id, 0)
    assert await threads.states(thread.id) == await local.states(thread.id)
    assert await threads.replay(thread.id) == list((await local.state(thread.id)).chunks)
    assert await threads.diff(thread.id, 0, 1) == await local.diff(thread.id, 0, 1)
    assert await threads.prompt(thread.id, budget=100) == await local.prompt(thread.id, budget=100)
    assert await threads.tokens(thread.id) == await local.tokens(thread.id)
    assert await threads.failed_events(thread.id) == []
    fork = await threads.fork(thread.id, at=1, into="copy")
    assert await threads.list(after="") == await local.list()
    assert (await threads.set_mode(thread.id, Mode.AUTO)).thread.mode is Mode.AUTO
    with pytest.raises(ConflictError):
        await threads.step(thread.id)
    assert (await alice.forget(thread_id=fork.id)).threads == 1
    with pytest.raises(NotFoundError):
        await threads.get(fork.id)


async def test_installation_operations_behave_the_same_on_a_client(memory: Memory, beside: Memory) -> None:
    for name in ("alice", "bob", "carol"):
        await memory.space(name).remember("tea is nice in the morning")
    await memory.space("alice").documents.refresh()

    assert [space.name for space in await memory.spaces.list()] == ["alice", "bob", "carol"]
    first = await memory.spaces.list(limit=1)
    assert [space.name for space in await memory.spaces.list(after=first.next, limit=1)] == ["bob"]
    assert await memory.admin.audit() == await beside.admin.audit()
    assert await memory.space("alice").admin.jobs.list() == await beside.space("alice").admin.jobs.list() != []
    report = await memory.learn()
    assert report.leased == sum(report.outcomes.values())
    assert await memory.admin.audit() == await beside.admin.audit()


async def test_invalid_arguments_raise_the_same_errors_on_a_client(memory: Memory) -> None:
    alice = memory.space("alice")
    stored = await alice.remember("tea")
    session = await alice.sessions.get(stored.session.id)

    with pytest.raises(InvalidRequestError):
        await alice.recall("tea", as_of="yesterday")
    with pytest.raises(InvalidRequestError, match="limit"):
        await alice.recall("tea", limit=0)
    with pytest.raises(InvalidRequestError):
        await alice.forget()
    with pytest.raises(InvalidRequestError):
        await session.append([{"role": "nobody", "content": "x"}])
    for odd in (float("nan"), b"bytes", {1: "a"}):
        with pytest.raises(InvalidRequestError):
            await session.append([{"role": "user", "content": "x", "metadata": {"n": odd}}])
    with pytest.raises(NotFoundError):
        await alice.sessions.get("ses_none")


async def test_keys_are_made_rotated_and_revoked(memory: Memory, beside: Memory) -> None:
    made = await memory.admin.keys.create("reader", [Scope.READ], spaces=["alice"])
    assert await memory.admin.keys.list() == await beside.admin.keys.list()
    again = await memory.admin.keys.rotate(made.info.prefix, overlap=0)
    assert again.info.spaces == {"alice"}
    await memory.admin.keys.revoke(again.info.prefix)
    [revoked] = [each for each in await beside.admin.keys.list() if each.prefix == again.info.prefix]
    assert revoked.revoked_at is not None
    with pytest.raises(NotFoundError):
        await memory.admin.keys.revoke("0123456789ab")


async def test_client_key_is_limited_to_its_scopes(served: Served) -> None:
    async with bethink.connect(served.url, api_key=served.key) as client:
        made = await client.admin.keys.create("reader", [Scope.READ], spaces=["alice"])
        await client.space("alice").remember("tea")
        async with bethink.connect(served.url, api_key=made.key) as reader:
            assert await reader.space("alice").recall("tea")
            with pytest.raises(PermissionDeniedError):
                await reader.space("alice").remember("coffee")
            with pytest.raises(NotFoundError):
                await reader.space("bob").recall("tea")
            with pytest.raises(PermissionDeniedError):
                [space.name for space in await reader.spaces.list()]
        again = await client.admin.keys.rotate(made.info.prefix, overlap=0)
        await client.admin.keys.revoke(again.info.prefix)
    async with bethink.connect(served.url, api_key=again.key) as reader:
        with pytest.raises(PermissionDeniedError):
            await reader.space("alice").recall("tea")


async def test_messages_that_are_sent_get_a_key_so_that_they_can_be_sent_again(served: Served) -> None:
    async with bethink.connect(served.url, api_key=served.key) as client:
        session = await client.space("alice").session(KEY)
        await session.append("tea")
        [record] = await session.messages()

    assert record.message.idempotency_key is not None


async def test_document_author_on_a_server_is_always_the_user(served: Served) -> None:
    provenance = Provenance(author=Author(kind="job", token=7))
    async with bethink.connect(served.url, api_key=served.key) as client:
        documents = client.space("alice").documents
        with pytest.raises(InvalidRequestError, match="provenance needs a database in this process"):
            await documents.create(DocumentDraft(slug="a", title="A"), provenance=provenance)
        made = await documents.create(DocumentDraft(slug="a", title="A"))

    assert made.author.kind == "user"


async def test_an_address_that_is_not_the_servers_own_is_misconfigured(served: Served) -> None:
    lost, _ = client_of(f"{served.url}/v1", key=served.key, retries=0)
    async with lost:
        with pytest.raises(ConfigurationError) as wrong:
            await lost.space("alice").recall("Who plays the cello?")
        with pytest.raises(ConfigurationError):
            await lost.space("alice").remember("Anna plays the cello")

    assert "without /v1" in wrong.value.hint


async def test_oversized_request_reports_why_it_was_rejected(served: Served) -> None:
    async with bethink.connect(served.url, api_key=served.key) as client:
        with pytest.raises(InvalidRequestError, match="body is larger"):
            await client.space("alice").facts.save(Fact(id="long", text="x" * 7_500_000), if_version=1)


def test_the_blocking_api_is_the_same_on_a_server(served: Served) -> None:
    with bethink.sync.connect(served.url, api_key=served.key) as memory:
        alice = memory.space("alice")
        stored = alice.remember("Anna plays the cello")
        assert alice.recall("cello").items[0].ref == stored.refs[0]
        alice.facts.save(Fact(id="f", text="tea"))
        assert [fact.id for fact in alice.facts.list()] == ["f"]
        assert alice.documents.list() == []
        assert alice.threads.open("t").id == "t"
        assert "tests" in {info.name for info in memory.admin.keys.list()}


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
