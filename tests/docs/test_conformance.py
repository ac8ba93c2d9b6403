"""The checklist maps every statement to operations that exist."""

import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from bethink import Memory
from bethink.cli.catalog import COMMANDS
from bethink.config.settings import flat_names
from bethink.memory.log.marks import Marks
from bethink.types import History, LiveHistory, WorkingMemory
from tools.make_api import CLASSES
from tools.spec_report import statements

_PAGE = Path(__file__).parents[2] / "docs" / "reference" / "conformance.md"
_ENTRY = re.compile(r"^- (S\d\.\d+) .*\n(  → .*)?", re.MULTILINE)
_ITEM = re.compile(r"(setting )?`([^`]+)`|behavior of ([a-z ]+)")
_BEHAVIOR = {"background learning", "document updates", "storage", "the worker", "working memory"}
_HANDLES: dict[str, Any] = {
    "history": History,
    "live": LiveHistory,
    "engine": WorkingMemory,
    "marks": Marks,
}


def _class_of(handle: str) -> Any:
    generated = CLASSES[handle]
    return getattr(import_module(generated.module), generated.name)


def _has_member(cls: type[Any], member: str) -> bool:
    return hasattr(cls, member) or member in getattr(cls, "__annotations__", {})


def _resolve_import(name: str) -> bool:
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            module = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        try:
            attrgetter(".".join(parts[length:]))(module)
        except AttributeError:
            return False
        return True
    return False


def _call_exists(name: str) -> bool:
    handle, _, member = name.rpartition(".")
    if handle == "memory":
        return _has_member(Memory, member)
    if handle in _HANDLES:
        return _has_member(_HANDLES[handle], member)
    if handle in CLASSES:
        return _has_member(_class_of(handle), member)
    return name in CLASSES


def _exists(name: str, *, is_setting: bool) -> bool:
    if is_setting:
        return name in flat_names()
    if name.startswith("bethink "):
        return name.removeprefix("bethink ") in COMMANDS
    return _resolve_import(name) if name.startswith("bethink.") else _call_exists(name)


def _entries() -> dict[str, str]:
    return dict(_ENTRY.findall(_PAGE.read_text(encoding="utf-8")))


def test_every_statement_has_an_operation_or_a_reason() -> None:
    entries = _entries()

    assert list(entries) == list(statements())
    assert [number for number, line in entries.items() if not line] == []


@pytest.mark.parametrize("number", statements())
def test_operations_of_a_statement_exist(number: str) -> None:
    for item in _entries()[number].removeprefix("  → ").split(", "):
        match = _ITEM.fullmatch(item)
        assert match, item
        setting, name, behavior = match.groups()
        assert behavior in _BEHAVIOR if behavior else _exists(name, is_setting=bool(setting)), item


@pytest.mark.parametrize(
    "name",
    ["space.documents.approve", "engine.run", "bethink admin dance", "bethink.features.nothing", "space.facts.add"],
)
def test_missing_operation_is_noticed(name: str) -> None:
    assert not _exists(name, is_setting=False)
