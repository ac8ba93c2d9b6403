"""The documentation cannot lie: its snippets run, its settings exist. See also test_site and test_commands."""

import json
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bethink import Settings, load_settings
from bethink.config.settings import flat_values
from tests.length import often

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SNIPPETS = sorted((ROOT / "docs_src").glob("*.py"))


@dataclass(frozen=True)
class Runs:
    """What snippets print in an empty folder, the first time, and in the long run again. All tests share one run."""

    folder: Path
    printed: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def of(self, snippet: str) -> list[str]:
        if snippet not in self.printed:
            empty = self.folder / snippet
            empty.mkdir()
            self.printed[snippet] = [self._run(snippet, empty) for _ in range(often(1, long=2))]
        return self.printed[snippet]

    @staticmethod
    def _run(snippet: str, folder: Path) -> str:
        done = subprocess.run(
            [sys.executable, str(ROOT / "docs_src" / snippet)], cwd=folder, capture_output=True, text=True, check=False,
            timeout=300, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("snippets"))


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda path: path.name)
def test_every_snippet_runs_in_an_empty_folder_and_again(snippet: Path, runs: Runs) -> None:
    assert all(runs.of(snippet.name))


def test_the_blocking_snippet_stores_a_retry_once(runs: Runs) -> None:
    assert runs.of("blocking.py")[0].split("\n")[:2] == ["[1]", "[1]"]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_snippet_on_a_page_is_the_file_it_names(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"<!-- (docs_src/\S+) -->\n```python\n(.*?)```", text, flags=re.DOTALL)

    assert len(blocks) == text.count("```python")
    for name, block in blocks:
        source = (ROOT / name).read_text(encoding="utf-8")
        assert source.partition('"""\n\n')[2] == block, name


def test_every_setting_is_documented_with_its_default_and_its_place() -> None:
    text = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    for name, default in flat_values(Settings()).items():
        row = next((line for line in text.splitlines() if line.startswith(f"| `{name}` |")), "")
        assert f"`BETHINK_{name.upper()}`" in row, name
        assert not default or f"`{str(default).replace('True', 'true')}`" in row, name


def test_every_setting_is_documented_in_the_table_of_its_group(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    path = tmp_path / "bethink.toml"
    defaults, found = flat_values(Settings()), set[str]()
    for group, rows in re.findall(r"^## \w+: `\[(\w+)\]`\n(.*?)(?=^## |\Z)", text, flags=re.DOTALL | re.MULTILINE):
        for name, inner in re.findall(r"^\| `(\w+)` \| `(\w+)` \|", rows, flags=re.MULTILINE):
            path.write_text(f"[{group}]\n{inner} = {json.dumps(defaults[name])}\n", encoding="utf-8")
            assert load_settings(path, environ={}).origins[name] == f"file {path}", name
            found.add(name)

    alone = {"enabled", "data_dir", "models_dir", "models_url", "key", "module", "max_history_len", "tombstones_file"}
    alone |= {"start_timeout"}
    assert found | alone == set(defaults)


def test_the_example_of_a_settings_file_is_one(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    example = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)[0]
    tomllib.loads(example)
    path = tmp_path / "bethink.toml"
    path.write_text(example)

    settings = load_settings(path, environ={})

    assert settings.sqlite.busy_timeout == 10000
    assert settings.agent("scratch").enabled is False
    assert settings.agent("support").data_dir == "/var/lib/support"


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
    page = (ROOT / "docs" / "howto" / "cost.md").read_text(encoding="utf-8")
    told, found = (
        {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", text)}
        for text in (page.partition("`Usage(")[2].partition(")")[0], runs.of("learning.py")[0].splitlines()[-1])
    )

    # The prompt names the day of the week, and a long name is a token more than a short one.
    assert told == found | {name: pytest.approx(found[name], abs=5) for name in ("input_tokens", "cost")}


@pytest.mark.parametrize(
    ("page", "snippet"),
    [
        ("howto/ask.md", "ask.py"),
        ("howto/forget.md", "forget.py"),
        ("howto/memory-tests.md", "memory_tests.py"),
        ("howto/recall.md", "recall.py"),
        ("howto/recall.md", "as_of.py"),
        ("tutorial/audit.md", "audit.py"),
    ],
)
def test_what_a_page_says_a_snippet_prints_is_what_it_prints(page: str, snippet: str, runs: Runs) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    shown = re.search(rf"<!-- docs_src/{snippet} -->.*?```\n.*?^```\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)

    assert shown is not None
    said = [line for line in shown[1].splitlines() if line != "…" and "run_" not in line]
    assert said
    assert [line for line in said if line not in runs.of(snippet)[0].splitlines()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_extras_that_a_page_installs_exist(page: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"(?:\.|\bbethink)\[([a-z, -]+)\]", page.read_text(encoding="utf-8"))

    assert {each.strip() for names in named for each in names.split(",")} <= set(project["optional-dependencies"])
