"""Ranking questions with their replies, and echoes below the statements that they repeat."""

from dataclasses import replace

import pytest

from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.signals.exchange import with_neighbors
from bethink.memory.recall.tuning import TUNING
from bethink.model.refs import Ref
from bethink.store.search import TermMatch, Text
from tests.unit.ranking_kit import a_fact, a_message, asked, match, text, weighed


def order(question: ParsedQuestion, matches: list[TermMatch], *texts: Text, near: dict[Ref, float] | None = None):
    return [ref.number for ref in weighed(question, matches, texts=texts, near=near)]


def says(number: int, said: str, role: str = "user", name: str | None = None) -> Text:
    return text(a_message(number), said, role=role, name=name)


QUESTION = says(5, "Which paint is best for a shed?")
REPLY = says(6, "I would take Cuprinol, two coats.", "assistant")


def test_reply_ranks_above_the_question_that_it_answers() -> None:
    for near in (None, {a_message(5): 0.9, a_message(6): 0.2}):
        ranked = order(asked("paint", "shed"), [match(a_message(5), 1, 1)], QUESTION, REPLY, near=near)
        assert ranked[0] == 6


def test_question_about_the_assistant_lends_more_than_one_about_the_user() -> None:
    gains = {
        role: weighed(asked("paint", "shed", role=role), [match(a_message(5), 1, 1)], texts=[QUESTION, REPLY])[
            a_message(6)
        ].signals["exchange"].added
        for role in ("user", None, "assistant")
    }  # fmt: skip
    assert 0 < gains["user"] < gains[None] < gains["assistant"]


def test_lent_score_is_a_signal_and_signals_add_up() -> None:
    found = weighed(asked("paint", "shed"), [match(a_message(5), 1, 1)], texts=[QUESTION, REPLY])
    for candidate in found.values():
        assert sum(signal.added for signal in candidate.signals.values()) == pytest.approx(candidate.score)


@pytest.mark.parametrize(
    "reply",
    [
        says(6, "Which colour is the shed?", "assistant"),  # it asks back
        says(6, "And make it quick.", "user"),  # the same speaker goes on
        text(a_fact("f"), "Sheds are painted."),
    ],
)
def test_only_a_statement_by_another_speaker_is_a_reply(reply: Text) -> None:
    others = [says(number, "The weather in the north was fine all week.") for number in (3, 4, 6, 7)]
    found = weighed(asked("paint", "shed"), [match(a_message(5), 1, 1)], texts=[*others, QUESTION, reply])
    assert "exchange" not in found[a_message(6)].signals


def test_long_message_that_asks_lends_nothing() -> None:
    long = says(5, "The shed stands behind the house and I am going to paint it. " * 5 + "Which paint?")
    found = weighed(asked("paint", "shed"), [match(a_message(5), 1, 1)], texts=[long, REPLY])
    assert "exchange" not in found[a_message(6)].signals


STATEMENT = says(5, "My train to York leaves at 9:40.")
ECHO = says(6, "Got it, the 9:40 train to York.", "assistant")


def test_echo_ranks_below_the_statement_it_repeats() -> None:
    matches = [match(a_message(5), 0, 1), match(a_message(6), 1, 1)]
    assert order(asked("the", "train"), matches, STATEMENT, ECHO)[:2] == [5, 6]


def test_acknowledgment_without_content_ranks_below_the_statement() -> None:
    near = {a_message(5): 0.2, a_message(6): 0.6}
    assert order(asked("luck"), [], STATEMENT, says(6, "Nice!", "assistant"), near=near) == [5, 6]


def test_reply_with_new_content_is_not_an_echo() -> None:
    matches = [match(a_message(5), 0, 1), match(a_message(6), 1, 1)]
    reply = says(6, "Platform three is the usual one for York at that hour.", "assistant")
    assert order(asked("the", "train"), matches, STATEMENT, reply)[0] == 6


def test_echo_by_the_speaker_whom_the_question_names_stays_first() -> None:
    matches = [match(a_message(5), 1, role="user"), match(a_message(6), 1, role="assistant")]
    assert order(asked("train", role="assistant"), matches, STATEMENT, ECHO)[0] == 6


def test_neighbors_of_the_best_messages_are_read() -> None:
    refs = (a_message(5), a_message(9), a_message(6), a_fact("f"), a_message(4), a_message(8), a_message(7))
    tuning = replace(TUNING, exchanges=1)
    assert with_neighbors([ref.parts for ref in refs], [0, 1, 3], tuning) == [0, 1, 3, 4, 2, 6]


def test_stray_word_weighs_less_than_vectors() -> None:
    """With vectors, one word of a question counts less than two; without them nothing changes."""
    one, two, near = a_fact("one"), a_fact("two"), {a_fact("near"): 0.5}

    def added(question: ParsedQuestion, found: TermMatch, near: dict[Ref, float] | None) -> float:
        return weighed(question, [found], near=near)[found.ref].signals["words"].added

    single, double = (asked("x"), match(one, 1)), (asked("x", "y"), match(two, 1, 1))
    assert added(*single, near) < added(*double, near)
    assert added(*single, None) == pytest.approx(added(*double, None))
