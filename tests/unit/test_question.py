"""How a question is read: its words and their weight, whom it is about, and when."""

from collections.abc import Sequence

import pytest

from bethink.model.records import Micros
from bethink.recall.dates import spans
from bethink.recall.question import Asked, Term, in_their_words, read
from bethink.store.db import Database

NOW = Micros(1_700_000_000_000_000)
DAY = 86_400_000_000


async def asked(database: Database, question: str, speakers: Sequence[str] = ()) -> Asked:
    return await database.transact(lambda tx: read(tx, question, speakers=speakers, now=NOW), read=True)


def words(question: Asked) -> dict[str, float]:
    return {term.word: term.weight for term in question.terms}


def stems(question: Asked, term: Term) -> set[str]:
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


async def test_what_is_akin_stands_beside_a_word_and_not_for_it(database: Database) -> None:
    found = await asked(database, "Where is the dog?")

    [term] = found.terms
    assert stems(found, term) == {"dog"}
    akin = {found.stems[place] for place in term.kin}
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
    assert not {place for term in found.terms for place in term.kin} & set(direct)


async def test_a_vague_word_has_no_kin(database: Database) -> None:
    found = await asked(database, "Please give a list")

    assert [term.kin for term in found.terms] == [()] * len(found.terms)


async def test_a_long_question_is_read_by_its_beginning(database: Database) -> None:
    found = await asked(database, " ".join(f"word{number}" for number in range(5_000)) + ' yesterday "quoted"')

    assert [term.word for term in found.terms] == [f"word{number}" for number in range(24)]
    assert (found.spans, found.quoted) == ((), ())


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

    assert list(found.spans) == spans("2023-05-13 and yesterday", NOW)
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
