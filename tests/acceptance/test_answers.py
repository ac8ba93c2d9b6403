"""The answers benchmark, on a synthetic set in the format of the public ones, with a model that reads its notes."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchmarks import answers, answers_run, sets
from benchmarks.answers_judge import PROMPTS, Judge, exact, f1
from bethink.config.settings import Settings
from bethink.errors import ModelResponseError, ModelUnavailableError
from bethink.extend import TextKind
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.providers.scripted_model import Line, ScriptedModel
from tests.acceptance.answers_kit import FILLER, reader, rows, run, written
from tests.unit.model_server import OpenAIApi, sends, serving


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return written(tmp_path)


def test_every_set_is_read_with_real_dates_and_ids(data: Path) -> None:
    loaded = {name: sets.load(name, data) for name in sets.SETS}

    locomo = loaded["locomo"][0]
    when = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert (locomo.turns[0].id, locomo.turns[0].speaker, locomo.turns[0].session) == ("D1:1", "Ada", "1")
    assert locomo.turns[0].at == when
    assert [(each.evidence, each.answer, each.answerable) for each in locomo.questions] == [
        (frozenset({"D1:1"}), "Bergen", True),
        (frozenset(), None, False),
    ]
    [realtalk] = loaded["realtalk"]
    assert realtalk.questions[0].evidence == {"D1:1"}
    assert realtalk.turns[0].at == datetime(2023, 12, 29, 0, 51, 12, tzinfo=UTC)
    [beam] = loaded["beam"]
    assert [(turn.id, turn.text, turn.at) for turn in beam.turns] == [
        ("0", "I use Flask.", datetime(2024, 3, 15, tzinfo=UTC)),
        ("1", "Good.", datetime(2024, 3, 15, tzinfo=UTC)),
    ]
    assert beam.questions[0].evidence == {"0"}
    before, after = loaded["meme"]
    assert [len(each.turns) for each in (before, after)] == [2, 3]
    assert [question.category for question in before.questions] == ["before Cas"]
    assert [(question.category, question.needs) for question in after.questions] == [
        ("Tr", None),
        ("Cas", "sw_001-before-0"),
    ]
    [published] = loaded["longmemeval_s"]
    assert published.id == "q2"
    [whole] = loaded["longmemeval_real"]
    assert not whole.questions[0].answerable
    [filled] = loaded["longmemeval"]
    assert len({turn.session for turn in filled.turns}) == 48
    assert filled.questions[0].evidence == {"answer_1#0"}
    assert filled.questions[0].evidence_sessions == {"answer_1"}
    assert all(turn.at <= filled.questions[0].at for turn in filled.turns)


def test_missing_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"no realtalk under .*: .*json is missing"):
        sets.load("realtalk", tmp_path)


def test_recall_answers_match_full_history_with_fewer_tokens(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = run(data, "--budget", "100")

    out = capsys.readouterr().out
    found = rows(out)
    assert done == 0
    assert found["recall"][:5] == found["full"][:5] == ["1.000"] * 5
    assert found["none"][:6] == ["0.000", "0.000", "0.000", "0.000", "0.000", "0"]
    assert 0 < int(found["recall"][5]) < int(found["full"][5])
    assert int(found["recall"][6]) < int(found["full"][6])
    assert float(found["full"][8]) > 0
    assert found["write"] == ["0", "0", "0.0000"]
    assert found["single-hop"][0] == "3"
    assert (
        "answers by reader with answer-1, judged by reader with judge-locomo-1, judge-strict-1, judge-lenient-1" in out
    )
    assert out.splitlines()[-1].startswith("right by the protocol judge: none 0.000, full 1.000, ")
    assert out.splitlines()[-1].endswith("; 3 questions; seed 1")


def test_goal_decides_the_exit_code(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def forgetful(call: ModelCall) -> Line:
        return "WRONG" if "You mark one answer" in call.system else "unknown"

    goal = ("--way", "recall", "--goal", "recall=0.9")
    assert run(data, *goal) == 0
    assert run(data, *goal, model=forgetful) == 1
    assert "recall 0.000 (goal 0.900)" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize("goal", ["0.9", "memory=0.9", "recall=much"])
def test_unusable_goal_is_named(data: Path, goal: str) -> None:
    with pytest.raises(SystemExit, match=f"--goal {goal}"):
        run(data, "--goal", goal)


def test_goal_of_a_way_that_was_not_asked_is_missed(data: Path) -> None:
    assert run(data, "--way", "recall", "--goal", "context=0.1") == 1


def test_full_history_is_cut_to_the_window_keeping_the_newest(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prompts: list[str] = []

    def noting(call: ModelCall) -> Line:
        prompts.append(call.prompt)
        return reader(call)

    run(data, "--way", "full", "--way", "recall", model=noting, window=3_000)

    found = rows(capsys.readouterr().out)
    assert found["full"][1] == "0.000"
    assert found["recall"][1] == "1.000"
    assert any(FILLER[-1] in each and "moved to" not in each for each in prompts)


def test_learning_cost_is_counted_under_writes(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def learning(call: ModelCall) -> Line:
        return reader(call) if call.schema is None else json.dumps({"claims": []})

    assert run(data, "--learn", "--questions", "1", "--way", "recall", model=learning) == 0

    out = capsys.readouterr().out
    assert int(rows(out)["write"][0]) > 0
    assert "learned from by that model" in out


class Colours:
    """An embedder that knows two words for the same thing."""

    name = "colours"
    dimension = 2

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "message") -> list[Sequence[float]]:
        return [(1.0, 0.0) if re.search("crimson|scarlet", text) else (0.0, 1.0) for text in texts]


async def test_embedder_finds_answers_that_words_cannot(data: Path) -> None:
    [one, *_] = sets.load("locomo", data)
    [question, _] = one.questions
    turn = replace(one.turns[0], text="scarlet", at=one.turns[0].at - timedelta(microseconds=1))
    conversation = replace(one, turns=(turn, *one.turns[1:]), questions=(replace(question, text="crimson"),))

    def noting(call: ModelCall) -> Line:
        return "CORRECT" if "scarlet" in call.prompt else "unknown"

    model = ScriptedModel(noting)
    plan = answers_run.Plan(
        model=model, judge=Judge(model=model), embedder=Colours(), ways=("cosine", "recall"), questions=1, budget=100
    )

    found = await answers_run.measured("made up", [conversation], plan)
    without = await answers_run.measured("made up", [conversation], replace(plan, embedder=None))

    assert {record.way: record.context_tokens > 0 for record in found.records} == {"cosine": True, "recall": True}
    assert any("scarlet" in call.prompt for call in model.calls if call.prompt.count("\n") < 20)
    assert {record.way: record.context_tokens for record in without.records} == {"cosine": 0, "recall": 0}


def test_a_model_that_never_answers_or_never_judges_is_wrong_and_counted(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    away = ModelUnavailableError("away", retry_after=0)

    def failing(call: ModelCall) -> Line:
        if "You mark one answer" in call.system:
            return ModelAnswer(text="hm", model="reader")
        return away if "bethink-memory" in call.prompt else ModelResponseError("no")

    some = ("--questions", "1", "--way", "none", "--way", "full", "--way", "ask")
    assert run(data, *some, model=failing) == 0
    assert "3 answers never came and 0 verdicts were none" in capsys.readouterr().out

    def mute(_: ModelCall) -> Line:
        return "hm"

    assert run(data, *some, model=mute) == 0
    assert "0 answers never came and 9 verdicts were none" in capsys.readouterr().out


def test_the_same_seed_draws_the_same_questions(data: Path) -> None:
    loaded = sets.load("locomo", data)

    def drawn(seed: int) -> list[str]:
        return [question.id for _, question in answers_run.chosen(loaded, count=2, seed=seed)]

    assert drawn(1) == drawn(1)
    assert len({tuple(drawn(seed)) for seed in range(10)}) > 1


@pytest.mark.parametrize(
    ("name", "asked"),
    [("realtalk", "realtalk"), ("beam", "beam"), ("longmemeval", "longmemeval_s"), ("longmemeval_s", "longmemeval_s")],
)
def test_other_question_sets_can_be_run(data: Path, capsys: pytest.CaptureFixture[str], name: str, asked: str) -> None:
    """The published file of LongMemEval is used where it exists."""
    assert run(data, "--set", name, model=lambda _: "CORRECT") == 0

    assert f"## {asked}: 1 questions about 1 conversations" in capsys.readouterr().out


def test_all_sets_in_the_folder_are_asked_by_default(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (data / "beam" / "100K" / "1" / "chat.json").unlink()
    model = ScriptedModel(lambda _: "CORRECT", name="reader", window=32_000)

    answers.main(
        ["--data", str(data), "--model", "openai:x", "--way", "recall", "--embedder", "words"], make=lambda _: model
    )

    out = capsys.readouterr().out
    assert re.findall(r"^## (\w+): (\d+)", out, re.MULTILINE) == [
        ("longmemeval_s", "1"),
        ("locomo", "3"),
        ("meme", "2"),
    ]
    assert "without beam: " in out


@pytest.mark.parametrize(
    ("answer", "key", "right"),
    [
        ("Bergen.", "bergen", True),
        ("She moved to Bergen in May", "Bergen", True),
        ("Two cats", "2 cats", True),
        ("7 May 2023", "May 7, 2023", True),
        ("Oslo", "Bergen", False),
        ("Berg", "Bergen", False),
        ("", "Bergen", False),
        ("unknown", "", False),
    ],
)
def test_the_judge_without_a_model_compares_words(answer: str, key: str, *, right: bool) -> None:
    assert exact(answer, key) is right


def test_f1_is_one_for_the_same_words_and_none_for_others() -> None:
    assert f1("the red house", "Red house") == 1
    assert f1("red", "red house") == pytest.approx(2 / 3)
    assert f1("blue", "red house") == 0


def test_answers_benchmark_runs_against_a_server(data: Path) -> None:
    with serving(sends(OpenAIApi().reply("CORRECT"))) as server:
        arguments = [
            "--data",
            str(data),
            "--model",
            "openai:tiny",
            "--base-url",
            f"{server.url}/v1",
            "--questions",
            "1",
            "--set",
            "locomo",
        ]
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.answers", *arguments, "--judge", "openai:strict", "--goal", "recall=1"],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env={"PATH": "", "OPENAI_API_KEY": "none", "NO_PROXY": "*", "BETHINK_EMBEDDER": "none"},
        )

    assert done.returncode == 0, done.stderr
    assert "answers by tiny with answer-1, judged by strict with " in done.stdout
    assert "recall 1.000 (goal 1.000)" in done.stdout.splitlines()[-1]
    assert len(server.requests) == 6 + 6 * 3  # an answer each way, and three verdicts on each


def test_every_prompt_has_its_version_in_its_name() -> None:
    folder = Path(answers.__file__).parent / "prompts"

    assert {f"{name}.md" for name in PROMPTS.values()} == {path.name for path in folder.iterdir()}
    assert all(re.fullmatch(r"[a-z-]+-\d+", name) for name in PROMPTS.values())


def test_missing_model_is_reported(data: Path) -> None:
    def none(_: Settings) -> None:
        return None

    with pytest.raises(SystemExit, match="no model"):
        answers.main(["--data", str(data), "--model", "openai:x"], make=none)
    with pytest.raises(SystemExit, match="no model"):
        answers.main(["--data", str(data)])
    with pytest.raises(SystemExit, match="--set locommo: choose from locomo, "):
        run(data, "--set", "locommo")


def test_dollars_follow_the_prices_of_reader_and_judge(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(data, "--way", "full", "--price", "10,0", "--judge-price", "0,0")

    out = capsys.readouterr().out
    found = rows(out)
    assert float(found["full"][8]) == pytest.approx(int(found["full"][6]) * 10 / 1e6, abs=1e-4)
    assert found["judge"][2] == "0.0000"
    assert "reader $10 and $0, judge $0 and $0" in out
