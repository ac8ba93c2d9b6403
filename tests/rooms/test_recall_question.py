"""How recall reads questions: repeated, polite, about a time, about now, and unanswerable."""

import pytest

from bethink import Fact, Memory, Session
from bethink.jobs.worker import Worker, WorkerOptions
from bethink.model.jobs import JobKind
from bethink.model.moments import moment
from bethink.model.recall import Certainty, Fate
from bethink.model.refs import Ref, RefKind
from bethink.store.db import Database
from tests.conftest import FakeClock
from tests.rooms.learn_kit import extractor
from tests.rooms.recall_kit import EMPTY, ago, assistant, fates, message, tell, texts, user, with_vectors
from tests.rooms.test_consolidate import Life
from tests.rooms.vector_kit import index_all

KITE = "What colour is my kite?"
MEMORY = RefKind.SESSION_SUMMARY


async def quoted(memory: Memory, database: Database, *lines: str) -> Session:
    """Say something in a session, end it, and remember it without a model."""
    session = await tell(memory, *lines)
    await session.end()
    handlers = {JobKind.EXTRACT: extractor(database, None)}
    await Worker(database, handlers, WorkerOptions(daily_cap=None)).run_once()
    return session


@pytest.mark.parametrize("vectors", [False, True])
async def test_a_stored_question_lowers_no_score_of_its_answer(
    memory: Memory,
    database: Database,
    vectors: bool,
) -> None:
    remembering = with_vectors(database) if vectors else memory
    await tell(memory, "The kite is blue.", "Nothing else.")
    await index_all(database)
    before = (await remembering.space("alice").recall(KITE)).items[0]
    session = await tell(memory, "Hello there.", KITE)
    await index_all(database)

    for asker in (session.id, None):
        after = await remembering.space("alice").recall(KITE, session_id=asker, explain=True)

        assert after.items[0].ref == before.ref
        assert after.items[0].score > before.score - 0.02
        assert fates(after)[message(session, 2)] is Fate.QUESTION
        assert message(session, 1) not in {item.ref for item in after.items} or vectors


async def test_earlier_question_ranks_after_the_answer(memory: Memory) -> None:
    told = await tell(memory, "The kite is blue.")
    asked = await tell(memory, "Good morning.", "what colour is my KITE", assistant("Blue, it seems."))

    found = await memory.space("alice").recall(KITE, explain=True)

    assert [item.ref for item in found.items] == [message(told, 1), message(asked, 3)]
    assert fates(found)[message(asked, 2)] is Fate.QUESTION


async def test_note_in_the_words_of_the_question_is_found(memory: Memory) -> None:
    note = await tell(memory, "tea")
    session = await tell(memory, "I like the kite.")

    assert [item.ref for item in (await memory.space("alice").recall("tea")).items] == [message(note, 1)]
    likes = await memory.space("alice").recall("Do I like the kite?", session_id=session.id)
    assert [item.ref for item in likes.items] == [message(session, 1)]


async def test_recall_matching_only_the_question_is_empty(memory: Memory) -> None:
    await tell(memory, KITE)

    found = await memory.space("alice").recall(KITE)

    assert not found
    assert found.note == "The only match is the same question, asked earlier."


async def test_summary_that_only_quotes_the_question_is_no_match(memory: Memory, database: Database) -> None:
    only = await quoted(memory, database, KITE, "Good night.")
    more = await quoted(memory, database, KITE, "My kite is the blue one.")

    found = await memory.space("alice").recall(KITE, kinds=[MEMORY], explain=True)

    assert [item.ref for item in found.items] == [Ref(MEMORY, more.id)]
    assert fates(found)[Ref(MEMORY, only.id)] is Fate.QUESTION


async def test_quoting_summary_yields_to_its_message(memory: Memory, database: Database) -> None:
    lines = ["The dentist is Dr Moen.", "The car is red.", "The dentist opens at nine, the dentist closes at five."]
    session = await quoted(memory, database, *lines)
    await memory.space("alice").facts.save(Fact(id="f", text="Emil went to the dentist"))

    found = await memory.space("alice").recall("Who is the dentist?", explain=True)

    assert {item.ref for item in found.items if item.ref.kind is MEMORY} == set()
    [dropped] = [each for each in found.candidates if each.ref == Ref(MEMORY, session.id)]
    assert dropped.fate is Fate.DUPLICATE
    assert dropped.because_of in {message(session, 1), message(session, 3)}
    [kept] = [item for item in found.items if item.ref == dropped.because_of]
    assert dropped.ref in kept.duplicates
    scores = [item.score for item in found.items]
    assert scores == sorted(scores, reverse=True)
    alone = await memory.space("alice").recall("Who is the dentist?", kinds=[MEMORY])
    assert [item.ref for item in alone.items] == [dropped.ref]


async def test_summary_in_own_words_is_returned_with_its_message(memory: Memory, database: Database) -> None:
    session = await Life(database, memory).tell("The dentist is Dr Moen.", note="Her dentist is called Dr Moen.")

    found = await memory.space("alice").recall("Who is the dentist?")

    assert {item.ref for item in found.items} == {message(session, 1), Ref(MEMORY, session.id)}


@pytest.mark.parametrize("question", ["Do I have a child?", "Do I have children?", "do we have any kids"])
async def test_children_are_found_by_any_word_for_them(memory: Memory, question: str) -> None:
    said = {"Our son Emil plays handball.", "The children are asleep."}
    for line in said:
        await tell(memory, line)

    assert set(texts(await memory.space("alice").recall(question))) == said


async def test_allergy_matches_allergic_and_eat_does_not_match_at(memory: Memory) -> None:
    await tell(memory, "Emil is allergic to nuts.")
    await tell(memory, "We sat at the table, at home.")

    assert texts(await memory.space("alice").recall("Is there any allergy?")) == ["Emil is allergic to nuts."]
    assert not await memory.space("alice").recall("What did she eat?")


@pytest.mark.parametrize("question", ["what happened in July 2023?", "in July 2023", "What went on in July 2023?"])
async def test_question_about_a_time_finds_messages_said_then(memory: Memory, question: str) -> None:
    for day in range(1, 29):  # more than are ever looked at, all with the word
        spring = [user(f"{number} days until July.", said_at=moment(f"2023-04-{day:02}")) for number in range(5)]
        await tell(memory, *spring)
    await tell(memory, user("The boat got new sails.", said_at=moment("2023-07-10")))
    await tell(memory, user("July was dry.", said_at=moment("2023-07-31")))

    found = await memory.space("alice").recall(question)

    assert set(texts(found)) == {"The boat got new sails.", "July was dry."}
    assert (await memory.space("alice").recall("What happened in July 2019?")).note == (
        "No match from that time. Try another time."
    )


async def test_question_about_a_day_finds_what_was_told_some_days_later(memory: Memory) -> None:
    await tell(memory, user("We met old friends.", said_at=moment("2023-06-19")))
    await tell(memory, user("Saturday it rained, and we sang anyway.", said_at=moment("2023-06-26")))
    await tell(memory, user("The boat got new sails.", said_at=moment("2023-07-10")))

    found = await memory.space("alice").recall("What did we do on Saturday of the 24th of June 2023?")

    assert texts(found) == ["Saturday it rained, and we sang anyway."]
    assert found.items[0].certainty == "weak"


async def test_a_polite_question_finds_what_a_short_one_finds(memory: Memory) -> None:
    await tell(memory, "We adopted a dog from the shelter, a border collie called Pixel.")
    await tell(memory, *[f"We walked around the lake, lap {number}." for number in range(20)])
    polite = "Could you look up for me what sort of dog breed our puppy belongs to, I need it for the insurance form"

    found = await memory.space("alice").recall(polite)

    assert texts(found)[0] == "We adopted a dog from the shelter, a border collie called Pixel."
    vain = "Could you look up for me which violin strings I ordered, I need it for the lake"
    weak = await memory.space("alice").recall(vain)
    assert weak.certainty is Certainty.WEAK
    nothing = await memory.space("alice").recall(vain, min_certainty=Certainty.FAIR)
    assert not nothing
    assert nothing.note == "No match is certain enough. Use `explain` to see the nearest."


async def test_question_about_now_prefers_the_latest_message(memory: Memory, clock: FakeClock) -> None:
    old = await tell(memory, user("I live in Bergen.", said_at=ago(clock, 270)))
    new = await tell(memory, user("I moved again, so much is new: I live in Tromsø now.", said_at=ago(clock, 1)))

    now = await memory.space("alice").recall("Where do I live now?")
    then = await memory.space("alice").recall("Where do I live?")

    assert [item.ref for item in now.items] == [message(new, 1), message(old, 1)]
    assert [item.ref for item in then.items] == [message(old, 1), message(new, 1)]


async def test_recall_as_of_before_any_message_says_so(memory: Memory, clock: FakeClock) -> None:
    await tell(memory, user("The boat got new sails.", said_at=ago(clock, 2)))

    for question in ("boat", "What happened yesterday?"):
        found = await memory.space("alice").recall(question, as_of=ago(clock, 3))
        assert found.note == "The space was empty at that time. Try a later time."
    later = await memory.space("alice").recall("unicorn", as_of=ago(clock, 1))
    assert later.note == "No match by words. Try other words or set an embedder."


async def test_recall_in_an_empty_space_says_so(memory: Memory) -> None:
    space = memory.space("empty")

    assert (await space.recall("boat")).note == EMPTY
    assert (await space.recall("boat", kinds=["fact"])).note == EMPTY
