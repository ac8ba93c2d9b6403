import dataclasses
import inspect
import subprocess
import sys
from typing import Any

import bethink
from bethink import errors


def test_the_public_names_are_these_and_no_others() -> None:
    assert sorted(bethink.__all__) == [
        "AgentKind",
        "AgentStores",
        "Block",
        "Client",
        "conversation_key",
        "WorkingMemory",
        "Documents",
        "Fact",
        "Facts",
        "Forgotten",
        "History",
        "Lineage",
        "LiveHistory",
        "Memory",
        "Message",
        "Origin",
        "Recall",
        "Recalled",
        "Record",
        "Ref",
        "Remembered",
        "Role",
        "Session",
        "Settings",
        "connect",
        "load_settings",
        "open_history_store",
    ]


def test_public_records_are_frozen_and_keyword_only() -> None:
    records: list[Any] = [each for name in bethink.__all__ if dataclasses.is_dataclass(each := getattr(bethink, name))]

    assert len(records) >= 6
    for record in records:
        assert record.__dataclass_params__.frozen, record
        assert all(field.kw_only for field in dataclasses.fields(record)), record


def test_every_public_thing_says_what_it_does_in_three_lines_at_most() -> None:
    for name in bethink.__all__:
        thing = getattr(bethink, name)
        members = (
            [member for label, member in vars(thing).items() if not label.startswith("_")]
            if inspect.isclass(thing)
            else []
        )
        for each in [thing, *(member for member in members if inspect.isfunction(member))]:
            doc = inspect.getdoc(each)
            assert doc, each
            assert len([line for line in doc.splitlines() if line]) <= 3, each


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
    code = f"import sys, bethink; bethink.connect; bethink.Client; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"  # the time it takes is measured by tools/weight.py
