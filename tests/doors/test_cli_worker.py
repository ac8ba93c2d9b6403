"""`bethink worker` beside a program that names its model: nothing is quoted in its place."""

from pathlib import Path

import pytest

import bethink.sync
from tests.doors.cli_kit import ok, run
from tests.rooms.learn_kit import willing


@pytest.fixture
def place(tmp_path: Path) -> list[str]:
    return ["--database", str(tmp_path / "memory.db")]


def test_a_worker_without_the_model_of_the_database_exits_with_what_to_do(place: list[str]) -> None:
    with bethink.sync.connect(place[1], model=bethink.ScriptedModel(willing), learn_in_background=False) as memory:
        memory.learn()
    ok("add", "I drink tea.", *place, "--space", "alice")

    refused = run("worker", "--once", *place)

    assert refused.code == 4
    assert "the model 'scripted' learns from this database" in refused.err
    assert "Name it in the setting 'model'" in refused.err
    [extract] = [job for job in ok("jobs", *place, "--space", "alice") if job["kind"] == "extract"]
    assert extract["status"] == "queued"


def test_a_worker_that_keeps_running_is_refused_as_well(place: list[str]) -> None:
    with bethink.sync.connect(place[1], model=bethink.ScriptedModel(willing), learn_in_background=False) as memory:
        memory.learn()

    assert run("worker", *place).code == 4


def test_what_a_worker_quoted_before_any_model_was_named_is_learnt_with_the_model(place: list[str]) -> None:
    ok("add", "I drink tea.", *place, "--space", "alice")
    assert ok("worker", "--once", *place)["outcomes"]["succeeded"] >= 1

    with bethink.sync.connect(place[1], model=bethink.ScriptedModel(willing), learn_in_background=False) as memory:
        memory.learn()
        [entry] = memory.space("alice").sessions()
        made = memory.space("alice").get_session(entry.session.id).summary()

    assert made is not None
    assert not made.made_by.quotes


@pytest.mark.parametrize("command", ["worker", "pause", "resume"])
def test_temporal_commands_name_a_silent_cluster(place: list[str], command: str) -> None:
    refused = run("temporal", command, "--address", "127.0.0.1:1", *place)

    assert refused.code != 0
    assert "Temporal does not answer at 127.0.0.1:1" in refused.err


def test_temporal_worker_rejects_malformed_rates(place: list[str]) -> None:
    refused = run("temporal", "worker", "--rates", "openai", *place)

    assert refused.code == 4
    assert "'openai'" in refused.err


def test_temporal_variables_are_no_settings_of_bethink(place: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BETHINK_TEMPORAL_TASK_QUEUE", "blue")

    assert run("status", *place).code != 4
