"""Refs and origins are plain text everywhere, also in pydantic, and keep their parts."""

import copy
import json
import pickle
from dataclasses import dataclass

import pytest
from pydantic import TypeAdapter, ValidationError

from bethink.errors import InvalidRequestError
from bethink.model.facts import SourceMessage
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind

REF = Ref(RefKind.FACT, "a:b", 12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A record as ours are."""

    ref: Ref
    origin: Origin
    source: SourceMessage


HELD = Holder(ref=REF, origin=Origin("tool:web"), source=SourceMessage("ses_1", 2))
JSON = '{"ref":"fact:a:b:12","origin":"tool:web","source":{"session_id":"ses_1","number":2}}'


def test_a_ref_is_its_text_and_knows_its_parts() -> None:
    assert REF == "fact:a:b:12"
    assert hash(REF) == hash("fact:a:b:12")
    assert (REF.kind, REF.id, REF.number) == REF.parts == (RefKind.FACT, "a:b", 12)
    assert type(str(REF)) is str
    assert json.dumps([REF]) == '["fact:a:b:12"]'
    assert Ref(RefKind.SESSION_SUMMARY, "ses_1") == "session_summary:ses_1:0"


def test_a_ref_is_read_from_its_text_once() -> None:
    read = Ref.parse("fact:a:b:12")

    assert read.parts == REF.parts
    assert type(read.kind) is RefKind
    assert Ref.coerce(read) is read
    assert Ref.coerce("fact:a:b:12").parts == REF.parts


@pytest.mark.parametrize("text", ["", "fact", "fact:a", "fact:a:", "fact:a:01", "fact:a:-1", "fact::1", "king:a:1"])
def test_a_text_that_is_not_a_ref_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequestError):
        Ref.coerce(text)


def test_a_value_that_is_not_text_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="a ref must be text, not int"):
        Ref.coerce(12)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_ref_survives_pickle_with_its_parts(protocol: int) -> None:
    again = pickle.loads(pickle.dumps(REF, protocol))

    assert type(again) is Ref
    assert again.parts == REF.parts


def test_a_ref_survives_copies_with_its_parts() -> None:
    for again in (copy.copy(REF), copy.deepcopy([REF])[0]):
        assert type(again) is Ref
        assert again.parts == REF.parts


def test_the_parts_of_a_ref_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        REF.number = 3  # pyright: ignore[reportAttributeAccessIssue]


def test_refs_sort_by_their_parts_where_text_would_put_ten_before_nine() -> None:
    refs = [Ref(RefKind.MESSAGE, "s", number) for number in (9, 10, 11)]

    assert sorted(set(refs), key=lambda ref: ref.parts) == refs
    assert sorted(refs) != refs


def test_pydantic_reads_and_writes_refs_and_origins_as_text() -> None:
    adapter = TypeAdapter(Holder)

    read = adapter.validate_json(JSON)

    assert read == HELD
    assert type(read.ref) is Ref
    assert read.ref.parts == REF.parts
    assert type(read.origin) is Origin
    assert adapter.dump_json(HELD).decode() == JSON
    assert adapter.dump_python(HELD, mode="json") == json.loads(JSON)


def test_pydantic_keeps_a_ref_that_is_one() -> None:
    assert TypeAdapter(Ref).validate_python(REF).parts == REF.parts


@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_a_json_schema_describes_refs_and_origins_as_strings(mode: str) -> None:
    schema = TypeAdapter(Holder).json_schema(mode=mode)  # pyright: ignore[reportArgumentType]

    assert schema["properties"]["ref"]["type"] == schema["properties"]["origin"]["type"] == "string"


@pytest.mark.parametrize(("kind", "given"), [(Ref, "fact:a:01"), (Ref, "fact::1"), (Origin, "nowhere"), (Ref, 1)])
def test_invalid_ref_raises_a_pydantic_validation_error(kind: type, given: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(kind).validate_python(given)
