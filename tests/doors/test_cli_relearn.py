"""`bethink learn relearn` with a model server: a diff first, applied by its id, and undone."""

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.doors.cli_kit import items, ok, run
from tests.rooms.review_kit import claim, claims
from tests.unit.model_server import KEY, OpenAIApi, Server, isolate, sends, serving

SAID = "I live in Bergen and I have a dog called Pixel."
BERGEN = claim("The owner lives in Bergen.", "I live in Bergen")
DOG = claim("The owner has a dog.", "I have a dog")
PIXEL = claim("The owner has a dog called Pixel.", "I have a dog called Pixel")
MADE = {"first": claims(BERGEN, DOG), "second": claims(BERGEN, PIXEL)}


@pytest.fixture
def models(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server with two models, of which the first is the one in the settings."""

    def answers(handler: BaseHTTPRequestHandler) -> None:
        body = server.requests[-1].body
        schema = body["response_format"]["json_schema"]["name"]
        prompt = api.asked(body)["prompt"]
        labels = re.findall(r"^(c[0-9]+) about", prompt, re.MULTILINE)
        text = {
            "claims": MADE[body["model"]],
            "verdicts": json.dumps({"said": labels, "others": []}),
        }.get(schema, '{"calls": [], "done": true}')
        sends(api.reply(text))(handler)

    api = OpenAIApi()
    isolate(monkeypatch, home)
    with serving(answers) as server:
        monkeypatch.setenv("BETHINK_MODEL", "openai:first")
        monkeypatch.setenv("BETHINK_MODEL_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("BETHINK_MODEL_API_KEY", KEY)
        yield server


def contents(on: list[str]) -> list[str]:
    return sorted(fact["text"] for fact in items("fact", "list", *on))


@pytest.mark.usefixtures("models")
def test_a_relearning_is_shown_then_applied_then_undone(target: str, on: list[str]) -> None:
    ok("add", SAID, *on)
    ok("worker", "--once", "--database", target)
    before = contents(on)
    assert before == ["The owner has a dog.", "The owner lives in Bergen."]

    shown = run("learn", "relearn", "--model", "openai:second", *on)

    assert shown.code == 0, shown.err
    assert "- The owner has a dog.\n+ The owner has a dog called Pixel.\n" in shown.out
    assert "1 session: 1 unchanged, 0 new, 0 removed, 1 changed" in shown.out
    assert contents(on) == before
    [name] = set(re.findall(r"rel_\w+", shown.out))
    assert ok("learn", "apply", name, *on)["status"] == "applied"
    assert contents(on) == ["The owner has a dog called Pixel.", "The owner lives in Bergen."]
    assert ok("learn", "undo", name, *on)["status"] == "undone"
    assert contents(on) == before


@pytest.mark.usefixtures("models")
def test_dry_run_previews_relearning_and_yes_applies_it(target: str, on: list[str]) -> None:
    ok("add", SAID, *on)
    ok("worker", "--once", "--database", target)

    assert ok("learn", "relearn", "--model", "openai:second", "--dry-run", *on)["status"] == "proposed"
    assert ok("learn", "relearn", "--model", "openai:second", "--yes", *on)["status"] == "applied"
    assert contents(on) == ["The owner has a dog called Pixel.", "The owner lives in Bergen."]


@pytest.mark.usefixtures("home")
def test_relearn_without_a_model_gives_a_hint(on: list[str]) -> None:
    ok("add", SAID, *on)

    done = run("learn", "relearn", *on)

    assert done.code != 0
    assert "hint: " in done.err


def test_custom_instructions_and_prompt_reach_the_model(
    models: Server, target: str, on: list[str], tmp_path: Path
) -> None:
    ok("add", SAID, *on)
    ok("worker", "--once", "--database", target)
    own = tmp_path / "prompt.md"
    own.write_text("Claim what you like.", encoding="utf-8")
    before = len(models.requests)

    ok("learn", "relearn", "--prompt", str(own), "--instructions", "Learn about dogs.", *on)

    asked = [OpenAIApi().asked(each.body) for each in models.requests[before:]]
    assert asked[0]["system"] == "Claim what you like."
    assert "Learn about dogs." in asked[0]["prompt"]
    assert run("learn", "relearn", "--prompt", str(tmp_path / "none.md"), *on).code == 2


@pytest.mark.usefixtures("models")
def test_preview_shows_new_facts_and_stores_nothing(on: list[str], tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    line = json.dumps({"role": "user", "content": SAID, "conversation": "home"})
    talk.write_text(f"{line}\n\n", encoding="utf-8")

    shown = run("learn", "preview", str(talk), "--instructions", "Learn about dogs.", *on)

    assert shown.code == 0, shown.err
    assert "accept (added): The owner lives in Bergen." in shown.out
    assert "2 accepted, 0 for review, 0 rejected; 2 calls, $" in shown.out
    told = ok("learn", "preview", "-", *on, stdin=SAID)
    assert [each["claim"]["fact"]["text"] for each in told["accepted"]] == [
        "The owner lives in Bergen.", "The owner has a dog.",
    ]  # fmt: skip
    assert contents(on) == []
    assert items("sessions", *on) == []


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("given", ["", '{"role": "user"}', "{not json}"])
def test_preview_rejects_an_invalid_transcript_with_its_line(on: list[str], given: str) -> None:
    done = run("learn", "preview", "-", *on, stdin=given)

    assert done.code == 2
    assert "Line 1" in done.err or "no messages" in done.err
