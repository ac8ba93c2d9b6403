"""The adapters with the real frameworks in separate environments: the vendors' tests and our examples.

The vendors' tests are not kept here: they come with the source distributions of the very versions that are installed.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1_800),
    pytest.mark.skipif(shutil.which("uv") is None, reason="uv makes the environment"),
]

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
EXAMPLES = sorted((ROOT / "docs_src" / "integrations").glob("*.py"))
INSIDE = sorted((HERE / "inside").glob("with_*.py"))
"""Our own tests of adapters that cannot be loaded without their framework."""

EXTRAS = (
    "openai-agents", "langgraph", "claude-agent-sdk", "anthropic", "pydantic-ai", "pydantic-ai-harness", "google-adk",
    "llama-index", "agent-framework",
)  # fmt: skip
"""The extras that adapters are written for."""

VERSIONS = {
    "openai-agents": "0.24.0",
    "langgraph": "1.2.20",
    "langgraph-checkpoint": "4.3.1",
    "claude-agent-sdk": "0.2.182",
    "anthropic": "2.8.0",
    "pydantic-ai-slim": "2.62.0",
    "pydantic-ai-harness": "0.62.0",
    "google-adk": "2.13.0",
    "llama-index-core": "0.14.25",
    "agent-framework-core": "1.23.0",
}
"""What the adapters are tested with. To move on, run `just lock` and change this table."""


class Neighbours:
    """An environment with the frameworks, and the sources of their tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "env" / "bin" / "python"

    def make(self) -> None:
        """Install what is pinned, and Bethink itself."""
        uv = ["uv", "--quiet"]
        _run([*uv, "venv", "--python", sys.executable, str(self.folder / "env")])
        install = [*uv, "pip", "install", "--python", str(self.python)]
        _run([*install, "--require-hashes", "-r", str(HERE / "requirements.txt")])
        _run([*install, "--no-deps", "-e", str(ROOT)])

    def source(self, name: str) -> Path:
        """Return the source distribution of the version that is installed, unpacked."""
        wanted = f"{name}=={VERSIONS[name]}"
        _run([str(self.python), "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name, wanted], self.folder)
        [packed] = self.folder.glob(f"{name.replace('-', '_')}-*.tar.gz")
        with tarfile.open(packed) as archive:
            archive.extractall(self.folder, filter="data")
        return self.folder / packed.name.removesuffix(".tar.gz")

    def pytest(self, swap: str, target: str, folder: Path, *files: str) -> dict[str, int]:
        """Run tests with a plugin, say one that puts our class in place of a vendor's. Returns how many ended how."""
        given = {**_plain(), "PYTHONPATH": f"{HERE / 'swaps'}:.", "SWAP_TARGET": target, "OPENAI_API_KEY": "none"}
        command = [str(self.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", swap, "-p", "counting"]
        done = subprocess.run([*command, *files], cwd=folder, env=given, capture_output=True, text=True, check=False)
        counts = [line for line in done.stdout.splitlines() if line.startswith("counted: ")]
        assert counts, done.stdout[-3_000:] + done.stderr[-3_000:]
        found: dict[str, int] = json.loads(counts[-1].removeprefix("counted: "))
        assert done.returncode == 0, done.stdout[-6_000:]
        return found


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neighbours]:
    """Make it once; BETHINK_TEST_NEIGHBOURS names a folder to keep it in."""
    kept = os.environ.get("BETHINK_TEST_NEIGHBOURS")
    made = Neighbours(Path(kept) if kept else tmp_path_factory.mktemp("neighbours"))
    if not made.python.exists():
        made.make()
    yield made
    if not kept:
        shutil.rmtree(made.folder, ignore_errors=True)


def _plain() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("BETHINK_", "VIRTUAL_ENV"))}


def _run(command: list[str], folder: Path | None = None) -> str:
    done = subprocess.run(command, cwd=folder, env=_plain(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3_000:]
    return done.stdout


def test_the_versions_are_those_that_the_table_names(neighbours: Neighbours) -> None:
    names = json.dumps(list(VERSIONS))
    script = f"import json, importlib.metadata as m; print(json.dumps({{n: m.version(n) for n in {names}}}))"

    assert json.loads(_run([str(neighbours.python), "-c", script])) == VERSIONS


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_resolves_in_an_empty_environment(extra: str) -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]

    _run(["uv", "--quiet", "pip", "compile", "--extra", extra, str(ROOT / "pyproject.toml")])

    assert extra in declared


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_twice(example: Path, neighbours: Neighbours, tmp_path: Path) -> None:
    for _ in range(2):
        assert _run([str(neighbours.python), str(example)], tmp_path)


def test_the_session_tests_of_the_openai_agents_sdk_pass(neighbours: Neighbours, target: str) -> None:
    files = (
        "session", "session_limit", "session_context_wrapper", "openai_responses_compaction_session",
        "compaction_model_visibility",
    )  # fmt: skip
    found = neighbours.pytest(
        "swap_openai_agents", target, neighbours.source("openai-agents"),
        *(f"tests/memory/test_{each}.py" for each in files),
    )  # fmt: skip

    assert found["passed"] >= 230
    assert found["deselected"] <= 25, "only what is about the insides of SQLite"


def test_the_store_tests_of_langgraph_pass(neighbours: Neighbours, target: str) -> None:
    source = neighbours.source("langgraph-checkpoint")

    found = neighbours.pytest("swap_langgraph", target, source, "-o", "asyncio_mode=auto", "tests/test_store.py")

    assert found["passed"] >= 100
    assert found["deselected"] + found["skipped"] == 0


def test_the_contracts_of_the_claude_agent_sdk_hold(neighbours: Neighbours, target: str) -> None:
    given = {**_plain(), "SWAP_TARGET": target}
    script = str(HERE / "swaps" / "claude_contracts.py")

    done = subprocess.run([str(neighbours.python), script], env=given, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr[-3_000:]
    assert done.stdout.splitlines()[-1] == "all contracts hold"


@pytest.mark.parametrize("tests", INSIDE, ids=lambda path: path.stem)
def test_adapter_passes_its_tests_with_its_framework(tests: Path, neighbours: Neighbours, target: str) -> None:
    alone = ("-c", os.devnull, "--confcutdir", str(tests.parent), "-o", "anyio_mode=auto")

    found = neighbours.pytest("anyio", target, tests.parent, *alone, tests.name)

    assert found["passed"] >= 5
    assert found["deselected"] + found["skipped"] == 0


@pytest.mark.parametrize(
    ("folder", "relaxed"),
    [
        ("src/", ()),
        # LangGraph and LlamaIndex leave some of their own types open, and LlamaIndex marks its recommended call
        ("docs_src/", ("reportMissingTypeStubs", "reportUnknownMemberType", "reportDeprecated")),
    ],
)
def test_code_keeps_to_the_types_of_the_frameworks(
    folder: str, relaxed: tuple[str, ...], neighbours: Neighbours, tmp_path: Path
) -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pyright"]
    patterns = [pattern for pattern in declared["exclude"] if pattern.startswith(folder)]
    files = [os.path.relpath(path, tmp_path) for pattern in patterns for path in ROOT.glob(pattern)]
    rules = {name: value for name, value in declared.items() if name not in ("venv", "venvPath", "exclude")}
    config = tmp_path / "pyrightconfig.json"
    config.write_text(json.dumps({**rules, **dict.fromkeys(relaxed, False), "include": files}), encoding="utf-8")

    pyright = str(Path(sys.executable).parent / "pyright")
    done = subprocess.run(
        [pyright, "-p", str(config), "--pythonpath", str(neighbours.python), "--outputjson"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout[-3_000:]
    assert json.loads(done.stdout)["summary"]["filesAnalyzed"] == len(files) > 0
