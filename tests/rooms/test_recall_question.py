"""What recall makes of how people ask: the same once more, politely, of a time, of now, and in vain."""

import pytest

from bethink import Fact, Memory, Session
from bethink.jobs.worker import Worker, WorkerOptions
from bethink.model.jobs import JobKind
from bethink.model.moments import moment
from bethink.model.recall import Fate, Level, Ref, RefKind
from bethink.store.db import Database
from tests.conftest import FakeClock
from tests.rooms.learn_kit import extractor
from tests.rooms.recall_kit import ago, assistant, fates, message, tell, texts, user, with_vectors
from tests.rooms.test_consolidate import Life
from tests.rooms.vector_kit import index_all

KITE = "What colour is my kite?"
MEMORY = RefKind.SESSION_MEMORY


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


async def test_an_old_asking_does_not_come_before_the_answer_and_its_old_answer_is_found(memory: Memory) -> None:
    told = await tell(memory, "The kite is blue.")
    asked = await tell(memory, "Good morning.", "what colour is my KITE", assistant("Blue, it seems."))

    found = await memory.space("alice").recall(KITE, explain=True)

    assert [item.ref for item in found.items] == [message(told, 1), message(asked, 3)]
    assert fates(found)[message(asked, 2)] is Fate.QUESTION


async def test_a_note_in_the_words_of_the_question_is_found_and_so_is_one_with_its_few_words(memory: Memory) -> None:
    note = await tell(memory, "tea")
    session = await tell(memory, "I like the kite.")

    assert [item.ref for item in (await memory.space("alice").recall("tea")).items] == [message(note, 1)]
    likes = await memory.space("alice").recall("Do I like the kite?", session_id=session.id)
    assert [item.ref for item in likes.items] == [message(session, 1)]


async def test_where_only_the_question_is_found_the_answer_is_empty_and_says_so(memory: Memory) -> None:
    await tell(memory, KITE)

    found = await memory.space("alice").recall(KITE)

    assert not found
    assert found.missing == "the only match is the question itself, asked before"


async def test_what_only_quotes_the_question_is_no_answer_and_what_says_more_is(
    memory: Memory, database: Database
) -> None:
    only = await quoted(memory, database, KITE, "Good night.")
    more = await quoted(memory, database, KITE, "My kite is the blue one.")

    found = await memory.space("alice").recall(KITE, kinds=[MEMORY], explain=True)

    assert [item.ref for item in found.items] == [Ref(MEMORY, more.id)]
    assert fates(found)[Ref(MEMORY, only.id)] is Fate.QUESTION


async def test_a_memory_that_only_quotes_gives_way_to_the_message_it_quotes(memory: Memory, database: Database) -> None:
    lines = ["The dentist is Dr Moen.", "The car is red.", "The dentist opens at nine, the dentist closes at five."]
    session = await quoted(memory, database, *lines)
    await memory.space("alice").facts.save(Fact(id="f", content="Emil went to the dentist"))

    found = await memory.space("alice").recall("Who is the dentist?", explain=True)

    assert {item.ref for item in found.items if item.ref.kind is MEMORY} == set()
    [dropped] = [each for each in found.candidates if each.ref == Ref(MEMORY, session.id)]
    assert dropped.fate is Fate.DUPLICATE
    assert dropped.because_of in {message(session, 1), message(session, 3)}
    [kept] = [item for item in found.items if item.ref == dropped.because_of]
    assert dropped.ref in kept.also
    scores = [item.score for item in found.items]
    assert scores == sorted(scores, reverse=True)
    alone = await memory.space("alice").recall("Who is the dentist?", kinds=[MEMORY])
    assert [item.ref for item in alone.items] == [dropped.ref]


async def test_a_memory_in_a_models_own_words_stands_beside_its_message(memory: Memory, database: Database) -> None:
    session = await Life(database, memory).tell("The dentist is Dr Moen.", note="Her dentist is called Dr Moen.")

    found = await memory.space("alice").recall("Who is the dentist?")

    assert {item.ref for item in found.items} == {message(session, 1), Ref(MEMORY, session.id)}


@pytest.mark.parametrize("question", ["Do I have a child?", "Do I have children?", "do we have any kids"])
async def test_children_are_found_by_whatever_they_are_called(memory: Memory, question: str) -> None:
    said = {"Our son Emil plays handball.", "The children are asleep."}
    for line in said:
        await tell(memory, line)

    assert set(texts(await memory.space("alice").recall(question))) == said


async def test_an_allergy_is_what_somebody_is_allergic_to_and_eating_is_not_being_at_a_place(memory: Memory) -> None:
    await tell(memory, "Emil is allergic to nuts.")
    await tell(memory, "We sat at the table, at home.")

    assert texts(await memory.space("alice").recall("Is there any allergy?")) == ["Emil is allergic to nuts."]
    assert not await memory.space("alice").recall("What did she eat?")


@pytest.mark.parametrize("question", ["what happened in July 2026?", "in July 2026", "What went on in July 2026?"])
async def test_what_happened_at_a_time_is_what_was_said_then(memory: Memory, question: str) -> None:
    for day in range(1, 29):  # more than are ever looked at, all with the word
        spring = [user(f"{number} days until July.", said_at=moment(f"2026-04-{day:02}")) for number in range(5)]
        await tell(memory, *spring)
    await tell(memory, user("The boat got new sails.", said_at=moment("2026-07-10")))
    await tell(memory, user("July was dry.", said_at=moment("2026-07-31")))

    found = await memory.space("alice").recall(question)

    assert set(texts(found)) == {"The boat got new sails.", "July was dry."}
    assert (await memory.space("alice").recall("What happened in July 2019?")).missing == "nothing was said then"


async def test_a_polite_question_finds_what_a_short_one_finds(memory: Memory) -> None:
    await tell(memory, "We adopted a dog from the shelter, a border collie called Pixel.")
    await tell(memory, *[f"We walked around the lake, lap {number}." for number in range(20)])
    polite = "Could you look up for me what sort of dog breed our puppy belongs to, I need it for the insurance form"

    found = await memory.space("alice").recall(polite)

    assert texts(found)[0] == "We adopted a dog from the shelter, a border collie called Pixel."
    vain = "Could you look up for me which violin strings I ordered, I need it for the lake"
    weak = await memory.space("alice").recall(vain)
    assert weak.certainty is not None
    assert weak.certainty.level is Level.WEAK
    nothing = await memory.space("alice").recall(vain, least=Level.FAIR)
    assert not nothing
    assert nothing.missing == "nothing was said about this that is certain enough; explain shows the nearest"


async def test_where_somebody_lives_now_is_what_was_said_last(memory: Memory, clock: FakeClock) -> None:
    old = await tell(memory, user("I live in Bergen.", said_at=ago(clock, 270)))
    new = await tell(memory, user("I moved again, so much is new: I live in Tromsø now.", said_at=ago(clock, 1)))

    now = await memory.space("alice").recall("Where do I live now?")
    then = await memory.space("alice").recall("Where do I live?")

    assert [item.ref for item in now.items] == [message(new, 1), message(old, 1)]
    assert [item.ref for item in then.items] == [message(old, 1), message(new, 1)]


async def test_before_anything_was_said_nothing_was_known(memory: Memory, clock: FakeClock) -> None:
    await tell(memory, user("The boat got new sails.", said_at=ago(clock, 2)))

    for question in ("boat", "What happened yesterday?"):
        found = await memory.space("alice").recall(question, as_of=ago(clock, 3))
        assert found.missing == "nothing was known by then"
    later = await memory.space("alice").recall("unicorn", as_of=ago(clock, 1))
    assert later.missing == "nothing was said about this"
