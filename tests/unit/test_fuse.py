"""Fusing signals into one ranking, and when no match is good enough."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bethink.errors import ConfigurationError
from bethink.memory.recall import fuse
from bethink.memory.recall.candidates import Candidates, Ranked
from bethink.memory.recall.dates import DateSpan
from bethink.memory.recall.question import ParsedQuestion, Term
from bethink.memory.recall.signals.reranker import RerankerSignal
from bethink.memory.recall.tuning import TUNING
from bethink.model.moments import Micros, from_micros
from bethink.model.recall import Fate, Signal, Use
from bethink.model.refs import Ref
from bethink.store.search import TermMatch
from tests.unit.ranking_kit import DAY, NOW, a_fact, a_message, asked, found_of, match, ranked, text, weighed


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    common = [match(a_fact(f"c{number}"), 1, 0) for number in range(50)]
    rare = match(a_fact("rare"), 0, 1)

    found = weighed(asked("common", "rare"), [*common, rare])

    assert next(iter(found)) == rare.ref
    assert found[rare.ref].signals["words"].raw > 2 * found[common[0].ref].signals["words"].raw


def test_word_score_saturates_and_shrinks_with_length() -> None:
    once, twice, often, long = (a_fact(name) for name in ("once", "twice", "often", "long"))
    found = weighed(asked("x"), [match(once, 1), match(twice, 2), match(often, 30), match(long, 1, length=4_000)])
    raw = {ref: each.signals["words"].raw for ref, each in found.items()}

    assert raw[often] > raw[twice] > raw[once] > raw[long] > 0
    assert raw[twice] - raw[once] > (raw[often] - raw[twice]) / 28


def test_kin_count_for_less_than_the_word_itself() -> None:
    term = Term(word="dog", stems=(0,), related=(1,), weight=1.0)
    question = asked("dog", "puppy", terms=(term,))

    found = weighed(question, [match(a_fact("kin"), 0, 1), match(a_fact("word"), 1, 0)])

    assert list(found) == [a_fact("word"), a_fact("kin")]
    assert found[a_fact("kin")].signals["words"].raw > 0


def test_neighbors_of_a_match_share_its_score_and_answers_more() -> None:
    plain = weighed(asked("x"), [match(a_message(5), 1)])
    asking = weighed(asked("x"), [match(a_message(5), 1, asks=True)])

    def raw(found: dict[Ref, Ranked], number: int) -> float:
        return found[a_message(number)].signals["words"].raw

    assert set(plain) == {a_message(number) for number in range(3, 8)}
    assert raw(plain, 5) > raw(plain, 4) > raw(plain, 6) > raw(plain, 7) == pytest.approx(raw(plain, 3))
    assert raw(asking, 6) > raw(asking, 4)
    assert set(weighed(asked("x"), [match(a_message(1), 1)])) == {a_message(1), a_message(2), a_message(3)}
    assert set(weighed(asked("x"), [match(a_fact("f"), 1)])) == {a_fact("f")}


def test_session_with_many_matches_boosts_its_messages() -> None:
    here = [match(a_message(number * 10, "here"), 1, number % 2) for number in range(1, 6)]
    there = [match(a_message(10, "there"), 1, 0)]

    found = weighed(asked("x", "y"), [*here, *there])

    session = {ref.id: each.signals["session"] for ref, each in found.items()}
    assert session["here"].normalized > 0.9
    assert 0 < session["there"].normalized < 0.5


def test_signals_add_up_to_the_score() -> None:
    question = asked("x", "y", role="user", quoted=("text",), spans=(DateSpan(start=NOW, end=NOW, precision="day"),))
    matches = [match(a_message(1), 1, 1, role="user"), match(a_message(9, "t"), 1, 0, role="assistant")]
    near = {a_message(1): 0.5, a_message(9, "t"): 0.3, a_fact("f"): 0.2}
    texts = [text(a_message(1), role="user"), text(a_message(9, "t"), role="assistant", at=NOW - 5 * DAY)]

    found = weighed(question, matches, near=near, texts=texts, usage={a_message(1): Use(3, from_micros(NOW))})

    first = found[a_message(1)]
    assert set(first.signals) == {
        "words", "session", "vector", "window", "date", "speaker", "quoted", "recency", "usage",
    }  # fmt: skip
    for each in found.values():
        assert each.score == pytest.approx(sum(signal.added for signal in each.signals.values()))
        assert 0 < each.score <= 1
    assert first.score > 0.8
    assert found[a_message(9, "t")].signals["speaker"].added < 0
    assert "usage" not in found[a_message(9, "t")].signals


def test_time_in_the_question_boosts_items_of_that_time() -> None:
    span = DateSpan(start=Micros(NOW - DAY), end=NOW, precision="day")
    old, new = a_fact("old"), a_fact("new")

    found = weighed(
        asked("x", spans=(span,)), [match(old, 1, at=NOW - 300 * DAY), match(new, 1, at=NOW - 1)],
        texts=[text(old, at=NOW - 300 * DAY), text(new, at=NOW - 1)],
    )  # fmt: skip

    assert list(found) == [new, old]
    assert found[new].signals["date"].raw == 1.0
    assert found[old].signals.get("date", Signal(0.0, 0.0, 0.0)).raw == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("question", "best"),
    [({"role": "user"}, 1), ({"role": "assistant"}, 3), ({"speaker": "Ana"}, 5), ({"speaker": "Ben"}, 7), ({}, None)],
)
def test_speaker_of_the_question_ranks_up_and_others_down(question: dict[str, str], best: int | None) -> None:
    who = {1: ("user", None), 3: ("assistant", None), 5: ("user", "Ana"), 7: ("assistant", "Ben")}
    refs = {number: a_message(1, f"s{number}") for number in who}
    matches = [match(refs[number], 1, role=role, name=name) for number, (role, name) in who.items()]
    texts = [text(refs[number], role=role, name=name) for number, (role, name) in who.items()]

    found = weighed(asked("x", **question), matches, texts=texts)

    aimed = {number: found[ref].signals["speaker"].raw if "speaker" in found[ref].signals else 0
             for number, ref in refs.items()}  # fmt: skip
    assert max(aimed.values()) == (0 if best is None else 1)
    if best is not None:
        assert aimed[best] == 1
        assert aimed[{1: 3, 3: 1, 5: 7, 7: 5}[best]] == -1


def test_the_newer_and_the_used_of_two_equals_comes_first_by_a_little() -> None:
    first, second = a_fact("a"), a_fact("b")
    pair = [match(first, 1), match(second, 1)]

    newer = weighed(asked("x"), pair, texts=[text(first, at=NOW - 400 * DAY), text(second)])
    used = weighed(asked("x"), pair, usage={second: Use(1_000_000, from_micros(NOW))})

    for found in (newer, used):
        assert list(found) == [second, first]
        assert found[second].score < 1.06 * found[first].score


def test_newer_fact_wins_for_questions_about_now() -> None:
    old, new = a_fact("old"), a_fact("new")
    pair = [match(old, 1, length=400), match(new, 1, length=420)]
    texts = [text(old, at=NOW - 270 * DAY), text(new)]

    plain = weighed(asked("x"), pair, texts=texts)
    now = weighed(asked("x", now=True), pair, texts=texts)

    assert list(plain) == [old, new]
    assert list(now) == [new, old]
    assert now[new].score < 1.2 * plain[new].score, "it is bounded"


@pytest.mark.parametrize("near", [False, True])
def test_question_itself_adds_no_score_but_its_answer_gains(near: bool) -> None:
    answer, before, after = a_fact("answer"), a_message(4), a_message(6)
    question = match(a_message(5), 9, 9, 9, asks=True, fate=Fate.QUESTION)
    held = [match(answer, 1, 0, 0)]
    vectors = {answer: 0.5, a_fact("other"): 0.1} if near else {}

    def score(matches: Sequence[TermMatch], *, answers: Sequence[Ref] = ()) -> dict[Ref, float]:
        known = found_of(matches, similarities=vectors, answers=answers)
        later = text(question.ref, at=NOW + 900 * DAY)
        weighed = ranked(asked("x", "y", "z"), known, texts=[later])
        return {ref: each.score for ref, each in weighed.items()}

    alone, beside = score(held), score([*held, question])
    assert beside[answer] == pytest.approx(alone[answer])
    assert {*beside} == {*alone, question.ref}, "nobody said anything after it"
    answered = score([*held, question], answers=[after])
    assert answered[after] > 0
    assert before not in answered


def test_one_word_of_many_scores_low() -> None:
    words = [f"w{number}" for number in range(6)]

    alone = weighed(asked(*words), [match(a_fact("stray"), 1, *[0] * 5)])[a_fact("stray")]
    whole = weighed(asked(*words), [match(a_fact("whole"), *[1] * 6)])[a_fact("whole")]

    assert alone.signals["words"].normalized < 0.1, "it is the best hit, and still it is weak"
    assert whole.signals["words"].normalized > 0.9
    assert alone.certainty < 0.5 < whole.certainty


def test_neighbor_is_unrelated_unless_it_answers_or_goes_on() -> None:
    found = weighed(asked("x"), [match(a_message(5), 1), match(a_message(5, "t"), 1, asks=True)])

    relevant = {ref for ref, each in found.items() if each.relevant}
    gone_on = {a_message(7), a_message(7, "t")}
    assert relevant == {a_message(5), a_message(5, "t"), a_message(6, "t")} | gone_on


def test_a_text_as_far_from_the_question_as_any_other_is_unrelated() -> None:
    found = weighed(asked(), [], near={a_fact("near"): 0.3, a_fact("far"): 0.05})

    assert found[a_fact("near")].relevant
    assert not found[a_fact("far")].relevant


def test_a_message_that_only_asks_is_not_certain_at_all() -> None:
    says, asks_it = a_message(1, "says"), a_message(1, "asks")
    texts = [text(says, "x and y."), text(asks_it, "x and y?")]

    found = weighed(asked("x", "y"), [match(says, 1, 1), match(asks_it, 1, 1)], texts=texts)

    assert found[says].certainty > 0.5
    assert found[asks_it].certainty == 0


def test_clear_leader_has_higher_certainty() -> None:
    crowd = {a_fact(f"c{number:02}"): 0.30 for number in range(40)}

    texts = [text(ref, f"They like {ref.id}.") for ref in (*crowd, a_fact("first"))]

    leads = weighed(asked(), [], near={**crowd, a_fact("first"): 0.8}, texts=texts)[a_fact("first")]
    alike = weighed(asked(), [], near={**crowd, a_fact("first"): 0.31}, texts=texts)[a_fact("first")]

    assert leads.certainty > 0.5
    assert alike.certainty < 0.3


def test_coverage_is_independent_of_text_length() -> None:
    long = text(a_fact("long"), "x y " * 25_000)
    found = weighed(asked("x", "y"), [match(long.ref, 1, 1, length=100_000)], texts=[long])

    assert found[long.ref].certainty > 0.4


def test_a_word_that_only_says_when_needs_no_echo() -> None:
    when = Term(word="yesterday", stems=(1,), related=(), weight=1.0, dated=True)
    terms = (Term(word="x", stems=(0,), related=(), weight=1.0), when)
    question, strict = asked("x", "yesterday", terms=terms), asked("x", "yesterday")

    dated, undated = (weighed(each, [match(a_fact("f"), 1, 0)])[a_fact("f")] for each in (question, strict))

    assert dated.certainty > undated.certainty


def test_replaced_facts_do_not_affect_scores_of_current_ones() -> None:
    held = [match(a_fact("a"), 1, 0), match(a_fact("b"), 0, 1, length=400), match(a_message(3), 1, 1)]
    by = a_fact("a")
    gone = [match(a_fact(f"g{number}"), 9, 9, fate=Fate.SUPERSEDED, because_of=by) for number in range(30)]
    near = {a_fact("a"): 0.3, a_fact("b"): 0.6}

    for vectors in ({}, near):
        without = weighed(asked("x", "y"), held, near=vectors)
        beside = weighed(asked("x", "y"), [*held, *gone], near=vectors)

        assert [ref for ref in beside if ref in without] == list(without)
        for ref, each in without.items():
            assert beside[ref].score == pytest.approx(each.score)
            assert beside[ref].certainty == pytest.approx(each.certainty)
        assert all((beside[each.ref].fate, beside[each.ref].because_of) == (Fate.SUPERSEDED, by) for each in gone)


def test_empty_matches_give_an_empty_ranking() -> None:
    assert weighed(asked("x"), []) == {}
    assert weighed(asked(), []) == {}


REFS = st.one_of(
    st.builds(a_message, st.integers(1, 6), st.sampled_from("st")), st.builds(a_fact, st.sampled_from("abc"))
)
HITS = st.dictionaries(REFS, st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(any), min_size=1, max_size=8)


@given(HITS, st.dictionaries(REFS, st.floats(-1, 1), max_size=6), st.integers(1, 1_000))
def test_scores_are_between_0_and_1_and_ranks_are_complete(
    hits: dict[Ref, tuple[int, int]], near: dict[Ref, float], passages: int
) -> None:
    matches = [match(ref, *each, role="user") for ref, each in hits.items()]

    found = weighed(asked("x", "y", role="user"), matches, near=near, passages=passages)

    assert {*hits, *near} <= set(found)
    scores = [each.score for each in found.values()]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert [each.ranks["fused"] for each in found.values()] == list(range(1, len(found) + 1))
    for name in ("words", "session", *(["vector", "window"] if near else [])):
        assert sorted(each.ranks[name] for each in found.values()) == list(range(1, len(found) + 1))
        for each in found.values():
            assert 0 <= each.signals[name].normalized <= 1
        top = min(found.values(), key=lambda each: each.ranks[name])
        assert top.signals[name].raw == max(each.signals[name].raw for each in found.values())


class Toy:
    """A signal of another package: what it is told to say of each text."""

    name = "toy"
    weight = 0.5

    def __init__(self, says: Sequence[float]) -> None:
        self.says = list(says)

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        return self.says


@pytest.mark.parametrize(("says", "factor"), [(1.0, 1.5), (-1.0, 0.5), (0.0, 1.0), (99.0, 1.5)])
def test_a_signal_of_another_package_is_a_factor_within_its_weight(says: float, factor: float) -> None:
    alone = ranked(asked("x"), found_of([match(a_fact("a"), 1)]))[a_fact("a")]
    beside = ranked(asked("x"), found_of([match(a_fact("a"), 1)]), extra=[Toy([says])])[a_fact("a")]

    assert beside.score == pytest.approx(alone.score * factor)
    assert beside.score == pytest.approx(sum(signal.added for signal in beside.signals.values()))
    assert beside.signals.get("toy", Signal(0.0, 0.0, 0.0)).raw == says


@pytest.mark.parametrize("says", [[], [0.5, 0.5], [float("nan")]])
def test_extra_signal_with_wrong_scores_is_rejected(says: list[float]) -> None:
    with pytest.raises(ConfigurationError, match="toy"):
        ranked(asked("x"), found_of([match(a_fact("a"), 1)]), extra=[Toy(says)])


def test_reranker_raises_a_score_by_at_most_its_weight() -> None:
    """A candidate that other signals lowered, because it only asks, remains low."""
    best, low = a_message(1), a_message(2)
    head = [
        Ranked(best, 0.4, {"words": Signal(1.0, 1.0, 0.4)}),
        Ranked(low, 0.1, {"words": Signal(1.0, 1.0, 0.1)}),
    ]

    reranked = fuse.rerank(asked("x"), head, RerankerSignal([0.0, 7.0], TUNING, weight=0.5))

    assert [(each.ref, each.score) for each in reranked] == [(best, 0.4), (low, pytest.approx(0.15))]
    assert [sum(signal.added for signal in each.signals.values()) for each in reranked] == pytest.approx([0.4, 0.15])
