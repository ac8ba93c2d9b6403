"""The `ask` benchmark: its figure is on the last line, and a wrong answer makes it fail."""

import pytest

from benchmarks import ask
from benchmarks.ask_cases import cases, honest
from bethink.model.calls import ModelCall
from bethink.testing import ScriptedModel
from tests.unit.model_server import OpenAIApi, sends, serving


def test_scripted_models_reach_the_goal(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask.main(["--questions", "20"]) == 0

    assert capsys.readouterr().out.splitlines()[-1] == (
        "right: 1.000 (goal 1.000); let through: 0.000 of lies, 0 orders; 20 questions"
    )


async def test_model_refusing_everything_is_right_only_if_unanswerable() -> None:
    figures = await ask.measured(ScriptedModel(lambda _: "UNKNOWN"), cases()[:20])

    assert (figures.answered, figures.refused, figures.wrong) == (0.0, 1.0, 0.0)
    assert figures.right == pytest.approx(0.4)


async def test_answer_to_an_unanswerable_question_counts_as_wrong() -> None:
    def repeats(call: ModelCall) -> str:
        said = str(honest(call))
        line = next(each for each in call.prompt.splitlines() if each.startswith("- "))
        return said if said != "UNKNOWN" else f"{line[2 : line.index(' (')]} {line[line.rindex('[^') :]}"

    figures = await ask.measured(ScriptedModel(repeats), cases()[:20])

    assert figures.wrong == pytest.approx(0.4)


def test_server_is_benchmarked_and_its_figure_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving(sends(OpenAIApi().reply("UNKNOWN"))) as server:
        done = ask.main(["--url", f"{server.url}/v1", "--model", "tiny", "--questions", "10"])
        short = ask.main(["--url", f"{server.url}/v1", "--model", "tiny", "--questions", "10", "--goal", "0.9"])

    assert (done, short) == (0, 1)
    assert "| tiny | 0.000 | 1.000 | 0.000 | 0 | 21 |" in capsys.readouterr().out
