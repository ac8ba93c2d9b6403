"""The floors of the house, as far as import-linter cannot see them."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

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
def test_the_ground_imports_the_standard_library_only(path: Path) -> None:
    foreign = {
        name
        for name in _imported(path)
        if name.partition(".")[0] not in sys.stdlib_module_names and not _OURS.match(name)
    }

    assert not foreign


def test_the_ground_is_looked_at_as_a_whole() -> None:
    assert len(_GROUND) > 90
