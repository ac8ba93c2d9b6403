"""The OpenAPI document: complete, without dangling references, and up to date."""

import re
from collections.abc import Iterator
from typing import Any, cast

import pytest

from bethink.http.openapi import operation_id
from bethink.model.operations import OPERATIONS
from bethink.model.operations.base import Operation
from tests.doors.server_kit import BODIES, QUERIES, openapi
from tools import make_openapi

STATUSES = {
    "InvalidRequestError": "422",
    "NotFoundError": "404",
    "ConflictError": "409",
    "DuplicateError": "409",
    "VersionConflictError": "409",
}
"""What an error of an operation becomes."""


def references(tree: object) -> Iterator[str]:
    """Every $ref in a document."""
    if isinstance(tree, dict):
        members = cast("dict[str, Any]", tree)
        if isinstance(members.get("$ref"), str):
            yield members["$ref"]
        for each in members.values():
            yield from references(each)
    elif isinstance(tree, list):
        for each in cast("list[Any]", tree):
            yield from references(each)


def test_every_openapi_component_is_referenced_and_exists() -> None:
    document = openapi()
    parts = {
        f"#/components/{kind}/{name}" for kind in ("schemas", "responses") for name in document["components"][kind]
    }

    assert set(references(document)) == parts


def test_the_names_of_schemas_are_plain() -> None:
    for name, schema in openapi()["components"]["schemas"].items():
        assert re.fullmatch(r"[A-Z][A-Za-z]+(-Input|-Output)?", name), name
        assert "bethink" not in str(schema.get("title", "")), name


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_operation_is_described_with_its_scope_and_its_fields(operation: Operation[Any, Any]) -> None:
    document = openapi()
    described = document["paths"][f"/v1{operation.path}"][operation.http_method.lower()]

    scopes = [str(operation.scope), *(["read"] if operation.also_reads else [])]
    assert (described["operationId"], described["security"]) == (operation_id(operation), [{"key": scopes}])
    assert described["summary"] == operation.summary
    assert str(operation.status) in described["responses"]
    names = re.findall(r"\{(\w+)\}", operation.path)
    parameters = described.get("parameters", [])
    assert [each["name"] for each in parameters if each["in"] == "path"] == names
    if any(each["in"] == "query" and each["required"] for each in parameters):
        assert operation.name in QUERIES, "give server_kit.QUERIES one that fits"
    if described.get("requestBody", {}).get("required"):
        assert operation.name in BODIES, "give server_kit.BODIES one that fits"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_error_that_an_operation_names_is_among_its_answers(operation: Operation[Any, Any]) -> None:
    answers = openapi()["paths"][f"/v1{operation.path}"][operation.http_method.lower()]["responses"]
    named = [status for name, status in STATUSES.items() if re.search(rf"\b{name}:", operation.raises)]

    assert set(named) <= set(answers)


def test_every_request_field_has_a_description() -> None:
    """Fields that a request inherits, too: editors show these to users of the TypeScript client."""
    document = openapi()
    bodies = {
        f"{name}.{field}": schema
        for name, body in document["components"]["schemas"].items()
        if name.endswith("Request")
        for field, schema in body["properties"].items()
    }
    parameters = {
        f"{path} {parameter['name']}": parameter
        for path, methods in document["paths"].items()
        for method in methods.values()
        for parameter in method.get("parameters", [])
    }

    assert [name for name, schema in {**bodies, **parameters}.items() if not schema.get("description")] == []


def test_operations_have_names_of_their_own() -> None:
    names = [operation_id(operation) for operation in OPERATIONS]

    assert len(set(names)) == len(names)


def test_the_committed_document_is_up_to_date() -> None:
    committed = make_openapi.PATH.read_text(encoding="utf-8")

    assert committed == make_openapi.build_document(), "run python -m tools.make_openapi"
