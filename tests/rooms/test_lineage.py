"""Lineage: from an item back to its messages, and forward to where it was shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bethink import Fact, Memory, Session, connect
from bethink.errors import InvalidRequestError, NotFoundError
from bethink.model.documents import Author, DocumentDraft, DocumentSource, Provenance, SourceKind
from bethink.model.facts import Maker, SourceMessage
from bethink.model.jobs import JobKind, Outcome
from bethink.model.recall import Purpose, Use
from bethink.model.records import Origin, conversation_key
from bethink.model.refs import Ref, RefKind
from bethink.store.db import Database
from tests.conftest import FakeClock, whole_tree
from tests.rooms.learn_kit import a_fact
from tests.rooms.recall_kit import DAY, assistant, learnt, message, replace_fact, tell, written
from tests.rooms.test_consolidate import Life

HOME = {"slot": "home_town"}


@pytest.fixture
def life(database: Database, memory: Memory) -> Life:
    return Life(database, memory)


async def fact_of(memory: Memory, word: str) -> Ref:
    [fact] = await memory.space("alice").facts.search(word, limit=5)
    return Ref(RefKind.FACT, fact.id, fact.version)


async def test_message_leads_to_its_facts_summary_and_documents(life: Life, memory: Memory) -> None:
    told = await life.tell(
        "I live in Bergen and I like tea.", a_fact("User lives in Bergen", 1), a_fact("User likes tea", 1)
    )
    by = Provenance(sources=(DocumentSource(kind=SourceKind.MESSAGE, id=told.id, number=1),))
    page = await written(memory, "bergen", "Where it rains.", by=by)
    await written(memory, "other", "Nothing to do with it.")
    [record] = await told.messages()

    lineage = await memory.space("alice").explain(message(told, 1))

    assert (lineage.text, lineage.origin, lineage.at) == (
        "I live in Bergen and I like tea.", "user", record.message.said_at,
    )  # fmt: skip
    assert set(lineage.derived) == {
        await fact_of(memory, "Bergen"),
        await fact_of(memory, "tea"),
        Ref(RefKind.SESSION_SUMMARY, told.id),
        Ref(RefKind.DOCUMENT, page.id, 1),
    }
    [job] = lineage.jobs
    assert (job.kind, job.key, job.outcome) == (JobKind.EXTRACT, told.id, Outcome.SUCCEEDED)
    assert (lineage.sources, lineage.source_refs, lineage.versions, lineage.replaced_by) == ((), (), (), None)


async def test_a_message_of_which_nothing_was_made_says_so(memory: Memory, session: Session) -> None:
    await session.append([assistant("Hm.")])

    lineage = await memory.space("alice").explain(f"message:{session.id}:1")

    assert (lineage.text, lineage.origin) == ("Hm.", "assistant")
    assert (lineage.derived, lineage.context_log, lineage.usage) == ((), (), None)
    assert not [job for job in lineage.jobs if job.outcome]


async def test_refs_of_a_dry_run_can_be_explained(memory: Memory) -> None:
    """They name all versions of a fact or document with version 0, and `explain` returns the newest one."""
    alice = memory.space("alice")
    await alice.facts.save(Fact(id="tea", text="User likes tea."))
    await alice.facts.save(Fact(id="tea", text="User likes green tea."))
    page = await written(memory, "tea", "Tea.")

    for ref, text in {"fact:tea:1": "User likes green tea.", f"document:{page.id}:1": "Tea."}.items():
        [target] = (await alice.forget(ref, dry_run=True)).refs
        assert target.endswith(":0")
        assert text in str((await alice.explain(target)).text)
    with pytest.raises(NotFoundError):
        await alice.explain("fact:none:0")


async def test_lineage_of_a_fact_lists_messages_job_and_context_log(
    life: Life, memory: Memory, session: Session, clock: FakeClock
) -> None:
    first = await life.tell("I live in Bergen.", a_fact("User lives in Bergen", 1))
    again = await life.tell("As I said, I live in Bergen.", a_fact("User lives in Bergen", 1))
    await life.consolidate()
    ref = await fact_of(memory, "Bergen")
    block = await memory.space("alice").context(session_id=session.id)
    shown_at = clock.time  # and in the same transaction it was noted in the access record
    await memory.space("alice").admin.context_log.mark_used([ref])
    used_at = clock.time

    lineage = await memory.space("alice").explain(str(ref))

    assert (lineage.ref, lineage.text, lineage.origin) == (ref, "User lives in Bergen", "user")
    assert {quote.source: quote.text for quote in lineage.sources} == {
        SourceMessage(first.id, 1): "I live in Bergen.",
        SourceMessage(again.id, 1): "As I said, I live in Bergen.",
    }
    assert set(lineage.source_refs) == {message(first, 1), message(again, 1)}
    assert {(job.kind, job.key) for job in lineage.jobs} == {(JobKind.EXTRACT, first.id), (JobKind.EXTRACT, again.id)}
    assert lineage.created_by == Maker(model="scripted", prompt="extract-4", extractor="4")
    [version] = lineage.versions
    assert (version.ref, version.text, version.until) == (ref, "User lives in Bergen", None)
    assert lineage.replaced_by is None
    [showing] = lineage.context_log
    assert (showing.purpose, showing.session_id, showing.shown_at) == (Purpose.CONTEXT, session.id, shown_at)
    assert (showing.tokens, showing.digest, showing.refs) == (block.tokens, block.digest, (ref,))
    assert lineage.usage == Use(1, used_at)
    pages = [(await memory.space("alice").explain(each)).text or "" for each in lineage.derived]
    assert pages
    assert any("User lives in Bergen" in page for page in pages)


async def test_lineage_of_a_replaced_fact_names_its_replacement(life: Life, memory: Memory) -> None:
    await life.tell("I live in Oslo.", a_fact("User lives in Oslo", 1, **HOME))
    old = await fact_of(memory, "Oslo")
    await life.tell("I live in Bergen now.", a_fact("User lives in Bergen", 1, **HOME))
    new = await fact_of(memory, "Bergen")

    lineage = await memory.space("alice").explain(old)

    assert lineage.replaced_by == new
    assert (await memory.space("alice").explain(new)).replaced_by is None
    [version] = lineage.versions
    assert version.until is not None


async def test_every_version_of_a_fact_leads_to_all_of_them_and_to_the_next(memory: Memory, database: Database) -> None:
    facts = memory.space("alice").facts
    for town in ("Oslo", "Bergen", "Narvik"):
        await facts.save(Fact(id="home", text=f"Ana lives in {town}"))
    await learnt(database, "other", "Ana moves about")
    await replace_fact(database, "home", by="other")

    for number, successor in ((1, "fact:home:2"), (2, "fact:home:3"), (3, "fact:other:1")):
        lineage = await memory.space("alice").explain(f"fact:home:{number}")
        assert str(lineage.replaced_by) == successor
        assert [each.text[13:] for each in lineage.versions] == ["Oslo", "Bergen", "Narvik"]
        assert [each.ref.number for each in lineage.versions] == [1, 2, 3]
        assert [each.until for each in lineage.versions[:2]] == [each.since for each in lineage.versions[1:]]
        assert lineage.text == lineage.versions[number - 1].text


async def test_a_session_summary_leads_to_all_it_was_made_of(life: Life, memory: Memory) -> None:
    told = await life.tell("I live in Bergen.", title="Bergen", note="Lives in Bergen.")
    await life.consolidate()
    overview = (await whole_tree(life.docs))["~/memory/consolidated/MEMORY.md"]

    lineage = await memory.space("alice").explain(Ref(RefKind.SESSION_SUMMARY, told.id))

    assert (lineage.text, lineage.origin) == ("Bergen\n- Lives in Bergen.", "memory")
    assert lineage.source_refs == (message(told, 1),)
    assert lineage.created_by is not None
    assert [job.key for job in lineage.jobs] == [told.id]
    assert Ref(RefKind.DOCUMENT, overview.id, 1) in lineage.derived


async def test_lineage_of_a_document_lists_versions_author_and_sources(memory: Memory) -> None:
    told = await tell(memory, "The garden has roses.")
    sources = (
        DocumentSource(kind=SourceKind.MESSAGE, id=told.id, number=1),
        DocumentSource(kind=SourceKind.FACT, id="fct_1"),
        DocumentSource(kind=SourceKind.SESSION_SUMMARY, id=told.id),
    )
    page = await written(memory, "garden", "Tulips.")
    author = Author(kind="agent", id="agt_1", reason="asked to")
    await memory.space("alice").documents.update(
        page.id,
        DocumentDraft(slug="garden", title="Garden", body="Roses."),
        if_version=1,
        provenance=Provenance(author=author, origin=Origin("assistant"), sources=sources),
    )

    first, second = [await memory.space("alice").explain(f"document:{page.id}:{number}") for number in (1, 2)]

    assert (second.text, second.origin) == ("Garden\nRoses.", "assistant")
    assert second.written_by == "agent agt_1 asked to"
    assert set(second.source_refs) == {
        message(told, 1),
        Ref(RefKind.FACT, "fct_1", 0),
        Ref(RefKind.SESSION_SUMMARY, told.id),
    }
    assert (first.text, first.origin, first.written_by, first.source_refs) == ("Garden\nTulips.", "user", "user", ())
    assert first.versions == second.versions
    assert [(each.ref.number, each.text) for each in second.versions] == [(1, "Tulips."), (2, "Roses.")]
    assert second.versions[0].until == second.versions[1].since
    assert second.versions[1].until is None


async def test_every_step_of_a_lineage_can_be_walked_on(life: Life, memory: Memory) -> None:
    told = await life.tell("I live in Bergen.", a_fact("User lives in Bergen", 1, about="Bergen"))
    await life.consolidate()
    waiting, seen = [message(told, 1)], set[Ref]()
    while waiting:
        ref = waiting.pop()
        if ref in seen:
            continue
        seen.add(ref)
        lineage = await memory.space("alice").explain(ref)
        assert lineage.text is not None
        waiting += [*lineage.derived, *lineage.source_refs]

    assert {ref.kind for ref in seen} == set(RefKind)


async def test_lineage_of_a_document_names_the_fact_version(memory: Memory) -> None:
    facts = memory.space("alice").facts
    by = Provenance(sources=(DocumentSource(kind=SourceKind.FACT, id="home"),))
    await facts.save(Fact(id="home", text="Ana lives in Oslo"))
    await facts.save(Fact(id="home", text="Ana lives in Bergen"))
    page = await written(memory, "ana", "Lives in Bergen.", by=by)
    await facts.save(Fact(id="home", text="Ana lives in Narvik"))

    lineage = await memory.space("alice").explain(Ref(RefKind.DOCUMENT, page.id, 1))

    assert lineage.source_refs == (Ref(RefKind.FACT, "home", 2),)


async def test_a_document_that_a_job_wrote_names_its_run(life: Life, memory: Memory) -> None:
    await life.tell("I live in Bergen.", a_fact("User lives in Bergen", 1, about="Bergen"))
    await life.consolidate()
    bergen = (await whole_tree(life.docs))["~/memory/bergen"]

    lineage = await memory.space("alice").explain(Ref(RefKind.DOCUMENT, bergen.id, 1))

    assert lineage.written_by is not None
    assert lineage.written_by.startswith("job ")
    assert bergen.author.run in lineage.written_by
    assert [job.kind for job in lineage.jobs] == [JobKind.CONSOLIDATE]


async def test_lineage_of_a_deleted_item_has_only_context_log_entries(
    life: Life, memory: Memory, session: Session, clock: FakeClock
) -> None:
    told = await life.tell("My locker has the code 4711.", a_fact("User has a locker", 1))
    fact = await fact_of(memory, "locker")
    page = await written(memory, "locker", "The locker is blue.")
    seen: set[Ref] = set()
    for kind in RefKind:
        found = await memory.space("alice").recall("locker", kinds=[kind], session_id=session.id)
        seen |= {item.ref for item in found.items}
    clock.time += DAY
    await memory.space("alice").context(session_id=session.id)

    await memory.space("alice").forget(conversation=conversation_key(channel="c", chat="1"))
    await memory.space("alice").documents.delete(page.id, if_version=1)
    await memory.space("alice").forget(f"document:{page.id}:1", version_only=True)

    assert seen == {
        message(told, 1), fact, Ref(RefKind.SESSION_SUMMARY, told.id), Ref(RefKind.DOCUMENT, page.id, 1),
    }  # fmt: skip
    for ref in seen:
        lineage = await memory.space("alice").explain(ref)
        assert (lineage.text, lineage.origin, lineage.sources) == (None, None, ())
        assert all(version.text == "" for version in lineage.versions)
        assert lineage.context_log
        assert all(showing.session_id == session.id for showing in lineage.context_log)
        times = [showing.shown_at for showing in lineage.context_log]
        assert times == sorted(times, reverse=True)
    with pytest.raises(NotFoundError):
        await memory.space("alice").explain(message(told, 2))


async def test_lineage_includes_context_log_entries_of_other_versions(memory: Memory, session: Session) -> None:
    facts = memory.space("alice").facts
    await facts.save(Fact(id="f", text="Tea at five"))
    await memory.space("alice").context(session_id=session.id)
    await facts.save(Fact(id="f", text="Tea at six"))

    lineage = await memory.space("alice").explain("fact:f:2")

    assert [showing.refs for showing in lineage.context_log] == [(Ref(RefKind.FACT, "f", 1),)]


@pytest.mark.parametrize(
    "ref",
    ["fact:f:9", "fact:nobody:1", "message:ses_x:1", "document:doc_x:1", "session_summary:ses_x:0", "fact:nobody:0",
     f"message:ses_x:{2**63 - 1}"],
)  # fmt: skip
async def test_explain_of_an_unknown_ref_raises_not_found(memory: Memory, ref: str) -> None:
    await memory.space("alice").facts.save(Fact(id="f", text="Tea"))

    with pytest.raises(NotFoundError, match=r"No memory .* in the space that the result came from"):
        await memory.space("alice").explain(ref)
    with pytest.raises(NotFoundError):
        await connect(enabled=False).space("alice").explain(ref)


async def test_explain_cannot_reach_another_space(memory: Memory, session: Session) -> None:
    bobs = await tell(memory, "A secret.", space="bob")
    await memory.space("bob").facts.save(Fact(id="f", text="Tea"))

    for ref in (message(bobs, 1), Ref(RefKind.FACT, "f", 1)):
        with pytest.raises(NotFoundError):
            await memory.space("alice").explain(ref)


@pytest.mark.parametrize(
    "text",
    ["", "fact", "fact:", "fact:f", "fact:f:", "fact:f:x", "fact::1", "facts:f:1", "f:1", "FACT:f:1", "fact:f:-1",
     "fact:f:1.0", "fact:f: 1", "fact:f:²", "fact:a\0b:1", "fact:\ud800:1", "fact:f:9223372036854775808",
     "fact:f:" + "9" * 5_000, "fact:" + "f" * 1_000 + ":1"],
)  # fmt: skip
async def test_malformed_ref_is_rejected(memory: Memory, text: str) -> None:
    with pytest.raises(InvalidRequestError):
        Ref.parse(text)
    with pytest.raises(InvalidRequestError):
        await memory.space("alice").explain(text)
    with pytest.raises(InvalidRequestError):
        await memory.space("alice").admin.context_log.mark_used([text])


@given(st.sampled_from(RefKind), st.text(min_size=1, max_size=200).filter(str.isprintable), st.integers(0, 2**63 - 1))
def test_ref_round_trips_through_text(kind: RefKind, name: str, number: int) -> None:
    ref = Ref(kind, name, number)

    assert Ref.parse(str(ref)) == ref
    assert isinstance(Ref.parse(str(ref)).kind, RefKind)
    assert str(Ref.parse(str(ref))) == str(ref)


@given(st.text(max_size=40))
def test_any_other_text_is_refused_or_names_itself(text: str) -> None:
    try:
        ref = Ref.parse(f"fact:{text}")
    except InvalidRequestError:
        return
    assert str(ref) == f"fact:{text}"
