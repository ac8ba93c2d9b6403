"""Connecting and disconnecting coding agents."""

import json
import tomllib
from pathlib import Path

import pytest

from bethink.agents import plugin
from bethink.agents.clients import clients
from bethink.agents.folder import AgentFolder
from bethink.agents.health import findings
from bethink.agents.payloads import EVENTS
from bethink.cli.serve import _spaces_of
from bethink.errors import ConfigurationError
from tests.doors.cli_kit import run

SETTINGS = b'{\n\t"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}'
CONFIG = b'# mine\nmodel = "x"   # kept\n\n[mcp_servers.other]\ncommand = "y"'
NAMES = ("claude-code", "codex", "cursor", "vscode")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    (home / ".claude").mkdir(parents=True)
    (home / ".codex").mkdir()
    (home / ".claude" / "settings.json").write_bytes(SETTINGS)
    (home / ".codex" / "config.toml").write_bytes(CONFIG)
    (home / ".codex" / "config.toml").chmod(0o640)
    monkeypatch.setenv("HOME", str(home))
    return home


def everything(home: Path) -> dict[str, tuple[bytes | None, int]]:
    return {
        str(path.relative_to(home)): (path.read_bytes() if path.is_file() else None, path.stat().st_mode)
        for path in sorted(home.rglob("*"))
    }


def connect(*words: str) -> None:
    done = run("connect", *words, "--yes", "--quiet")
    assert done.code == 0, done.err


def test_undo_restores_the_home_exactly(home: Path) -> None:
    before = everything(home)
    connect(*NAMES)
    assert everything(home) != before
    connect(*NAMES, "--undo")
    assert everything(home) == before


def test_connecting_again_changes_nothing_and_can_still_be_undone(home: Path) -> None:
    before = everything(home)
    connect(*NAMES)
    first = everything(home)
    connect(*NAMES)
    again = everything(home)
    assert {name: each for name, each in again.items() if "bethink" not in name} == {
        name: each for name, each in first.items() if "bethink" not in name
    }
    connect("claude-code", "--no-http")
    connect(*NAMES, "--undo")
    assert everything(home) == before


def test_a_dry_run_shows_the_diff_without_the_token_and_writes_nothing(home: Path) -> None:
    before = everything(home)
    done = run("connect", *NAMES, "--dry-run")
    assert done.code == 0
    assert everything(home) == before
    assert "Bearer ***" in done.err
    assert str(home / ".codex" / "hooks.json") in done.err


def test_connect_keeps_existing_agent_settings(home: Path) -> None:
    connect("claude-code", "codex")
    settings = json.loads((home / ".claude" / "settings.json").read_text())
    assert settings["model"] == "opus"
    assert settings["hooks"]["Stop"][0] == {"hooks": [{"type": "command", "command": "say done"}]}
    assert len(settings["hooks"]["Stop"]) == 2
    assert settings["hooks"]["SessionStart"][0]["hooks"][0]["type"] == "command"
    assert settings["hooks"]["SessionEnd"][0]["hooks"][0]["type"] == "command"
    assert settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["type"] == "http"
    config = (home / ".codex" / "config.toml").read_bytes()
    assert config.startswith(CONFIG)
    assert set(tomllib.loads(config.decode())["mcp_servers"]) == {"other", "bethink"}


def test_a_file_that_was_changed_since_loses_only_our_entries(home: Path) -> None:
    connect("claude-code", "codex")
    settings = home / ".claude" / "settings.json"
    tree = json.loads(settings.read_text())
    tree["theme"] = "dark"
    settings.write_text(json.dumps(tree))
    config = home / ".codex" / "config.toml"
    config.write_bytes(config.read_bytes() + b'[hooks.state."hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n')

    done = run("connect", "claude-code", "codex", "--undo", "--yes")
    assert done.code == 0
    assert "only Bethink's own entries" in done.err
    kept = json.loads(settings.read_text())
    assert kept == {
        "model": "opus",
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]},
        "theme": "dark",
    }
    assert b"bethink" not in config.read_bytes()
    assert b"trusted_hash" in config.read_bytes()


@pytest.mark.parametrize(
    "content", [b'{"hooks": [}', b"// a remark\n{}", b"[]", b'{"hooks": 3}', b'{"hooks": {"Stop": 3}}']
)
def test_a_file_that_is_not_understood_is_left_alone(home: Path, content: bytes) -> None:
    (home / ".claude" / "settings.json").write_bytes(content)
    before = everything(home)
    done = run("connect", "claude-code", "--yes")
    assert done.code == 4
    assert everything(home) == before


def test_a_link_stays_a_link(home: Path) -> None:
    kept = home / "dotfiles.json"
    kept.write_bytes(SETTINGS)
    settings = home / ".claude" / "settings.json"
    settings.unlink()
    settings.symlink_to(kept)
    connect("claude-code")
    assert settings.is_symlink()
    connect("claude-code", "--undo")
    assert settings.is_symlink()
    assert kept.read_bytes() == SETTINGS


def test_connect_without_a_name_lists_detected_agents(home: Path) -> None:
    connect("codex")
    states = {each["name"]: each["state"] for each in run("connect", "--json").data}
    assert states["claude-code"] == "found"
    assert states["codex"] == "connected"


def test_secrets_of_the_connection_are_for_their_owner_only(home: Path) -> None:
    connect("claude-code")
    folder = AgentFolder()
    assert folder.path.stat().st_mode & 0o777 == 0o700
    for name in ("token", "hook.json", "port"):
        assert (folder.path / name).stat().st_mode & 0o777 == 0o600


def found() -> dict[str, tuple[bool, str]]:
    return {each.name: (each.ok, each.detail) for each in findings()}


def test_doctor_reports_untrusted_codex_hooks(home: Path) -> None:
    connect("codex")
    assert found()["codex"] == (
        False,
        "installed, but not trusted: Codex skips hooks that you have not approved",
    )
    config = home / ".codex" / "config.toml"
    key = json.dumps(f"{home / '.codex' / 'hooks.json'}:session_start:0:0")
    config.write_bytes(config.read_bytes() + f'[hooks.state.{key}]\ntrusted_hash = "sha256:1"\n'.encode())
    assert found()["codex"][0]


def test_doctor_says_that_hooks_are_stale(home: Path) -> None:
    connect("claude-code")
    assert found()["claude-code"][0]
    script = AgentFolder().path / "hook.py"
    script.write_text(script.read_text() + "# older\n")
    assert not found()["claude-code"][0]
    connect("claude-code")
    assert found()["claude-code"][0]
    settings = home / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace("/agents/hook.py", "/elsewhere/bethink/hook.py"))
    assert not found()["claude-code"][0]


def test_doctor_omits_missing_programs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert set(found()) == {"claude-code", "codex"}
    assert all(client.files for client in clients().values())


def test_the_plugin_has_the_hooks_that_connecting_makes() -> None:
    folder = Path(plugin.__file__ or "").parent
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    assert tuple(hooks) == EVENTS
    for event, groups in hooks.items():
        assert f"claude-code {event} || true" in groups[0]["hooks"][0]["command"]
    market = json.loads((Path(__file__).parents[2] / ".claude-plugin" / "marketplace.json").read_text())
    assert (Path(__file__).parents[2] / market["plugins"][0]["source"]).resolve() == folder.resolve()


def test_mcp_serves_the_projects_space_and_asks_the_persons(home: Path) -> None:
    (home / "work" / ".git").mkdir(parents=True)
    (home / "work" / ".git" / "config").write_text('[remote "origin"]\n\turl = https://git.example/team/tool\n')
    assert _spaces_of(str(home / "work"), ["team"]) == ("project:git.example/team/tool", ("default", "team"))
    assert _spaces_of(str(home), []) == ("default", ())
    connect("codex", "--project-only")
    assert _spaces_of(str(home / "work"), []) == ("project:git.example/team/tool", ())
    with pytest.raises(ConfigurationError):
        _spaces_of(str(home), [])
