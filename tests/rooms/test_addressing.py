"""Lookup by name: reads create nothing, lists filter by prefix, and writes can be retried."""

from datetime import timedelta
from typing import Any

import anyio
import pytest

import bethink
from bethink.errors import ConflictError, ErasedKeyError, InvalidRequestError, NotFoundError, VersionConflictError
from bethink.model.documents import DocumentDraft
from bethink.model.refs import Ref, RefKind
from bethink.store.db import Database
from tests.conftest import FakeClock, said


async def test_find_session_creates_nothing(memory: bethink.Memory) -> None:
    space = memory.space("alice")

    assert await space.sessions.find("desk") is None
    assert [space.name for space in await memory.spaces.list()] == []

    opened = await space.session("desk", agent="scout")
    assert await space.sessions.find("desk") is None, "it is another agent's"
    assert await space.sessions.find("desk", agent="scout") == opened
    ended = await opened.end()
    found = await space.sessions.find("desk", agent="scout")
    assert found is not None
    assert (found.id, found.info.ended_at) == (ended.id, ended.info.ended_at)


async def test_sessions_are_listed_by_the_beginning_of_their_names(memory: bethink.Memory, clock: FakeClock) -> None:
    space = memory.space("alice")
    for name in ("a/1", "a/2", "a%", "ab/1", "b/a/1"):
        session = await space.session(name)
        await session.append(said("one"))
        clock.time += timedelta(minutes=1)
        await session.append(said("two"))

    listed = await space.sessions.list(conversation_prefix="a/")

    assert [entry.conversation for entry in listed] == ["a/2", "a/1"]
    assert [entry.conversation for entry in await space.sessions.list(conversation_prefix="a%")] == ["a%"]
    for entry in listed:
        assert entry.started_at is not None
        assert entry.last_at is not None
        assert entry.last_at - entry.started_at >= timedelta(minutes=1)


async def test_the_last_messages_are_read_in_order(session: bethink.Session) -> None:
    await session.append(said("one", "two", "three", "four"))

    async def read(**more: Any) -> list[str]:
        return [record.message.content for record in await session.messages(**more)]

    assert await read(last=2) == ["three", "four"]
    assert await read(last=9) == ["one", "two", "three", "four"]
    assert await read(last=3, after=2) == ["three", "four"]


async def test_documents_are_listed_by_the_beginning_of_their_paths(memory: bethink.Memory) -> None:
    docs = memory.space("alice").documents
    top = await docs.create(DocumentDraft(slug="notes", title="Notes"))
    for slug in ("meeting notes.md", ".draft", "a"):
        await docs.create(DocumentDraft(slug=slug, title=slug, parent=top.id))
    await docs.create(DocumentDraft(slug="notes2", title="Other"))

    below = await docs.list(prefix="~/notes/")

    assert [each.path for each in below] == ["~/notes/.draft", "~/notes/a", "~/notes/meeting notes.md"]
    assert [each.path for each in await docs.list(prefix="~/notes", limit=2)] == ["~/notes", "~/notes/.draft"]
    found = await docs.find("~/notes/meeting notes.md")
    assert found is not None


@pytest.mark.parametrize("slug", [".", "..", "...", "~a", "a/b", "a\tb", "a\nb", "[a]", "a|b", "", " "])
def test_invalid_slug_is_rejected(slug: str) -> None:
    with pytest.raises(InvalidRequestError):
        DocumentDraft(slug=slug, title="t")


async def test_a_write_that_is_sent_again_is_done_once(memory: bethink.Memory) -> None:
    docs = memory.space("alice").documents
    draft = DocumentDraft(slug="tea", title="Tea", body="black")
    made = [await docs.create(draft, idempotency_key="k1") for _ in range(2)]
    assert made[0] == made[1]

    better = DocumentDraft(slug="tea", title="Tea", body="green")
    changed = [await docs.update(made[0].id, better, if_version=1, idempotency_key="k2") for _ in range(2)]
    assert (changed[0].version, changed[1].version, changed[1].body) == (2, 2, "green")

    for _ in range(2):
        await docs.delete(made[0].id, if_version=2, idempotency_key="k3")
    assert await docs.find("~/tea") is None
    assert (await docs.create(draft, idempotency_key="k1")).version == 1, "what was written, not what is there now"
    written = [await docs.find(idempotency_key=key) for key in ("k1", "k2", "k3", "none")]
    assert [each and each.version for each in written] == [1, 2, 2, None]
    with pytest.raises(ConflictError):
        await docs.update(made[0].id, draft, if_version=2, idempotency_key="k1")
    with pytest.raises(NotFoundError):
        await docs.update(made[0].id, draft, if_version=2, idempotency_key="new")


async def test_a_write_that_is_sent_twice_at_a_time_is_done_once(memory: bethink.Memory) -> None:
    docs = memory.space("alice").documents
    tea = await docs.create(DocumentDraft(slug="tea", title="Tea"))
    answers: list[int] = []

    async def send() -> None:
        draft = DocumentDraft(slug="tea", title="Tea", body="green")
        answers.append((await docs.update(tea.id, draft, if_version=1, idempotency_key="k")).version)

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(send)

    assert answers == [2] * 5


@pytest.mark.parametrize("everything", [False, True])
async def test_idempotency_key_is_deleted_with_its_document(
    memory: bethink.Memory, database: Database, everything: bool
) -> None:
    space = memory.space("alice")
    draft = DocumentDraft(slug="tea", title="Tea", body="black")
    made = await space.documents.create(draft, idempotency_key="my-secret-key")

    if everything:
        await space.forget(everything=True)
    else:
        await space.forget(ref=Ref(RefKind.DOCUMENT, made.id, 1))

    with pytest.raises(ErasedKeyError, match="The document with the idempotency key"):
        await space.documents.create(draft, idempotency_key="my-secret-key")
    kept = await database.transact(
        lambda tx: tx.all("list_document_keys", space="alice"), space="alice", read_only=True
    )
    assert kept == []


async def test_a_write_that_was_refused_can_be_sent_again_with_its_key(memory: bethink.Memory) -> None:
    docs = memory.space("alice").documents
    tea = await docs.create(DocumentDraft(slug="tea", title="Tea"))
    draft = DocumentDraft(slug="tea", title="Tea", body="x")

    with pytest.raises(VersionConflictError):
        await docs.update(tea.id, draft, if_version=9, idempotency_key="k")

    assert (await docs.update(tea.id, draft, if_version=1, idempotency_key="k")).version == 2


async def test_missing_ok_suppresses_not_found(memory: bethink.Memory) -> None:
    space = memory.space("alice")
    with pytest.raises(NotFoundError):
        await space.documents.delete("doc_none", if_version=1)
    with pytest.raises(NotFoundError):
        await space.forget("fact:none:1")

    await space.documents.delete("doc_none", if_version=1, missing_ok=True)
    assert (await space.forget("fact:none:1", missing_ok=True)).facts == 0
    assert (await space.forget(conversation="none", missing_ok=True)).messages == 0


async def test_document_edited_by_an_agent_has_origin_assistant(memory: bethink.Memory) -> None:
    docs = memory.space("alice").documents
    mine = await docs.create(DocumentDraft(slug="mine", title="Mine", body="a"))
    its = await docs.create(DocumentDraft(slug="its", title="Its", body="a"), agent="scout")

    assert (mine.origin, its.origin, its.author.kind, its.author.id) == ("user", "assistant", "agent", "scout")
    edited = await docs.update(mine.id, DocumentDraft(slug="mine", title="Mine", body="b"), if_version=1, agent="scout")
    assert edited.origin == "assistant"
    again = await docs.update(its.id, DocumentDraft(slug="its", title="Its", body="b"), if_version=1)
    assert again.origin == "assistant", "an editor takes over the rest of the text"
