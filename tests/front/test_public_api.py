import ast
import dataclasses
import inspect
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import bethink
from bethink import errors, extend
from tools.make_api import CLASSES


def test_public_records_are_frozen_and_keyword_only() -> None:
    records: list[Any] = [each for name in bethink.__all__ if dataclasses.is_dataclass(each := getattr(bethink, name))]

    assert len(records) >= 6
    for record in records:
        assert record.__dataclass_params__.frozen, record
        assert all(field.kw_only for field in dataclasses.fields(record)), record


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield every function that `import bethink` offers, and every method of its classes and collections."""
    collections = {cls.name: getattr(import_module(cls.module), cls.name) for cls in CLASSES.values()}
    for name, thing in ({name: getattr(bethink, name) for name in bethink.__all__} | collections).items():
        if inspect.isclass(thing):
            for label, member in inspect.getmembers(thing, inspect.isfunction):
                if not label.startswith("_") and member.__module__.startswith("bethink"):
                    yield f"{name}.{label}", member
        elif inspect.isfunction(thing):
            yield name, thing


FUNCTIONS = dict(public_functions())


@pytest.mark.parametrize("name", bethink.__all__)
def test_every_public_name_has_a_one_line_summary(name: str) -> None:
    summary, _, rest = (inspect.getdoc(getattr(bethink, name)) or "").partition("\n")

    assert summary.endswith(".")
    assert not rest or rest.startswith("\n")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_document_effect_args_and_errors(name: str) -> None:
    function = FUNCTIONS[name]
    doc = inspect.getdoc(function) or ""
    summary, _, rest = doc.partition("\n")

    assert summary.endswith(".")
    assert not rest or rest.startswith("\n")
    if function.__module__.startswith(("bethink.api.", "bethink.features.")):
        given = [each for each in inspect.signature(function).parameters if each != "self"]
        described = re.findall(r"^    (\w+): ", doc.partition("Args:\n")[2].partition("\nRaises:")[0], re.MULTILINE)
        assert described == given
    for error in raised_in(function):
        assert error in doc, f"it raises {error}"


def raised_in(function: Callable[..., Any]) -> set[str]:
    """The errors that a function raises itself, where it does not catch them."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return {
        node.exc.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name)
    } & set(vars(errors))


def test_the_operations_are_among_the_functions() -> None:
    assert len(FUNCTIONS) > 150


def test_every_error_is_in_the_drawn_tree_and_has_the_next_step() -> None:
    tree = errors.__doc__ or ""
    for name, error in vars(errors).items():
        if inspect.isclass(error):
            assert name in tree, name
            assert issubclass(error, errors.BethinkError)
    assert str(errors.DatabaseBusyError("x.", hint="Wait.")) == "x. Wait."
    assert str(errors.BethinkError("x.")) == "x."


def test_importing_bethink_brings_no_driver_and_nothing_heavy() -> None:
    heavy = {"psycopg", "asyncio", "typing_extensions", "httpx2", "openai", "pydantic", "rich", "typer"}
    heavy |= {"numpy", "onnxruntime", "safetensors", "tokenizers"}
    code = f"import sys, bethink; bethink.connect; bethink.Memory; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"  # the time it takes is measured by tools/weight.py


def taught_names() -> set[tuple[str, str]]:
    """Return the module and name of each import from Bethink in the programs and pages of the documentation."""
    files = [*Path("docs_src").rglob("*.py"), *Path("docs").rglob("*.md"), Path("README.md")]
    imports = [
        found
        for path in files
        for found in re.findall(r"^ *from (bethink[\w.]*) import ([\w, ]+)", path.read_text(), re.MULTILINE)
    ]
    return {(module, name.partition(" as ")[0].strip()) for module, names in imports for name in names.split(",")}


def exported_names(module: str) -> set[str]:
    """Return the names that a type checker lets others import: definitions, `__all__` and redundant aliases."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    names: set[str] = set()
    for node in ast.parse(Path(spec.origin).read_text()).body:
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                names.add(node.name)
            case ast.ImportFrom():
                names.update(alias.name for alias in node.names if alias.asname == alias.name)
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                names.update(ast.literal_eval(node.value))
            case ast.Assign(targets=[ast.Name(id=name)]):
                names.add(name)
            case _:
                pass
    return names


@pytest.mark.parametrize(("module", "name"), sorted(taught_names()))
def test_taught_names_are_exported_for_type_checkers(module: str, name: str) -> None:
    assert name in exported_names(module)


def test_extend_exports_every_protocol() -> None:
    tree = ast.parse(Path(inspect.getsourcefile(extend) or "").read_text())
    assert {node.name for node in tree.body if isinstance(node, ast.ClassDef)} <= set(extend.__all__)
