"""Requests and results as JSON: round trips, and rejected input."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, NewType, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bethink.errors import ConfigurationError, InvalidRequestError
from bethink.features.files import operations as files
from bethink.host import codec
from bethink.host.remote.calls import to_query_string
from bethink.model.documents import Author, DocumentDraft, Provenance
from bethink.model.facts import Fact
from bethink.model.jobs import JobKind, JobStatus
from bethink.model.kinds import FactKind, OwnKind
from bethink.model.operations import OPERATIONS, documents, facts, memory, monitoring, sessions, threads
from bethink.model.operations import installation as service
from bethink.model.operations.base import Operation, Request
from bethink.model.paging import Page
from bethink.model.recall import Fate
from bethink.model.records import Message, Origin, RestartReason
from bethink.model.refs import Ref, RefKind
from bethink.model.rules import CLAIM_FLAGS
from bethink.model.steering import LearningRules
from tests.requests_kit import DRAFT, FULL, NARROW, NOON

_NAMES = st.text("abcxyz-_:ä", min_size=1, max_size=8)
_TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.characters(codec="utf-8"), max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXTS, inner, max_size=2),
    max_leaves=3,
)
_KNOWN: dict[Any, st.SearchStrategy[Any]] = {
    str: _TEXTS,
    int: st.integers(0, 2**53 - 1),
    bool: st.booleans(),
    float: st.floats(0, 1),
    datetime: st.datetimes(timezones=st.just(UTC)),
    date: st.dates(),
    Any: _JSON,
    object: _JSON,
    Ref: st.builds(Ref, st.sampled_from(list(RefKind)), _NAMES, st.integers(0, 2**63 - 1)),
    Origin: st.sampled_from([Origin("user"), Origin("tool:search"), Origin("import")]),
    OwnKind: st.just(OwnKind("recipe")),
    LearningRules: st.builds(
        LearningRules,
        instructions=_TEXTS,
        slots=st.dictionaries(_TEXTS, _TEXTS, max_size=2),
        kinds=st.just({"recipe": "how to cook"}),
        review_kinds=st.lists(st.sampled_from([*FactKind, OwnKind("recipe")]), max_size=2).map(tuple),
        expires_after=st.dictionaries(st.sampled_from(["goal", "recipe"]), st.integers(1, 9), max_size=2),
        review_flags=st.none() | st.lists(st.sampled_from(CLAIM_FLAGS), max_size=2).map(tuple),
    ),
    DocumentDraft: st.builds(
        DocumentDraft, slug=st.just("a"), title=st.just("A"), links=st.lists(_NAMES, max_size=2).map(tuple)
    ),
    Message: st.builds(
        Message,
        role=st.sampled_from(["user", "tool"]),
        content=_TEXTS,
        tool_calls=st.lists(st.dictionaries(_TEXTS, _JSON, max_size=2), max_size=2),
        metadata=st.dictionaries(_TEXTS, _JSON, max_size=2),
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
        found = st.one_of(*(anything(each, depth) for each in inner if each is not NoneType))
        return st.none() | found if NoneType in inner else found
    if origin is not None:
        return collected(origin, inner, depth)
    if issubclass(kind, StrEnum):
        return st.sampled_from(list(kind))
    hints = get_type_hints(kind)
    asked = [
        each for each in fields(kind) if depth > 0 or (each.default is MISSING and each.default_factory is MISSING)
    ]
    return st.builds(kind, **{each.name: anything(hints[each.name], depth - 1) for each in asked})


def collected(origin: Any, inner: tuple[Any, ...], depth: int) -> st.SearchStrategy[Any]:
    if origin is Counter:
        return st.dictionaries(_TEXTS, st.integers(1, 9), max_size=2).map(Counter[str])
    if issubclass(origin, Mapping):
        return st.dictionaries(anything(inner[0], depth), anything(inner[1], depth), max_size=2)
    if origin is frozenset:
        return st.frozensets(anything(inner[0], depth), max_size=2)
    listed = st.lists(anything(inner[0], depth), max_size=2)
    if origin is Page:
        return st.tuples(listed, _TEXTS).map(lambda parts: Page(items=tuple(parts[0]), next=parts[1]))
    return listed.map(tuple) if origin is tuple else listed


ANSWERING = [operation for operation in OPERATIONS if operation.result is not None]


@pytest.mark.parametrize("operation", ANSWERING, ids=lambda operation: operation.name)
@settings(
    max_examples=5,
    phases=[Phase.explicit, Phase.generate],  # a whole record is quickly read, and slow to shrink
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
@given(data=st.data())
def test_every_result_round_trips_as_an_object(operation: Operation[Any, Any], data: st.DataObject) -> None:
    value = data.draw(anything(operation.result))
    written = codec.encode_result(operation, value)

    assert isinstance(json.loads(written), dict)
    assert codec.decode_result(operation, written) == value


def test_a_operation_without_a_result_has_no_body() -> None:
    silent = [operation for operation in OPERATIONS if operation.result is None]

    assert {operation.status for operation in silent} == {204}
    for operation in silent:
        assert codec.encode_result(operation, None) == b""
        assert codec.decode_result(operation, b"") is None


def decoded(operation: Operation[Any, Any], request: Request, **more: Any) -> Request:
    """A request as it comes out at the other end."""
    path, given = codec.encode_request(operation, request)
    given |= more
    if operation.http_method in ("GET", "DELETE"):
        return codec.decode_query(operation, path, from_query(given))
    return codec.decode_body(operation, path, json.dumps(given).encode())


def from_query(given: Mapping[str, object]) -> dict[str, str]:
    from urllib.parse import parse_qsl  # noqa: PLC0415 - for this alone

    return dict(parse_qsl(to_query_string(given).removeprefix("?"), keep_blank_values=True))


def test_there_is_an_example_of_every_request_with_every_field() -> None:
    assert sorted(operation.name for operation, _ in FULL) == sorted(operation.name for operation in OPERATIONS)
    # Forget names exactly one thing: here a ref, so neither another name nor a filter. A file is text or bytes, a
    # document is found by its path or its key, and a list of pinned facts has no filter.
    chosen = {"session_id", "conversation", "thread_id", "everything", "kinds", "before", *NARROW} - {"agent"}
    exclusive = {
        memory.FORGET: chosen,
        files.ADD_FILE: {"text"},
        facts.LIST_FACTS: {"pinned"},
        documents.FIND_DOCUMENT: {"idempotency_key"},
    }
    for operation, request in FULL:
        path, given = codec.encode_request(operation, request)
        left = {each.name for each in fields(operation.request)} - {
            *path,
            *given,
            *codec.local_fields(operation.request),
        }
        assert left == exclusive.get(operation, set()), operation.name


@pytest.mark.parametrize(("operation", "request_"), FULL, ids=[operation.name for operation, _ in FULL])
def test_every_request_round_trips(operation: Operation[Any, Any], request_: Request) -> None:
    assert decoded(operation, request_) == request_.from_outside()


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        (facts.LIST_FACTS, facts.ListFactsRequest(pinned=True)),
        (documents.FIND_DOCUMENT, documents.FindDocumentRequest(idempotency_key="k")),
    ],
)
def test_exclusive_field_round_trips(operation: Operation[Any, Any], request_: Request) -> None:
    assert decoded(operation, request_) == request_


@pytest.mark.parametrize(("operation", "request_"), FULL, ids=[operation.name for operation, _ in FULL])
def test_a_field_that_no_request_has_is_refused_by_its_name(operation: Operation[Any, Any], request_: Request) -> None:
    with pytest.raises(codec.Unreadable) as refused:
        decoded(operation, request_, mood="fine")

    assert [each["at"] for each in refused.value.errors] == ["mood"]


@pytest.mark.parametrize(("operation", "request_"), FULL, ids=[operation.name for operation, _ in FULL])
def test_a_name_in_the_path_is_not_overruled_by_the_body_or_the_query(
    operation: Operation[Any, Any], request_: Request
) -> None:
    for name in codec.encode_request(operation, request_)[0]:
        other = {"ref": "fact:other:1", "kind": "index"}.get(name, "other")
        with pytest.raises(codec.Unreadable) as refused:
            decoded(operation, request_, **{name: other})
        assert refused.value.errors[0]["at"] == name


@pytest.mark.parametrize("body", [b"", b"  ", b"{}", b" { } ", b"\n{\t}\n"])
def test_an_empty_body_is_a_request_without_fields(body: bytes) -> None:
    assert codec.decode_body(sessions.END_SESSION, {"session_id": "ses_1"}, body) == sessions.SessionRequest(
        session_id="ses_1"
    )
    assert codec.decode_body(service.LEARN, {}, body) == service.LearnRequest()


def test_names_in_the_path_are_put_before_what_the_body_has() -> None:
    path = {"session_id": 'a"b\\ä'}

    assert codec.decode_body(sessions.RESTART_SESSION, path, b' {"reason": "emergency"} ') == sessions.RestartRequest(
        session_id='a"b\\ä', reason=RestartReason.EMERGENCY
    )


@pytest.mark.parametrize(
    "body", [b"[]", b"null", b"3", b'"x"', b"{", b'{"reason": "reset"', b"{}}", b'{"a":1}{}', b"\xff", b"{'a': 1}"]
)
def test_body_that_is_not_an_object_is_rejected(body: bytes) -> None:
    with pytest.raises(codec.Unreadable):
        codec.decode_body(sessions.RESTART_SESSION, {"session_id": "ses_1"}, body)


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({"question": "q", "limit": 0}, "limit"),
        ({"question": "q", "limit": "5"}, "limit"),
        ({"question": "q", "limit": True}, "limit"),
        ({"question": 5}, "question"),
        ({}, "question"),
        ({"question": "q", "kinds": ["note"]}, "kinds"),
        ({"question": "q", "kinds": "fact"}, "kinds"),
        ({"question": "q", "as_of": "yesterday"}, "as_of"),
        ({"question": "q", "as_of": 7}, "as_of"),
        ({"question": "q", "explain": 1}, "explain"),
        ({"question": "q", "session_id": "a\nb"}, "session_id"),
    ],
)
def test_invalid_value_is_rejected_with_its_path(body: dict[str, Any], at: str) -> None:
    with pytest.raises(InvalidRequestError, match=rf"^`?{at}\b"):
        codec.decode_body(memory.RECALL, {}, json.dumps(body).encode())


@pytest.mark.parametrize(
    ("operation", "body", "message"),
    [
        (memory.RECALL, {}, "`question` is required."),
        (memory.RECALL, {"question": "q", "as_of": "soon"}, "`as_of` is not a date or time in ISO 8601. Use the form"),
        (memory.RECALL, {"question": "q", "limit": "x"}, "`limit` must be a whole number."),
        (memory.RECALL, {"question": "q", "limit": 0}, "limit must be between 1 and 1,000, not 0."),
        (memory.FORGET, {"everything": True, "dryrun": True}, "Unknown field: `dryrun`. Did you mean `dry_run`?"),
        (memory.FORGET, {"everything": True, "mood": 1}, "Unknown field: `mood`. See /openapi.json"),
        (memory.REMEMBER, {"messages": {"role": "user"}}, "`messages` must be a list, not a single message. Pass a"),
    ],
)
def test_decoding_error_is_a_sentence(operation: Operation[Any, Any], body: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        codec.decode_body(operation, {}, json.dumps(body).encode())

    assert str(refused.value).startswith(message)


def test_decoding_error_does_not_repeat_the_value() -> None:
    with pytest.raises(codec.Unreadable) as refused:
        codec.decode_body(memory.RECALL, {}, b'{"question": ["hunter2"], "hunter3": 1}')

    assert "hunter2" not in str(refused.value.errors)


BY = Provenance(author=Author(kind="job", token=7))


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        (documents.CREATE_DOCUMENT, documents.CreateDocumentRequest(draft=DRAFT, provenance=BY)),
        (
            documents.UPDATE_DOCUMENT,
            documents.UpdateDocumentRequest(document_id="d", draft=DRAFT, if_version=1, provenance=BY),
        ),
    ],
)
def test_author_field_is_neither_sent_nor_accepted(operation: Operation[Any, Any], request_: Request) -> None:
    assert codec.local_fields(operation.request) == ("provenance",)
    with pytest.raises(InvalidRequestError, match="provenance needs a database in this process"):
        codec.encode_request(operation, request_)  # dropped, it would make a tool's text the user's
    unsigned: Any = replace(request_, provenance=None)
    assert getattr(decoded(operation, unsigned), "provenance", None) is None
    with pytest.raises(codec.Unreadable) as refused:
        decoded(operation, unsigned, provenance=codec.dump(BY))
    assert refused.value.errors[0]["at"] == "provenance"


def test_only_the_document_author_is_a_local_field() -> None:
    hidden = {operation.name: found for operation in OPERATIONS if (found := codec.local_fields(operation.request))}

    assert hidden == {"space.documents.create": ("provenance",), "space.documents.update": ("provenance",)}


def test_external_fact_is_an_import_and_engine_event_is_rejected() -> None:
    body = b'{"fact": {"id": "f", "text": "tea", "origin": "user", "evidence": "stated"}}'
    fact = codec.decode_body(facts.SAVE_FACT, {}, body).fact
    assert (fact.origin, fact.evidence) == ("import", "imported")
    with pytest.raises(InvalidRequestError, match="reserved for the engine"):
        codec.decode_body(
            threads.DISPATCH, {"thread_id": "t"}, b'{"event": {"type": "MEMORY_TRUNCATE", "payload": {}}}'
        )


def test_fact_has_its_ref_in_results_and_may_be_sent_back_with_it() -> None:
    """Clients in other languages pass the ref to `explain`, `correct` and `forget`."""
    stored = codec.dump(Fact(id="f", text="tea", version=3))
    body = json.dumps({"fact": {**stored, "text": "coffee"}}).encode()

    assert stored["ref"] == "fact:f:3"
    assert codec.decode_body(facts.SAVE_FACT, {}, body).fact.text == "coffee"


def test_plain_text_becomes_a_user_message() -> None:
    request = codec.decode_body(memory.REMEMBER, {}, b'{"messages": "tea"}')

    assert request.messages == (Message(role="user", content="tea"),)
    for wrong in (b'{"messages": " "}', b'{"messages": []}', b'{"messages": [3]}', b'{"messages": {"role": "user"}}'):
        with pytest.raises(InvalidRequestError):
            codec.decode_body(memory.REMEMBER, {}, wrong)


def test_a_time_is_written_in_utc_and_a_day_means_its_end() -> None:
    _, given = codec.encode_request(facts.LIST_FACTS, facts.ListFactsRequest(as_of=NOON))
    assert given == {"as_of": "2026-03-01T12:30:15.123456Z"}
    end = datetime(2026, 3, 1, 23, 59, 59, 999999, tzinfo=UTC)
    for text, wanted in {"2026-03-01": end, "2026-03-01T13:30:15.123456+01:00": NOON}.items():
        assert codec.decode_query(facts.LIST_FACTS, {}, {"as_of": text}).as_of == wanted
        body = json.dumps({"query": "tea", "as_of": text}).encode()
        assert codec.decode_body(facts.SEARCH_FACTS, {}, body).as_of == wanted


def test_unknown_response_fields_are_ignored() -> None:
    body: dict[str, Any] = {"question": "q", "mood": "fine", "items": []}

    assert codec.decode_result(memory.RECALL, json.dumps(body).encode()).question == "q"
    assert codec.decode_result(facts.COUNT_FACTS, b'{"result": 3, "more": true}') == 3


def test_unknown_enum_value_of_a_newer_server_is_accepted() -> None:
    job: dict[str, Any] = {
        "space": "alice", "kind": "dream", "key": "k", "status": "paused", "queued_at": "2026-03-01T12:00:00Z",
        "due_at": None, "token": 1, "worker": None, "attempts": 0, "input_watermark": 0, "success_watermark": None,
        "started_at": None, "finished_at": None, "outcome": None, "last_error": None,
        "usage": {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost": 0},
    }  # fmt: skip
    candidate: dict[str, Any] = {
        "ref": "note:n1:2", "text": "tea", "signals": {}, "score": 1.0, "ranks": {}, "fate": "postponed",
        "because_of": None,
    }  # fmt: skip

    [read] = codec.decode_result(monitoring.LIST_JOBS, json.dumps({"items": [job]}).encode())
    assert (read.kind, read.status) == ("dream", "paused")
    assert not read.kind.is_known
    assert JobKind.EXTRACT.is_known
    assert JobStatus("paused") == JobStatus("paused") != JobStatus.DONE
    found = codec.decode_result(memory.RECALL, json.dumps({"question": "q", "candidates": [candidate]}).encode())
    [kept] = found.candidates
    assert (kept.ref, kept.ref.kind, kept.ref.id, kept.fate) == ("note:n1:2", "note", "n1", "postponed")
    assert Fate("postponed").value == "postponed"


@pytest.mark.parametrize(
    ("operation", "path", "body"),
    [
        (memory.RECALL, {}, {"question": "q", "kinds": ["note"]}),
        (service.LEARN, {}, {"kinds": ["dream"]}),
        (memory.MARK_USED, {}, {"refs": ["fact:f:1", "note:n1:2"]}),
        (memory.FORGET, {}, {"ref": "note:n1:2"}),
        (memory.EXPLAIN, {"ref": "note:n1:2"}, {}),
    ],
    ids=lambda given: given.name if isinstance(given, Operation) else "",
)
def test_a_request_knows_its_words(operation: Operation[Any, Any], path: dict[str, str], body: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError, match=r"cannot be '(note|dream)"):
        codec.decode_body(operation, path, json.dumps(body).encode())


@pytest.mark.parametrize(
    "body", [b"", b"null", b"3", b'"x"', b"[]", b"{}", b'{"space": 1}', b"<html>", b'{"items": []}', b"\xff"]
)
@pytest.mark.parametrize("operation", [threads.GET_THREAD, facts.COUNT_FACTS, memory.RECALL])
def test_unexpected_result_raises_misconfigured(operation: Operation[Any, Any], body: bytes) -> None:
    with pytest.raises(ConfigurationError, match=operation.name):
        codec.decode_result(operation, body)


@pytest.mark.parametrize("wrong", [b"abc", object(), (each for each in "ab"), {1: "a"}, {"a": b"b"}, float("nan")])
async def test_invalid_metadata_is_rejected_before_sending(wrong: object) -> None:
    from bethink.host.remote.remote import Remote  # noqa: PLC0415 - for this alone

    message = Message(role="user", content="Hello.", metadata={"told": wrong})
    remote = Remote("http://127.0.0.1:9", key="k", retries=0)
    await remote.open()
    try:
        with pytest.raises(InvalidRequestError):
            await remote.run(memory.REMEMBER, "alice", memory.RememberRequest(messages=(message,)))
    finally:
        await remote.close()


def test_schemas_cover_every_operation_with_class_names() -> None:
    described, definitions = codec.schemas()

    assert {name for name, _ in described} == {operation.name for operation in OPERATIONS}
    assert {"RecallResult", "RecallRequest", "RefKind"} <= definitions.keys()
    assert not [name for name in definitions if "__" in name]
