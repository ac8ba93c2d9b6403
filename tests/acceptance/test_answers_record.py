"""Recorded answers: a run resumes from them, anyone judges them again, and tables are made of them."""

import json
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from benchmarks.answers_judge import Judge, Judged
from benchmarks.answers_record import Record, RecordFile, line_of, read_records
from benchmarks.answers_report import rate, table
from bethink.model.calls import ModelCall
from bethink.providers.scripted_model import Line, ScriptedModel
from tests.acceptance.answers_kit import reader, run, written

ONE = Record(
    set="locomo", conversation="c", id="q", category="single-hop", question="Where?", key="Bergen", way="recall",
    budget=2_000, embedder="words", context_hash="h", context_tokens=9, answer="Bergen.", reader="r",
    reader_prompt="answer-1", verdicts={"protocol": 1.0},
)  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return written(tmp_path / "data")


def test_a_run_resumes_from_its_record(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "answers.jsonl"
    asked: list[str] = []

    def noting(call: ModelCall) -> Line:
        asked.append(call.system)
        return reader(call)

    run(data, "--record", str(file), model=noting)
    first = capsys.readouterr().out.splitlines()
    complete = file.read_text(encoding="utf-8")
    # A crash left a half-written line, and the answers after the tenth were never given.
    lines = complete.splitlines()
    file.write_text("\n".join([*lines[:10], lines[10][:50]]), encoding="utf-8")
    already = len(asked)
    run(data, "--record", str(file), model=noting)

    assert "10 answers reused" in capsys.readouterr().out
    assert len(asked) - already == (len(lines) - 10) * 4
    assert sorted(map(line_of, read_records(file))) == sorted(lines)
    already = len(asked)
    run(data, "--record", str(file), model=noting)
    assert len(asked) == already
    assert capsys.readouterr().out.splitlines()[-1] == first[-1]


def test_another_judge_judges_again_without_asking_the_reader(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    run(data, "--record", str(file), "--way", "recall")
    calls: list[ModelCall] = []

    def noting(call: ModelCall) -> Line:
        calls.append(call)
        return "WRONG"

    run(data, "--record", str(file), "--way", "recall", "--judges", "strict", model=noting)

    assert len(calls) == 3
    assert all("You mark one answer" in call.system for call in calls)
    assert [record.verdicts["strict"] for record in read_records(file)] == [0.0] * 3


def test_judge_only_needs_neither_data_nor_reader(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, other = tmp_path / "answers.jsonl", tmp_path / "judged.jsonl"
    run(data, "--record", str(file), "--way", "recall", "--way", "none")
    capsys.readouterr()

    assert run(tmp_path, "--judge-only", str(file), "--goal", "recall=1") == 0
    assert "0 of 12 recorded verdicts differ" in capsys.readouterr().out
    harsh = ("--judge-only", str(file), "--judge", "openai:x", "--record", str(other), "--goal", "recall=1")
    assert run(tmp_path, *harsh, model=lambda _: "WRONG") == 1

    out = capsys.readouterr().out
    assert "9 of 30 recorded verdicts differ" in out
    assert "recall 0.000 (goal 1.000)" in out.splitlines()[-1]
    assert {record.verdicts["protocol"] for record in read_records(other)} == {0.0}


def test_a_record_has_what_is_needed_to_judge_it(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    run(data, "--record", str(file), "--way", "context", "--questions", "1")

    [line] = map(json.loads, file.read_text(encoding="utf-8").splitlines())

    assert line["question"].startswith("Where did ")
    assert line["key"]
    assert line["answer"]
    assert len(line["context_hash"]) == 16
    assert line["context_tokens"] > 0
    assert (line["reader"], line["reader_prompt"], line["judge"]) == ("reader", "answer-1", "reader")
    assert line["judge_prompts"] == "judge-locomo-1, judge-strict-1, judge-lenient-1"
    assert line["input_tokens"] > 0
    assert line["cost"] > 0


def test_unreadable_record_is_named(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(f'{{"set": 1}}\n{line_of(ONE)}\n', encoding="utf-8")

    with pytest.raises(SystemExit, match=r"answers.jsonl:1 is not a record"):
        RecordFile(file)
    with pytest.raises(SystemExit, match="has no recorded answer"):
        run(tmp_path, "--judge-only", str(tmp_path / "none.jsonl"))


def test_the_last_record_of_an_answer_is_valid(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    records = RecordFile(file)
    records.add(ONE)
    records.add(ONE.judged({"protocol": 0.0}, judge="j", prompts="p"))

    [record] = read_records(file)

    assert (record.verdicts, record.judge) == ({"protocol": 0.0}, "j")
    assert RecordFile(file).find(replace(ONE, context_hash="other").key_of_run) is None


def test_an_answer_counts_only_if_the_one_it_needs_is_right() -> None:
    before = replace(ONE, set="meme", id="b", category="before Cas", verdicts={"protocol": 0.0})
    after = replace(ONE, set="meme", id="a", category="Cas", needs="b")

    assert rate([before, after], "recall", "protocol") == 0
    assert rate([replace(before, verdicts={"protocol": 1.0}), after], "recall", "protocol") == 1
    assert not any("before" in line for line in table([before, after]))


def verdict_of(judge: Judge, case: Judged) -> dict[str, float | None]:
    return anyio.run(judge.verdicts, case)


def test_a_rubric_is_judged_point_by_point() -> None:
    model = ScriptedModel(["1", "Two of 3 steps, so I would say 0.5.", "0"])
    case = Judged(set="beam", category="x", question="Q", key=None, rubric=("a", "b", "c"), answer="A")

    assert verdict_of(Judge(model=model, kinds=["protocol"]), case) == {"protocol": 0.5}
    assert [call.prompt.splitlines()[1] for call in model.calls] == ["Point: a", "Point: b", "Point: c"]


def test_published_prompt_of_a_rubric_is_asked_for_each_point(tmp_path: Path) -> None:
    (tmp_path / "beam.md").write_text("{point} in {response}?", encoding="utf-8")
    model = ScriptedModel(['{"score": 1.0}', "none", "12"])
    case = Judged(set="beam", category="x", question="Q", key=None, rubric=("a", "b", "c"), answer="A")

    verdict = verdict_of(Judge(model=model, kinds=["protocol"], folder=tmp_path), case)

    assert verdict == {"protocol": pytest.approx(1 / 3)}
    assert [call.prompt for call in model.calls] == ["a in A?", "b in A?", "c in A?"]


def test_published_prompts_replace_the_shipped_protocol(tmp_path: Path) -> None:
    (tmp_path / "longmemeval_s.md").write_text("all: {question} {answer} {response}", encoding="utf-8")
    (tmp_path / "longmemeval_s-multi-session.md").write_text("some: {response}", encoding="utf-8")
    model = ScriptedModel(["yes", "no", "{response}"])
    judge = Judge(model=model, kinds=["protocol"], folder=tmp_path)
    case = Judged(set="longmemeval_s", category="temporal", question="Q {answer}", key="K", answer="A")

    assert verdict_of(judge, case) == {"protocol": 1.0}
    assert verdict_of(judge, replace(case, category="multi-session")) == {"protocol": 0.0}
    assert verdict_of(judge, replace(case, set="locomo")) == {"protocol": None}
    assert [call.prompt for call in model.calls[:2]] == ["all: Q {answer} K A", "some: A"]
    assert judge.prompts("longmemeval_s", "temporal") != judge.prompts("longmemeval_s", "multi-session")
    assert judge.prompts("locomo", "x") == "judge-locomo-1"


def test_an_unanswerable_question_wants_that_it_is_unknown() -> None:
    model = ScriptedModel(["CORRECT"])
    case = Judged(set="longmemeval", category="x", question="Q", key=None, answer="unknown")

    verdict_of(Judge(model=model, kinds=["strict"]), case)

    assert "Key: unknown: this was never said" in model.calls[0].prompt
