"""Parsing a question: its words and weights, its subject, and its time."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from bethink.base.language import search_forms, stop_words
from bethink.memory.recall.asking import is_question, is_repeat
from bethink.memory.recall.dates import spans
from bethink.memory.recall.question import ParsedQuestion, Term, parse_question, to_first_person
from bethink.memory.recall.word_lists import forms, related_words
from bethink.model.moments import Micros, from_micros

NOW = Micros(1_700_000_000_000_000)
DAY = 86_400_000_000


def asked(question: str, speakers: Sequence[str] = ()) -> ParsedQuestion:
    return parse_question(question, speakers=speakers, now=from_micros(NOW))


def words(question: ParsedQuestion) -> dict[str, float]:
    return {term.word: term.weight for term in question.terms}


def stems(question: ParsedQuestion, term: Term) -> set[str]:
    return {question.stems[place] for place in term.stems}


def test_words_that_carry_nothing_are_left_out_and_vague_ones_weigh_little() -> None:
    found = asked("What was the first thing that she told you about the harbour?")

    assert words(found) == {"first": 0.3, "thing": 0.3, "told": 0.3, "harbour": 1.0}


def test_names_and_numbers_weigh_more_unless_they_only_begin_the_question() -> None:
    found = asked("Harbour fees in Bergen for the X200 since March, please?")

    assert words(found) == {
        "Harbour": 1.0, "fees": 1.0, "Bergen": 1.3, "X200": 1.3, "since": 1.0, "March": 1.0, "please": 0.3,
    }  # fmt: skip


@pytest.mark.parametrize(
    "question", ["Didn't it?", "Hasn\u2019t she?", "I can't, won't and shouldn't!", "What's that?"]
)
def test_a_word_that_carries_nothing_does_so_with_an_apostrophe_too(question: str) -> None:
    assert words(asked(question)) == {}


def test_a_possessive_is_the_word_itself() -> None:
    found = asked("the dog's bowl and the cats\u2019 bowl and o'brien")

    assert list(words(found))[:3] == ["dog", "bowl", "cats"]


def test_all_spellings_of_a_word_are_one_term() -> None:
    found = asked("Who went, who has gone, and who will go?")

    [term] = found.terms
    assert term.word == "went"
    assert stems(found, term) >= {"go", "went", "gone"}


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("Wo wohnt meine Schwester?", ["wohnt", "Schwester"]),
        ("¿Dónde vive mi hermana?", ["vive", "hermana"]),
        ("Où est-ce que ma sœur habite ?", ["sœur", "habite"]),
        ("Onde é que a minha irmã mora?", ["irmã", "mora"]),
        ("Где живёт моя сестра?", ["живёт", "сестра"]),
        ("Ablam nerede yaşiyor?", ["Ablam", "yaşiyor"]),
        ("أين كنت أسكن؟", ["أسكن"]),
        ("मेरी बहन कहाँ रहती है?", ["बहन"]),
        ("Los Angeles", ["Los", "Angeles"]),
        ("MIT", ["MIT"]),
    ],
)
def test_the_words_a_language_asks_with_carry_nothing(question: str, kept: list[str]) -> None:
    assert list(words(asked(question))) == kept


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Wohin bin ich gestern gegangen?", "ging"),
        ("Was isst meine Tochter am liebsten?", "gegessen"),
        ("¿Qué película quiero ver con mi hermana?", "vio"),
        ("Qu'est-ce que j'ai lu hier soir ?", "lire"),
        ("O que eu trouxe para a minha mãe?", "trazer"),
        ("Куда я иду завтра?", "шли"),
        ("Which mouse did the cat catch?", "mice"),
    ],
)
def test_irregular_form_matches_another_in_each_language(question: str, word: str) -> None:
    found = asked(question)

    spelt = set(search_forms(word))
    assert any(spelt & stems(found, term) for term in found.terms)


def test_word_form_groups_have_several_distinct_words() -> None:
    for language in ("en", "de", "es", "fr", "pt", "ru"):
        assert all(len(group) == len(set(group)) > 1 for group in forms(language)), language
    assert forms("xx") == related_words("de") == ()
    assert stop_words("xx") == stop_words("../en") == frozenset()


def test_no_word_form_equals_a_stop_word() -> None:
    silent = {search_forms(word)[0] for word in stop_words("en")}
    words = dict.fromkeys(word for group in (*forms("en"), *related_words("en")) for word in group)
    wrong = {word: silent & set(asked(word).stems) for word in words}

    assert {word: stems for word, stems in wrong.items() if stems} == {}
    [term] = (asked("What did they eat?")).terms
    assert len(term.stems) >= 2, "its other forms are still there"


def test_every_form_of_a_word_has_the_same_kin() -> None:
    groups = {word: group for group in forms("en") for word in group}

    def kin(word: str) -> set[str]:
        found = asked(word)
        return {found.stems[place] for term in found.terms for place in term.related}

    heads = [head for head, *_ in related_words("en") if head in groups and kin(head)]
    differing = {head for head in heads if any(kin(form) not in (kin(head), set()) for form in groups[head])}

    assert differing == set()
    for question in ("a child", "children", "kids", "a kid"):
        found = asked(question)
        assert {"son", "daughter"} <= set(found.stems), question


def test_related_words_do_not_replace_the_word() -> None:
    found = asked("Where is the dog?")

    [term] = found.terms
    assert stems(found, term) == {"dog"}
    akin = {found.stems[place] for place in term.related}
    assert {stem[:3] for stem in akin} == {"pup"}
    assert not akin & stems(found, term)


@pytest.mark.parametrize("question", ["Is the dog a puppy?", "Is the puppy a dog?"])
def test_a_word_that_is_akin_to_another_of_the_question_counts_as_itself(question: str) -> None:
    found = asked(question)

    assert set(words(found)) == {"dog", "puppy"}
    direct = [place for term in found.terms for place in term.stems]
    assert len(direct) == len(set(direct))
    assert not {place for term in found.terms for place in term.related} & set(direct)


def test_a_vague_word_has_no_kin() -> None:
    found = asked("Please give a list")

    assert [term.related for term in found.terms] == [()] * len(found.terms)


def test_a_long_question_is_read_by_its_beginning() -> None:
    found = asked(" ".join(f"word{number}" for number in range(5_000)) + ' yesterday "quoted"')

    assert [term.word for term in found.terms] == [f"word{number}" for number in range(24)]
    assert (found.spans, found.quoted) == ((), ())


def test_polite_and_purpose_words_weigh_little() -> None:
    found = asked("Could you look up what dog breed our puppy is, I need it for the insurance form of the dog? Thanks")

    assert words(found) == {
        "look": 0.3, "dog": 1.0, "breed": 1.0, "puppy": 1.0, "need": 0.3, "insurance": 0.3, "form": 0.3, "Thanks": 0.3,
    }  # fmt: skip
    plain = asked("Which insurance form does she look for, and what did I need?")
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
def test_a_question_may_ask_for_nothing_but_a_time(question: str, only: bool) -> None:
    assert (asked(question)).only_about_time is only


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
def test_question_about_now_is_recognized(question: str, now: bool) -> None:
    assert (asked(question)).now is now


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
def test_question_is_recognized_by_mark_or_beginning(text: str, asking: bool) -> None:
    assert is_question(text) is asking


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
def test_text_repeats_the_question_only_word_for_word(text: str, same: bool) -> None:
    assert is_repeat(text, "Where does the heron nest?") is same


@pytest.mark.parametrize("question", ["", " ", "\0", "\ud800", "?", "the of and"])
def test_a_question_without_words_has_no_terms(question: str) -> None:
    found = asked(question)

    assert (found.terms, found.stems, found.spans, found.role) == ((), (), (), None)


def test_quoted_phrases_are_kept_verbatim() -> None:
    found = asked('Who is the "Black Sheep" and the " " of "Oslo", "not closed')

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
def test_question_selects_the_speaker_role(question: str, role: str | None) -> None:
    assert (asked(question)).role == role


def test_named_speaker_is_the_subject_and_not_a_word() -> None:
    known = ["Ana Roe", "Ben"]

    about = asked("What is Ana's favourite colour, and what is my own?", known)
    assert (about.speaker, about.role) == ("Ana Roe", None)
    assert list(words(about)) == ["favourite", "colour"]
    both = asked("Do Ana and ben like tea?", known)
    assert (both.speaker, both.role) == (None, None)
    assert list(words(both)) == ["like", "tea"]
    neither = asked("Does Anabel like bent spoons?", known)
    assert neither.speaker is None
    assert "Anabel" in words(neither)


def test_a_name_that_is_all_there_is_to_a_question_is_its_word() -> None:
    found = asked("Who is Ana?", ["Ana"])

    assert (found.speaker, list(words(found))) == ("Ana", ["Ana"])


@pytest.mark.parametrize("name", ["", " ", "x", "(", "a+b", "\\", "[", "Ana\\b", "名前"])
def test_any_name_of_a_speaker_is_only_a_name(name: str) -> None:
    found = asked("Where is the harbour?", [name])

    assert (found.speaker, list(words(found))) == (None, ["harbour"])
    assert to_first_person("Where is the harbour?", [name]) == "Where is the harbour?"


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
    assert to_first_person(question, ["Ana Roe", "Ben"]) == spoken


def test_question_times_are_resolved_and_their_words_optional() -> None:
    found = asked("What did Kim cook on 2023-05-13 and yesterday in the year of the cook?")

    assert list(found.spans) == spans("2023-05-13 and yesterday", from_micros(NOW))
    assert {term.word: term.dated for term in found.terms} == {
        "Kim": False, "cook": False, "2023": True, "05": True, "13": True, "yesterday": True, "year": False,
    }  # fmt: skip
    plain = asked("What is yesterday?")
    assert [term.dated for term in plain.terms] == [True]
    again = asked("Is the 2023 budget the budget of 2023-05-13?")
    assert not next(term for term in again.terms if term.word == "budget").dated


def test_closeness_falls_with_distance_from_the_time() -> None:
    found = asked("What happened on 2023-05-13?")
    [span] = found.spans
    start, end = span.start, span.end

    def close(at: int) -> float:
        return found.closeness(Micros(at))

    assert close(start) == close(end - 1) == close((start + end) // 2) == 1.0
    assert 1 > close(end + DAY) > close(end + 3 * DAY) > close(end + 30 * DAY) > 0
    assert 1 > close(start - DAY) > close(start - 3 * DAY)
    assert close(end + 3 * DAY) > close(start - 3 * DAY), "people tell of a day after it"
    assert close(2**62) == close(-(2**62)) == 0.0
    assert (asked("What happened?")).closeness(start) == 0.0


def test_closest_of_several_times_counts() -> None:
    found = asked("on 2023-05-13 or on 2021-01-01")

    assert [found.closeness(span.start) for span in found.spans] == [1.0, 1.0]


@pytest.mark.parametrize(
    "question", ["Where did I go yesterday?", "Where do I live?", "Was war letzte Woche in Bergen?"]
)
def test_cached_question_is_parsed_the_same_for_another_day(question: str) -> None:
    days = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=11 * each) for each in range(4)]
    before: dict[tuple[str, str | None], ParsedQuestion] = {}
    shared = [parse_question(question, speakers=["Mira"], now=day, cache=before) for day in days]
    assert shared == [parse_question(question, speakers=["Mira"], now=day) for day in days]
