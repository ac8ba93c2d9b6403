"""How a question is read: its words and their weight, whom it is about, and when."""

from collections.abc import Sequence

import pytest

from bethink.model.moments import Micros, from_micros
from bethink.recall.dates import spans
from bethink.recall.question import ParsedQuestion, Term, asks, in_their_words, read, repeats
from bethink.recall.word_lists import FORMS, RELATED, STOP_WORDS
from bethink.store.db import Database, Tx

NOW = Micros(1_700_000_000_000_000)
DAY = 86_400_000_000


async def asked(database: Database, question: str, speakers: Sequence[str] = ()) -> ParsedQuestion:
    return await database.transact(lambda tx: read(tx, question, speakers=speakers, now=from_micros(NOW)), read=True)


def words(question: ParsedQuestion) -> dict[str, float]:
    return {term.word: term.weight for term in question.terms}


def stems(question: ParsedQuestion, term: Term) -> set[str]:
    return {question.stems[place] for place in term.stems}


async def test_words_that_carry_nothing_are_left_out_and_vague_ones_weigh_little(database: Database) -> None:
    found = await asked(database, "What was the first thing that she told you about the harbour?")

    assert words(found) == {"first": 0.3, "thing": 0.3, "told": 0.3, "harbour": 1.0}


async def test_names_and_numbers_weigh_more_unless_they_only_begin_the_question(database: Database) -> None:
    found = await asked(database, "Harbour fees in Bergen for the X200 since March, please?")

    assert words(found) == {
        "Harbour": 1.0, "fees": 1.0, "Bergen": 1.3, "X200": 1.3, "since": 1.0, "March": 1.0, "please": 0.3,
    }  # fmt: skip


@pytest.mark.parametrize(
    "question", ["Didn't it?", "Hasn\u2019t she?", "I can't, won't and shouldn't!", "What's that?"]
)
async def test_a_word_that_carries_nothing_does_so_with_an_apostrophe_too(database: Database, question: str) -> None:
    assert words(await asked(database, question)) == {}


async def test_a_possessive_is_the_word_itself(database: Database) -> None:
    found = await asked(database, "the dog's bowl and the cats\u2019 bowl and o'brien")

    assert list(words(found))[:3] == ["dog", "bowl", "cats"]


async def test_all_spellings_of_a_word_are_one_term(database: Database) -> None:
    found = await asked(database, "Who went, who has gone, and who will go?")

    [term] = found.terms
    assert term.word == "went"
    assert stems(found, term) >= {"go", "went", "gone"}


async def test_no_form_of_any_word_is_found_by_a_word_that_carries_nothing(database: Database) -> None:
    def found_by(tx: Tx) -> dict[str, set[str]]:
        silent = {stem for stems in tx.stemmed(sorted(STOP_WORDS)) for stem in stems}
        words = dict.fromkeys(word for group in (*FORMS, *RELATED) for word in group)
        return {word: silent & set(read(tx, word, speakers=(), now=from_micros(NOW)).stems) for word in words}

    wrong = await database.transact(found_by, read=True)

    assert {word: stems for word, stems in wrong.items() if stems} == {}
    [term] = (await asked(database, "What did they eat?")).terms
    assert len(term.stems) >= 2, "its other forms are still there"


async def test_every_form_of_a_word_has_the_same_kin(database: Database) -> None:
    groups = {word: group for group in FORMS for word in group}

    def kin(tx: Tx, word: str) -> set[str]:
        found = read(tx, word, speakers=(), now=from_micros(NOW))
        return {found.stems[place] for term in found.terms for place in term.related}

    def differing(tx: Tx) -> set[str]:
        heads = [head for head, *_ in RELATED if head in groups and kin(tx, head)]
        return {head for head in heads if any(kin(tx, form) not in (kin(tx, head), set()) for form in groups[head])}

    assert await database.transact(differing, read=True) == set()
    for question in ("a child", "children", "kids", "a kid"):
        found = await asked(database, question)
        assert {"son", "daughter"} <= set(found.stems), question


async def test_what_is_akin_stands_beside_a_word_and_not_for_it(database: Database) -> None:
    found = await asked(database, "Where is the dog?")

    [term] = found.terms
    assert stems(found, term) == {"dog"}
    akin = {found.stems[place] for place in term.related}
    assert {stem[:3] for stem in akin} == {"pup"}
    assert not akin & stems(found, term)


@pytest.mark.parametrize("question", ["Is the dog a puppy?", "Is the puppy a dog?"])
async def test_a_word_that_is_akin_to_another_of_the_question_counts_as_itself(
    database: Database, question: str
) -> None:
    found = await asked(database, question)

    assert set(words(found)) == {"dog", "puppy"}
    direct = [place for term in found.terms for place in term.stems]
    assert len(direct) == len(set(direct))
    assert not {place for term in found.terms for place in term.related} & set(direct)


async def test_a_vague_word_has_no_kin(database: Database) -> None:
    found = await asked(database, "Please give a list")

    assert [term.related for term in found.terms] == [()] * len(found.terms)


async def test_a_long_question_is_read_by_its_beginning(database: Database) -> None:
    found = await asked(database, " ".join(f"word{number}" for number in range(5_000)) + ' yesterday "quoted"')

    assert [term.word for term in found.terms] == [f"word{number}" for number in range(24)]
    assert (found.spans, found.quoted) == ((), ())


async def test_words_of_politeness_and_of_what_it_is_for_weigh_little(database: Database) -> None:
    found = await asked(
        database, "Could you look up what dog breed our puppy is, I need it for the insurance form of the dog? Thanks"
    )

    assert words(found) == {
        "look": 0.3, "dog": 1.0, "breed": 1.0, "puppy": 1.0, "need": 0.3, "insurance": 0.3, "form": 0.3, "Thanks": 0.3,
    }  # fmt: skip
    plain = await asked(database, "Which insurance form does she look for, and what did I need?")
    assert set(words(plain).values()) == {1.0}


@pytest.mark.parametrize(
    ("question", "only"),
    [
        ("What happened in July 2023?", True),
        ("What was going on in July 2023?", True),
        ("What did we do in July 2023?", True),
        ("Anything new this week?", True),
        ("What happened to the boat in July 2023?", False),
        ("Where did I go on Friday?", False),
        ("What is new?", False),
        ("What happened?", False),
    ],
)
async def test_a_question_may_ask_for_nothing_but_a_time(database: Database, question: str, only: bool) -> None:
    assert (await asked(database, question)).only_when is only


@pytest.mark.parametrize(
    ("question", "now"),
    [
        ("Where do I live now?", True),
        ("Where do I currently work?", True),
        ("What am I reading these days?", True),
        ("What do I eat today", True),
        ("Where do I live?", False),
        ("What does she do now and then?", False),
        ("Do you know?", False),
    ],
)
async def test_a_question_may_ask_how_things_stand_now(database: Database, question: str, now: bool) -> None:
    assert (await asked(database, question)).now is now


@pytest.mark.parametrize(
    ("text", "asking"),
    [
        ("Where does the heron nest?", True),
        ("It was the heron?  ", True),
        ('"Who is it?"', True),
        ("where does the heron nest", True),
        ("do I have children", True),
        ("\u201cWhat now", True),
        ("When I was young I lived in Rome.", False),
        ("What a day!", False),
        ("Do it now", False),
        ("whatever it is", False),
        ("tea", False),
        ("", False),
    ],
)
def test_a_text_reads_as_a_question_by_its_mark_or_by_how_it_begins(text: str, asking: bool) -> None:
    assert asks(text) is asking


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Where does the heron nest?", True),
        ("  where does the HERON nest ", True),
        ("\u201cWhere does the heron nest?\u201d", True),
        ("Where do the herons nest?", False),
        ("Where does the heron not nest?", False),
        ("heron nest", False),
        ("Where does the heron nest? By the weir.", False),
        ("Where does the heron nest?" + "!" * 1_000, False),
    ],
)
def test_a_text_is_the_question_word_for_word_or_it_is_not(text: str, same: bool) -> None:
    assert repeats(text, "Where does the heron nest?") is same


@pytest.mark.parametrize("question", ["", " ", "\0", "\ud800", "?", "the of and"])
async def test_a_question_without_words_has_no_terms(database: Database, question: str) -> None:
    found = await asked(database, question)

    assert (found.terms, found.stems, found.spans, found.role) == ((), (), (), None)


async def test_what_stands_in_quotes_is_kept_as_it_is(database: Database) -> None:
    found = await asked(database, 'Who is the "Black Sheep" and the " " of "Oslo", "not closed')

    assert found.quoted == ("black sheep", "oslo")


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("Where do I live?", "user"),
        ("What is my name?", "user"),
        ("What did we decide?", "user"),
        ("Where does she live?", None),
        ("Did she tell us?", "user"),
        ("Is it in Mexico or in the US?", None),
        ("What did you recommend?", "assistant"),
        ("What did you just suggest to me?", "assistant"),
        ("What have you told me?", "assistant"),
        ("Which book had you recommended to us?", "assistant"),
        ("You gave me a list.", "assistant"),
        ("What was your last suggestion?", "assistant"),
        ("Remind me of the name", "assistant"),
        ("In our last conversation, what was it?", "assistant"),
        ("Do you like tea?", None),
        ("Can you help me?", "user"),
    ],
)
async def test_a_question_says_whose_words_it_is_about(database: Database, question: str, role: str | None) -> None:
    assert (await asked(database, question)).role == role


async def test_a_speaker_who_is_named_is_whom_it_is_about_and_not_a_word(database: Database) -> None:
    known = ["Ana Roe", "Ben"]

    about = await asked(database, "What is Ana's favourite colour, and what is my own?", known)
    assert (about.speaker, about.role) == ("Ana Roe", None)
    assert list(words(about)) == ["favourite", "colour"]
    both = await asked(database, "Do Ana and ben like tea?", known)
    assert (both.speaker, both.role) == (None, None)
    assert list(words(both)) == ["like", "tea"]
    neither = await asked(database, "Does Anabel like bent spoons?", known)
    assert neither.speaker is None
    assert "Anabel" in words(neither)


async def test_a_name_that_is_all_there_is_to_a_question_is_its_word(database: Database) -> None:
    found = await asked(database, "Who is Ana?", ["Ana"])

    assert (found.speaker, list(words(found))) == ("Ana", ["Ana"])


@pytest.mark.parametrize("name", ["", " ", "x", "(", "a+b", "\\", "[", "Ana\\b", "名前"])
async def test_any_name_of_a_speaker_is_only_a_name(database: Database, name: str) -> None:
    found = await asked(database, "Where is the harbour?", [name])

    assert (found.speaker, list(words(found))) == (None, ["harbour"])
    assert in_their_words("Where is the harbour?", [name]) == "Where is the harbour?"


@pytest.mark.parametrize(
    ("question", "spoken"),
    [
        ("Where does Ana live?", "Where does I live?"),
        ("What is Ana\u2019s job? Does ana like it?", "What is my job? Does I like it?"),
        ("Where do Ana and Ben live?", "Where do Ana and Ben live?"),
        ("Where does Anabel live?", "Where does Anabel live?"),
    ],
)
def test_a_question_about_a_speaker_is_put_into_their_mouth(question: str, spoken: str) -> None:
    assert in_their_words(question, ["Ana Roe", "Ben"]) == spoken


async def test_the_times_of_a_question_are_read_against_now_and_their_words_need_not_be_repeated(
    database: Database,
) -> None:
    found = await asked(database, "What did Kim cook on 2023-05-13 and yesterday in the year of the cook?")

    assert list(found.spans) == spans("2023-05-13 and yesterday", from_micros(NOW))
    assert {term.word: term.dated for term in found.terms} == {
        "Kim": False, "cook": False, "2023": True, "05": True, "13": True, "yesterday": True, "year": False,
    }  # fmt: skip
    plain = await asked(database, "What is yesterday?")
    assert [term.dated for term in plain.terms] == [True]
    again = await asked(database, "Is the 2023 budget the budget of 2023-05-13?")
    assert not next(term for term in again.terms if term.word == "budget").dated


async def test_a_moment_is_close_within_a_time_and_less_so_the_further_it_is(database: Database) -> None:
    found = await asked(database, "What happened on 2023-05-13?")
    [span] = found.spans
    start, end = span.start, span.end

    def close(at: int) -> float:
        return found.closeness(Micros(at))

    assert close(start) == close(end - 1) == close((start + end) // 2) == 1.0
    assert 1 > close(end + DAY) > close(end + 3 * DAY) > close(end + 30 * DAY) > 0
    assert 1 > close(start - DAY) > close(start - 3 * DAY)
    assert close(end + 3 * DAY) > close(start - 3 * DAY), "people tell of a day after it"
    assert close(2**62) == close(-(2**62)) == 0.0
    assert (await asked(database, "What happened?")).closeness(start) == 0.0


async def test_of_several_times_the_closest_counts(database: Database) -> None:
    found = await asked(database, "on 2023-05-13 or on 2021-01-01")

    assert [found.closeness(span.start) for span in found.spans] == [1.0, 1.0]
