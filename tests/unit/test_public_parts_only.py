"""The web frameworks are used only through documented names: none begins with an underscore."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent.parent.parent / "src" / "bethink"
FRAMEWORKS = {"fastapi", "starlette", "uvicorn", "pydantic", "pydantic_core"}


def private_uses(tree: ast.AST) -> Iterator[str]:
    """Imports of private names of the frameworks, and private attributes of what is imported from them."""
    paths = dict(_imported(tree))
    yield from (path for path in paths.values() if any(part.startswith("_") for part in path.split(".")))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_private(node.attr) and _names([node.value]) & paths.keys():
            yield ast.unparse(node)
        if isinstance(node, ast.ClassDef) and _names(node.bases) & paths.keys():
            yield from (ast.unparse(each) for each in ast.walk(node) if _is_inherited(each))


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """What a module imports from the frameworks: the name that it goes by, and its path."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [((each.asname or each.name).partition(".")[0], each.name) for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [(each.asname or each.name, f"{node.module}.{each.name}") for each in node.names]
        else:
            continue
        yield from (each for each in found if each[1].partition(".")[0] in FRAMEWORKS)


def _is_inherited(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and _is_private(node.attr) and "super()" in ast.unparse(node.value)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def _names(values: list[ast.expr]) -> set[str]:
    return {node.id for value in values for node in ast.walk(value) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("path", sorted(SOURCES.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCES)))
def test_no_private_part_of_a_web_framework_is_used(path: Path) -> None:
    assert list(private_uses(ast.parse(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    "text",
    [
        "from fastapi._compat import ModelField",
        "import starlette._utils",
        "from pydantic import _internal",
        "import uvicorn\nuvicorn.Server._serve",
        "from fastapi import FastAPI\nFastAPI()._x",
        "import uvicorn\nclass A(uvicorn.Server):\n    def f(self): super()._serve()",
    ],
)
def test_private_use_is_detected(text: str) -> None:
    assert list(private_uses(ast.parse(text)))
