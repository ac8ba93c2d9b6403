"""Each signal alone: its scores for candidates, in their order."""

from pathlib import Path

import pytest

from bethink.extend import Cosines
from bethink.memory.recall import signals
from bethink.memory.recall.counts import count_words
from bethink.memory.recall.dates import DateSpan
from bethink.memory.recall.fuse import NAMES
from bethink.memory.recall.signals.asks import AsksSignal
from bethink.memory.recall.signals.date import DateSignal
from bethink.memory.recall.signals.entity import EntitySignal
from bethink.memory.recall.signals.learned import LearnedSignal
from bethink.memory.recall.signals.quoted import QuotedSignal
from bethink.memory.recall.signals.recency import RecencySignal
from bethink.memory.recall.signals.reranker import RerankerSignal
from bethink.memory.recall.signals.session import SessionSignal
from bethink.memory.recall.signals.speaker import SpeakerSignal
from bethink.memory.recall.signals.usage import UsageSignal
from bethink.memory.recall.signals.vector import VectorSignal
from bethink.memory.recall.signals.window import WindowSignal
from bethink.memory.recall.signals.words import WordsSignal
from bethink.memory.recall.tuning import TUNING
from bethink.model.moments import Micros, from_micros
from bethink.model.recall import Fate, Use
from bethink.model.refs import RefKind
from tests.unit.ranking_kit import DAY, NOW, a_fact, a_message, asked, found_of, match, ranked, read, text


def test_words_counts_the_match_and_less_the_messages_around_it() -> None:
    question = asked("x")
    candidates = count_words(question, found_of([match(a_message(5), 1), match(a_fact("f"), 1)]), TUNING)

    signal = WordsSignal(TUNING)
    values = dict(zip(candidates.keys, signal.score(question, candidates), strict=True))

    own = values[RefKind.MESSAGE, "s", 5]
    assert own == values[RefKind.FACT, "f", 1] > 0
    assert len(values) == 6
    assert all(0 < values[RefKind.MESSAGE, "s", number] < own for number in (3, 4, 6, 7))
    assert 0.9 < max(signal.scale(list(values.values()), candidates)) <= 1, "it has the whole question"


def test_session_is_the_same_for_all_messages_of_a_session() -> None:
    question = asked("x")
    matches = [match(a_message(1), 1), match(a_message(9), 1), match(a_message(1, "t"), 1), match(a_fact("f"), 1)]
    candidates = count_words(question, found_of(matches), TUNING)

    first, second, other, fact, *_ = SessionSignal(TUNING).score(question, candidates)

    assert first == second > other == fact > 0


def test_vector_is_the_similarity_and_0_without_one() -> None:
    question = asked("x")
    known = found_of([match(a_fact("f"), 1)], similarities={a_message(1): 0.7, a_message(2): -0.1})
    candidates = count_words(question, known, TUNING)
    signal = VectorSignal(TUNING, Cosines())

    values = signal.score(question, candidates)

    assert values == [0.0, 0.7, -0.1]
    assert signal.scale(values, candidates) == pytest.approx([0.0, 0.8, 0.0])


def test_window_is_the_mean_of_a_message_and_its_neighbors() -> None:
    question = asked()
    near = {a_message(1): 0.6, a_message(2): 0.3, a_message(4): 0.5, a_fact("f"): 0.2}
    candidates = count_words(question, found_of([], similarities=near), TUNING)

    assert WindowSignal(TUNING, Cosines()).score(question, candidates) == pytest.approx([0.45, 0.45, 0.5, 0.2])


def test_date_is_1_at_the_time_and_less_before_and_after_it() -> None:
    question = asked("x", spans=(DateSpan(start=NOW, end=NOW, precision="day"),))
    then, after, before = (
        text(a_fact(name), at=Micros(NOW + days * DAY)) for name, days in (("a", 0), ("b", 3), ("c", -3))
    )

    first, second, third = DateSignal(TUNING).score(question, read(then, after, before))

    assert first == 1 > second > third > 0
    assert DateSignal(TUNING).score(asked("x"), read(then)) == [0.0]


def test_date_and_speaker_go_by_the_matches_before_any_text_is_read() -> None:
    question = asked("x", role="user", spans=(DateSpan(start=NOW, end=NOW, precision="day"),))
    candidates = count_words(question, found_of([match(a_message(1), 1, role="user")]), TUNING)

    assert DateSignal(TUNING).score(question, candidates) == [1.0, 0.0, 0.0]
    assert SpeakerSignal(TUNING).score(question, candidates) == [1.0, 0.0, 0.0]


def test_speaker_uses_the_name_or_else_the_role() -> None:
    texts = [
        text(a_message(1), role="user", name="Ana"), text(a_message(2), role="user", name="Ben"),
        text(a_message(3), role="assistant"), text(a_message(4), role="tool", name="web"),
        text(a_fact("f"), name="Ana"),
    ]  # fmt: skip

    assert SpeakerSignal(TUNING).score(asked("x", speaker="Ana"), read(*texts)) == [1, -1, 0, -1, 0]
    assert SpeakerSignal(TUNING).score(asked("x", role="assistant"), read(*texts)) == [-1, -1, 1, 0, 0]
    assert SpeakerSignal(TUNING).score(asked("x"), read(*texts)) == [0, 0, 0, 0, 0]


def test_quoted_is_the_share_of_the_quotes_in_any_case() -> None:
    texts = [
        text(a_fact("a"), "Green Tea, hot milk"),
        text(a_fact("b"), "a green tea"),
        text(a_fact("c"), "tea, green"),
    ]

    assert QuotedSignal(TUNING).score(asked(quoted=("green tea", "hot milk")), read(*texts)) == [1.0, 0.5, 0.0]
    assert QuotedSignal(TUNING).score(asked("x"), read(*texts)) == [0.0, 0.0, 0.0]


def test_entity_is_the_share_of_the_names_that_a_fact_is_about() -> None:
    texts = [
        text(a_fact("a"), name="Anna", row={"entities": '["Oslo"]'}), text(a_fact("b"), row={"entities": '["Oslo"]'}),
        text(a_message(1), "Anna is in Oslo", name="Anna"),
    ]  # fmt: skip

    assert EntitySignal(TUNING).score(asked(names=("anna", "oslo")), read(*texts)) == [1.0, 0.5, 0.0]
    assert EntitySignal(TUNING).score(asked("x"), read(*texts)) == [0.0, 0.0, 0.0]


def test_recency_is_the_age_compared_with_the_newest_that_is_not_outdated() -> None:
    texts = [
        text(a_fact("a"), at=NOW), text(a_fact("b"), at=NOW - 30 * DAY), text(a_fact("c"), at=NOW + 5 * DAY),
        text(a_fact("d"), at=NOW + 9 * DAY, fate=Fate.ENDED),
    ]  # fmt: skip
    candidates = read(*texts, outdated={2})
    signal = RecencySignal(TUNING, now=False)

    ages = signal.score(asked("x"), candidates)

    assert ages == [0.0, 30.0, 0.0, 0.0]
    assert signal.scale(ages, candidates) == [1.0, 0.5, 1.0, 1.0]
    assert RecencySignal(TUNING, now=True).weight > signal.weight


def test_usage_is_the_number_of_times_and_counts_less_and_less() -> None:
    used = {a_fact("a"): Use(3, from_micros(NOW)), a_fact("b"): Use(300, from_micros(NOW))}
    candidates = read(text(a_fact("a")), text(a_fact("b")), text(a_fact("c")), usage=used)
    signal = UsageSignal(TUNING)

    times = signal.score(asked("x"), candidates)

    assert times == [3, 300, 0]
    assert signal.scale(times, candidates) == [0.5, pytest.approx(0.99, abs=0.001), 0.0]


def test_a_reranker_counts_by_order_and_distance_only() -> None:
    low, high = RerankerSignal([-4.0, 1.0, -1.5], TUNING), RerankerSignal([96.0, 101.0, 98.5], TUNING)
    candidates = read(*(text(a_fact(name)) for name in "abc"))

    for signal in (low, high):
        assert signal.scale(signal.score(asked("x"), candidates), candidates) == [0.0, 1.0, 0.5]
    assert RerankerSignal([2.0, 2.0], TUNING).scale([2.0, 2.0], candidates) == [0.0, 0.0]


def test_speaker_counts_facts_by_subject_or_speaker() -> None:
    rows = [("user", None), ("ana", None), ("tea", "Ana"), ("tea", "Ben"), (None, None)]
    facts = read(*(text(a_fact(str(row)), row={"subject": row[0], "speaker": row[1]}) for row in rows))
    signal = SpeakerSignal(TUNING)

    assert signal.score(asked("x", role="user"), facts) == [1, 0, 0, 0, 0]
    assert signal.score(asked("x", speaker="Ana"), facts) == [0, 1, 1, 0, 0]
    assert signal.score(asked("x", role="assistant"), facts) == [0, 0, 0, 0, 0]


def test_fact_ranks_before_an_equal_message() -> None:
    assert LearnedSignal(TUNING).score(asked("x"), read(text(a_message(1)), text(a_fact("f")))) == [0, 1]
    found = ranked(asked("x"), found_of([match(a_message(1), 1), match(a_fact("f"), 1)]))
    assert found[a_fact("f")].score > found[a_message(1)].score


def test_every_signal_takes_part_under_the_name_of_its_file() -> None:
    files = {path.stem for path in Path(signals.__path__[0]).glob("*.py")}

    assert files - {"__init__", "base"} == NAMES


@pytest.mark.parametrize(
    ("said", "share"),
    [
        ("Where do I work?", -1.0),
        ("I work at the mill.", 0.0),
        ("I work there. And you?", -8 / 21),
        ("\u4f60\u5728\u54ea\u91cc\u5de5\u4f5c\uff1f", -1.0),
        ("", 0.0),
    ],
)
def test_asks_is_the_share_of_a_message_that_only_asks(said: str, share: float) -> None:
    assert AsksSignal(TUNING).score(asked("x"), read(text(a_message(1), said))) == [pytest.approx(share)]
    assert AsksSignal(TUNING).score(asked("x"), read(text(a_fact("f"), said))) == [0.0]


@pytest.mark.parametrize(
    ("said", "share"),
    [
        ("Jihoon is our new lead. Any tips?", 0.0),
        ("Any tips? Jihoon is our new lead.", 0.0),
        ("Nice to meet you. Who is your lead?", -18 / 36),
        ("Jihoon is our lead. Which lead is yours, and which mill?", -36 / 55),
        ("Jihoon is new. Any tips?", -9 / 23),
    ],
)
def test_message_that_states_the_words_asked_for_is_a_statement(said: str, share: float) -> None:
    [score] = AsksSignal(TUNING).score(asked("lead", "mill"), read(text(a_message(1), said)))

    assert score == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize(("role", "share"), [("user", -1.0), ("assistant", 0.0)])
def test_request_to_an_assistant_counts_as_a_question(role: str, share: float) -> None:
    candidates = read(text(a_message(1), "Write a haiku about rain", role=role))

    assert AsksSignal(TUNING).score(asked("rain"), candidates) == [share]
