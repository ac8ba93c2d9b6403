"""The project's own question sets match their notes: counts, halves, evidence and paraphrases."""

import re
from collections import Counter
from collections.abc import Callable

import pytest

from benchmarks.connected import connected, connected2
from benchmarks.everyday import everyday, everyday2
from benchmarks.sets import Conversation, Question
from benchmarks.tongues import tongues

_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a about after ago all also always am an and any anybody anyone anything are as at be because been before being
        both but by can could d did do does doesn doing don done down either else ever every everything for from get
        gets getting go goes going gone got had has have having he her here hers him his how i if in into is isn it its
        just let ll m made make makes many may me might mine more most much must my myself neither never no nor not now
        of off on once one only or other our ours out over own re s say says shall she should since so some somebody
        someone something still such t than that the their them then there these they thing things this those through
        till to too under until up us ve very was we were what when where whether which while who whom whose why will
        with without won would yes yet you your
        """,
    )
)
_ENDINGS = ("ational", "ations", "ation", "ingly", "ings", "ing", "ies", "ied", "ers", "edly", "est", "ed", "er", "es")
_MORE_ENDINGS = ("ment", "ness", "ly", "ion", "al", "y", "e", "s")


def stem(word: str) -> str:
    for ending in (*_ENDINGS, *_MORE_ENDINGS):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    word = word.removesuffix("i").removesuffix("e")
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def content(text: str) -> set[str]:
    words = re.findall(r"[^\W\d_]+", text.casefold())
    return {stem(word) for word in words if word not in _FUNCTION_WORDS}


def shared(conversation: Conversation, question: Question) -> set[str]:
    texts = [turn.text for turn in conversation.turns if turn.id in question.evidence]
    return content(question.text) & content(" ".join(texts))


def all_questions(conversations: list[Conversation]) -> list[tuple[Conversation, Question]]:
    return [(each, question) for each in conversations for question in each.questions]


def evidence_is_real(conversations: list[Conversation], *, said_by: tuple[str, ...] = ("user",)) -> None:
    for conversation in conversations:
        ids = [turn.id for turn in conversation.turns]
        assert len(set(ids)) == len(ids)
        assert [turn.at for turn in conversation.turns] == sorted(turn.at for turn in conversation.turns)
        for question in conversation.questions:
            said = [turn for turn in conversation.turns if turn.id in question.evidence]
            assert len(said) == len(question.evidence)
            assert {turn.speaker for turn in said} <= {*said_by}
            assert bool(said) == (question.answer is not None)
    ids = [question.id for _, question in all_questions(conversations)]
    assert len(set(ids)) == len(ids)


def test_everyday_has_150_statements_and_60_unanswerable_ones():
    found = all_questions(everyday())
    assert Counter(question.category for _, question in found) == {"direct": 150, "paraphrase": 150, "never": 60}
    assert len(everyday()) == 10
    assert sum(len(each.turns) for each in everyday()) >= 750


def test_everyday_evidence_exists_only_for_answerable_questions():
    evidence_is_real(everyday())
    for _, question in all_questions(everyday()):
        assert question.answerable == (question.category != "never")


def test_everyday2_has_30_questions_per_user_and_no_tuning_half():
    found = all_questions(everyday2())
    assert Counter(question.category for _, question in found) == {"direct": 60, "paraphrase": 60, "never": 30}
    assert {len(each.turns) for each in everyday2()} == {112}
    assert not everyday2("tune")
    evidence_is_real(everyday2(), said_by=("user", "assistant"))  # one answer is repeated to the user
    reworded = [pair for pair in found if pair[1].category == "paraphrase"]
    assert not {question.text: words for talk, question in reworded if (words := shared(talk, question))}


def test_everyday_direct_question_shares_word_with_its_statement():
    found = [pair for pair in all_questions(everyday()) if pair[1].category == "direct"]
    assert not [question.text for conversation, question in found if not shared(conversation, question)]


def test_everyday_paraphrase_shares_no_word_with_its_statement():
    found = [pair for pair in all_questions(everyday()) if pair[1].category == "paraphrase"]
    assert not {question.text: words for talk, question in found if (words := shared(talk, question))}


def test_everyday_is_halved_by_conversation():
    tune, report = everyday("tune"), everyday("report")
    assert [each.id for each in everyday()][::2] == [each.id for each in tune]
    assert [each.id for each in everyday()][1::2] == [each.id for each in report]


@pytest.mark.parametrize(
    "one", ["walks walked walking", "marry marries married", "stop stopped stopping", "plan plans"]
)
def test_the_forms_of_a_word_count_as_one(one: str):
    assert len({stem(word) for word in one.split()}) == 1


def test_tongues_has_20_questions_in_each_of_12_languages():
    assert [each.id for each in tongues()] == ["zh", "ja", "ko", "de", "ru", "ar", "es", "hi", "fr", "pt", "tr", "en"]
    for conversation in tongues():
        assert len(conversation.turns) == 60
        assert Counter(each.category for each in conversation.questions) == {"direct": 13, "reworded": 7}


def test_tongues_names_evidence_that_exists():
    evidence_is_real(tongues())
    assert all(question.answerable for _, question in all_questions(tongues()))


def test_tongues_is_halved_within_each_language():
    for tune, report, whole in zip(tongues("tune"), tongues("report"), tongues(), strict=True):
        assert len(tune.questions) == len(report.questions) == 10
        assert {*tune.questions, *report.questions} == {*whole.questions}
        assert tune.turns == report.turns == whole.turns


CONNECTED = {"direct", "paraphrase", "person", "update", "exchange", "list", "time", "never"}


@pytest.mark.parametrize(("read", "lives", "count"), [(connected, 3, 195), (connected2, 4, 219)])
def test_connected_lives_have_every_category_in_both_halves(
    read: Callable[..., list[Conversation]], lives: int, count: int
):
    assert len(read()) == lives
    assert len(all_questions(read())) == count
    for half in ("tune", "report"):
        assert {question.category for _, question in all_questions(read(half))} == CONNECTED
    tuned = {each.id for each in read("tune")}
    assert not tuned & {each.id for each in read("report")}


@pytest.mark.parametrize("read", [connected, connected2])
def test_connected_evidence_is_by_the_assistant_only_in_exchanges(read: Callable[..., list[Conversation]]):
    for conversation in read():
        evidence_is_real([conversation], said_by=("user", "assistant"))
        speakers = {turn.id: turn.speaker for turn in conversation.turns}
        for question in conversation.questions:
            expected = "assistant" if question.category == "exchange" else "user"
            assert {speakers[turn] for turn in question.evidence} <= {expected}
            assert question.answerable == (question.category != "never")
