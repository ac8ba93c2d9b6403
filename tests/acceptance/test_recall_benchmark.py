"""The recall benchmark, on a synthetic conversation in the format of a public set."""

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import recall_certainty as certainty
from benchmarks import recall_goals as goals
from benchmarks import recall_measures as measures
from benchmarks.recall_baselines import BIGRAMS, FULL_TEXT, Baselines
from benchmarks.recall_measures import Outcome, Prediction
from benchmarks.recall_sets import load
from benchmarks.sets import Question
from bethink.model.moments import EPOCH

ROOT = Path(__file__).parent.parent.parent


def _sample(name: str) -> dict[str, object]:
    talk = [
        ("D1:1", "Ana", "Hi Ben, how was your weekend?"),
        ("D1:2", "Ben", "I climbed a mountain near Voss with my brother."),
        ("D1:3", "Ana", "Which one?"),
        ("D1:4", "Ben", "Hangurstoppen. My knees still hurt."),
        ("D1:5", "Ana", "I baked bread and read a novel."),
    ]
    return {
        "sample_id": name,
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"dia_id": each, "speaker": speaker, "text": text} for each, speaker, text in talk],
        },
        "qa": [
            {"question": "Where did Ben climb?", "answer": "Voss", "evidence": ["D1:2"], "category": 4},
            {"question": "What did Ana bake?", "answer": "bread", "evidence": ["D1:5"], "category": 4},
            {"question": "What did Ana climb?", "adversarial_answer": "x", "evidence": ["D1:2"], "category": 5},
        ],
    }


def _run(data: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "benchmarks.recall", "--data", str(data), "--set", "locomo", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "locomo").mkdir()
    samples = [_sample("one"), _sample("two")]
    (tmp_path / "locomo" / "locomo10.json").write_text(json.dumps(samples), encoding="utf-8")
    return tmp_path


def test_benchmark_prints_both_halves_and_succeeds_at_its_goals(data: Path) -> None:
    done = _run(data, "--categories")

    assert done.returncode == 0, done.stderr
    assert "## locomo: 6 questions, the answer to 2 was never said" in done.stdout
    assert "| words | 1.000 | 1.000 | 1.000 |" in done.stdout
    assert "FTS5 as it comes" in done.stdout
    assert "odd 1.000 [1.000, 1.000], even 1.000 [1.000, 1.000]" in done.stdout
    assert "| adversarial (2): words |" in done.stdout
    *_, found, never, empty = done.stdout.rstrip().splitlines()
    assert found.startswith("locomo, words, R@10: 1.000 (goal 0.650): reached; beyond full text, odd minus even")
    assert never == "quizzes about people, words, never said but high: 0.000 (at most 0.050): reached"
    assert empty == "locomo, words, empty: 0.000 (at most 0.010): reached"


def test_the_benchmark_with_vectors_asks_a_real_embedder(data: Path, tmp_path: Path) -> None:
    done = _run(data, "--vectors", "--cache", str(tmp_path / "kept.db"))

    assert done.returncode == 0, done.stderr
    assert "| words + minilm | 1.000 |" in done.stdout
    assert "| cosine, minilm |" in done.stdout
    assert "| FTS5 and cosine, minilm |" in done.stdout


def test_several_processes_share_one_file_of_vectors_and_find_the_same(data: Path, tmp_path: Path) -> None:
    one = _run(data, "--vectors", "--cache", str(tmp_path / "one.db"))
    two = _run(data, "--vectors", "--cache", str(tmp_path / "two.db"), "--jobs", "2")

    assert two.returncode == 0, two.stderr
    assert two.stdout == one.stdout


def test_each_signal_can_be_switched_off(data: Path) -> None:
    done = _run(data, "--ablations")

    assert done.returncode == 0, done.stderr
    assert "| without | locomo, words: R@10, hit@1 |" in done.stdout
    assert "| neighbours | +0.000 +0.000 |" in done.stdout
    assert "| window |" not in done.stdout


def test_the_benchmark_fails_where_a_goal_is_missed(data: Path) -> None:
    wrong = [
        _sample("one") | {"qa": [{"question": "Who hurts?", "answer": "Ben", "evidence": ["D1:1"], "category": 4}]}
    ]
    (data / "locomo" / "locomo10.json").write_text(json.dumps(wrong), encoding="utf-8")

    done = _run(data, "--misses", "3")

    assert done.returncode == 1
    assert "NOT reached" in done.stdout
    assert "### locomo, words: 1 turns of evidence not in the first ten" in done.stdout
    assert "  missed: Hi Ben, how was your weekend? (" in done.stdout


def test_memories_that_a_talk_calls_up_are_read_from_their_own_layout(tmp_path: Path) -> None:
    said = {
        "id": "m1",
        "session": 1,
        "at": "2022-01-01T12:00:00Z",
        "speaker": "巴特",
        "role": "user",
        "text": "我吃了苹果",
    }
    record = {
        "id": "madial-zh-b",
        "conversation": [said, said | {"id": "m2", "session": 2, "text": "下雨了"}],
        "questions": [{"q": "苹果好吃吗", "evidence": ["m1"], "answer": None, "category": "dialogue-cue"}],
    }
    (tmp_path / "madial").mkdir()
    with gzip.open(tmp_path / "madial" / "madial-zh.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")

    (conversation,) = load("madial-zh", tmp_path)

    assert [turn.id for turn in conversation.turns] == ["m1", "m2"]
    (question,) = conversation.questions
    assert (question.language, question.evidence, question.answerable) == ("zh", {"m1"}, True)
    baselines = Baselines(conversation.turns)
    found = baselines.by_words(question.text)
    baselines.close()
    assert found[BIGRAMS] == ["m1"]
    assert found[FULL_TEXT] == []


def test_missing_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"no madial-en under .*madial-en.jsonl.gz is missing"):
        load("madial-en", tmp_path)


def _question(*, answer: str | None = "", evidence: str = "ab") -> Question:
    return Question(
        id="q",
        text="",
        evidence=frozenset(evidence),
        category="",
        at=EPOCH,
        answer=answer,
        evidence_sessions=frozenset(),
    )


def test_figures_are_counted_as_their_names_say() -> None:
    figures = measures.judged(_question(), ["x", "a", "x", "x", "x", "b"], None)

    assert figures["hit@1"] == 0.0
    assert figures["empty"] == 0.0
    assert figures["R@5"] == 0.5
    assert figures["R@10"] == 1.0
    assert figures["all@10"] == 1.0
    assert figures["MRR"] == 0.5


def test_unanswerable_question_counts_only_as_answered_or_not() -> None:
    assert measures.judged(_question(answer=None), ["a"], None) == {"never": 1.0}
    assert measures.judged(_question(answer=None, evidence=""), [], None) == {"never": 0.0}
    assert measures.judged(_question(), ["a"], None)["hit@1"] == 1.0
    assert measures.judged(_question(), [], None)["empty"] == 1.0


def test_predictions_are_grouped_in_tenths_with_outcomes() -> None:
    predictions = [Prediction(0.91, True), Prediction(1.0, False), Prediction(0.12, False)]

    low, high = certainty.bins(predictions)

    assert low == certainty.Bin(0.12, 0.0, 1)
    assert (high.predicted, high.observed, high.count) == (pytest.approx(0.955), 0.5, 2)
    assert certainty.error([low, high]) == pytest.approx((0.12 + 2 * 0.455) / 3)
    drawing = ElementTree.fromstring(certainty.svg({"words & more": [low, high]}))
    assert len(drawing.findall("{http://www.w3.org/2000/svg}circle")) == 2


def _high(*, right: float, wrong: float, never: float) -> list[Outcome]:
    """Outcomes of the reported half: high answers, right and wrong, as many others, and one about what was not said."""
    high = [{"high": 1.0, "high right": float(number < right)} for number in range(int(right + wrong))]
    figures = [*high, *({"high": 0.0} for _ in high), {"never high": never}]
    [*_, even] = _figures("words + minilm", 0, 0)
    return [replace(even, figures=each, answers=(Prediction(0.9, True),)) for each in figures]


def test_high_certainty_has_goals_in_each_kind_of_data() -> None:
    def reached(**counts: float) -> list[bool]:
        lines = goals.verdict({"everyday2": _high(**counts)})
        return [line.reached for line in lines if "high" in line.what]

    assert reached(right=9, wrong=1, never=0.0) == [True, True, True]
    assert reached(right=8, wrong=2, never=1.0) == [False, False, True]
    assert reached(right=1, wrong=2, never=0.0) == [True, True], "three answers are too few to judge"


def test_high_certainty_is_printed_by_kind_and_half() -> None:
    lines = certainty.kinds_table({"connected2": _high(right=3, wrong=1, never=0.0)})

    assert lines[-2:] == [
        "| connected lives | words + minilm | odd |  |  (0) |  |",
        "| connected lives | words + minilm | even | 0.50 | 0.75 (4) | 0.00 |",
    ]
    assert certainty.kinds_table({}) == []


def test_every_language_is_compared_with_english() -> None:
    spoken = {"en": 1.0, "de": 0.9, "th": 0.8}
    outcomes = [
        replace(outcome, language=language, figures={"R@10": figure})
        for outcome, (language, figure) in zip(_figures("words", 0, 0), spoken.items(), strict=False)
    ]

    lines = goals.verdict({"tongues": outcomes})

    compared = [(line.goal, line.reached) for line in lines if "beside English" in line.what]
    assert compared == [(0.85, True), (0.85, False)]


def test_with_few_conversations_questions_are_drawn() -> None:
    outcomes = [replace(each, conversation="one") for each in _figures("w", 1.0, 0.0)]

    low, high = measures.interval(outcomes, "R@10", seed=1)

    assert low < 0.5 < high


def _figures(way: str, odd: float, even: float) -> list[Outcome]:
    return [
        Outcome(
            way=way,
            conversation=str(each),
            question=str(each),
            category="",
            odd=each % 2 == 0,
            figures={"R@10": odd if each % 2 == 0 else even},
        )
        for each in range(20)
    ]


def test_half_that_is_better_beyond_noise_is_detected() -> None:
    tuned, plain, hard = _figures("w", 1.0, 0.0), _figures("p", 0.5, 0.5), _figures("p", 1.0, 0.0)

    assert measures.differ(tuned, "R@10", seed=1) == (1.0, 1.0, 1.0)
    assert measures.beyond(tuned, plain, "R@10", seed=1) == (1.0, 1.0, 1.0)
    assert measures.beyond(tuned, hard, "R@10", seed=1) == (0.0, 0.0, 0.0)
