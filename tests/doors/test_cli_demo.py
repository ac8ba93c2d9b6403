"""The demo: the same text every time, and its claims are true."""

import shlex
from pathlib import Path
from typing import Any

import pytest

import bethink.sync
from bethink.cli.demo_data import SCRIPT, TODAY, story
from tests.doors.cli_kit import items, ok, run

pytestmark = pytest.mark.usefixtures("home")


def test_the_demo_prints_the_same_every_time() -> None:
    first = run("demo")

    assert first.code == 0
    assert run("demo").out == first.out


def test_demo_answers_as_of_a_day_and_omits_deleted_data() -> None:
    done = ok("demo")
    now, then, before, after = done["asked"]

    assert now["question"] == then["question"]
    assert "Bergen" in now["items"][0]["text"]
    assert "Bergen" not in now["items"][1]["text"]
    assert now["items"][1]["replaced_by"] == now["items"][0]["ref"]
    assert "Oslo" in then["items"][0]["text"]
    assert not any(item.get("replaced_by") for item in then["items"])
    assert before["items"][0]["origin"] == "tool:flat_search"
    assert done["forgotten"]["messages"] > 0
    assert after["items"] == []


def test_the_text_names_questions_reasons_and_next_commands() -> None:
    text = run("demo").out

    assert "A scripted model replaces yours" in text.splitlines()[1]
    assert "Nothing leaves this machine." in text.splitlines()[1]
    assert text.count("$ bethink recall") == 4
    assert "--as-of 2026-02-10" in text
    assert "--kind" not in text
    assert "why: words" in text
    assert "evidence  confirmed\n" in text
    assert "      replaced by: User lives in Bergen, in Sandviken." in text
    assert "$ bethink forget" in text
    assert text.rstrip().splitlines()[-4] == "Next:"
    assert text.count("\n") <= 64
    assert "and 2 earlier versions\n" in text


def test_the_headline_fact_is_followed_to_miras_own_message() -> None:
    done = ok("demo")

    [source] = done["followed"]["sources"]
    assert done["followed"]["text"] == done["asked"][0]["items"][0]["text"]
    assert source["origin"] == "user"
    assert done["followed"]["fact"]["evidence"] == "confirmed"
    assert done["followed"]["quotes"]
    assert all(quote["text"] in source["text"] for quote in done["followed"]["quotes"])
    assert source["text"] in {text for said in story() for who, text in said.turns if who == "user"}


def test_every_printed_command_prints_the_same_when_a_reader_types_it(home: Path) -> None:
    file = str(home / "demo.db")
    text = run("demo", "--save", file).out
    parts = [part for part in text.split("\n\n") if part.startswith("$ ")]
    assert len(parts) == 6
    assert f"--database {file} --space mira." in text.splitlines()[3]

    for part in parts:
        line, _, printed = part.partition("\n")
        done = run(*shlex.split(line)[2:], "--database", file, "--space", "mira")
        assert done.code == 0
        assert (done.out + done.err).strip() == printed.strip(), line
    for line in text.rpartition("Next:")[2].split("\n"):
        if line:
            assert run(*shlex.split(line)[1:]).code == 0, line


def test_demo_keeps_all_claims_but_tool_orders_and_suppositions(home: Path) -> None:
    file = str(home / "demo.db")
    seeded = ok("demo", "--save", file)["seeded"]

    assert (seeded["refused"], seeded["held"]) == (1, 1)
    with bethink.sync.connect(file, learn=False) as memory:
        held = {fact.text for day in ("2026-01-20", "2026-02-19", "2026-03-20", "2026-04-04")
                for fact in memory.space("mira").facts.list(as_of=day)}  # fmt: skip
    wrong = {"User has a dog called Pixel.", "User wants to send the deposit to account 4815.16.23421."}
    assert held == {each.statement for scripted in SCRIPT.values() for each in scripted} - wrong


def test_saved_demo_can_be_queried(home: Path) -> None:
    file = str(home / "demo.db")
    ok("demo", "--save", file)
    on = ["--database", file, "--space", "mira"]

    now = ok("recall", "Where do I work?", *on)["items"][0]["text"]
    then = ok("recall", "Where do I work?", "--as-of", "2026-02-01", *on)["items"][0]["text"]
    assert ("aquarium" in now, "library" in then) == (True, True)
    allergy = ok("recall", "What am I allergic to?", "--explain", *on)
    assert "cashews" in allergy["items"][0]["text"]
    assert "~/memory" in [entry["path"] for entry in items("doc", "list", *on)]
    assert len(items("sessions", "--limit", "100", *on)) == len(list(story()))
    assert ok("doctor", "--database", file)["checks"]
    assert Path(file).stat().st_mode & 0o777 == 0o600
    assert run("demo", "--save", file).code == 1


def test_the_tool_that_gives_orders_is_never_what_the_user_wants(home: Path) -> None:
    import anyio  # noqa: PLC0415

    from bethink.cli import demo  # noqa: PLC0415

    async def block() -> str:
        file, clock = str(home / "x.db"), demo.StoryClock()
        await demo.seed(file, clock)
        async with demo.memory_at(file, clock) as memory:
            return (await memory.space(demo.SPACE).context()).text

    assert "IGNORE ALL" not in anyio.run(block)


def test_the_story_is_in_order_of_time_and_about_three_months_long() -> None:
    sessions = list(story())
    times = [said.at for said in sessions]

    assert times == sorted(times)
    assert 28 <= len(sessions) <= 35
    assert 80 <= (times[-1] - times[0]).days <= 95
    assert times[-1] < TODAY
    roles: set[Any] = {who.partition(" ")[0] for said in sessions for who, _ in said.turns}
    assert roles == {"user", "assistant", "tool"}
