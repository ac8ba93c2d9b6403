"""The documentation is correct: its snippets run and its settings exist. See also test_site and test_commands."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bethink import Settings
from bethink.config.settings import flat_values, load_settings
from tests.docs.snippet_model import snippet_model
from tests.length import often

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SNIPPETS = sorted((ROOT / "docs_src").glob("*.py"))


@dataclass(frozen=True)
class Runs:
    """What snippets print in an empty folder, the first time, and in the long run again. All tests share one run."""

    folder: Path
    environment: dict[str, str]
    printed: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def of(self, snippet: str) -> list[str]:
        if snippet not in self.printed:
            empty = self.folder / snippet
            empty.mkdir()
            self.printed[snippet] = [self._run(snippet, empty) for _ in range(often(1, long=2))]
        return self.printed[snippet]

    def _run(self, snippet: str, folder: Path) -> str:
        done = subprocess.run(
            [sys.executable, str(ROOT / "docs_src" / snippet)], cwd=folder, env=os.environ | self.environment,
            capture_output=True, text=True, check=False, timeout=300, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Generator[Runs]:
    with snippet_model() as environment:
        yield Runs(tmp_path_factory.mktemp("snippets"), environment)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda path: path.name)
def test_every_snippet_runs_in_an_empty_folder_and_again(snippet: Path, runs: Runs) -> None:
    assert all(runs.of(snippet.name))


def test_the_blocking_snippet_stores_a_retry_once(runs: Runs) -> None:
    assert runs.of("blocking.py")[0].split("\n")[:2] == ["[1]", "[1]"]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_snippet_on_a_page_equals_its_file(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"<!-- (docs_src/\S+) -->\n```python\n(.*?)```", text, flags=re.DOTALL)

    assert len(blocks) == text.count("```python")
    for name, block in blocks:
        source = (ROOT / name).read_text(encoding="utf-8")
        assert source.partition('"""\n\n')[2] == block, name


def test_settings_pages_are_what_the_source_says() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.make_settings_docs", "--check"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr


def test_settings_page_shows_defaults() -> None:
    pages = ("settings.md", "settings-advanced.md")
    text = "".join((ROOT / "docs" / "reference" / name).read_text(encoding="utf-8") for name in pages)
    for name, default in flat_values(Settings()).items():
        row = next((line for line in text.splitlines() if line.startswith(f"| `{name}` |")), "")
        assert row or name in ("module", "sqlite_path", "postgres_dsn"), name
        assert not row or not default or f"`{str(default).replace('True', 'true')}`" in row, name


def test_the_example_of_a_settings_file_is_one(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    example = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)[0]
    tomllib.loads(example)
    path = tmp_path / "bethink.toml"
    path.write_text(example)

    settings = load_settings(path, environ={})

    assert settings.learning.daily_budget == 2.0
    assert settings.database_path == "/srv/bethink/memory.db"
    assert settings.agent("scratch").enabled is False


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_programs_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"python (tools/\w+\.py)", text))
    named |= {
        f"{name.replace('.', '/')}.py"
        for name in re.findall(r"python -m ((?:tools|faults|benchmarks|examples)\.\w+)", text)
    }

    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_cost_of_a_session_is_what_the_page_says(runs: Runs) -> None:
    page = (ROOT / "docs" / "howto" / "learning.md").read_text(encoding="utf-8")
    told, found = (
        {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", text)}
        for text in (page.partition("\nUsage(")[2].partition(")")[0], runs.of("learning.py")[0].splitlines()[-1])
    )

    # The prompt names the day of the week, and a long name is a token more than a short one.
    assert told == found | {name: pytest.approx(found[name], abs=5) for name in ("input_tokens", "cost")}


@pytest.mark.parametrize(
    ("page", "snippet"),
    [
        ("howto/archive.md", "archive.py"),
        ("howto/backup.md", "backup.py"),
        ("howto/changes.md", "changes.py"),
        ("reference/extend.md", "pinned_signal.py"),
        ("reference/extend.md", "read_only.py"),
        ("reference/python-api.md", "python_api.py"),
        ("../README.md", "first_steps.py"),
        ("howto/access.md", "access.py"),
        ("howto/ask.md", "ask.py"),
        ("howto/capture.md", "blocking.py"),
        ("howto/context.md", "context.py"),
        ("howto/documents.md", "documents.py"),
        ("howto/files.md", "files.py"),
        ("howto/forget.md", "forget.py"),
        ("howto/learning.md", "learning.py"),
        ("howto/memory-tests.md", "memory_tests.py"),
        ("howto/people.md", "people.py"),
        ("howto/recall.md", "recall.py"),
        ("howto/recall.md", "as_of.py"),
        ("howto/recall.md", "narrow.py"),
        ("howto/review.md", "opinions.py"),
        ("howto/review.md", "review.py"),
        ("howto/review.md", "steer.py"),
        ("howto/vectors.md", "vectors.py"),
        ("howto/working.md", "working.py"),
        ("howto/retention.md", "retention.py"),
        ("tutorial/audit.md", "audit.py"),
    ],
)
def test_documented_snippet_output_matches_its_real_output(page: str, snippet: str, runs: Runs) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    shown = re.search(rf"<!-- docs_src/{snippet} -->.*?```\n.*?^```\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)

    assert shown is not None
    printed = _without_labels(runs.of(snippet)[0]).splitlines()
    expected = [line for line in _without_labels(shown[1]).splitlines() if line != "…" and not _VARIES.search(line)]
    assert expected
    assert [line for line in expected if line not in printed] == []


_VARIES = re.compile(r"run_|^Usage\(")
"""Lines with a random id, or with tokens, which have a test of their own."""


def _without_labels(text: str) -> str:
    return re.sub(r"\[\^\w+\]", "[^label]", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_extras_that_a_page_installs_exist(page: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"(?:\.|\bbethink)\[([a-z, -]+)\]", page.read_text(encoding="utf-8"))

    assert {each.strip() for names in named for each in names.split(",")} <= set(project["optional-dependencies"])
