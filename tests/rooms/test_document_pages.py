"""Documents by page: outlines and histories without texts, diffs, and blame."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bethink import Document, Memory
from bethink.errors import NotFoundError
from bethink.memory.documents import tree
from bethink.model.blame import Blamer, Body
from bethink.model.documents import Author, DocumentSource, Provenance, SourceKind
from bethink.store import documents as store
from bethink.store.db import Database, Tx
from bethink.types import DocumentDraft
from tests.conftest import FakeClock
from tests.page_kit import EVERY_CHECK, analyze, cost_of, every


async def _written(memory: Memory, *bodies: str, space: str = "mira") -> Document:
    """A document with a version for each text."""
    docs = memory.space(space).documents
    document = await docs.create(DocumentDraft(slug="notes", title="Notes", body=bodies[0]))
    for body in bodies[1:]:
        draft = DocumentDraft(slug="notes", title="Notes", body=body)
        document = await docs.update(document.id, draft, document.version, reason=f"now {body[:5]}")
    return document


async def test_an_outline_has_the_children_of_a_node_without_texts(memory: Memory) -> None:
    docs = memory.space("mira").documents
    top = await docs.create(DocumentDraft(slug="people", title="People", body="everyone"))
    for name in ("anna", "bert", "carl"):
        await docs.create(DocumentDraft(slug=name, title=name, body="secret", parent=top.id))

    [entry] = (await docs.outline()).items
    assert (entry.document.slug, entry.children) == ("people", 3)
    assert not hasattr(entry.document, "body")
    below = await every(lambda after: docs.outline(top.id, limit=2, after=after))
    assert [(each.document.slug, each.children) for each in below] == [("anna", 0), ("bert", 0), ("carl", 0)]
    assert (await memory.space("anna").documents.outline(top.id)).items == ()


async def test_an_outline_of_the_past_has_what_stood_there_then(memory: Memory, clock: FakeClock) -> None:
    docs = memory.space("mira").documents
    top = await docs.create(DocumentDraft(slug="people", title="People"))
    first = await docs.create(DocumentDraft(slug="anna", title="Anna", parent=top.id))
    clock.time += timedelta(days=1)
    then = clock.time
    clock.time += timedelta(days=1)
    await docs.delete(first.id, first.version)
    await docs.create(DocumentDraft(slug="bert", title="Bert", parent=top.id))

    assert [each.document.slug for each in (await docs.outline(top.id)).items] == ["bert"]
    assert [each.document.slug for each in (await docs.outline(top.id, as_of=then)).items] == ["anna"]
    assert (await docs.outline(as_of=then)).items[0].children == 1


async def test_a_history_lists_versions_without_texts_the_newest_first(memory: Memory) -> None:
    document = await _written(memory, "one", "two", "three")
    docs = memory.space("mira").documents

    found = await every(lambda after: docs.history(document.id, limit=2, after=after))

    assert [(each.version, each.author.reason) for each in found] == [(3, "now three"), (2, "now two"), (1, "")]
    assert not hasattr(found[0], "body")
    assert (await memory.space("anna").documents.history(document.id)).items == ()


async def test_two_versions_are_compared_without_reading_the_others(
    memory: Memory, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = await _written(memory, *(f"text {number}" for number in range(3)), space="short")
    long = await _written(memory, *(f"text {number}" for number in range(40)), space="long")
    await analyze(database, "documents")

    costs = [
        await cost_of(monkeypatch, lambda space=space, name=name: memory.space(space).documents.diff(name, 1, 3))
        for space, name in (("short", short.id), ("long", long.id))
    ]

    assert costs[0].statements == costs[1].statements <= 3
    assert costs[1].rows <= costs[0].rows + 2
    assert "-text 0" in await memory.space("long").documents.diff(long.id, 1, 40)
    with pytest.raises(NotFoundError, match="has no version 41"):
        await memory.space("long").documents.diff(long.id, 1, 41)


async def test_each_line_is_explained_by_the_version_that_brought_it(memory: Memory, database: Database) -> None:
    def write(tx: Tx) -> str:
        made = Provenance(
            author=Author(kind="job", id="writer", reason="consolidated"),
            sources=(DocumentSource(kind=SourceKind.FACT, id="f1"),),
        )
        also = (*made.sources, DocumentSource(kind=SourceKind.FACT, id="f2"))
        bodies = ((made, "Anna drinks tea.\nBert sings."), (Provenance(author=Author(reason="typo"), sources=also),
                  "Anna drinks tea.\nBert sings loudly.\nCarl sleeps."))  # fmt: skip
        found = tree.create(tx, DocumentDraft(slug="n", title="N", body=bodies[0][1]), space="mira", provenance=made)
        draft = DocumentDraft(slug="n", title="N", body=bodies[1][1])
        tree.update(tx, draft, space="mira", document_id=found.id, expected=1, provenance=bodies[1][0])
        return found.id

    name = await database.transact(write, space="mira")
    docs = memory.space("mira").documents

    blame = await docs.blame(name)

    assert [(line.text, line.version, line.earlier) for line in blame.lines] == [
        ("Anna drinks tea.", 1, False), ("Bert sings loudly.", 2, False), ("Carl sleeps.", 2, False),
    ]  # fmt: skip
    assert [(each.version, each.author.reason, [source.id for source in each.sources]) for each in blame.versions] == [
        (2, "typo", ["f2"]), (1, "consolidated", ["f1"]),
    ]  # fmt: skip
    assert [line.version for line in (await docs.blame(name, version=1)).lines] == [1, 1]
    for missing in (docs.blame(name, version=3), docs.blame("no"), memory.space("anna").documents.blame(name)):
        with pytest.raises(NotFoundError):
            await missing


async def test_blame_marks_lines_with_redacted_history_as_older(memory: Memory, database: Database) -> None:
    document = await _written(memory, "a\nb", "a\nb\nc", "a\nb\nc\nd")
    await database.transact(
        lambda tx: [store.redact(tx, space="mira", document_id=document.id, version=each) for each in (1, 2)],
        space="mira",
    )

    blame = await memory.space("mira").documents.blame(document.id)

    assert [(line.text, line.version, line.earlier) for line in blame.lines] == [
        (text, 3, True) for text in "abcd"
    ]  # fmt: skip


async def test_blame_reads_only_the_last_200_versions(
    memory: Memory, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = await _written(memory, "first")

    def write(tx: Tx) -> None:
        for number in range(1, 260):
            draft = DocumentDraft(slug="notes", title="Notes", body=f"first\nline {number}")
            tree.update(tx, draft, space="mira", document_id=document.id, expected=number, provenance=Provenance())

    await database.transact(write, space="mira")
    await analyze(database, "documents")
    docs = memory.space("mira").documents
    cost = await cost_of(monkeypatch, lambda: docs.blame(document.id))
    blame = await docs.blame(document.id)

    assert [(line.text, line.version, line.earlier) for line in blame.lines] == [
        ("first", 61, True), ("line 259", 260, False),
    ]  # fmt: skip
    assert cost.statements <= 16


_BODY = st.lists(st.sampled_from("abcdef"), max_size=8).map("\n".join)


@settings(max_examples=200)
@given(st.lists(st.one_of(_BODY, st.none()), min_size=1, max_size=8))
def test_blamed_line_exists_in_its_version(texts: list[str | None]) -> None:
    versions = [Body(number, text) for number, text in enumerate(texts, 1)]
    blamer = Blamer(versions[-1])
    blamer.compare(reversed(versions[:-1]))

    lines = blamer.lines(first=1)

    assert [line.text for line in lines] == (texts[-1] or "").splitlines()
    for line in lines:
        assert line.text in (texts[line.version - 1] or "").splitlines()
        since = [text.splitlines() for text in texts[line.version - 1 :] if text is not None]
        assert all(line.text in each for each in since), "it stood there ever since"


@settings(max_examples=8, suppress_health_check=EVERY_CHECK)
@given(
    names=st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=8, unique=True),
    later=st.lists(st.sampled_from("klmnABC"), max_size=5, unique=True),
    limit=st.integers(1, 3),
)
async def test_an_outline_has_no_gaps_and_no_doubles_while_documents_are_written(
    memory: Memory, clock: FakeClock, names: list[str], later: list[str], limit: int
) -> None:
    docs = memory.space(f"s{clock.time.timestamp()}").documents
    for name in names:
        await docs.create(DocumentDraft(slug=name, title=name))
    waiting = iter(later)

    async def page(after: str) -> object:
        for name in waiting:
            await docs.create(DocumentDraft(slug=name, title=name))
            break
        return await docs.outline(limit=limit, after=after)

    seen = [each.document.slug for each in await every(page)]

    assert len(seen) == len(set(seen))
    assert set(names) <= set(seen)
    assert seen == sorted(seen)
