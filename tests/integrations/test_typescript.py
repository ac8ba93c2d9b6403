"""The TypeScript client: generated from the operations table, small, and tested by node with a live server.

What needs packages from npm is slow: `npm ci` in `clients/typescript` takes a minute. Once they are there, the size is
measured each time.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from bethink.model.operations import OPERATIONS
from tests.service_kit import service
from tools.make_api import ALSO
from tools.make_typescript import HANDLES, build_files
from tools.node import environment, missing
from tools.typescript_types import camel

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "typescript"
SNIPPETS = ROOT / "docs_src" / "typescript"
MOST = 34_300
"""Bytes of JavaScript in the whole package: 10 % above its size. It is not minified, so stack traces are readable."""

VERSIONS = {"ai": "7.0.169", "@mastra/core": "1.71.0", "typescript": "7.0.2", "typescript-5": "5.9.3"}
"""What it is tested with."""


OURS, MACHINES = environment()["PATH"], os.environ.get("PATH", "")
PATHS = {"ours": OURS} if missing(MACHINES) else {"ours": OURS, "the machine's": MACHINES}
"""Where there is a node: that of the development environment, and what the machine has."""

MISSING = missing(OURS)
needs_node = pytest.mark.skipif(bool(MISSING), reason=MISSING)
slow = [pytest.mark.slow, pytest.mark.timeout(1_800), needs_node]


def _run(program: str, *words: str, folder: Path = CLIENT, path: str = OURS, **more: str) -> str:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("BETHINK_")}
    given = {**plain, "PYTHON": sys.executable, "MASTRA_TELEMETRY_DISABLED": "1", "PATH": path, **more}
    command = [shutil.which(program, path=path) or program, *words]
    done = subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr[-3_000:]
    return done.stdout


def _rows() -> dict[str, list[list[str]]]:
    """Read the table of the client: the lines of each handle."""
    text = (CLIENT / "src" / "table.ts").read_text(encoding="utf-8")
    found: dict[str, list[list[str]]] = {}
    rows: list[list[str]] = []
    for line in text.partition("`\\\n")[2].partition("`;")[0].splitlines():
        words = line.split()
        if words[0] == "=":
            rows = found.setdefault(words[1], [])
        else:
            rows.append(words)
    return found


def test_generated_typescript_is_up_to_date() -> None:
    stale = [path.name for path, text in build_files().items() if path.read_text(encoding="utf-8") != text]

    assert stale == [], "run python -m tools.make_typescript"


def test_every_operation_is_a_method_with_a_type() -> None:
    types = (CLIENT / "src" / "types.ts").read_text(encoding="utf-8")
    there = {f"{handle}.{row[0]}" for handle, rows in _rows().items() for row in rows}
    shared = {f"{handle}.{name.partition('.')[2]}" for handle in HANDLES for name in ALSO.get(handle, ())}
    wanted = {f"{operation.handle}.{camel(operation.method_name)}" for operation in OPERATIONS} | {
        f"{handle}.{camel(name)}" for handle, _, name in (each.partition(".") for each in shared)
    }

    assert there == wanted
    assert [name for name in sorted(wanted) if f"    {name.rpartition('.')[2]}(" not in types] == []


def test_source_files_import_each_other_without_a_cycle() -> None:
    """`import type` counts: tools that bundle or document the client follow such imports, too."""
    imports = {
        path.stem: set(re.findall(r'from "\./(.+?)\.js"', path.read_text(encoding="utf-8")))
        for path in (CLIENT / "src").glob("*.ts")
    }

    assert imports["index"] >= {"calls", "errors", "types"}
    TopologicalSorter(imports).prepare()  # raises CycleError


def test_a_retried_operation_is_retried_as_in_python() -> None:
    usual = {"GET": "safe", "POST": "once", "PUT": "idempotent", "DELETE": "idempotent"}
    said = {
        f"{handle}.{row[0]}": next(
            (word for word in row[4:] if word.partition("!")[0] in usual.values()), usual[row[1]]
        )
        for handle, rows in _rows().items()
        for row in rows
    }

    for operation in OPERATIONS:
        assert said[f"{operation.handle}.{camel(operation.method_name)}"].partition("!")[0] == operation.retry, (
            operation.name
        )


def test_the_package_has_no_dependencies_and_installs_none() -> None:
    package = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))
    neighbours = json.loads((CLIENT / "neighbours" / "package.json").read_text(encoding="utf-8"))
    pinned = {**neighbours["dependencies"], **package["devDependencies"]}

    assert "dependencies" not in package
    assert all(package["peerDependenciesMeta"][name]["optional"] for name in package["peerDependencies"])
    assert {name: pinned[name].rpartition("@")[2] or pinned[name] for name in VERSIONS} == VERSIONS
    assert all(re.fullmatch(r"[\d.]+|npm:typescript@[\d.]+", version) for version in pinned.values())


def test_the_page_shows_its_snippets_and_names_the_versions() -> None:
    page = (ROOT / "docs" / "integrations" / "typescript.md").read_text(encoding="utf-8")
    blocks = re.findall(r"<!-- (docs_src/\S+) -->\n```[jt]s\n(.*?)```", page, flags=re.DOTALL)

    assert {name for name, _ in blocks} == {str(path.relative_to(ROOT)) for path in SNIPPETS.iterdir()}
    assert [name for name, block in blocks if (ROOT / name).read_text(encoding="utf-8") != block] == []
    assert f"ai {VERSIONS['ai']} and @mastra/core {VERSIONS['@mastra/core']}" in page


@needs_node
@pytest.mark.skipif(not (CLIENT / "node_modules").exists(), reason="no packages: run npm ci in clients/typescript")
def test_the_package_is_small(tmp_path: Path) -> None:
    _check_size(_packed(tmp_path))


def _packed(folder: Path) -> Path:
    _run("npm", "run", "build")
    _run("npm", "pack", "--ignore-scripts", "--pack-destination", str(folder))
    [packed] = folder.glob("bethink-*.tgz")
    return packed


def _check_size(packed: Path) -> None:
    with tarfile.open(packed) as archive:
        sizes = {each.name: each.size for each in archive.getmembers()}
    script = sum(size for name, size in sizes.items() if name.endswith(".js"))
    figures = f"{packed.stat().st_size} bytes packed, {script} of JavaScript, {sum(sizes.values())} unpacked"
    print(figures)  # noqa: T201 - shown by pytest -s, and where it is too much

    assert script <= MOST, figures
    assert {name.split("/")[1] for name in sizes} == {"dist", "package.json", "README.md", "LICENSE"}
    assert (CLIENT / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.fixture(scope="module")
def client() -> Path:
    """Install the packages that its tests need, where they are not there already."""
    if not (CLIENT / "node_modules").exists():
        _run("npm", "ci", "--no-audit", "--no-fund")
    return CLIENT


@pytest.fixture(scope="module")
def neighbours(client: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Install the frameworks, and the package as a stranger would: packed."""
    folder = tmp_path_factory.mktemp("neighbours")
    for path in [*(client / "neighbours").glob("*.*"), client / "tests" / "kit.mjs", *SNIPPETS.iterdir()]:
        shutil.copy(path, folder)
    _run("npm", "ci", "--no-audit", "--no-fund", folder=folder)
    packed = _packed(tmp_path_factory.mktemp("packed"))
    _check_size(packed)
    _run("npm", "install", "--no-save", "--no-audit", "--no-fund", str(packed), folder=folder)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


class TestWithNode:
    pytestmark = slow

    def test_the_types_hold_for_typescript_5_and_7(self, client: Path) -> None:
        _run("npm", "run", "build", folder=client)
        _run("npm", "run", "check", folder=client)

    @pytest.mark.parametrize("node", PATHS)
    def test_every_operation_and_every_fault(self, client: Path, node: str) -> None:
        _run("npm", "run", "build", folder=client)
        said = _run("npm", "test", folder=client, path=PATHS[node])

        assert re.search(r"# fail 0\n|ℹ fail 0\n", said), said[-3_000:]
        assert re.search(r"(?:#|ℹ) pass (3[6-9]|[4-9]\d)\n", said), said[-3_000:]

    @pytest.mark.parametrize("compiler", ["typescript", "typescript-5"])
    def test_the_frameworks_take_the_adapters_for_their_own(self, neighbours: Path, compiler: str) -> None:
        _run("node", str(CLIENT / "node_modules" / compiler / "bin" / "tsc"), "-p", ".", folder=neighbours)

    def test_the_adapters_with_the_frameworks_themselves(self, neighbours: Path) -> None:
        said = _run("node", "--test", "adapters.test.mjs", folder=neighbours)

        assert re.search(r"(?:#|ℹ) pass ([9]|\d\d)\n", said), said[-3_000:]

    @pytest.mark.parametrize("snippet", sorted(SNIPPETS.iterdir()), ids=lambda path: path.stem)
    def test_a_snippet_runs_twice(self, snippet: Path, neighbours: Path, tmp_path: Path) -> None:
        target = ["--database", str(tmp_path / "memory.db")]
        scopes = [word for scope in ("read", "write", "steer", "erase") for word in ("--scope", scope)]
        made = _run(
            sys.executable,
            "-m",
            "bethink",
            "admin",
            "keys",
            "create",
            "docs",
            "--json",
            *scopes,
            *target,
            folder=tmp_path,
        )
        with service(tmp_path, "serve", "--port", "0", *target) as running:
            url = re.findall(r"http://[\d.:]+", running.wait_for("serving at"))[0]
            given = {"MEMORY_URL": url, "MEMORY_KEY": json.loads(made)["data"]["key"]}
            for _ in range(2):
                assert "peanuts" in _run("node", snippet.name, folder=neighbours, **given)
