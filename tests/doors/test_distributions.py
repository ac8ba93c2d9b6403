"""Command groups of other distributions: found by their entry point, and named if they are missing."""

import importlib
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from importlib.metadata import EntryPoints
from pathlib import Path

import pytest

import bethink
from bethink.base.installed import DISTRIBUTIONS
from bethink.cli.catalog import listed_commands
from bethink.errors import ConfigurationError
from tests.doors.cli_kit import run

ROOT = Path(__file__).parents[2]
WEIGHTS = "bethink-model-multilingual"
"""Data without code, with versions of its own."""
PACKAGES = sorted(path.parent for path in (ROOT / "packages").glob("*/pyproject.toml") if path.parent.name != WEIGHTS)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment in which only bethink is installed."""

    def nothing(**selection: str) -> EntryPoints:
        del selection
        return EntryPoints()

    monkeypatch.setattr("importlib.metadata.entry_points", nothing)


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, entry_points: str) -> None:
    """Let a folder look like one with an installed distribution."""
    info = folder / "acme_bethink-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-bethink\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    importlib.invalidate_caches()


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_missing_distribution_is_named_with_its_install_command(name: str) -> None:
    refused = run("admin", name, "list", "--no-such-option")

    assert refused.code == 4
    assert f"pip install ./packages/bethink-{name}" in refused.err


@pytest.mark.usefixtures("alone")
def test_missing_distribution_fails_as_json() -> None:
    assert run("admin", next(iter(DISTRIBUTIONS)), "list", "--json").out.startswith('{"ok": false')


@pytest.mark.usefixtures("alone")
def test_missing_backend_is_named_with_its_install_command() -> None:
    with pytest.raises(ConfigurationError, match=r"pip install \./packages/bethink-shards"):
        bethink.connect("shards://directory.internal/directory")
    with pytest.raises(ConfigurationError, match=r"Unknown address scheme: mysql://"):
        bethink.connect("mysql://directory.internal/directory")


def test_installed_distribution_adds_a_backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "[bethink.backends]\nacme = acme_backend:make\n")
    (tmp_path / "acme_backend.py").write_text(
        "from bethink.host.off import Off\n"
        "def make(parts):\n    made = Off()\n    made.parts = parts\n    return made\n",
        encoding="utf-8",
    )

    parts = getattr(bethink.connect("acme://host/name", max_history_len=7).backend, "parts")  # noqa: B009

    assert (parts.settings.postgres.dsn, parts.settings.max_history_len) == ("postgresql://host/name", 7)


def test_installed_distribution_adds_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "[bethink.commands]\nacme = acme_commands:app\n")
    (tmp_path / "acme_commands.py").write_text(
        "import typer\napp = typer.Typer()\n@app.command()\ndef one(): print('hello')\n@app.command()\ndef two(): 0\n",
        encoding="utf-8",
    )

    assert run("acme", "one").out == "hello\n"


def test_unknown_command_is_rejected() -> None:
    assert run("no-such-command").code == 2


def test_help_looks_up_no_entry_point() -> None:
    code = (
        "import sys; from bethink.cli.app import main; main(['admin', '--help']);"
        "sys.exit('importlib.metadata' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert "importlib.metadata" not in done.stdout.split()
    assert all(f"  {name} " in done.stdout for name in (*listed_commands("admin"), *DISTRIBUTIONS))


@pytest.mark.parametrize("folder", PACKAGES, ids=lambda path: path.name)
def test_distribution_has_the_version_of_bethink(folder: Path) -> None:
    own, ours = (_project(path) for path in (folder, ROOT))

    assert own["version"] == ours["version"]
    assert f"bethink=={ours['version']}" in "".join(own["dependencies"]).replace("[postgres]", "")


def test_every_distribution_is_declared() -> None:
    assert {folder.name for folder in PACKAGES} == {package for package, _ in DISTRIBUTIONS.values()}


def _project(folder: Path) -> Mapping[str, str]:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
