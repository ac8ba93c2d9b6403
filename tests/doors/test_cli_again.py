"""`bethink worker --again`: what was only quoted is learnt from anew, in every space, once there is a model."""

from pathlib import Path

import pytest

from tests.doors.cli_kit import ok, run


@pytest.fixture
def place(tmp_path: Path) -> list[str]:
    return ["--database", str(tmp_path / "memory.db")]


def test_what_was_quoted_is_promised_anew_in_every_space(place: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for space in ("alice", "bob"):
        for chat in range(2):
            ok("add", "I drink tea.", "--conversation", f"cli:{chat}:", *place, "--space", space)
    ok("worker", "--once", *place)
    monkeypatch.setenv("BETHINK_MODEL", "openai:nobody")
    monkeypatch.setenv("BETHINK_MODEL_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("BETHINK_MODEL_API_KEY", "none")

    asked = run("worker", "--once", "--again", *place)

    assert asked.code == 0, asked.err
    assert "queued 4 sessions to learn from again" in asked.err
    for space in ("alice", "bob"):
        extracts = [job for job in ok("jobs", *place, "--space", space) if job["kind"] == "extract"]
        assert len(extracts) == 2
        assert {job["status"] for job in extracts} <= {"queued", "failed"}, "and waits for the model, which is away"


def test_without_a_model_nothing_is_learnt_anew(place: list[str]) -> None:
    ok("add", "I drink tea.", *place, "--space", "alice")
    ok("worker", "--once", *place)

    asked = run("worker", "--once", "--again", *place)

    assert asked.code == 4
    assert "--again needs a model" in asked.err
    assert run("worker", "--once", *place).out.startswith("0 jobs")
