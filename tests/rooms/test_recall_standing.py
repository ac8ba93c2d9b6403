"""The current fact ranks first with its evidence; what it replaced follows and says so."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bethink import Fact, Memory, Session
from bethink.memory.facts.reconcile import reconcile
from bethink.model.documents import DocumentDraft
from bethink.model.facts import Quote, SourceMessage
from bethink.model.ids import new_id
from bethink.model.kinds import FactKind
from bethink.model.recall import Fate
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind
from bethink.model.reviews import ClaimedFact
from bethink.store.db import Database, Tx
from tests.conftest import FakeClock
from tests.rooms.learn_kit import a_fact
from tests.rooms.recall_kit import (
    DAY,
    assistant,
    fates,
    learnt,
    message,
    replace_fact,
    tell,
    texts,
    user,
    with_vectors,
    written,
)
from tests.rooms.test_consolidate import Life
from tests.rooms.test_context import section
from tests.rooms.vector_kit import index_all

FACT = RefKind.FACT
HOME = "Where do I live?"


async def test_a_fact_that_does_not_fit_a_narrowed_question_is_not_brought_in(
    memory: Memory, database: Database
) -> None:
    oslo = await tell(memory, user("I live in Oslo.", tags=("winter",)))
    away = await tell(memory, "The rooms in Bergen have a view.")
    await learnt(database, "old", "User lives in Oslo", SourceMessage(oslo.id, 1))
    await learnt(database, "new", "Her rooms are in Bergen", SourceMessage(away.id, 1))
    await replace_fact(database, "old", by="new")

    plain = await memory.space("alice").recall(HOME)
    narrowed = await memory.space("alice").recall(HOME, tags=("winter",))

    assert plain.items[0].ref == Ref(FACT, "new", 1), "it is brought in, though it shares no word with the question"
    assert [(item.ref, item.replaced_by) for item in narrowed.items] == [(message(oslo, 1), Ref(FACT, "new", 1))]


async def test_current_fact_ranks_first_and_replaced_names_successor(memory: Memory, database: Database) -> None:
    oslo = await tell(memory, "I live in Oslo.")
    bergen = await tell(memory, "I have moved, so now I live in Bergen with my two cats.")
    await learnt(database, "old", "User lives in Oslo", SourceMessage(oslo.id, 1))
    await learnt(database, "new", "User lives in Bergen", SourceMessage(bergen.id, 1))
    await replace_fact(database, "old", by="new")

    found = await memory.space("alice").recall(HOME, explain=True)

    now, before = found.items
    assert now.ref == Ref(FACT, "new", 1)
    assert (now.duplicates, now.replaced_by) == ((message(bergen, 1),), None)
    assert [each.source for each in now.excerpts] == [SourceMessage(bergen.id, 1)]
    assert (before.ref, before.replaced_by) == (message(oslo, 1), now.ref)
    assert now.score >= before.score
    judged = {each.ref: (each.fate, each.because_of) for each in found.candidates}
    assert judged[message(oslo, 1)] == (Fate.SHOWN, now.ref)
    assert judged[message(bergen, 1)] == (Fate.DUPLICATE, now.ref)
    assert judged[Ref(FACT, "old", 1)] == (Fate.SUPERSEDED, now.ref)
    for each in found.candidates:
        assert sum(signal.added for signal in each.signals.values()) == pytest.approx(each.score)


async def test_replacement_is_returned_even_without_a_shared_word(memory: Memory, database: Database) -> None:
    session = await tell(memory, "My dentist is Dr. Lund.")
    await learnt(database, "old", "The dentist is Dr. Lund", SourceMessage(session.id, 1))
    await learnt(database, "new", "Teeth are Dr. Aas's business")
    await replace_fact(database, "old", by="new")

    found = await memory.space("alice").recall("Who is my dentist?", explain=True)

    assert [item.ref for item in found.items] == [Ref(FACT, "new", 1), message(session, 1)]
    assert found.items[0].score == found.items[1].score
    assert found.items[1].replaced_by == Ref(FACT, "new", 1)
    assert [each.signals.keys() for each in found.candidates[:1]] == [{"supersedes"}]
    for kinds in ([RefKind.MESSAGE], [RefKind.MESSAGE, RefKind.DOCUMENT]):
        [only] = (await memory.space("alice").recall("Who is my dentist?", kinds=kinds)).items
        assert (only.ref, only.replaced_by) == (message(session, 1), Ref(FACT, "new", 1))
    narrowed = await memory.space("alice").recall("Who is my dentist?", origin=["assistant"])
    assert not narrowed.items


async def test_replacement_chain_is_followed_as_of_each_day(
    memory: Memory, database: Database, clock: FakeClock
) -> None:
    session = await tell(memory, "I live in Oslo.")
    await learnt(database, "1", "User lives in Oslo", SourceMessage(session.id, 1))
    days = [clock.time]
    for number, town in ((2, "Bergen"), (3, "Narvik"), (4, "Molde")):
        clock.time += DAY
        await learnt(database, str(number), f"User lives in {town}")
        await replace_fact(database, str(number - 1), by=str(number))
        days.append(clock.time)
    clock.time += DAY

    for number, day in enumerate(days, start=1):
        found = await memory.space("alice").recall(HOME, as_of=day)
        assert found.items[0].ref == Ref(FACT, str(number), 1), day
        assert [item.replaced_by for item in found.items[1:]] == [Ref(FACT, str(number), 1)] * (number > 1)


async def test_manual_correction_replaces_message_without_citing_it(memory: Memory, database: Database) -> None:
    session = await tell(memory, "I live in Oslo.")
    fact = await learnt(database, "home", "User lives in Oslo", SourceMessage(session.id, 1))
    await memory.space("alice").facts.save(Fact(id="home", text="User lives in Bergen", origin=fact.origin))

    found = await memory.space("alice").recall(HOME)

    now, before = found.items
    assert (now.text, now.ref) == ("User lives in Bergen", Ref(FACT, "home", 2))
    assert (now.duplicates, now.excerpts, now.sources) == ((), (), ())
    assert (before.ref, before.replaced_by) == (message(session, 1), now.ref)


async def _say(memory: Memory, database: Database, text: str, statement: str, **more: object) -> Session:
    """Say something and learn it, as extraction does."""
    session = await tell(memory, user(text, said_at=more.get("created_at")))
    fields: dict[str, object] = {"kind": FactKind.DETAIL, "origin": Origin("user"), "subject": "user", "slot": "home"}
    fact = Fact(id=new_id("fct"), text=statement, **{**fields, **more})  # pyright: ignore[reportArgumentType]
    quotes = (Quote(session_id=session.id, number=1, text=text),)

    def body(tx: Tx) -> None:
        dated = replace(fact, created_at=fact.created_at or tx.now)
        reconcile(tx, ClaimedFact(fact=dated, quotes=quotes), space="alice", effect=fact.id, token=1)

    await database.transact(body, space="alice")
    return session


async def test_late_learned_fact_is_replaced_by_the_current_one(
    memory: Memory, database: Database, clock: FakeClock
) -> None:
    bergen = await _say(memory, database, "I live in Bergen.", "User lives in Bergen", created_at=clock.time - DAY)
    before = clock.time - 9 * DAY
    oslo = await _say(memory, database, "Oslo is where I live.", "User lives in Oslo", created_at=before)

    found = await memory.space("alice").recall(HOME)

    assert [item.text for item in found.items] == ["User lives in Bergen", "Oslo is where I live."]
    assert found.items[0].duplicates == (message(bergen, 1),)
    assert (found.items[1].ref, found.items[1].replaced_by) == (message(oslo, 1), found.items[0].ref)


async def test_returning_to_an_old_value_does_not_replace_it(memory: Memory, database: Database) -> None:
    for town in ("Oslo", "Bergen", "Oslo"):
        await _say(memory, database, f"I live in {town}.", f"User lives in {town}")

    found = await memory.space("alice").recall(HOME)

    assert [(item.text, len(item.duplicates)) for item in found.items] == [
        ("User lives in Oslo", 2),
        ("I live in Bergen.", 0),
    ]
    assert found.items[1].replaced_by == found.items[0].ref


async def test_message_stays_via_another_current_fact(memory: Memory, database: Database) -> None:
    session = await tell(memory, "I live in Oslo, and I work at the library.")
    source = SourceMessage(session.id, 1)
    await learnt(database, "oslo", "User lives in Oslo", source)
    await learnt(database, "work", "User works at the library", source)
    await learnt(database, "bergen", "User lives in Bergen")
    await replace_fact(database, "oslo", by="bergen")

    work = await memory.space("alice").recall("Where do I work?")
    home = await memory.space("alice").recall(HOME)

    assert [(item.ref.id, item.duplicates) for item in work.items] == [("work", (message(session, 1),))]
    assert [item.ref for item in home.items] == [Ref(FACT, "bergen", 1), message(session, 1)]


async def test_partly_replaced_message_is_found_for_other_content(memory: Memory, database: Database) -> None:
    session = await tell(memory, "I live in Oslo. My favourite dish is fish soup.")
    await learnt(database, "oslo", "User lives in Oslo", SourceMessage(session.id, 1))
    await learnt(database, "bergen", "User lives in Bergen")
    await replace_fact(database, "oslo", by="bergen")

    found = await memory.space("alice").recall("What is my favourite dish?")

    assert [item.ref for item in found.items] == [message(session, 1)]
    assert found.items[0].replaced_by == Ref(FACT, "bergen", 1)


async def test_a_question_about_the_past_finds_what_was_so_then_first(
    memory: Memory, database: Database, clock: FakeClock
) -> None:
    year = clock.time.year
    session = await _say(
        memory, database, "I live in Oslo.", "User lives in Oslo", created_at=clock.time.replace(month=3, day=5)
    )
    await _say(memory, database, "I live in Bergen.", "User lives in Bergen")

    found = await memory.space("alice").recall(f"Where did I live in March {year}?")

    assert (found.items[0].ref, found.items[0].replaced_by) == (message(session, 1), found.items[1].ref)


async def test_assistant_echo_is_replaced_with_its_source(memory: Memory, database: Database, clock: FakeClock) -> None:
    oslo = await _say(memory, database, "I live in Oslo.", "User lives in Oslo")
    echo = await tell(memory, assistant("You live, live, live in Oslo!"), assistant("You live in Oslo!"))
    clock.time += DAY
    await _say(memory, database, "I live in Bergen.", "User lives in Bergen")
    marked = await memory.space("alice").recall("Where do you say that I live?")
    clock.time += DAY
    anew = await tell(memory, "I live in Oslo!")
    found = await memory.space("alice").recall(HOME)

    now, *others = marked.items
    assert now.text == "User lives in Bergen"
    [before] = [item for item in others if message(oslo, 1) in (item.ref, *item.duplicates)]
    assert {before.ref, *before.duplicates} == {message(oslo, 1), message(echo, 2)}
    assert before.replaced_by == now.ref
    [new] = [item for item in found.items if message(anew, 1) in (item.ref, *item.duplicates)]
    assert (new.ref, new.replaced_by) == (message(anew, 1), None)


async def test_three_copies_of_one_statement_are_one_item(memory: Memory, database: Database) -> None:
    life = Life(database, memory)
    await life.tell("I live in Bergen.", a_fact("User lives in Bergen", 1), title="I live in Bergen", note="Bergen.")
    again = await tell(memory, "I live in Bergen.")

    found = await memory.space("alice").recall(HOME, explain=True)
    block = await memory.space("alice").context(question=HOME)

    [item] = found.items
    assert (item.text, item.ref.kind) == ("User lives in Bergen", FACT)
    assert message(again, 1) in item.duplicates
    assert sorted(ref.kind for ref in item.duplicates) == [RefKind.MESSAGE, RefKind.MESSAGE, RefKind.SESSION_SUMMARY]
    assert {each.because_of for each in found.candidates if each.fate is Fate.DUPLICATE} == {item.ref}
    assert block.text.count("Bergen") == 1


async def test_session_summary_marks_its_replaced_part(memory: Memory, database: Database, clock: FakeClock) -> None:
    life = Life(database, memory)
    home = {"slot": "home"}
    notes = "User lives in Oslo. A bakery is next door, where the user buys rolls."
    await life.tell("I live in Oslo.", a_fact("User lives in Oslo", 1, **home), title="Home", note=notes)
    clock.time += DAY
    await life.tell("I live in Bergen.", a_fact("User lives in Bergen", 1, **home), title="Moved", note="-")

    found = await memory.space("alice").recall("Do I live next door to a bakery?")
    block = await memory.space("alice").context()

    by_kind = {item.ref.kind: item for item in found.items}
    standing = next(item.ref for item in found.items if item.ref.kind is FACT)
    assert by_kind[RefKind.SESSION_SUMMARY].replaced_by == standing
    [line] = [line for line in section(block, "Earlier sessions").splitlines() if "Oslo" in line]
    assert line.count("Oslo") == 1, "a line that says nothing else is left out"
    assert "(partly superseded, memory, " in line
    assert [item.replaced_by for item in block.items if "Oslo" in item.text] == [standing]
    assert "superseded" not in section(block, "What is known")


async def test_context_omits_replaced_facts_if_current_is_shown(memory: Memory, database: Database) -> None:
    for town in ("Oslo", "Bergen"):
        await _say(memory, database, f"I live in {town}.", f"User lives in {town}")

    block = await memory.space("alice").context(question=HOME)

    assert "Oslo" not in block.text
    assert block.text.count("Bergen") == 1
    assert "User lives in Bergen (user)" in section(block, "Relevant to the question")


async def test_an_old_version_of_a_document_names_the_one_that_replaced_it(memory: Memory) -> None:
    documents = memory.space("alice").documents
    page = await written(memory, "home", "The house is in Oslo.")
    for number, town in enumerate(("Bergen", "Narvik"), start=1):
        draft = DocumentDraft(slug="home", title="Home", body=f"The house is in {town}.")
        await documents.update(page.id, draft, number)

    found = await memory.space("alice").recall("Where is the house?", explain=True)

    def version(number: int) -> Ref:
        return Ref(RefKind.DOCUMENT, page.id, number)

    assert [item.ref for item in found.items] == [version(3)]
    assert {each.ref: (each.fate, each.because_of) for each in found.candidates} == {
        version(3): (Fate.SHOWN, None),
        version(2): (Fate.SUPERSEDED, version(3)),
        version(1): (Fate.SUPERSEDED, version(2)),
    }


async def test_with_vectors_and_a_reranker_what_holds_still_comes_first(memory: Memory, database: Database) -> None:
    class Nostalgic:
        name = "nostalgic"

        async def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
            del question
            return [float("Oslo" in text) for text in texts]

    for town in ("Oslo", "Bergen"):
        await _say(memory, database, f"I live in {town}.", f"User lives in {town}")
    await index_all(database)

    found = await with_vectors(database, reranker=Nostalgic()).space("alice").recall(HOME)

    assert texts(found)[:2] == ["User lives in Bergen", "I live in Oslo."]
    assert found.items[1].replaced_by == found.items[0].ref


async def test_deleted_replacement_is_not_named(memory: Memory, database: Database) -> None:
    oslo = await _say(memory, database, "I live in Oslo.", "User lives in Oslo")
    bergen = await _say(memory, database, "I live in Bergen.", "User lives in Bergen")
    standing = (await memory.space("alice").recall(HOME)).items[0].ref
    [old] = [entry.fact for entry in await memory.space("alice").facts.history(status="replaced")]

    await memory.space("alice").forget(standing)
    found = await memory.space("alice").recall(HOME, explain=True)

    restored = Ref(FACT, old.id, 1)
    assert {item.ref: item.replaced_by for item in found.items} == {restored: None, message(bergen, 1): None}
    assert [item.duplicates for item in found.items if item.ref == restored] == [(message(oslo, 1),)]
    assert standing not in fates(found)
