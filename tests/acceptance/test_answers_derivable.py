"""Derivability: patterns are matched as documented, the committed set is sound, and the goals can be missed."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks import answers, answers_derivable, own_sets
from benchmarks.answers_derivable import PATTERNS, WAYS, Finding, Pattern, goals, read_patterns
from tests.acceptance.answers_kit import written

TOWN = {"set": "locomo", "conversation": "conv-Ada", "id": "a", "question": "Where did Ada move to?"}


def write(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def check(path: Path, data: Path, *more: str) -> int:
    return answers.main(["--derivable", "--patterns", str(path), "--data", str(data), *more])


def test_every_pattern_must_occur_whatever_the_case_and_white_space() -> None:
    pattern = Pattern(
        set="s",
        conversation="c",
        id="i",
        question="?",
        must=(re.compile("a big\\W+dog", re.IGNORECASE), re.compile("x")),
    )

    assert pattern.missing("A  BIG \n | Dog, x") == []
    assert pattern.missing("a big cat") == ["a big\\W+dog", "x"]
    assert pattern.missing("") == ["a big\\W+dog", "x"]


def test_lines_that_a_reader_is_given_are_derivable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "p.jsonl", {**TOWN, "must": ["moved to bergen"], "asked_on": "Monday, 8 May 2023"})

    assert check(path, written(tmp_path / "data")) == 0

    out = capsys.readouterr().out
    assert f"| words | locomo | report | 1 | {' | '.join(['1'] * len(WAYS))} |" in out
    assert out.splitlines()[-1] == "derivable: 1 questions, 0 of 2 goals missed"


def test_lines_that_no_text_has_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "p.jsonl", {**TOWN, "must": ["bergen", "moved to Lima"], "half": "tune"})

    check(path, written(tmp_path / "data"))

    out = capsys.readouterr().out
    assert "Not in context(2,000), context(4,000), recall(2,000): moved to Lima" in out
    assert "a (tune, no category): Where did Ada move to?" in out


def test_evidence_of_a_set_serves_as_patterns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The trap question has no evidence; a date in brackets does not hide a turn."""
    data = written(tmp_path / "data")

    assert answers.main(["--derivable", "--evidence", "--set", "locomo", "--data", str(data)]) == 0

    assert "derivable: 3 questions, 0 of 2 goals missed" in capsys.readouterr().out
    [first, *_] = answers_derivable.evidence_patterns(["locomo"], data)
    assert first.half == "tune"
    assert first.missing("- I moved to Bergen yesterday (2023-05-07)! (Ada)") == []
    assert first.missing("- I moved (to another flat) to Bergen yesterday") == []
    assert first.missing("- I moved to Lisbon yesterday")


def finding(half: str, *ways: tuple[str, int]) -> Finding:
    pattern = Pattern(set="s", conversation="c", id="i", question="?", must=(re.compile("x"),), half=half)
    return Finding(
        pattern=pattern,
        embedder="words",
        missing={way: [] if way in ways else ["x"] for way in WAYS},
        tokens=dict.fromkeys(WAYS, 1),
    )


def test_a_block_that_lacks_what_recall_has_misses_the_goal() -> None:
    recall, block, wide = ("recall", 2_000), ("context", 2_000), ("context", 4_000)
    both = [finding("tune", recall, block, wide)] * 19

    assert [goal.reached for goal in goals([*both, finding("report", recall, wide)])] == [True, True]
    assert [goal.reached for goal in goals([*both, *[finding("report", recall, wide)] * 2])] == [False, True]
    assert [goal.reached for goal in goals([*both, finding("report", recall)])] == [True, False]
    assert [goal.reached for goal in goals([finding("report", block, wide)])] == [True, True]
    assert [goal.reached for goal in goals([finding("report")])] == [False, False]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "JSONDecodeError"),
        (json.dumps({**TOWN, "must": []}), "`must` is empty"),
        (json.dumps({**TOWN, "must": ["("]}), "error: missing"),
        (json.dumps({**TOWN}), "KeyError: 'must'"),
        (json.dumps({**TOWN, "must": ["x"], "asked_on": "soon"}), "ValueError"),
    ],
)
def test_unusable_pattern_is_named_with_its_line(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(f"{json.dumps({**TOWN, 'must': ['x']})}\n{line}\n", encoding="utf-8")

    with pytest.raises(SystemExit, match=rf"p\.jsonl:2: .*{re.escape(reason)}"):
        check(path, tmp_path)


def test_missing_conversation_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", {**TOWN, "conversation": "conv-Zoe", "must": ["x"]})

    with pytest.raises(SystemExit, match="no conversation conv-Zoe in locomo"):
        check(path, written(tmp_path / "data"))
    with pytest.raises(SystemExit, match="has no pattern of beam"):
        check(path, tmp_path, "--set", "beam")


def test_committed_patterns_match_their_conversations() -> None:
    patterns = read_patterns(PATTERNS)

    texts: dict[tuple[str, str], str] = {}
    for name in {pattern.set for pattern in patterns}:
        for conversation in own_sets.spoken(PATTERNS.with_name(f"{name}.jsonl")):
            texts[name, conversation.id] = " ".join(turn.text for turn in conversation.turns)
    assert [(each.id, each.missing(texts[each.set, each.conversation])) for each in patterns] == [
        (each.id, []) for each in patterns
    ]


def test_committed_patterns_cover_what_is_hard() -> None:
    patterns = read_patterns(PATTERNS)

    kinds = Counter(pattern.category for pattern in patterns)
    halves: dict[tuple[str, str], set[str]] = {}
    for pattern in patterns:
        if pattern.set != "tongues":  # whose questions alternate
            halves.setdefault((pattern.set, pattern.conversation), set()).add(pattern.half)
    assert len(patterns) >= 60
    assert len({(pattern.set, pattern.id) for pattern in patterns}) == len(patterns)
    assert kinds["row"] >= 20
    assert kinds["two lines"] >= 10
    assert kinds["reply"] >= 10
    assert {frozenset(each) for each in halves.values()} == {frozenset({"tune"}), frozenset({"report"})}
    assert all(len(pattern.must) >= 2 for pattern in patterns if pattern.category == "two lines")


def test_long_texts_are_too_long_to_be_shown_whole() -> None:
    texts = [turn.text for each in own_sets.spoken(PATTERNS.with_name("longtexts.jsonl")) for turn in each.turns]

    assert sum(len(text) > 1_800 for text in texts) >= 8
