"""Operations: several processes at one address, worker health, waiting for a database, logs."""

import json
import logging
import os
import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from bethink.base.log_lines import log_own_records, preserve_logger
from bethink.base.logs import logger
from bethink.config.settings import Settings, load_settings
from bethink.errors import ConfigurationError, DatabaseUnavailableError
from bethink.host.waiting import wait_for_database
from bethink.http.metrics import SHARED_FOLDER
from bethink.http.processes import serve_in_processes
from bethink.http.worker_health import _parts
from tests.doors.cli_kit import ok, run
from tests.service_kit import ask, figure, service, until
from tools.postgres import create_database
from tools.postgres import serving as postgres

pytestmark = pytest.mark.usefixtures("home")


def children(pid: int) -> list[int]:
    """The server processes of a parent: those that are told which pipe to read what they run from."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(each) for each in found if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()]


@pytest.mark.slow
def test_server_processes_share_address_and_replace_dead_workers(home: Path, target: str) -> None:
    key = ok("admin", "keys", "create", "app", "--scope", "read", "--scope", "write", "--database", target)["key"]
    with service(home, "serve", "--workers", "2", "--port", "0", "--database", target) as server:
        address = re.findall(r"http://[\d.:]+", server.wait_for("serving at"))[0]
        first = children(server.child.pid)
        assert len(first) == 2
        for number in range(40):
            body = {"messages": f"I drink tea number {number}.", "conversation": f"talk {number}"}
            status, answer = ask(address, "POST", "/v1/spaces/alice/remember", key, body)
            assert status == 201, answer

        page = ask(address, "GET", "/metrics", key)[1]
        assert figure(page, 'bethink_capture_total{result="ok"}') == 40, page
        assert figure(page, "bethink_requests_in_progress") <= 1

        beside = ""
        learnt: list[str] = []
        for _ in range(40):
            beside += run("worker", "--once", "--verbose", "--database", target).err
            learnt = re.findall(r"learnt from (\S+ up to \d+)", "".join(server.said) + beside)
            if len(set(learnt)) == 40:
                break
        assert len(learnt) == len(set(learnt)) == 40, "each session is learnt from once"

        os.kill(first[0], signal.SIGKILL)
        server.wait_for("starting another")
        until(lambda: len(children(server.child.pid)) == 2 and children(server.child.pid) != first)
        assert {ask(address, "GET", "/healthz")[0] for _ in range(20)} == {200}
        assert server.end() == 0
        assert not [pid for pid in first if Path(f"/proc/{pid}").exists()]


def test_server_processes_end_when_the_one_that_started_them_is_killed(home: Path) -> None:
    with service(home, "serve", "--workers", "2", "--port", "0") as server:
        server.wait_for("serving at")
        left = children(server.child.pid)
        server.end(signal.SIGKILL)
    until(lambda: not any(Path(f"/proc/{pid}/cmdline").exists() and _runs(pid) for pid in left))


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def breaks_at_once(settings: Settings, sockets: list[socket.socket], *, ready: Callable[[str], None]) -> None:
    """What a server process runs that cannot start."""
    raise SystemExit(3)


def test_processes_that_cannot_start_end_the_server(caplog: pytest.LogCaptureFixture) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with caplog.at_level(logging.ERROR, "bethink"), pytest.raises(SystemExit) as ended:
        serve_in_processes(breaks_at_once, Settings(), [], count=2, ready=lambda: pytest.fail("it is not ready"))

    assert ended.value.code == 1
    assert "could not start (exit code 3)" in caplog.text
    assert signal.getsignal(signal.SIGTERM) is before
    assert SHARED_FOLDER not in os.environ


@pytest.mark.slow
def test_a_worker_answers_probes_counts_its_jobs_and_logs_lines_of_json(home: Path, target: str) -> None:
    key = ok("admin", "keys", "create", "prometheus", "--scope", "read", "--database", target)["key"]
    ok("add", "I drink tea.", "--space", "alice", "--database", target)
    with service(home, "worker", "--database", target, worker_health_address="127.0.0.1:0") as worker:
        address = re.findall(r"http://[\d.:]+", worker.wait_for("health and metrics at"))[0]
        assert [ask(address, "GET", path) for path in ("/healthz", "/readyz")] == [(200, '{"status":"ok"}')] * 2
        assert ask(address, "GET", "/metrics")[0] == 401
        assert ask(address, "GET", "/v1/spaces", key)[0] == 404
        assert ask(address, "GET", "/openapi.json")[0] == 404
        until(lambda: figure(ask(address, "GET", "/metrics", key)[1], "bethink_worker_jobs_total") > 0)
        assert worker.end() == 0

    told = [line for line in worker.lines() if line["event"] == "jobs ended"]
    assert told
    assert {"time", "level", "logger", "claimed", "succeeded"} <= set(told[0])
    assert all(line["level"] == "info" for line in worker.lines())
    assert "I drink tea" not in "".join(worker.said)
    assert "alice" not in "".join(worker.said)


def test_a_worker_that_cannot_listen_says_why_and_works_on_nothing(home: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        refused = run("worker", "--health", place, "--database", str(tmp_path / "memory.db"))
    assert refused.code == 1
    assert f"{place} is already in use" in refused.err


@pytest.mark.parametrize("address", ["8378", "localhost", "localhost:", "localhost:http", "127.0.0.1:70000", ""])
def test_invalid_probe_address_is_rejected(address: str) -> None:
    with pytest.raises(ConfigurationError, match="worker_health_address"):
        _parts(address)


def test_an_address_for_probes_may_name_one_or_all_of_this_machine() -> None:
    assert [_parts(each) for each in ("127.0.0.1:80", ":80", "[::1]:0")] == [("127.0.0.1", 80), ("", 80), ("::1", 0)]


@pytest.mark.slow
def test_server_and_worker_wait_for_a_late_database(home: Path) -> None:
    with postgres() as cluster:
        dsn = create_database(cluster.dsn, "late")
        cluster.stop()
        with (
            service(home, "serve", "--port", "0", "--database", dsn) as server,
            service(home, "worker", "--database", dsn) as worker,
        ):
            for each in (server, worker):
                told = each.wait_for("Waiting for the database", times=2)
                assert json.loads(told)["level"] == "warning"
            cluster.start()
            for each, words in ((server, "serving at"), (worker, "working")):
                each.wait_for("Database available after")
                each.wait_for(words)
                assert each.end() == 0


async def test_after_its_time_a_start_fails_with_the_error_of_the_database(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and listens not
        port = nobody.getsockname()[1]
        settings = load_settings(
            environ={}, module="memory.postgres", postgres_dsn=f"postgresql://x@127.0.0.1:{port}/x", start_timeout=2.0
        )
        with (
            caplog.at_level(logging.INFO, "bethink"),
            pytest.raises(DatabaseUnavailableError, match="Cannot reach the database"),
        ):
            await wait_for_database(settings)
    said = [record.getMessage() for record in caplog.records if record.name == "bethink.start"]
    assert len(said) >= 2
    assert all("Waiting for the database" in each for each in said[:-1])
    assert "Database unavailable after" in said[-1]


def test_permanent_database_error_fails_without_waiting(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_text("no database at all, but some text that is long enough to be read as a page of one" * 99)
    refused = run("worker", "--once", "--database", str(path))
    assert refused.code != 0
    assert "Waiting for the database" not in refused.err


@pytest.mark.parametrize(("form", "begins"), [("json", '{"time"'), ("text", "warning: bethink.redaction: ")])
def test_log_settings_control_format_and_level_of_command_logs(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, begins: str
) -> None:
    on = ["--database", str(tmp_path / "memory.db")]
    monkeypatch.setenv("BETHINK_REDACT", "false")  # which is warned about
    monkeypatch.setenv("BETHINK_LOG_FORMAT", form)
    logged = run("add", "tea", *on).err.splitlines()
    assert next(line for line in logged if "redact" in line).startswith(begins)

    monkeypatch.setenv("BETHINK_LOG_LEVEL", "error")
    assert "redact" not in run("add", "tea", *on).err


@pytest.mark.parametrize("name", ["level", "format"])
def test_an_unknown_level_or_form_of_the_log_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"BETHINK_LOG_{name.upper()}", "loud")
    refused = run("admin", "spaces")
    assert refused.code == 4
    assert f"Unknown `log_{name}`: 'loud'." in refused.err


def test_command_restores_the_logger() -> None:
    ours = logger()
    before = (ours.level, list(ours.handlers), ours.propagate)
    with preserve_logger():
        log_own_records(level="debug", form="json")
        assert (ours.level, list(ours.handlers), ours.propagate) != before
    assert (ours.level, list(ours.handlers), ours.propagate) == before
