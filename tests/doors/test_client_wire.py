import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, NewType, Union, get_args, get_origin, get_type_hints

import pytest
from bethink.client.messages import drafts_of
from bethink.client.wire import plain, read
from bethink.server.wire import adapter_for
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bethink.errors import Invalid, Misconfigured
from bethink.model.access import NewKey
from bethink.model.consolidation import ChangeSet
from bethink.model.documents import Document, DocumentDraft
from bethink.model.jobs import Job
from bethink.model.recall import Block, Lineage, Recall, Ref, RefKind, Remembered, Showing
from bethink.model.records import (
    Fact,
    Forgotten,
    Message,
    Origin,
    Record,
    SessionEntry,
    SessionMemory,
    conversation_key,
)
from bethink.model.working import State, Thread
from bethink.worker import Audit, RunReport
from bethink.working.memory import DispatchResult, StepResult
from bethink.working.prompt import Prompt
from bethink.working.time_travel import StateDiff

RECORDS = [
    Block, ChangeSet, DispatchResult, Document, Fact, Forgotten, Job, Lineage, NewKey, Prompt, Recall, Record,
    Remembered, RunReport, SessionEntry, SessionMemory, Showing, State, StateDiff, StepResult, Thread,
]  # fmt: skip

_NAMES = st.text("abcxyz-_:ä", min_size=1, max_size=8)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)
_KNOWN: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(st.characters(codec="utf-8"), max_size=6),
    int: st.integers(0, 2**53 - 1),
    bool: st.booleans(),
    float: st.floats(0, 1),
    Any: _JSON,
    object: _JSON,
    Ref: st.builds(Ref, st.sampled_from(list(RefKind)), _NAMES, st.integers(0, 2**63 - 1)),
    Origin: st.sampled_from([Origin("user"), Origin("tool:search"), Origin("import")]),
    DocumentDraft: st.builds(
        DocumentDraft, slug=st.just("a"), title=st.just("A"), links=st.lists(_NAMES, max_size=2).map(tuple)
    ),
    Message: st.builds(
        Message,
        role=st.sampled_from(["user", "tool"]),
        content=st.text(st.characters(codec="utf-8"), max_size=6),
        tool_calls=st.lists(st.dictionaries(st.text(max_size=3), _JSON, max_size=2), max_size=2).map(tuple),
        metadata=st.dictionaries(st.text(max_size=3), _JSON, max_size=2),
    ),
}
_DEPTH = 3


def anything(kind: Any, depth: int = _DEPTH) -> st.SearchStrategy[Any]:
    """Values of a type, from how it is declared."""
    if isinstance(kind, NewType):
        return anything(kind.__supertype__, depth)
    if kind in _KNOWN:
        return _KNOWN[kind]
    origin, inner = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        first = anything(next(each for each in inner if each is not NoneType), depth)
        return st.none() | first if NoneType in inner else first
    if origin is not None:
        return collected(origin, inner, depth)
    if issubclass(kind, StrEnum):
        return st.sampled_from(list(kind))
    hints = get_type_hints(kind)
    if not hasattr(kind, "__dataclass_fields__"):
        return st.builds(kind, **{name: anything(each, depth) for name, each in hints.items()})
    return st.deferred(lambda: st.builds(kind, **{
        field.name: anything(hints[field.name], depth - 1)
        for field in fields(kind)
        if depth > 0 or (field.default is MISSING and field.default_factory is MISSING)
    }))  # fmt: skip


def collected(origin: Any, inner: tuple[Any, ...], depth: int) -> st.SearchStrategy[Any]:
    if origin is Counter:
        return st.dictionaries(st.text(max_size=3), st.integers(1, 9), max_size=2).map(Counter[str])
    if issubclass(origin, Mapping):
        return st.dictionaries(anything(inner[0], depth), anything(inner[1], depth), max_size=2)
    if origin is frozenset:
        return st.frozensets(anything(inner[0], depth), max_size=2)
    listed = st.lists(anything(inner[0], depth), max_size=2)
    return listed if origin is list or not issubclass(origin, Sequence) else listed.map(tuple)


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_what_the_server_writes_is_read_as_what_it_was(kind: Any, data: st.DataObject) -> None:
    value = data.draw(anything(kind))

    assert read(kind, json.loads(adapter_for(kind).dump_json(value, warnings=False))) == value
    assert read(kind, json.loads(json.dumps(plain(value)))) == value


@given(key=st.builds(conversation_key, channel=st.text("a:%ä", max_size=4), chat=st.text("a:%ä", max_size=4)))
def test_a_conversation_is_written_as_its_key(key: str) -> None:
    assert read(conversation_key, plain(key)) == key


def test_pairs_are_objects_in_objects() -> None:
    tree = {
        "counts": {"extract": {"done": 2, "dead": 1}, "index": {"done": 3}}, "overdue": 1, "abandoned": 0,
        "facts_without_source": 0, "broken_sessions": 0, "spaces_checked": 1, "daily_cap": None, "violations": 0,
        "spent_today": {"calls": 1, "input_tokens": 2, "output_tokens": 3, "cost": 4},
    }  # fmt: skip
    audit = read(Audit, tree)

    assert audit.dead == 1
    assert len(audit.counts) == 3
    assert {**plain(audit), "violations": 0} == tree


@pytest.mark.parametrize("tree", [None, 3, "x", [], {}, {"space": 1}])
def test_what_is_something_else_is_refused(tree: object) -> None:
    with pytest.raises(Misconfigured):
        read(Thread, tree)


@pytest.mark.parametrize(("kind", "tree"), [(int, True), (int, "1"), (str, 1), (bool, 1), (float, "1"), (Ref, 7)])
def test_one_scalar_is_not_another(kind: Any, tree: object) -> None:
    with pytest.raises(Misconfigured):
        read(kind, tree)


@pytest.mark.parametrize("wrong", [b"abc", object(), (each for each in "ab"), {1: "a"}, {"a": b"b"}, float("nan")])
def test_what_a_memory_would_refuse_is_not_sent_as_something_else(wrong: object) -> None:
    message = Message(role="user", content="Hello.", metadata={"told": wrong})

    with pytest.raises(Invalid):
        drafts_of([message], None)
