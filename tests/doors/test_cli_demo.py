"""The demo: the same words every time, true to what it says, and done in seconds."""

import time
from pathlib import Path
from typing import Any

import pytest

from bethink.cli.demo_data import TODAY, facts, story
from tests.doors.cli_kit import at_home, ok, run


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return at_home(tmp_path, monkeypatch)


def test_the_demo_prints_the_same_every_time_in_seconds() -> None:
    begun = time.monotonic()
    first = run("demo")
    took = time.monotonic() - begun

    assert first.code == 0
    assert took < 10
    assert run("demo").out == first.out


def test_an_earlier_day_has_another_answer_and_what_is_forgotten_is_gone() -> None:
    done = ok("demo")
    now, then, _, before, after = done["asked"]

    assert now["question"] == then["question"]
    assert "Bergen" in now["items"][0]["text"]
    assert "Oslo" in then["items"][0]["text"]
    assert before["items"][0]["origin"] == "tool:flat_search"
    assert done["forgotten"]["messages"] > 0
    assert after["items"] == []


def test_the_text_names_questions_reasons_and_next_commands() -> None:
    text = run("demo").out

    assert text.count("$ bethink recall") == 5
    assert "--as-of 2026-02-10" in text
    assert "why: words" in text
    assert "$ bethink forget" in text
    assert text.rstrip().splitlines()[-4] == "Next:"
    assert "ses_" not in text


def test_a_kept_demo_can_be_asked_on(home: Path) -> None:
    file = str(home / "demo.db")
    ok("demo", "--keep", file)
    on = ["--database", file, "--space", "mira"]

    now = ok("recall", "Where do I work?", "--kind", "fact", *on)["items"][0]["text"]
    then = ok("recall", "Where do I work?", "--kind", "fact", "--as-of", "2026-02-01", *on)["items"][0]["text"]
    assert ("aquarium" in now, "library" in then) == (True, True)
    assert next(each["content"] for each in ok("log", "allergy", *on)) == "User is allergic to walnuts."
    assert len(ok("sessions", "--limit", "100", *on)) == len(list(story()))
    assert ok("doctor", "--database", file)["checks"]
    assert run("demo", "--keep", file).code == 1


def test_the_tool_that_gives_orders_is_never_what_the_user_wants(home: Path) -> None:
    import anyio  # noqa: PLC0415

    from bethink.cli import demo  # noqa: PLC0415

    async def block() -> str:
        clock = demo.Clock()
        memory = demo._memory(str(home / "x.db"), clock)
        async with memory:
            await demo._seed(memory, clock)
            return (await memory.context(space=demo.SPACE)).text

    assert "IGNORE ALL" not in anyio.run(block)


def test_the_story_is_in_order_of_time_and_about_three_months_long() -> None:
    sessions = list(story())
    times = [said.at for said in sessions]

    assert times == sorted(times)
    assert 28 <= len(sessions) <= 35
    assert 80 <= (times[-1] - times[0]) / 86_400_000_000 <= 95
    assert [at for at, _ in facts()] == sorted(at for at, _ in facts())
    assert times[-1] < TODAY
    roles: set[Any] = {who.partition(" ")[0] for said in sessions for who, _ in said.turns}
    assert roles == {"user", "assistant", "tool"}
