"""The benchmark of recall, on a made-up conversation in the layout of a public set."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import recall_measures as measures
from benchmarks.recall_measures import Outcome
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
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "locomo").mkdir()
    samples = [_sample("one"), _sample("two")]
    (tmp_path / "locomo" / "locomo10.json").write_text(json.dumps(samples), encoding="utf-8")
    return tmp_path


def test_the_benchmark_prints_both_halves_and_the_goals_and_succeeds_where_they_are_reached(data: Path) -> None:
    done = _run(data, "--categories")

    assert done.returncode == 0, done.stderr
    assert "| words | 1.000 | 1.000 | 1.000 |" in done.stdout
    assert "FTS5 as it comes" in done.stdout
    assert "odd 1.000 [1.000, 1.000], even 1.000 [1.000, 1.000]" in done.stdout
    last = done.stdout.rstrip().splitlines()[-1]
    assert last.startswith("locomo, words, R@10: 1.000 (goal 0.650): reached; beyond full text, odd minus even")


def test_the_benchmark_with_vectors_asks_a_real_embedder(data: Path, tmp_path: Path) -> None:
    done = _run(data, "--vectors", "--cache", str(tmp_path / "kept.db"))

    assert done.returncode == 0, done.stderr
    assert "| words and vectors | 1.000 |" in done.stdout
    assert "| vectors of the texts alone |" in done.stdout


def test_the_benchmark_fails_where_a_goal_is_missed(data: Path) -> None:
    wrong = [
        _sample("one") | {"qa": [{"question": "Who hurts?", "answer": "Ben", "evidence": ["D1:1"], "category": 4}]}
    ]
    (data / "locomo" / "locomo10.json").write_text(json.dumps(wrong), encoding="utf-8")

    done = _run(data)

    assert done.returncode == 1
    assert "NOT reached" in done.stdout


def test_figures_are_counted_as_their_names_say() -> None:
    question = Question(
        id="q",
        text="",
        evidence=frozenset({"a", "b"}),
        category="",
        at=EPOCH,
        answer="",
        evidence_sessions=frozenset(),
    )

    figures = measures.judged(question, ["x", "a", "x", "x", "x", "b"], None)

    assert figures["R@5"] == 0.5
    assert figures["R@10"] == 1.0
    assert figures["all@10"] == 1.0
    assert figures["MRR"] == 0.5


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


def test_a_half_that_is_better_by_more_than_noise_is_found_out() -> None:
    tuned, plain, hard = _figures("w", 1.0, 0.0), _figures("p", 0.5, 0.5), _figures("p", 1.0, 0.0)

    assert measures.differ(tuned, "R@10", seed=1) == (1.0, 1.0, 1.0)
    assert measures.beyond(tuned, plain, "R@10", seed=1) == (1.0, 1.0, 1.0)
    assert measures.beyond(tuned, hard, "R@10", seed=1) == (0.0, 0.0, 0.0)
