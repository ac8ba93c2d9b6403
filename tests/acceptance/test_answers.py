"""The answers benchmark, on a synthetic set in the format of the public ones, with a model that reads its notes."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchmarks import answers, sets
from benchmarks.answers_judge import PROMPTS, exact, f1
from bethink.config.settings import Settings
from bethink.errors import ModelResponseError, ModelUnavailableError
from bethink.extend import TextKind
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.providers.scripted_model import Line, ScriptedModel
from tests.unit.model_server import OpenAIApi, sends, serving

TOWNS = {"Ada": "Bergen", "Bo": "Lisbon", "Cy": "Quito"}
FILLER = [f"The weather was fine on walk number {number}, and we talked about bread." for number in range(40)]


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One small file of each set, with the questions of the others where they differ."""
    locomo: list[dict[str, Any]] = []
    for name, town in TOWNS.items():
        said = [f"I moved to {town} yesterday!", *FILLER]
        turns = [{"speaker": name, "dia_id": f"D1:{place}", "text": text} for place, text in enumerate(said, 1)]
        questions = [
            {"question": f"Where did {name} move to?", "answer": town, "evidence": ["D1:1"], "category": 4},
            {"question": f"Why did {name} sell the boat?", "adversarial_answer": "money", "category": 5},
        ]
        talk = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
        locomo.append({"sample_id": f"conv-{name}", "conversation": talk, "qa": questions})
    write(tmp_path / "locomo" / "locomo10.json", locomo)
    chat = [{"clean_text": "hi", "speaker": "Ed", "date_time": "29.12.2023, 00:51:12", "dia_id": "D1:1"}]
    asked = {"question": "What?", "answer": "hi", "evidence": ["D1:01 and D:1:9"], "category": 2}
    write(tmp_path / "realtalk" / "Chat_1.json", {"session_1": chat, "qa": [asked]})
    turns = [
        {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "I use Flask. ->-> 1,1"},
        {"role": "assistant", "id": 1, "content": "Good."},
    ]
    write(tmp_path / "beam" / "100K" / "1" / "chat.json", [{"turns": [turns]}])
    probes = {
        "knowledge_update": [{"question": "What?", "answer": "Flask", "source_chat_ids": {"first": [0], "then": ["7"]}}]
    }
    write(tmp_path / "beam" / "100K" / "1" / "probing_questions" / "probing_questions.json", probes)
    write(tmp_path / "longmemeval" / "longmemeval_oracle.json", [long_record("q1", fillers=0)])
    write(tmp_path / "longmemeval" / "s_parts" / "1.json", long_record("q0_abs", fillers=60))
    return tmp_path


def long_record(name: str, *, fillers: int) -> dict[str, Any]:
    names = ["answer_1", *(f"filler_{number}" for number in range(fillers))]
    told = [{"role": "user", "content": "My cat is Miez.", "has_answer": True}, {"role": "assistant", "content": "Oh."}]
    return {
        "question_id": name,
        "question_type": "single-session-user",
        "question": "What is my cat called?",
        "answer": "Miez",
        "question_date": "2023/05/20 (Sat) 02:21",
        "haystack_dates": ["2023/05/19 (Fri) 10:00"] * len(names),
        "haystack_session_ids": names,
        "haystack_sessions": [told, *([{"role": "user", "content": f"About {number}."}] for number in range(fillers))],
        "answer_session_ids": ["answer_1"],
    }


def reader(call: ModelCall) -> Line:
    """Answer from the notes, and judge by whether the key stands in the answer."""
    if "You mark one answer" in call.system:
        key, answer = re.findall(r"^(?:Key|Answer): (.*)$", call.prompt, re.MULTILINE)
        return "CORRECT" if key in answer else "I think not. WRONG"
    name = re.search(r"Where did (\w+)", call.prompt)
    town = re.search(rf"{name[1] if name else '?'}: I moved to (\w+)", call.prompt)
    return f"{town[1]}." if town else "unknown"


def run(data: Path, *more: str, model: Callable[[ModelCall], Line] = reader, window: int = 32_000) -> int:
    scripted = ScriptedModel(model, name="reader", window=window)
    arguments = ["--data", str(data), "--model", "openai:reader", *more]
    return answers.main(arguments, make=lambda _: scripted)


def rows(out: str) -> dict[str, list[str]]:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in out.splitlines() if line.startswith("|")]
    return {row[0]: row[1:] for row in cells}


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


def test_memory_answers_match_full_history_with_fewer_tokens(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = run(data, "--budget", "100")

    out = capsys.readouterr().out
    found = rows(out)
    assert done == 0
    assert found["memory"][:4] == found["full"][:4] == ["1.000"] * 4
    assert found["none"][:5] == ["0.000", "0.000", "0.000", "0.000", "0"]
    assert 0 < int(found["memory"][4]) <= 100 < int(found["full"][4])
    assert int(found["memory"][5]) < int(found["full"][5])
    assert float(found["full"][7]) > 0
    assert found["write"] == ["0", "0", "0.0000"]
    assert "answers by reader, judged by reader, prompts answer-1, judge-strict-1, judge-lenient-1" in out
    assert "seed 1" in out
    assert out.splitlines()[-1] == (
        "right by the strict judge: 1.000 from memory, 1.000 from everything, 0.000 from nothing; 3 questions"
    )


def test_goal_decides_the_exit_code(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def forgetful(call: ModelCall) -> Line:
        return "WRONG" if "You mark one answer" in call.system else "unknown"

    assert run(data, "--goal", "0.9") == 0
    assert run(data, "--goal", "0.9", model=forgetful) == 1
    assert "0.000 from memory (goal 0.900)" in capsys.readouterr().out.splitlines()[-1]


def test_full_history_is_cut_to_the_window_keeping_the_newest(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prompts: list[str] = []

    def noting(call: ModelCall) -> Line:
        prompts.append(call.prompt)
        return reader(call)

    run(data, model=noting, window=3_000)

    found = rows(capsys.readouterr().out)
    assert found["full"][1] == "0.000"
    assert found["memory"][1] == "1.000"
    assert 0 < int(found["full"][4]) <= 700
    assert any(FILLER[-1] in each and "moved to" not in each for each in prompts)


def test_learning_cost_is_counted_under_writes(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def learning(call: ModelCall) -> Line:
        if call.schema is None:
            return reader(call)
        return json.dumps({"claims": []})

    assert run(data, "--learn", "--questions", "1", model=learning) == 0

    out = capsys.readouterr().out
    assert int(rows(out)["write"][0]) > 0
    assert "learnt from by that model" in out


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
    plan = answers.Plan(
        settings=Settings(), model=model, judge=model, embedder=Colours(), questions=1, budget=100, seed=1, learn=False
    )

    found = await answers.measured("made up", [conversation], plan)
    without = await answers.measured("made up", [conversation], replace(plan, embedder=None))

    assert {outcome.context: outcome.tokens > 0 for outcome in found.outcomes}["memory"]
    assert any("scarlet" in call.prompt for call in model.calls if call.prompt.count("\n") < 20)
    assert {outcome.context: outcome.tokens for outcome in without.outcomes}["memory"] == 0


def test_a_model_that_never_answers_or_never_judges_is_wrong_and_counted(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    away = ModelUnavailableError("away", retry_after=0)

    def failing(call: ModelCall) -> Line:
        if "You mark one answer" in call.system:
            return ModelAnswer(text="hm", model="reader")
        return away if "bethink-memory" in call.prompt else ModelResponseError("no")

    assert run(data, "--questions", "1", model=failing) == 0
    assert "3 answers never came and 0 verdicts were none" in capsys.readouterr().out

    def mute(call: ModelCall) -> Line:
        return "hm"

    assert run(data, "--questions", "1", model=mute) == 0
    assert "0 answers never came and 6 verdicts were none" in capsys.readouterr().out


def test_the_same_seed_draws_the_same_questions(data: Path) -> None:
    loaded = sets.load("locomo", data)

    def drawn(seed: int) -> list[str]:
        return [question.id for _, question in answers.chosen(loaded, count=2, seed=seed)]

    assert drawn(1) == drawn(1)
    assert len({tuple(drawn(seed)) for seed in range(10)}) > 1


@pytest.mark.parametrize("name", ["realtalk", "beam", "longmemeval"])
def test_other_question_sets_can_be_run(data: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert run(data, "--set", name, model=lambda _: "CORRECT") == 0

    assert f"## {name}: 1 questions about 1 conversations" in capsys.readouterr().out


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
        ]
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.answers", *arguments, "--judge", "openai:strict", "--goal", "1"],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env={"PATH": "", "OPENAI_API_KEY": "none", "NO_PROXY": "*"},
        )

    assert done.returncode == 0, done.stderr
    assert "answers by tiny, judged by strict" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("right by the strict judge: 1.000 from memory (goal 1.000)")
    assert len(server.requests) == 9


def test_every_prompt_has_its_version_in_its_name() -> None:
    folder = Path(answers.__file__).parent / "prompts"

    assert {f"{name}.md" for name in PROMPTS.values()} == {path.name for path in folder.iterdir()}
    assert all(re.fullmatch(r"[a-z-]+-\d+", name) for name in PROMPTS.values())


def test_missing_model_is_reported(data: Path) -> None:
    def none(_: Settings) -> None:
        return None

    with pytest.raises(SystemExit, match="no model"):
        answers.main(["--data", str(data), "--model", "openai:x"], make=none)
