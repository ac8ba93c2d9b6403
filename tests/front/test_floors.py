"""Layer rules that import-linter cannot check: the standard library, cycles, and the top level."""

import ast
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import grimp
import pytest

_SOURCE = Path(__file__).parents[2] / "src" / "bethink"
_BASE = ("errors", "base.features", "base.frozen", "base.logs")
_GROUND = [
    *sorted((_SOURCE / "model").rglob("*.py")),
    *(_SOURCE / f"{name.replace('.', '/')}.py" for name in _BASE),
    *sorted((_SOURCE / "features").glob("*/records.py")),
    *sorted((_SOURCE / "features").glob("*/operations.py")),
]
_OURS = re.compile(rf"bethink\.(model|{'|'.join(_BASE)}|features\.\w+\.(records|operations))\b")


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module


@pytest.mark.parametrize("path", _GROUND, ids=lambda path: str(path.relative_to(_SOURCE)))
def test_foundation_imports_only_the_standard_library(path: Path) -> None:
    foreign = {
        name
        for name in _imported(path)
        if name.partition(".")[0] not in sys.stdlib_module_names and not _OURS.match(name)
    }

    assert not foreign


def test_foundation_check_covers_all_modules() -> None:
    assert len(_GROUND) > 75


def _cycles(imports: Mapping[str, Collection[str]]) -> list[list[str]]:
    """Return the groups of modules that import each other, by Kosaraju's algorithm."""
    importers: dict[str, set[str]] = {name: set() for name in imports}
    for name, targets in imports.items():
        for target in targets:
            importers[target].add(name)
    order: list[str] = []
    seen: set[str] = set()
    for name in imports:
        _visit(name, imports, seen, order)
    groups: list[list[str]] = []
    seen = set()
    for name in reversed(order):
        group: list[str] = []
        _visit(name, importers, seen, group)
        groups.append(group)
    return [sorted(group) for group in groups if len(group) > 1]


def _visit(name: str, edges: Mapping[str, Collection[str]], seen: set[str], finished: list[str]) -> None:
    stack = [(name, iter(edges[name]))] if name not in seen else []
    seen.add(name)
    while stack:
        current, targets = stack[-1]
        target = next((target for target in targets if target not in seen), None)
        if target is None:
            finished.append(current)
            stack.pop()
        else:
            seen.add(target)
            stack.append((target, iter(edges[target])))


def test_cycles_are_detected() -> None:
    assert _cycles({"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": []}) == [["a", "b", "c"]]


def test_no_modules_import_each_other() -> None:
    """Not even lazily or for types: what cannot be read in one order cannot be understood in one."""
    graph = grimp.build_graph("bethink", exclude_type_checking_imports=False, cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}

    assert _cycles(imports) == []


def test_public_modules_are_these_and_no_others() -> None:
    modules = {path.stem for path in _SOURCE.glob("*.py")} - {"__init__", "__main__"}

    assert modules == {"errors", "extend", "sync", "testing", "types"}
    assert {path.name for path in _SOURCE.iterdir() if path.is_file() and path.suffix != ".py"} == {"py.typed"}


def test_few_folders_at_the_top() -> None:
    folders = {path.name for path in _SOURCE.iterdir() if path.is_dir()} - {"__pycache__"}

    assert len(folders) <= 17, sorted(folders)
