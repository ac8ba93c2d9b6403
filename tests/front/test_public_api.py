import ast
import dataclasses
import inspect
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import bethink
from bethink import errors


def test_the_public_names_are_these_and_no_others() -> None:
    assert sorted(bethink.__all__) == [
        "AgentKind",
        "AnswerSentence",
        "Backend",
        "Block",
        "Document",
        "DocumentDraft",
        "Documents",
        "Event",
        "Evidence",
        "Fact",
        "FactKind",
        "FactVerdict",
        "Facts",
        "Forgotten",
        "History",
        "LearningRules",
        "Lineage",
        "LiveHistory",
        "Memory",
        "MemoryAnswer",
        "MemoryChange",
        "MemoryTest",
        "MemoryTestResult",
        "MemoryTests",
        "Message",
        "Mode",
        "ModelAnswer",
        "ModelCall",
        "Origin",
        "OwnKind",
        "Quote",
        "Recall",
        "Recalled",
        "Record",
        "Ref",
        "RefKind",
        "Remembered",
        "RetentionKind",
        "Review",
        "ReviewStatus",
        "Reviews",
        "Role",
        "Rules",
        "ScriptedModel",
        "Session",
        "SessionInfo",
        "Settings",
        "Space",
        "SpaceRetention",
        "Threads",
        "WorkingMemory",
        "acting_for",
        "connect",
        "conversation_key",
        "load_settings",
        "moment",
        "streaming",
        "verify_webhook",
    ]


def test_public_records_are_frozen_and_keyword_only() -> None:
    records: list[Any] = [each for name in bethink.__all__ if dataclasses.is_dataclass(each := getattr(bethink, name))]

    assert len(records) >= 6
    for record in records:
        assert record.__dataclass_params__.frozen, record
        assert all(field.kw_only for field in dataclasses.fields(record)), record


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every function that `import bethink` offers, and every method of its classes."""
    for name in bethink.__all__:
        thing = getattr(bethink, name)
        if inspect.isclass(thing):
            for label, member in inspect.getmembers(thing, inspect.isfunction):
                if not label.startswith("_") and member.__module__.startswith("bethink"):
                    yield f"{name}.{label}", member
        elif inspect.isfunction(thing):
            yield name, thing


FUNCTIONS = dict(public_functions())


@pytest.mark.parametrize("name", bethink.__all__)
def test_every_public_thing_says_what_it_is_in_one_line(name: str) -> None:
    summary, _, rest = (inspect.getdoc(getattr(bethink, name)) or "").partition("\n")

    assert summary.endswith(".")
    assert not rest or rest.startswith("\n")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_says_what_it_does_what_it_takes_and_what_it_raises(name: str) -> None:
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


def test_the_verbs_are_among_the_functions() -> None:
    assert len(FUNCTIONS) > 100


def test_every_error_is_in_the_drawn_tree_and_has_the_next_step() -> None:
    tree = errors.__doc__ or ""
    for name, error in vars(errors).items():
        if inspect.isclass(error):
            assert name in tree, name
            assert issubclass(error, errors.BethinkError)
    assert str(errors.Busy("x.", hint="Wait.")) == "x. Wait."
    assert str(errors.BethinkError("x.")) == "x."


def test_importing_bethink_brings_no_driver_and_nothing_heavy() -> None:
    heavy = {"psycopg", "asyncio", "typing_extensions", "httpx2", "openai", "pydantic", "rich", "typer"}
    heavy |= {"numpy", "onnxruntime", "safetensors", "tokenizers"}
    code = f"import sys, bethink; bethink.connect; bethink.Memory; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"  # the time it takes is measured by tools/weight.py
