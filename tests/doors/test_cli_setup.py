"""Setup and diagnosis: init, config, completion, doctor."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bethink.sync
from bethink.config.settings import load_settings
from bethink.errors import ModelUnavailableError
from tests.doors.cli_kit import ROOT, environment, items, ok, run
from tests.unit.static_files import static
from tools import make_cli_docs

pytestmark = pytest.mark.usefixtures("home")


def test_default_database_is_in_the_data_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ok("add", "tea")
    assert (home / ".local/share/bethink/memory.db").is_file()
    assert "(the default)" in run("status").out
    assert "settings: no file; all defaults" in run("doctor").out

    monkeypatch.setenv("XDG_DATA_HOME", str(home / "elsewhere"))

    ok("add", "coffee")
    assert ok("recall", "tea")["items"] == []
    assert (home / "elsewhere/bethink/memory.db").is_file()


def test_init_writes_a_settings_file_that_is_used(home: Path) -> None:
    done = ok("admin", "init")

    path = Path(done["file"])
    assert path == home / ".config/bethink/bethink.toml"
    assert path.stat().st_mode & 0o777 == 0o600
    assert done["next"]
    status = ok("status")
    assert status["settings_file"] == str(path)
    assert status["named_by"] == f"file {path}"
    assert run("admin", "init").code == 1
    assert run("admin", "init", "--force").code == 0


@pytest.mark.parametrize("name", ["own.db", 'a "quoted" \\ naïve.db'])
def test_init_accepts_a_database_and_a_config_path(home: Path, name: str) -> None:
    config = home / "deep" / "my.toml"

    done = run("admin", "init", "--config", str(config), "--database", str(home / name))

    assert done.code == 0
    assert f"--config {config}" in done.out
    assert load_settings(config, environ={}).sqlite.path == str(home / name)
    ok("add", "tea", "--config", str(config))
    assert (home / name).is_file()


def test_init_takes_a_server(home: Path) -> None:
    config = home / "my.toml"

    ok("admin", "init", "--config", str(config), "--database", "postgresql://mira:secret@db/memory")

    settings = load_settings(config, environ={})
    assert settings.module == "memory.postgres"
    assert settings.postgres.dsn == "postgresql://mira:secret@db/memory"


def test_the_settings_are_shown_with_their_origins_and_without_secrets(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = home / "my.toml"
    config.write_text('model = "openai:x"\nmodel_api_key = "sk-verysecret"\n', encoding="utf-8")
    monkeypatch.setenv("BETHINK_EMBEDDER_BASE_URL", "http://mira:hunter2@127.0.0.1/v1")
    monkeypatch.setenv("BETHINK_MODEL_BASE_URL", "http://bob:p@hunter2@db/v1?v=2&api_key=hunter2")

    done = run("admin", "config", "show", "--sources", "--config", str(config))
    shown = ok("admin", "config", "show", "--sources", "--config", str(config))["settings"]

    assert shown["model"] == {"value": "openai:x", "origin": f"file {config}"}
    assert shown["model_api_key"]["value"] == "***"
    assert shown["embedder_base_url"] == {"value": "http://mira:***@127.0.0.1/v1", "origin": "environment"}
    assert shown["model_base_url"]["value"] == "http://bob:***@db/v1?v=2&api_key=***"
    assert "verysecret" not in done.out
    assert "hunter2" not in done.out
    assert ok("admin", "config", "show")["settings"]["redaction_key"] == ""
    config.write_text('postgres_dsn = ["postgresql://u:hunter2@h/x"]\n', encoding="utf-8")
    assert "hunter2" not in run("status", "--config", str(config)).err


def test_unknown_variable_is_a_configuration_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BETHINK_SPACE", "alice")

    done = run("status")

    assert done.code == 4
    assert "Unknown setting: BETHINK_SPACE" in done.err


@pytest.mark.parametrize("words", [["status"], ["add", "x"]])
def test_disabled_memory_or_missing_address_is_reported(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BETHINK_MODULE", "memory.postgres")
    assert "no address" in run(*words).err
    monkeypatch.setenv("BETHINK_ENABLED", "false")
    done = run(*words)
    assert done.code == 4
    assert "off" in done.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_the_completion_script_of_each_shell_is_printed(shell: str) -> None:
    assert "_BETHINK_COMPLETE" in run("admin", "completion", shell).out


def test_shell_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/fish")

    assert ok("admin", "completion")["shell"] == "fish"


def test_a_shell_gets_its_completions(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bethink"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=environment(home, _BETHINK_COMPLETE="complete_bash", COMP_WORDS="bethink re", COMP_CWORD="1"),
    )

    assert done.stdout.split() == ["recall", "review"]


def named(checks: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in checks}


def test_doctor_finds_a_healthy_memory_healthy(target: str) -> None:
    ok("add", "tea", "--database", target)

    done = run("doctor", "--database", target)
    checks = named(ok("doctor", "--database", target)["checks"])

    assert done.code == 0
    assert "✗" not in done.out
    assert {"clock", "settings", "database", "jobs", "abandoned jobs", "audit", "spending", "model", "embedder"} <= set(
        checks
    )
    assert checks["database"]["detail"].endswith("1 space")
    assert checks["spending"]["detail"] == "$0.00 today; cap $5.00 a day, no model set"


def test_doctor_names_failures_and_fixes(home: Path) -> None:
    (home / "no.db").write_text("this is no database, but it is long enough to be read as one" * 20, encoding="utf-8")

    done = run("doctor", "--database", str(home / "no.db"))

    assert done.code == 1
    assert "✗ database: " in done.out
    assert "  fix: " in done.out
    assert "1 of 6 checks failed" in done.err


def test_doctor_reports_an_unwritable_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = os.access

    def access(path: Any, mode: int) -> bool:
        return mode != os.W_OK and allowed(path, mode)

    monkeypatch.setattr(os, "access", access)

    checks = named(run("doctor", "--json").envelope["data"]["checks"])

    assert checks["folder"]["ok"] is False
    assert "write" in checks["folder"]["fix"]


def test_doctor_reports_overdue_and_abandoned_jobs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bethink.jobs.worker import Worker  # noqa: PLC0415
    from bethink.model.jobs import Audit  # noqa: PLC0415

    async def audit(self: Worker, **_: Any) -> Audit:
        from bethink.model.jobs import JobKind, JobStatus, Usage  # noqa: PLC0415

        return Audit(
            counts={JobKind.EXTRACT: {JobStatus.ABANDONED: 2}},
            overdue=3,
            expired_leases=0,
            facts_without_source=1,
            violations=1,
            broken_sessions=0,
            spaces_checked=1,
            spent_today=Usage(cost=6_000_000),
            daily_budget=5_000_000,
        )

    ok("add", "tea")
    monkeypatch.setattr(Worker, "audit", audit)

    done = run("doctor", "--json")
    checks = named(done.envelope["data"]["checks"])

    assert done.code == 1
    assert "worker" in checks["jobs"]["fix"]
    assert [name for name, check in checks.items() if not check["ok"]] == [
        "jobs",
        "abandoned jobs",
        "audit",
        "spending",
    ]


@pytest.mark.usefixtures("with_local_extra")
def test_doctor_reports_vectors_of_another_embedder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ok("add", "Ana likes tea")
    monkeypatch.setenv("BETHINK_EMBEDDER", f"static:{static(home / 'tiny')}")
    ok("data", "reindex", "--yes")
    chosen = named(ok("doctor")["checks"])["vectors"]
    monkeypatch.delenv("BETHINK_EMBEDDER")

    done = run("doctor", "--json")
    checks = named(done.envelope["data"]["checks"])

    assert (chosen["ok"], chosen["detail"].split("-")[0]) == (True, "static:tiny")
    assert done.code == 1
    assert checks["vectors"]["detail"].startswith("built with static:tiny-")
    assert "bethink data reindex" in checks["vectors"]["fix"]
    ok("data", "reindex", "--yes")
    assert named(ok("doctor")["checks"])["vectors"]["detail"].startswith("local:wordllama-")


def test_doctor_contacts_a_model_only_with_online(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Away:
        name = "scripted:away"
        window = 1

        async def answer(self, call: object) -> None:
            raise ModelUnavailableError("nobody answers.")

        async def embed(self, texts: object, *, kind: str) -> None:
            raise ModelUnavailableError("nobody embeds.")

    def made(settings: object) -> Away:
        return Away()

    monkeypatch.setattr("bethink.memory.plugins.model_from", made)
    monkeypatch.setattr("bethink.memory.plugins.embedder_from", made)

    ok("admin", "init")
    asleep, asked = run("doctor"), run("doctor", "--online")

    assert asleep.code == 0
    assert "not contacted without --online" in asleep.out
    assert asked.code == 1
    assert "✗ model: nobody answers." in asked.out
    assert "✗ embedder: nobody embeds." in asked.out


@pytest.mark.parametrize(
    ("setting", "value", "check"),
    [
        ("MODEL", "openai:x", "model"),
        ("MODEL", "nonsense", "model"),
        ("EMBEDDER", "onnx:/nowhere", "embedder"),
        ("RERANKER", "tokens", "reranker"),
    ],
)
def test_doctor_does_not_blame_the_database_for_a_model(
    setting: str, value: str, check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ok("add", "tea")
    monkeypatch.setenv(f"BETHINK_{setting}", value)
    monkeypatch.setitem(sys.modules, "bethink.providers.openai_model", None)

    checks = named(run("doctor", "--json").envelope["data"]["checks"])

    assert [name for name, each in checks.items() if not each["ok"]] == [check]
    assert "spending" in checks
    assert ("no model set" in checks["spending"]["detail"]) == (setting != "MODEL")


def test_a_model_without_its_key_stops_only_what_asks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BETHINK_MODEL", "openai:gpt-6-luna")
    monkeypatch.setenv("BETHINK_EMBEDDER", "openai:small")

    ok("add", "I drink green tea.")
    assert "green tea" in run("recall", "tea").out
    ok("status")
    items("admin", "keys", "list")
    ok("forget", "--all", "--yes")
    asked = run("worker", "--once")

    assert asked.code == 4
    assert "hint: Set OPENAI_API_KEY" in asked.err


def test_dead_clock_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bethink.cli.doctor._FIRST_YEAR", 2099)

    assert "✗ clock" in run("doctor").out


def test_the_page_about_the_commands_is_what_the_generator_writes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["make_cli_docs", "--check"])
    assert make_cli_docs.main() == 0, capsys.readouterr().out

    stale = tmp_path / "cli.md"
    monkeypatch.setattr(make_cli_docs, "_TARGET", stale)
    assert make_cli_docs.main() == 1
    monkeypatch.setattr(sys, "argv", ["make_cli_docs"])
    assert make_cli_docs.main() == 0
    assert "## bethink recall" in stale.read_text(encoding="utf-8")


def test_a_database_of_another_program_can_be_named_by_the_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BETHINK_DATA_DIR", str(home / "data"))
    ok("add", "tea")

    with bethink.sync.connect(home / "data" / "memory.db", learn=False) as memory:
        assert memory.space("default").recall("tea").items
    assert json.loads(run("status", "--json").out)["data"]["named_by"] == "environment"
