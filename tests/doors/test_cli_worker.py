"""`bethink worker` next to a program that sets its own model: the worker does not quote in its place."""

from collections import Counter
from pathlib import Path

import pytest

import bethink.sync
import bethink.testing
from bethink.cli.worker import run_lines
from bethink.model.jobs import LearnReport
from tests.doors.cli_kit import items, ok, run
from tests.rooms.learn_kit import willing


@pytest.fixture
def place(tmp_path: Path) -> list[str]:
    return ["--database", str(tmp_path / "memory.db")]


def test_a_worker_without_the_model_of_the_database_exits_with_what_to_do(place: list[str]) -> None:
    with bethink.sync.connect(
        place[1], model=bethink.testing.ScriptedModel(willing), learn_in_background=False
    ) as memory:
        memory.learn()
    ok("add", "I drink tea.", *place, "--space", "alice")

    refused = run("worker", "--once", *place)

    assert refused.code == 4
    assert "The model 'scripted' learns from this database" in refused.err
    assert "Set `model` to it" in refused.err
    [extract] = [job for job in items("learn", "jobs", *place, "--space", "alice") if job["kind"] == "extract"]
    assert extract["status"] == "queued"


def test_worker_says_that_a_job_had_no_output() -> None:
    report = LearnReport(leased=2, outcomes=Counter(succeeded=1, succeeded_no_output=1))

    assert run_lines(report)[0].text == "2 jobs: 1 succeeded, 1 succeeded without output"


def test_continuous_worker_without_a_model_is_rejected(place: list[str]) -> None:
    with bethink.sync.connect(
        place[1], model=bethink.testing.ScriptedModel(willing), learn_in_background=False
    ) as memory:
        memory.learn()

    assert run("worker", *place).code == 4


def test_model_learns_from_messages_quoted_before_it_was_set(place: list[str]) -> None:
    ok("add", "I drink tea.", *place, "--space", "alice")
    assert ok("worker", "--once", *place)["outcomes"]["succeeded"] >= 1

    with bethink.sync.connect(
        place[1], model=bethink.testing.ScriptedModel(willing), learn_in_background=False
    ) as memory:
        memory.learn()
        [entry] = memory.space("alice").sessions.list()
        made = memory.space("alice").sessions.get(entry.session.id).summary()

    assert made is not None
    assert not made.created_by.is_verbatim


@pytest.mark.parametrize("command", ["worker", "pause", "resume"])
def test_temporal_commands_name_a_silent_cluster(place: list[str], command: str) -> None:
    refused = run("admin", "temporal", command, "--address", "127.0.0.1:1", *place)

    assert refused.code != 0
    assert "Temporal does not respond at 127.0.0.1:1" in refused.err


def test_temporal_worker_rejects_malformed_rates(place: list[str]) -> None:
    refused = run("admin", "temporal", "worker", "--rates", "openai", *place)

    assert refused.code == 4
    assert "'openai'" in refused.err


def test_temporal_variables_are_not_bethink_settings(place: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BETHINK_TEMPORAL_TASK_QUEUE", "blue")

    assert run("status", *place).code != 4
