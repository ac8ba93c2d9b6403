"""The context log: what was shown, when and to which session, what was used, and its small weight."""

import pytest

from bethink import Fact, Memory, Session
from bethink.model.consolidation import ConsolidationCandidate
from bethink.model.documents import DocumentDraft, DocumentSource, Provenance, SourceKind
from bethink.model.moments import from_micros
from bethink.model.recall import Purpose, Use
from bethink.model.records import conversation_key
from bethink.model.refs import Ref, RefKind
from bethink.store import ledger
from bethink.store.db import Database
from tests.conftest import FakeClock, whole_tree
from tests.rooms.learn_kit import a_fact
from tests.rooms.recall_kit import DAY, learnt, message, tell, written
from tests.rooms.test_consolidate import Life


@pytest.fixture
def life(database: Database, memory: Memory) -> Life:
    return Life(database, memory)


async def another(memory: Memory, chat: str = "other", space: str = "alice") -> Session:
    return await memory.space(space).session(conversation_key(channel="x", chat=chat))


async def memories(life: Life) -> dict[str, ConsolidationCandidate]:
    return {each.memory.session_id: each for each in (await life.selection()).current}


async def usage(database: Database, *refs: Ref, space: str = "alice") -> dict[Ref, Use]:
    return await database.transact(lambda tx: ledger.usage(tx, space=space, refs=refs), space=space, read_only=True)


async def test_a_block_for_a_session_is_recorded_once_with_all_that_was_in_it(
    memory: Memory, session: Session, clock: FakeClock
) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="Tea is served at five"))
    await written(memory, "garden", "Roses.")
    block = await memory.space("alice").context(session_id=session.id)
    shown_at = clock.time  # of the last transaction, which also notes it in the access record
    await memory.space("alice").context(session_id=session.id)
    clock.time += DAY
    await memory.space("alice").context(session_id=session.id)

    [showing] = await memory.space("alice").admin.context_log.list()

    assert (showing.purpose, showing.session_id, showing.shown_at) == (Purpose.CONTEXT, session.id, shown_at)
    assert showing.refs == tuple(item.ref for item in block.items)
    assert len(showing.refs) == 2
    assert (showing.tokens, showing.digest) == (block.tokens, block.digest)


async def test_context_log_separates_blocks_sessions_and_purposes(
    memory: Memory, session: Session, clock: FakeClock
) -> None:
    facts = memory.space("alice").facts
    await facts.save(Fact(id="f", text="Tea is served at five"))
    other = await another(memory)
    await memory.space("alice").context(session_id=session.id)
    await memory.space("alice").context(session_id=other.id)
    found = await memory.space("alice").recall("tea", session_id=session.id)
    await facts.save(Fact(id="g", text="Tea is green"))
    await memory.space("alice").context(session_id=session.id)

    entries = await memory.space("alice").admin.context_log.list()

    assert [(each.purpose, each.session_id) for each in entries] == [
        (Purpose.CONTEXT, session.id),
        (Purpose.RECALL, session.id),
        (Purpose.CONTEXT, other.id),
        (Purpose.CONTEXT, session.id),
    ]
    assert [each.shown_at for each in entries] == sorted((each.shown_at for each in entries), reverse=True)
    assert entries[1].refs == tuple(item.ref for item in found.items)
    assert entries[1].tokens == found.tokens
    assert [each.session_id for each in await memory.space("alice").admin.context_log.list(session_id=other.id)] == [
        other.id
    ]
    assert await memory.space("alice").admin.context_log.list(limit=2) == entries[:2]
    assert await memory.space("alice").admin.context_log.list(as_of=entries[2].shown_at) == entries[2:]


async def test_context_log_records_a_session_answer_once(memory: Memory, session: Session) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="Tea is served at five"))

    await memory.space("alice").recall("tea")
    await memory.space("alice").context(question="tea")
    assert await memory.space("alice").admin.context_log.list() == []
    await memory.space("alice").recall("nothing like it", session_id=session.id)
    assert await memory.space("alice").admin.context_log.list() == []
    await memory.space("alice").recall("tea", session_id=session.id)
    await memory.space("alice").recall("When is tea served?", session_id=session.id)
    [showing] = await memory.space("alice").admin.context_log.list()
    assert (showing.purpose, showing.refs) == (Purpose.RECALL, (Ref(RefKind.FACT, "f", 1),))


async def test_context_with_an_answer_is_one_log_entry(memory: Memory, session: Session) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="Tea is served at five"))

    block = await memory.space("alice").context(question="When is tea served?", session_id=session.id)

    [showing] = await memory.space("alice").admin.context_log.list()
    assert showing.purpose is Purpose.CONTEXT
    assert showing.refs == tuple(item.ref for item in block.items)


async def test_a_citation_counts_once_an_answer_and_leaves_no_label_behind(
    memory: Memory, session: Session, database: Database, clock: FakeClock
) -> None:
    facts = memory.space("alice").facts
    await facts.save(Fact(id="f", text="Tea is served at five"))
    await facts.save(Fact(id="g", text="Tea is green"))
    labels = {item.ref.id: item.label for item in (await memory.space("alice").context(session_id=session.id)).items}

    said = await session.strip_citations(f"At five [^{labels['f']}], as ever [^{labels['f']}][^{labels['f']}].")

    assert said == "At five, as ever."
    tea, green = Ref(RefKind.FACT, "f", 1), Ref(RefKind.FACT, "g", 1)
    counted_at = clock.time
    assert await usage(database, tea, green) == {tea: Use(1, counted_at)}
    await session.strip_citations(f"Green [^{labels['g']}, {labels['f']}]")
    assert {ref: use.times for ref, use in (await usage(database, tea, green)).items()} == {tea: 2, green: 1}
    assert await session.strip_citations("No label here.") == "No label here."


async def test_session_cannot_cite_items_it_was_not_shown(memory: Memory, session: Session, database: Database) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="Tea is served at five"))
    await memory.space("bob").facts.save(Fact(id="f", text="Tea is served at five"))
    other, bobs = await another(memory), await another(memory, space="bob")
    [item] = (await memory.space("alice").context(session_id=session.id)).items

    for stranger in (other, bobs):
        answer = f"At five [^{item.label}] [^zzzzzz]."
        assert await stranger.strip_citations(answer) == answer
    footnote = f"See[^source], at five [^{item.label}].\n\n[^source]: The Guardian."
    assert await other.strip_citations(footnote) == footnote

    assert await usage(database, item.ref) == await usage(database, item.ref, space="bob") == {}


async def test_a_citation_is_of_use_to_the_session_summaries_behind_it(
    life: Life, memory: Memory, session: Session, clock: FakeClock
) -> None:
    first = await life.tell("I live in Bergen.", a_fact("User lives in Bergen", 1, about="Bergen"))
    second = await life.tell("We bought a boat.")
    third = await life.tell("My aunt sings.", a_fact("My aunt sings", 1, about="Aunt"))
    unused = await life.tell("Nothing much.")
    by = Provenance(sources=(DocumentSource(kind=SourceKind.MESSAGE, id=second.id, number=1),))
    page = await written(memory, "boat", "The boat is red.", by=by)
    clock.time += DAY
    fact = await memory.space("alice").recall("Bergen", kinds=[RefKind.FACT], session_id=session.id)
    said = await memory.space("alice").recall("aunt", kinds=[RefKind.MESSAGE], session_id=session.id)
    written_down = await memory.space("alice").recall("boat", kinds=[RefKind.DOCUMENT], session_id=session.id)
    assert written_down.items[0].ref.id == page.id

    labels = [found.items[0].label for found in (fact, said, written_down)]
    await session.strip_citations(" ".join(f"[^{label}]" for label in labels))
    counted_at = clock.time

    by_session = await memories(life)
    for used in (first, second, third):
        assert (by_session[used.id].usage_count, by_session[used.id].last_usage) == (1, counted_at)
    assert (by_session[unused.id].usage_count, by_session[unused.id].last_usage) == (0, None)


async def test_use_of_a_document_counts_for_sessions_of_its_facts(life: Life, memory: Memory) -> None:
    told = await life.tell("I live in Bergen.", a_fact("User lives in Bergen", 1, about="Bergen"))
    await life.consolidate()
    bergen = (await whole_tree(life.docs))["~/memory/bergen"]
    assert {each.kind for each in await life.docs.sources(bergen.id, 1)} == {SourceKind.FACT}

    assert await memory.space("alice").admin.context_log.mark_used([Ref(RefKind.DOCUMENT, bergen.id, 1)]) == 1

    assert (await memories(life))[told.id].usage_count == 1


async def test_session_is_counted_once_for_two_used_items(
    life: Life, memory: Memory, database: Database, session: Session
) -> None:
    told = await life.tell("I live in Bergen.", a_fact("User lives in Bergen", 1))
    [fact] = await memory.space("alice").facts.search("Bergen", limit=5)

    refs = [Ref(RefKind.FACT, fact.id, 1), message(told, 1), Ref(RefKind.SESSION_SUMMARY, told.id)]
    assert await memory.space("alice").admin.context_log.mark_used([*refs, *refs]) == 3

    assert (await memories(life))[told.id].usage_count == 1
    assert {ref: use.times for ref, use in (await usage(database, *refs)).items()} == dict.fromkeys(refs, 1)


async def test_used_accepts_refs_as_text(memory: Memory, database: Database, clock: FakeClock) -> None:
    await memory.space("alice").facts.save(Fact(id="a:b", text="Tea"))

    for _ in range(3):
        assert await memory.space("alice").admin.context_log.mark_used(["fact:a:b:1"]) == 1

    use = Use(3, clock.time)
    assert await usage(database, Ref(RefKind.FACT, "a:b", 1)) == {Ref(RefKind.FACT, "a:b", 1): use}
    assert (await memory.space("alice").explain("fact:a:b:1")).usage == use


async def test_missing_items_are_not_counted_as_used(memory: Memory, session: Session, database: Database) -> None:
    facts = memory.space("alice").facts
    await facts.save(Fact(id="f", text="Tea is served at five"))
    [item] = (await memory.space("alice").context(session_id=session.id)).items
    await memory.space("alice").forget("fact:f:0")

    assert await session.strip_citations(f"At five [^{item.label}].") == "At five."
    assert await memory.space("alice").admin.context_log.mark_used([item.ref, "fact:never:1", "message:ses_x:3"]) == 0
    assert await memory.space("nowhere").admin.context_log.mark_used(["fact:f:1"]) == 0
    assert await memory.space("alice").admin.context_log.mark_used([]) == 0
    never = (item.ref, Ref(RefKind.FACT, "never", 1), Ref(RefKind.MESSAGE, "ses_x", 3))
    assert await usage(database, *never) == {}


async def test_use_lifts_an_equal_by_a_little_and_no_more(memory: Memory, database: Database) -> None:
    at = from_micros(1_690_000_000_000_000)
    await tell(memory, "hello")
    for name, content in (("a", "The boat is red"), ("b", "The boat is big"), ("c", "A boat, a boat: the boat race")):
        await learnt(database, name, content, created_at=at)
    before = await memory.space("alice").recall("How is the boat?", explain=True)
    best, *equals = [item.ref.id for item in before.items]
    assert best == "c"
    assert before.items[1].score == pytest.approx(before.items[2].score)

    for _ in range(100):
        await memory.space("alice").admin.context_log.mark_used([f"fact:{equals[1]}:1"])

    after = await memory.space("alice").recall("How is the boat?", explain=True)
    assert [item.ref.id for item in after.items] == [best, equals[1], equals[0]]
    lifted = next(each for each in after.candidates if each.ref.id == equals[1])
    assert lifted.signals["usage"].raw == 100
    assert after.items[2].score < after.items[1].score <= 1.05 * after.items[2].score


async def test_most_used_fact_is_the_last_to_leave_the_context(memory: Memory) -> None:
    facts = memory.space("alice").facts
    for number in range(60):
        await facts.save(Fact(id=f"f{number}", text=f"Fact {number} " + "is long enough to take some room " * 5))
    small = await memory.space("alice").context(budget=400)
    assert Ref(RefKind.FACT, "f0", 1) not in {item.ref for item in small.items}

    await memory.space("alice").admin.context_log.mark_used(["fact:f0:1"])

    assert Ref(RefKind.FACT, "f0", 1) in {item.ref for item in (await memory.space("alice").context(budget=400)).items}


async def test_deletion_leaves_only_the_ref_in_the_context_log(
    memory: Memory, database: Database, session: Session
) -> None:
    told = await tell(memory, "A pangolin in the pantry.")
    await memory.space("alice").recall("pangolin", session_id=session.id)

    key = await database.transact(
        lambda tx: tx.first("conversation_key", space="alice", id=told.info.conversation_id),
        space="alice",
        read_only=True,
    )
    assert key is not None
    await memory.space("alice").forget(conversation=key["key"])

    [showing] = await memory.space("alice").admin.context_log.list()
    assert showing.refs == (message(told, 1),)
    assert "pangolin" not in f"{showing}"


async def test_usage_counts_per_document_version_and_its_new_sources(life: Life, memory: Memory) -> None:
    told = await life.tell("We bought a boat.")
    page = await written(memory, "boat", "The boat is red.")
    by = Provenance(sources=(DocumentSource(kind=SourceKind.SESSION_SUMMARY, id=told.id),))
    await memory.space("alice").documents.update(
        page.id, DocumentDraft(slug="boat", title="B", body="x"), if_version=1, provenance=by
    )

    await memory.space("alice").admin.context_log.mark_used([Ref(RefKind.DOCUMENT, page.id, 1)])
    assert (await memories(life))[told.id].usage_count == 0
    await memory.space("alice").admin.context_log.mark_used([Ref(RefKind.DOCUMENT, page.id, 2)])
    assert (await memories(life))[told.id].usage_count == 1
