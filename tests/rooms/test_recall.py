"""Recall: matches by words, speaker and time, and the fields of each item."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from bethink import Fact, Memory, Message, Session, connect
from bethink.errors import InvalidRequestError, ModelUnavailableError
from bethink.extend import TextKind
from bethink.model.documents import DocumentSource, Provenance, SourceKind
from bethink.model.facts import SourceMessage
from bethink.model.framing import label_of
from bethink.model.kinds import FactKind
from bethink.model.moments import from_micros
from bethink.model.recall import Excerpt
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind
from bethink.store.db import Database
from tests.conftest import FakeClock
from tests.rooms.learn_kit import a_fact
from tests.rooms.recall_kit import EMPTY, ago, assistant, learnt, message, tell, texts, user, with_vectors, written
from tests.rooms.test_consolidate import Life
from tests.rooms.vector_kit import DIMENSION, index_all


class Away:
    """An embedder and a reranker that nobody can reach."""

    name = "hashed"
    dimension = DIMENSION

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        raise ModelUnavailableError("nobody answers")

    async def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        raise ModelUnavailableError("nobody answers")


class Backwards:
    """A reranker that holds the last to be the best."""

    name = "backwards"

    async def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        return [float(place) for place in range(len(texts))]


MAY_2023 = from_micros(1_684_000_000_000_000)
"""The 13th of May 2023."""


async def test_message_is_found_by_its_words_with_all_fields(memory: Memory, clock: FakeClock) -> None:
    session = await tell(memory, "My bicycle is painted orange.", user("The rain never stops.", name="Ana"))
    said_at = (await session.messages())[0].message.said_at

    [item] = (await memory.space("alice").recall("Which bicycle is orange?", limit=1)).items

    assert item.ref == message(session, 1)
    assert (item.text, item.origin, item.said_at, item.session_id) == (
        "My bicycle is painted orange.",
        "user",
        said_at,
        session.id,
    )
    assert item.label == label_of(item.ref)
    assert 0 < item.score <= 1
    assert (item.speaker, item.fact, item.duplicates, item.sources, item.excerpts) == (None, None, (), (), ())
    [other] = (await memory.space("alice").recall("Does the rain stop?", limit=1)).items
    assert other.speaker == "Ana"


async def test_recall_omits_messages_without_a_shared_word(memory: Memory) -> None:
    await tell(memory, "My bicycle is painted orange.")
    other = await tell(memory, "The rain never stops.")

    found = await memory.space("alice").recall("Does it rain?")

    assert [item.ref for item in found.items] == [message(other, 1)]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Where did she go?", "Tamara went to Lisbon."),
        ("Where has she gone?", "Tamara went to Lisbon."),
        ("Is anyone painting the fence?", "The fence was painted on a whim."),
        ("Who are her children?", "A child plays outside."),
    ],
)
async def test_message_is_found_by_another_form_of_a_word(memory: Memory, asked: str, said: str) -> None:
    await tell(memory, said)
    await tell(memory, "Nothing of that sort.")

    assert texts(await memory.space("alice").recall(asked)) == [said]


async def test_a_synonym_finds_and_the_word_itself_finds_better(memory: Memory) -> None:
    await tell(memory, "The puppy sleeps all morning.")
    await tell(memory, "The dog sleeps all morning.")

    found = await memory.space("alice").recall("What is with the dog?")

    assert texts(found) == ["The dog sleeps all morning.", "The puppy sleeps all morning."]
    assert found.items[0].score > found.items[1].score


async def test_named_speaker_ranks_first(memory: Memory) -> None:
    await tell(memory, user("I keep a snake at home.", name="Ben Ask"), user("I keep a snake in town.", name="Ana Roe"))

    assert texts(await memory.space("alice").recall("Where does Ana keep her snake?"))[0] == "I keep a snake in town."
    assert texts(await memory.space("alice").recall("Where does Ben keep his snake?"))[0] == "I keep a snake at home."


async def test_question_with_only_a_speaker_name_finds_their_facts(memory: Memory) -> None:
    await tell(memory, user("Hello there.", name="Ana"))
    await memory.space("alice").facts.save(Fact(id="f", text="Ana plays the cello"))

    assert "Ana plays the cello" in texts(await memory.space("alice").recall("Who is Ana?"))


async def test_the_name_of_a_tool_is_a_word_like_any_other(memory: Memory) -> None:
    await tell(memory, Message(role="tool", name="weather", content="Sunny, 21 degrees."))
    session = await tell(memory, "The weather here makes me sad.")

    found = await memory.space("alice").recall("What did I say about the weather?")

    assert found.items[0].ref == message(session, 1)


async def test_first_person_prefers_user_and_advice_prefers_assistant(
    memory: Memory,
) -> None:
    await tell(memory, "A camera costs a lot.", assistant("A camera costs too much."))

    async def first(question: str) -> str:
        return (await memory.space("alice").recall(question)).items[0].origin

    assert await first("What did I say a camera costs?") == "user"
    assert await first("What did you say a camera costs?") == "assistant"
    assert await first("You told me what a camera costs, remind me?") == "assistant"


async def test_recommendation_question_prefers_the_assistant(memory: Memory) -> None:
    await tell(memory, "A camera by Zeta is what people recommend to me.", assistant("I recommend a camera by Yotta."))

    for question in ("What camera did you recommend?", "Which camera have you recommended to me?"):
        assert (await memory.space("alice").recall(question)).items[0].origin == "assistant"


async def test_answer_to_a_matching_question_is_found(memory: Memory) -> None:
    session = await tell(
        memory, assistant("What is the name of your cat?"), "Whiskers the Third", assistant("Lovely."), "Thanks"
    )
    await tell(memory, "Something else entirely")

    found = await memory.space("alice").recall("cat name")

    assert [item.ref for item in found.items[:2]] == [message(session, 2), message(session, 1)], (
        "a question answers none"
    )


async def test_month_in_the_question_boosts_messages_of_that_month(memory: Memory, clock: FakeClock) -> None:
    await tell(memory, "The concert was loud.")
    then = await tell(memory, user("The concert was quiet.", said_at=MAY_2023))

    assert texts(await memory.space("alice").recall("How was the concert?"))[0] == "The concert was loud."
    found = await memory.space("alice").recall("How was the concert in May 2023?", explain=True)
    assert found.items[0].ref == message(then, 1)
    dated = {each.ref: each.signals.get("date") for each in found.candidates}
    lifted = dated[message(then, 1)]
    assert lifted is not None
    assert lifted.raw == 1.0
    assert lifted.added > 0


async def test_yesterday_is_relative_to_as_of(memory: Memory, clock: FakeClock) -> None:
    for days in (0, 1, 10, 11):
        await tell(memory, user(f"The concert {days} days back.", said_at=ago(clock, days)))

    now = await memory.space("alice").recall("How was the concert yesterday?")
    then = await memory.space("alice").recall("How was the concert yesterday?", as_of=ago(clock, 10))

    assert now.items[0].text == "The concert 1 days back."
    assert then.items[0].text == "The concert 11 days back."
    assert set(texts(then)) == {"The concert 10 days back.", "The concert 11 days back."}


async def test_words_in_quotes_lift_what_has_them_just_so(memory: Memory) -> None:
    await tell(memory, "The night was black and the sheep slept.")
    await tell(memory, "He is the black sheep of them all, and it was night.")

    found = await memory.space("alice").recall('Who is the "black sheep" of the night?', explain=True)

    assert found.items[0].text.startswith("He is the black sheep")
    assert [("quoted" in each.signals) for each in found.candidates] == [True, False]


async def test_fact_is_found_with_its_messages_and_excerpts(
    memory: Memory, database: Database, clock: FakeClock
) -> None:
    session = await tell(memory, "By the way, we moved to Bergen in spring.")
    said_at = (await session.messages())[0].message.said_at
    assert said_at is not None
    await learnt(database, "f1", "User lives in Norway", SourceMessage(session.id, 1), kind=FactKind.GOAL)

    [item] = (await memory.space("alice").recall("Norway?")).items

    assert item.ref == Ref(RefKind.FACT, "f1", 1)
    assert (item.text, item.origin, item.label) == ("User lives in Norway", "user", label_of(item.ref))
    assert item.fact is not None
    assert item.fact.kind is FactKind.GOAL
    assert item.sources == (SourceMessage(session.id, 1),)
    assert item.excerpts == (
        Excerpt(
            source=SourceMessage(session.id, 1),
            text="By the way, we moved to Bergen in spring.",
            origin=Origin("user"),
            said_at=said_at,
        ),
    )


async def test_a_session_summary_is_found_by_its_summary_and_its_notes(memory: Memory, database: Database) -> None:
    session = await Life(database, memory).tell("hello", title="Zebras", note="Stripes of zebras matter.")

    for question in ("zebras", "stripes"):
        [item] = (await memory.space("alice").recall(question)).items
        assert item.ref == Ref(RefKind.SESSION_SUMMARY, session.id)
        assert (item.origin, item.session_id, item.label) == ("memory", session.id, label_of(item.ref))
        assert item.text == "Zebras\n- Stripes of zebras matter."


async def test_document_is_found_by_title_description_and_body(memory: Memory) -> None:
    source = DocumentSource(kind=SourceKind.MESSAGE, id="ses_1", number=1)
    by = Provenance(origin=Origin("tool:web"), sources=(source,))
    document = await written(memory, "tea", "Oolong is half oxidised.", title="Leaves", description="On brewing", by=by)

    for question in ("oolong", "leaves", "brewing"):
        [item] = (await memory.space("alice").recall(question)).items
        assert item.ref == Ref(RefKind.DOCUMENT, document.id, 1)
        assert (item.origin, item.label, item.said_at) == ("tool:web", label_of(item.ref), document.valid_from)
        assert item.text == "Leaves\nOn brewing\nOolong is half oxidised."


async def test_recall_filters_by_kind_and_origin(memory: Memory, database: Database) -> None:
    shop = Message(role="tool", name="shop", content="Tea")
    await tell(memory, "I brew tea.", assistant("You brew tea, I see."), shop)
    await Life(database, memory).tell("hm", title="It was about tea", note="Tea, once more.")
    await memory.space("alice").facts.save(Fact(id="f", text="Tea is a plant"))
    await written(memory, "cup", "For tea")

    async def asked(**narrowed: object) -> set[tuple[str, str]]:
        found = await memory.space("alice").recall("tea", **narrowed)  # pyright: ignore[reportArgumentType]
        return {(item.ref.kind, item.origin) for item in found.items}

    everything = {
        ("message", "user"), ("message", "assistant"), ("message", "tool:shop"), ("fact", "import"),
        ("session_summary", "memory"), ("document", "user"),
    }  # fmt: skip
    assert await asked() == everything
    for kind in RefKind:
        assert await asked(kinds=[kind]) == {each for each in everything if each[0] == kind}
    assert await asked(kinds=[]) == set()
    assert await asked(origin=["user"]) == {("message", "user"), ("document", "user")}
    assert await asked(origin=["tool"]) == await asked(origin=["tool:shop"]) == {("message", "tool:shop")}
    assert await asked(origin=["tool:web"]) == set()


async def test_recall_finds_all_kinds_learned_from_a_session(memory: Memory, database: Database) -> None:
    life = Life(database, memory)
    await life.tell("I am allergic to peanuts.", a_fact("User is allergic to peanuts", 1, kind=FactKind.DETAIL))
    await life.consolidate()

    found = await memory.space("alice").recall("Am I allergic to something?")

    assert {ref.kind for item in found.items for ref in (item.ref, *item.duplicates)} == set(RefKind)


async def test_two_spaces_never_see_each_other(memory: Memory, database: Database) -> None:
    session = await tell(memory, "My safe opens with seven turns.", space="bob")
    await memory.space("bob").facts.save(Fact(id="f", text="The safe is green"))

    assert not await memory.space("alice").recall("safe", explain=True)
    assert (await memory.space("alice").recall("safe", explain=True)).candidates == ()
    assert {item.ref for item in (await memory.space("bob").recall("safe")).items} == {
        message(session, 1),
        Ref(RefKind.FACT, "f", 1),
    }


async def test_disabled_memory_returns_empty_answers_with_a_reason() -> None:
    memory = connect(enabled=False)

    found = await memory.space("alice").recall("anything")

    assert not found
    assert (found.items, found.tokens, found.candidates) == ((), 0, ())
    assert found.note == "Memory is disabled"
    assert not await memory.space("alice").context(question="anything")
    assert await memory.space("alice").admin.context_log.mark_used(["fact:f:1"]) == 0
    assert await memory.space("alice").admin.context_log.list() == []


async def test_recall_without_matches_says_why(memory: Memory, session: Session) -> None:
    assert (await memory.space("alice").recall("unicorns")).note == EMPTY
    await session.append([{"role": "user", "content": "Nothing of the kind."}])

    nothing = await memory.space("alice").recall("unicorns")

    assert not nothing
    assert (nothing.question, nothing.items, nothing.tokens) == ("unicorns", (), 0)
    assert nothing.note == "No match by words. Try other words or set an embedder."
    small = await memory.space("alice").recall("kind", budget=1)
    assert not small
    assert small.note == "The budget is too small for any of the matches."
    other = await memory.space("alice").recall("kind", origin=["document"])
    assert other.note == "No match by words. The search was filtered. Try fewer filters or other words."
    assert (await memory.space("alice").recall("kind")).note is None


@pytest.mark.pgvector
async def test_a_vector_finds_what_shares_no_word_that_counts(memory: Memory, database: Database) -> None:
    session = await tell(memory, "What is it that he has with her?")
    remembering = with_vectors(database)
    await index_all(database)

    question = "What is it that he has with her?"
    assert not await memory.space("alice").recall(question)
    [item] = (await remembering.space("alice").recall(question)).items
    assert item.ref == message(session, 1)


async def test_recall_without_its_embedder_says_what_is_missing(memory: Memory, database: Database) -> None:
    session = await tell(memory, "The heron stands there.")
    await index_all(database)
    remembering = with_vectors(database, Away())

    found = await remembering.space("alice").recall("heron")

    assert [item.ref for item in found.items] == [message(session, 1)]
    assert found.note == "Embedder unavailable. Ranked by words only."
    nothing = await remembering.space("alice").recall("unicorn")
    assert nothing.note == "No match. Try other words or another space. Embedder unavailable. Ranked by words only."


async def test_reranker_affects_the_order_only_if_available(memory: Memory, database: Database) -> None:
    await tell(memory, "A heron, a heron, and then a heron.")
    await tell(memory, "One heron stood there, they say.")
    plain = texts(await with_vectors(database).space("alice").recall("heron?"))

    swapped = await with_vectors(database, reranker=Backwards()).space("alice").recall("heron?", explain=True)
    away = await with_vectors(database, reranker=Away()).space("alice").recall("heron?")

    assert texts(away) == plain
    assert [each.ranks["reranked"] for each in swapped.candidates] == [1, 2]
    assert {each.signals["reranker"].raw for each in swapped.candidates} == {0.0, 1.0}
    added = {each.signals["reranker"].raw: each.signals["reranker"].added for each in swapped.candidates}
    assert added[1.0] > added[0.0] >= 0


class Loud(Backwards):
    """The same with a weight above those of all other signals."""

    weight = 9.0


async def test_reranker_counts_by_its_weight(database: Database, memory: Memory) -> None:
    class Meek(Backwards):
        weight = 0.0

    await tell(memory, "heron heron heron", "A heron stood there, and nothing else happened on that long grey morning.")
    plain = texts(await with_vectors(database).space("alice").recall("heron?"))

    loud = texts(await with_vectors(database, reranker=Loud()).space("alice").recall("heron?"))
    meek = texts(await with_vectors(database, reranker=Meek()).space("alice").recall("heron?"))

    assert (loud, meek) == (plain[::-1], plain)


@pytest.mark.parametrize(
    ("text", "is_reranked"),
    [
        ("Where is the heron?", True),
        ("where is the heron", True),
        ("Tell me about the heron.", False),
        ("A heron again today.", False),
        (f"Where is the heron{', and where' * 20}?", False),
    ],
)
async def test_reranker_reads_short_questions_only(
    database: Database, memory: Memory, *, text: str, is_reranked: bool
) -> None:
    await tell(memory, "heron heron heron", "A heron stood there, and nothing else happened on that long grey morning.")
    plain = texts(await with_vectors(database).space("alice").recall(text))

    found = texts(await with_vectors(database, reranker=Loud()).space("alice").recall(text))

    assert found == (plain[::-1] if is_reranked else plain)


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": -1}, {"budget": 0}, {"budget": -5}])
async def test_a_limit_or_a_budget_below_one_is_refused(wrong: dict[str, int]) -> None:
    memory = connect(enabled=False)

    with pytest.raises(InvalidRequestError, match="must be between 1 and"):
        await memory.space("alice").recall("x", **wrong)  # pyright: ignore[reportArgumentType]
    if "budget" in wrong:
        with pytest.raises(InvalidRequestError, match="must be between 1 and"):
            await memory.space("alice").context(budget=wrong["budget"])


async def test_question_with_only_a_time_finds_messages_of_that_time(
    memory: Memory, session: Session, clock: FakeClock
) -> None:
    day = timedelta(days=1)
    said = [("We painted the boat.", 2 * day), ("The oven broke.", day), ("It rains.", 0 * day)]
    await session.append(
        [Message(role="user", content=text, said_at=clock.time - since) for text, since in said],
    )

    yesterday = await memory.space("alice").recall("What did we talk about yesterday?")
    never = await memory.space("alice").recall("What did we talk about in May 1999?")

    assert [item.text for item in yesterday.items] == ["The oven broke."]
    assert never.items == ()


async def test_certainty_is_weak_for_unsaid_chinese_and_high_for_said(memory: Memory) -> None:
    await tell(memory, "我的牙医是磨坊路的李医生。", "我妹妹在奥斯陆工作。")

    said = await memory.space("alice").recall("我的牙医是谁？")
    unsaid = await memory.space("alice").recall("我的血型是什么？")

    assert said.items[0].probability > 0.5
    assert unsaid.certainty == "weak"
