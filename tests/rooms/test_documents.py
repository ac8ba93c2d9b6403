"""The document tree: versions, references, paths, and rejected input."""

from datetime import timedelta
from itertools import pairwise

import pytest

from bethink import Memory, connect
from bethink.errors import (
    ConflictError,
    DatabaseUnavailableError,
    InvalidRequestError,
    NotFoundError,
    VersionConflictError,
)
from bethink.memory.documents import tree
from bethink.model.documents import Author, Document, DocumentDraft, DocumentSource, Provenance, SourceKind, mentions_in
from bethink.providers.redaction import SecretRedactor
from bethink.store.db import Database
from bethink.types import Documents
from tests.conftest import FakeClock, memory_on


@pytest.fixture
def docs(memory: Memory) -> Documents:
    return memory.space("alice").documents


async def made(docs: Documents, slug: str, parent: Document | None = None, **more: object) -> Document:
    draft = DocumentDraft(slug=slug, title=slug.title(), parent=parent and parent.id, **more)  # pyright: ignore[reportArgumentType]
    document = await docs.create(draft)
    assert document is not None
    return document


@pytest.mark.spec("S1.23")
async def test_every_write_creates_a_document_version(docs: Documents, clock: FakeClock) -> None:
    first = await made(docs, "tea", body="green")
    before = clock.time
    source = DocumentSource(kind=SourceKind.MESSAGE, id="ses_1", number=3)
    by = Provenance(author=Author(kind="agent", id="agt_1", reason="asked to"), sources=(source,))
    draft = DocumentDraft(slug="tea", title="Tea", body="black\nor green")
    second = await docs.update(first.id, draft, if_version=1, provenance=by)

    assert second is not None
    assert (second.version, second.body, second.author.reason) == (2, "black\nor green", "asked to")
    assert [each.body for each in await docs.versions(first.id)] == ["green", "black\nor green"]
    assert await docs.sources(first.id, 2) == [source]
    then = await docs.get(first.id, as_of=before)
    assert then is not None
    assert then.body == "green"
    assert "-green\n+black\n+or green" in await docs.diff(first.id, 1, 2)
    assert await docs.diff(first.id, 2, 2) == ""
    assert (await docs.diff(first.id, 0, 1)).startswith("--- nothing\n+++ tea@1")
    with pytest.raises(NotFoundError):
        await docs.diff(first.id, 1, 9)


async def test_a_stale_write_is_refused_with_the_version_that_is_current(docs: Documents) -> None:
    first = await made(docs, "tea")
    await docs.update(first.id, DocumentDraft(slug="tea", title="Tea", body="x"), if_version=1)

    with pytest.raises(VersionConflictError) as caught:
        await docs.update(first.id, DocumentDraft(slug="tea", title="Tea", body="y"), if_version=1)

    assert caught.value.current == 2
    with pytest.raises(VersionConflictError):
        await docs.delete(first.id, if_version=1)


async def test_unchanged_update_creates_no_version(docs: Documents) -> None:
    first = await made(docs, "tea", body="green")

    again = await docs.update(first.id, first.draft(), if_version=1)

    assert again is not None
    assert again.version == 1


@pytest.mark.spec("S1.24", "S1.25")
async def test_version_refers_to_its_parent_links_and_mentions(docs: Documents, database: Database) -> None:
    home = await made(docs, "home")
    tea = await made(docs, "tea", home)
    cup = await made(
        docs, "cup", home, body=f"see [[~/home/tea]], [[{home.id}|the house]] and [[nowhere]]", links=(tea.id,)
    )

    assert (cup.parent, cup.links, set(cup.mentions)) == (home.id, (tea.id,), {tea.id, home.id})
    rows = await database.transact(
        lambda tx: tx.all("references_of_versions", space="alice", ids=[cup.id], numbers=[1]),
        space="alice",
        read_only=True,
    )
    assert sorted(row["kind"] for row in rows) == ["body", "body", "link", "parent"]
    await docs.update(cup.id, DocumentDraft(slug="cup", title="Cup", parent=home.id), if_version=1)
    now = await docs.get(cup.id)
    assert now is not None
    assert (now.links, now.mentions) == ((), ())
    assert (await docs.versions(cup.id))[0].links == (tea.id,), "references belong to their version"


@pytest.mark.spec("S1.27")
async def test_path_resolves_to_a_document_and_a_slug_is_unique(docs: Documents) -> None:
    home, away = await made(docs, "home"), await made(docs, "away")
    tea = await made(docs, "tea", home)
    other = await made(docs, "tea", away)

    assert (await docs.find("~/home/tea")) == tea
    assert (await docs.find("~/ away / tea/")) == other
    assert await docs.find("~/home/coffee") is None
    assert await docs.find("home/tea") is None
    assert [each.path for each in await docs.list()] == ["~/away", "~/away/tea", "~/home", "~/home/tea"]
    assert [each.slug for each in await docs.children()] == ["away", "home"]
    with pytest.raises(ConflictError, match="in use"):
        await made(docs, "tea", home)


@pytest.mark.parametrize("slug", ["", " ", "a/b", "~", ".", "..", "[[x]]", "a|b", "a\nb", "x" * 201])
async def test_a_name_that_cannot_be_part_of_a_path_is_refused(slug: str) -> None:
    with pytest.raises(InvalidRequestError):
        DocumentDraft(slug=slug, title="t")


async def test_document_draft_without_title_or_too_long_is_rejected() -> None:
    for wrong in ({"title": " "}, {"title": "x" * 201}, {"title": "t", "body": "x" * 65_537}):
        with pytest.raises(InvalidRequestError):
            DocumentDraft(slug="s", **wrong)  # pyright: ignore[reportArgumentType]


async def test_circles_and_what_points_at_nothing_are_refused(docs: Documents) -> None:
    top = await made(docs, "top")
    below = await made(docs, "below", top)
    with pytest.raises(InvalidRequestError, match="below itself"):
        await docs.update(top.id, DocumentDraft(slug="top", title="T", parent=below.id), if_version=1)
    with pytest.raises(InvalidRequestError, match="below itself"):
        await docs.update(top.id, DocumentDraft(slug="top", title="T", parent=top.id), if_version=1)
    with pytest.raises(InvalidRequestError, match="parent"):
        await docs.create(DocumentDraft(slug="x", title="T", parent="doc_none"))
    with pytest.raises(InvalidRequestError, match="linked"):
        await docs.create(DocumentDraft(slug="x", title="T", links=("doc_none",)))


async def test_referenced_document_cannot_be_deleted_nor_its_id_reused(docs: Documents) -> None:
    top = await made(docs, "top")
    below = await made(docs, "below", top)
    friend = await made(docs, "friend", links=(top.id,), body="[[~/top/below]]")
    with pytest.raises(ConflictError, match="depend on document"):
        await docs.delete(top.id, if_version=1)

    await docs.delete(below.id, if_version=1)  # a mention holds nothing
    await docs.update(friend.id, DocumentDraft(slug="friend", title="F"), if_version=1)
    await docs.delete(top.id, if_version=1)

    assert [each.path for each in await docs.list()] == ["~/friend"]
    with pytest.raises(NotFoundError):
        await docs.get(top.id)
    with pytest.raises(ConflictError, match="used before"):
        await docs.create(DocumentDraft(slug="new", title="N"), document_id=top.id)
    assert len(await docs.versions(top.id)) == 1


async def test_a_version_can_be_restored_and_a_deleted_document_brought_back(docs: Documents) -> None:
    tea = await made(docs, "tea", body="green")
    await docs.update(tea.id, DocumentDraft(slug="tea", title="Tea", body="black"), if_version=1)

    restored = await docs.restore(tea.id, 1, if_version=2)
    await docs.delete(tea.id, if_version=3)
    back = await docs.restore(tea.id, 2, if_version=None)

    assert restored is not None
    assert back is not None
    assert (restored.version, restored.body, restored.author.reason) == (3, "green", "restored version 1")
    assert (back.version, back.body) == (4, "black")
    with pytest.raises(VersionConflictError):
        await docs.restore(tea.id, 1, if_version=None)
    with pytest.raises(NotFoundError):
        await docs.restore(tea.id, 9, if_version=4)


async def test_a_past_version_can_be_redacted_for_good(memory: Memory, docs: Documents) -> None:
    tea = await made(docs, "tea", body="a secret")
    with pytest.raises(NotFoundError):
        await memory.space("alice").forget(f"document:{tea.id}:1", version_only=True)
    await docs.update(tea.id, DocumentDraft(slug="tea", title="Tea", body="fine"), if_version=1)

    await memory.space("alice").forget(f"document:{tea.id}:1", version_only=True)

    past = (await docs.versions(tea.id))[0]
    assert (past.body, past.title, past.redacted) == ("", "[redacted]", True)
    assert await docs.search("secret", limit=5) == []
    with pytest.raises(ConflictError, match="redacted"):
        await docs.restore(tea.id, 1, if_version=2)


async def test_a_clock_that_runs_backwards_never_shows_two_versions_at_once(docs: Documents, clock: FakeClock) -> None:
    tea = await made(docs, "tea", body="one")
    clock.time -= timedelta(microseconds=1_000)
    await docs.update(tea.id, DocumentDraft(slug="tea", title="Tea", body="two"), if_version=1)
    clock.time -= timedelta(microseconds=1_000)
    await docs.update(tea.id, DocumentDraft(slug="tea", title="Tea", body="three"), if_version=2)
    await docs.delete(tea.id, if_version=3)
    await docs.restore(tea.id, 1, if_version=None)

    spans = [(each.valid_from, each.valid_to) for each in await docs.versions(tea.id)]
    for (_, ends), (begins, _) in pairwise(spans):
        assert ends is not None
        assert ends <= begins
    assert all(ends is None or begins < ends for begins, ends in spans)


async def test_document_search_supports_as_of(docs: Documents, clock: FakeClock) -> None:
    tea = await made(docs, "tea", body="green leaves")
    before = clock.time
    await docs.update(tea.id, DocumentDraft(slug="tea", title="Tea", body="black dust"), if_version=1)

    assert [each.id for each in await docs.search("dust", limit=5)] == [tea.id]
    assert await docs.search("leaves", limit=5) == []
    assert [each.version for each in await docs.search("leaves", limit=5, as_of=before)] == [1]
    assert await docs.search('"; --', limit=5) == []


async def test_documents_are_redacted_and_stay_in_their_space(database: Database, memory: Memory) -> None:
    secret = "ghp_" + "a1B2" * 9
    docs = memory_on(database, redactor=SecretRedactor(b"k")).space("alice").documents
    tea = await made(docs, "tea", body=f"key {secret}", description=secret)

    why = Provenance(author=Author(reason=f"the key was {secret}"))
    await docs.update(tea.id, DocumentDraft(slug="tea", title="Tea"), if_version=1, provenance=why)
    await docs.create(DocumentDraft(slug="jam", title="Jam"), provenance=why)

    for path in ("~/tea", "~/jam"):
        found = await docs.find(path)
        assert found is not None
        assert found.author.reason.startswith("the key was [REDACTED:")
    assert secret not in f"{await docs.versions(tea.id)}"
    assert await memory.space("bob").documents.list() == []
    with pytest.raises(NotFoundError):
        await memory.space("bob").documents.get(tea.id)


@pytest.mark.spec("S1.26", "S1.28")
async def test_memory_root_is_created_once(database: Database, docs: Documents) -> None:
    await made(docs, "tea")
    first = await database.transact(lambda tx: tree.ensure_root(tx, space="alice"), space="alice")
    again = await database.transact(lambda tx: tree.ensure_root(tx, space="alice"), space="alice")

    assert first == again
    root = await docs.find("~/memory")
    assert root is not None
    assert root.id == first


async def test_disabled_memory_has_no_documents() -> None:
    docs = connect(enabled=False).space("alice").documents

    with pytest.raises(DatabaseUnavailableError, match="disabled"):
        await docs.create(DocumentDraft(slug="tea", title="Tea"))
    assert await docs.list() == []
    assert await docs.search("tea", limit=5) == []


def test_mentions_are_read_once_each_and_never_across_lines() -> None:
    assert mentions_in("[[a]] [[b|B]] [[a]] [[ ]] [[c\nd]] [[[e]]]") == ["a", "b", "e"]
