"""Finding things by their names: nothing is created by looking, lists begin with a prefix, writes can be sent again."""

from datetime import timedelta
from typing import Any

import anyio
import pytest

import bethink
from bethink.errors import Conflict, ErasedKey, Invalid, NotFound, Stale
from bethink.model.documents import DocumentDraft
from bethink.model.recall import Ref, RefKind
from bethink.store.db import Database
from tests.conftest import FakeClock, said


async def test_a_session_is_found_without_being_created(memory: bethink.Memory) -> None:
    space = memory.space("alice")

    assert await space.find_session("desk") is None
    assert await memory.list_spaces() == []

    opened = await space.session("desk", agent="scout")
    assert await space.find_session("desk") is None, "it is another agent's"
    assert await space.find_session("desk", agent="scout") == opened
    ended = await opened.end()
    found = await space.find_session("desk", agent="scout")
    assert found is not None
    assert (found.id, found.info.ended_at) == (ended.id, ended.info.ended_at)


async def test_sessions_are_listed_by_the_beginning_of_their_names(memory: bethink.Memory, clock: FakeClock) -> None:
    space = memory.space("alice")
    for name in ("a/1", "a/2", "a%", "ab/1", "b/a/1"):
        session = await space.session(name)
        await session.append(said("one"))
        clock.time += timedelta(minutes=1)
        await session.append(said("two"))

    listed = await space.sessions(conversation_prefix="a/")

    assert [entry.conversation for entry in listed] == ["a/2", "a/1"]
    assert [entry.conversation for entry in await space.sessions(conversation_prefix="a%")] == ["a%"]
    for entry in listed:
        assert entry.begun_at is not None
        assert entry.last_at is not None
        assert entry.last_at - entry.begun_at >= timedelta(minutes=1)


async def test_the_last_messages_are_read_in_order(session: bethink.Session) -> None:
    await session.append(said("one", "two", "three", "four"))

    async def read(**more: Any) -> list[str]:
        return [record.message.content for record in await session.read(**more)]

    assert await read(last=2) == ["three", "four"]
    assert await read(last=9) == ["one", "two", "three", "four"]
    assert await read(last=3, after=2) == ["three", "four"]


async def test_documents_are_listed_by_the_beginning_of_their_paths(memory: bethink.Memory) -> None:
    docs = memory.space("alice").documents
    top = await docs.create(DocumentDraft(slug="notes", title="Notes"))
    for slug in ("meeting notes.md", ".draft", "a"):
        await docs.create(DocumentDraft(slug=slug, title=slug, parent=top.id))
    await docs.create(DocumentDraft(slug="notes2", title="Other"))

    below = await docs.tree(path_prefix="~/notes/")

    assert list(below) == ["~/notes/.draft", "~/notes/a", "~/notes/meeting notes.md"]
    assert list(await docs.tree(path_prefix="~/notes", limit=2)) == ["~/notes", "~/notes/.draft"]
    found = await docs.find("~/notes/meeting notes.md")
    assert found is not None


@pytest.mark.parametrize("slug", [".", "..", "...", "~a", "a/b", "a\tb", "a\nb", "[a]", "a|b", "", " "])
def test_what_could_be_no_part_of_a_path_is_refused(slug: str) -> None:
    with pytest.raises(Invalid):
        DocumentDraft(slug=slug, title="t")


async def test_a_write_that_is_sent_again_is_done_once(memory: bethink.Memory) -> None:
    docs = memory.space("alice").documents
    draft = DocumentDraft(slug="tea", title="Tea", body="black")
    made = [await docs.create(draft, idempotency_key="k1") for _ in range(2)]
    assert made[0] == made[1]

    better = DocumentDraft(slug="tea", title="Tea", body="green")
    changed = [await docs.update(made[0].id, better, expected=1, idempotency_key="k2") for _ in range(2)]
    assert (changed[0].version, changed[1].version, changed[1].body) == (2, 2, "green")

    for _ in range(2):
        await docs.delete(made[0].id, expected=2, idempotency_key="k3")
    assert await docs.find("~/tea") is None
    assert (await docs.create(draft, idempotency_key="k1")).version == 1, "what was written, not what is there now"
    written = [await docs.written(key) for key in ("k1", "k2", "k3", "none")]
    assert [each and each.version for each in written] == [1, 2, 2, None]
    with pytest.raises(Conflict):
        await docs.update(made[0].id, draft, expected=2, idempotency_key="k1")
    with pytest.raises(NotFound):
        await docs.update(made[0].id, draft, expected=2, idempotency_key="new")


async def test_a_write_that_is_sent_twice_at_a_time_is_done_once(memory: bethink.Memory) -> None:
    docs = memory.space("alice").documents
    tea = await docs.create(DocumentDraft(slug="tea", title="Tea"))
    answers: list[int] = []

    async def send() -> None:
        draft = DocumentDraft(slug="tea", title="Tea", body="green")
        answers.append((await docs.update(tea.id, draft, expected=1, idempotency_key="k")).version)

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(send)

    assert answers == [2] * 5


@pytest.mark.parametrize("everything", [False, True])
async def test_the_key_of_a_document_goes_with_it_and_brings_nothing_back(
    memory: bethink.Memory, database: Database, everything: bool
) -> None:
    space = memory.space("alice")
    draft = DocumentDraft(slug="tea", title="Tea", body="black")
    made = await space.documents.create(draft, idempotency_key="my-secret-key")

    if everything:
        await space.forget(everything=True)
    else:
        await space.forget(ref=Ref(RefKind.DOCUMENT, made.id, 1))

    with pytest.raises(ErasedKey, match="the document with the idempotency key"):
        await space.documents.create(draft, idempotency_key="my-secret-key")
    kept = await database.transact(lambda tx: tx.all("list_document_keys", space="alice"), space="alice", read=True)
    assert kept == []


async def test_a_write_that_was_refused_can_be_sent_again_with_its_key(memory: bethink.Memory) -> None:
    docs = memory.space("alice").documents
    tea = await docs.create(DocumentDraft(slug="tea", title="Tea"))
    draft = DocumentDraft(slug="tea", title="Tea", body="x")

    with pytest.raises(Stale):
        await docs.update(tea.id, draft, expected=9, idempotency_key="k")

    assert (await docs.update(tea.id, draft, expected=1, idempotency_key="k")).version == 2


async def test_deleting_what_is_not_there_can_be_no_error(memory: bethink.Memory) -> None:
    space = memory.space("alice")
    with pytest.raises(NotFound):
        await space.documents.delete("doc_none", expected=1)
    with pytest.raises(NotFound):
        await space.forget("fact:none:1")

    await space.documents.delete("doc_none", expected=1, missing_ok=True)
    assert (await space.forget("fact:none:1", missing_ok=True)).facts == 0
    assert (await space.forget(conversation="none", missing_ok=True)).messages == 0


async def test_what_an_agent_writes_is_never_the_users_word(memory: bethink.Memory) -> None:
    docs = memory.space("alice").documents
    mine = await docs.create(DocumentDraft(slug="mine", title="Mine", body="a"))
    its = await docs.create(DocumentDraft(slug="its", title="Its", body="a"), agent="scout")

    assert (mine.origin, its.origin, its.author.kind, its.author.id) == ("user", "assistant", "agent", "scout")
    edited = await docs.update(mine.id, DocumentDraft(slug="mine", title="Mine", body="b"), expected=1, agent="scout")
    assert edited.origin == "assistant"
    again = await docs.update(its.id, DocumentDraft(slug="its", title="Its", body="b"), expected=1)
    assert again.origin == "assistant", "an editor takes over the rest of the text"
