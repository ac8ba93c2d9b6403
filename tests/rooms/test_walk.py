"""Several steps of a lineage in one call, bounded whatever the number of derived items."""

import pytest

from bethink import Memory
from bethink.errors import NotFoundError
from bethink.model.documents import DocumentDraft, DocumentSource, Provenance, SourceKind
from bethink.model.facts import Fact, Quote
from bethink.model.refs import Ref, RefKind
from bethink.store import documents as store
from bethink.store import facts
from bethink.store.db import Database, Tx
from tests.facts_kit import learn_fact
from tests.page_kit import cost_of


async def _told(memory: Memory, database: Database, *, facts_made: int, space: str = "mira") -> Ref:
    """A message, facts that rest on it, and a document that rests on all of them."""
    stored = await memory.space(space).remember("I live in Bergen and drink tea.")
    ref = stored.refs[0]

    def learn(tx: Tx) -> None:
        for number in range(facts_made):
            fact = Fact(id=f"f{number:04}", text=f"fact {number}", source=ref.id)
            quote = Quote(session_id=ref.id, number=1, text="I live in Bergen")
            learn_fact(tx, fact, facts.Support(f"e{number}", fact.text, (quote,)), space=space)
        sources = tuple(DocumentSource(kind=SourceKind.FACT, id=f"f{number:04}") for number in range(facts_made))
        draft = DocumentDraft(slug="home", title="Home", body="Mira lives in Bergen.")
        store.insert(
            tx,
            draft,
            space=space,
            document_id="doc_home",
            last=None,
            provenance=Provenance(sources=sources),
            mentions=(),
        )

    await database.transact(learn, space=space)
    return ref


async def test_a_walk_leads_from_a_message_to_the_document_and_back(memory: Memory, database: Database) -> None:
    ref = await _told(memory, database, facts_made=2)
    mira = memory.space("mira")

    on = (await mira.explain(ref, depth=5)).walk
    back = (await mira.explain("document:doc_home:1", depth=5)).walk

    assert on is not None
    assert back is not None
    assert [(each.ref, each.step, each.via, each.text) for each in on.steps] == [
        ("fact:f0000:1", 1, ref, "fact 0"),
        ("fact:f0001:1", 1, ref, "fact 1"),
        ("document:doc_home:1", 2, "fact:f0000:1", "Home\nMira lives in Bergen."),
    ]
    assert [(each.ref, each.step, each.via) for each in back.steps] == [
        ("fact:f0000:1", -1, "document:doc_home:1"),
        ("fact:f0001:1", -1, "document:doc_home:1"),
        (ref, -2, "fact:f0000:1"),
    ]
    assert (on.beyond, back.beyond) == (0, 0)
    assert (await mira.explain(ref)).walk is None
    assert len((await mira.explain(ref, depth=2)).walk.steps) == 3  # type: ignore[union-attr]


async def test_a_walk_lists_two_hundred_memories_and_counts_the_others(
    memory: Memory, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = await _told(memory, database, facts_made=3, space="few")
    many = await _told(memory, database, facts_made=300, space="many")

    walk = (await memory.space("many").explain(many, depth=10)).walk

    assert walk is not None
    assert len(walk.steps) == 200
    assert walk.beyond == 101  # 100 facts and the document
    costs = [
        await cost_of(monkeypatch, lambda name=name, ref=ref: memory.space(name).explain(ref, depth=10))
        for name, ref in (("few", few), ("many", many))
    ]
    assert costs[1].statements <= costs[0].statements


async def test_a_walk_never_leaves_its_space(memory: Memory, database: Database) -> None:
    ref = await _told(memory, database, facts_made=2)
    await memory.space("anna").facts.save(Fact(id="f0000", text="A secret of Anna"))

    walk = (await memory.space("anna").explain("fact:f0000:1", depth=9)).walk
    assert walk is not None
    assert walk.steps == ()
    with pytest.raises(NotFoundError):
        await memory.space("anna").explain(ref, depth=3)
    texts = [each.text for each in (await memory.space("mira").explain(ref, depth=9)).walk.steps]  # type: ignore[union-attr]
    assert "A secret of Anna" not in texts


async def test_deleted_item_is_not_a_step_of_the_walk(memory: Memory, database: Database) -> None:
    ref = await _told(memory, database, facts_made=1)
    await memory.space("mira").forget("fact:f0000:1")

    walk = (await memory.space("mira").explain(ref, depth=3)).walk

    assert walk is not None
    assert {each.ref.kind for each in walk.steps} <= {RefKind.DOCUMENT}
