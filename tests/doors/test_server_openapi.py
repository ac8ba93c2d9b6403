"""The OpenAPI document: complete, without dangling references, and up to date."""

import re
from collections.abc import Iterator
from typing import Any, cast

import pytest

from bethink.http.openapi import operation_id
from bethink.model.operations import VERBS
from bethink.model.operations.base import Verb
from tests.doors.server_kit import BODIES, QUERIES, openapi
from tools import make_openapi

STATUSES = {"Invalid": "422", "NotFound": "404", "Conflict": "409", "Stale": "409"}
"""What an error of a verb becomes."""


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


def test_every_reference_leads_somewhere_and_every_component_is_referred_to() -> None:
    document = openapi()
    parts = {
        f"#/components/{kind}/{name}" for kind in ("schemas", "responses") for name in document["components"][kind]
    }

    assert set(references(document)) == parts


def test_the_names_of_schemas_are_plain() -> None:
    for name, schema in openapi()["components"]["schemas"].items():
        assert re.fullmatch(r"[A-Z][A-Za-z]+(-Input|-Output)?", name), name
        assert "bethink" not in str(schema.get("title", "")), name


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_verb_is_described_with_its_scope_and_its_fields(verb: Verb[Any, Any]) -> None:
    document = openapi()
    operation = document["paths"][f"/v1{verb.path}"][verb.http_method.lower()]

    scopes = [str(verb.scope), *(["read"] if verb.also_reads else [])]
    assert (operation["operationId"], operation["security"]) == (operation_id(verb), [{"key": scopes}])
    assert operation["summary"] == verb.summary
    assert str(verb.status) in operation["responses"]
    names = re.findall(r"\{(\w+)\}", verb.path)
    parameters = operation.get("parameters", [])
    assert [each["name"] for each in parameters if each["in"] == "path"] == names
    if any(each["in"] == "query" and each["required"] for each in parameters):
        assert verb.name in QUERIES, "give server_kit.QUERIES one that fits"
    if operation.get("requestBody", {}).get("required"):
        assert verb.name in BODIES, "give server_kit.BODIES one that fits"


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_error_that_a_verb_names_is_among_its_answers(verb: Verb[Any, Any]) -> None:
    answers = openapi()["paths"][f"/v1{verb.path}"][verb.http_method.lower()]["responses"]
    named = [status for name, status in STATUSES.items() if re.search(rf"\b{name}:", verb.raises)]

    assert set(named) <= set(answers)


def test_operations_have_names_of_their_own() -> None:
    names = [operation_id(verb) for verb in VERBS]

    assert len(set(names)) == len(names)


def test_the_committed_document_is_up_to_date() -> None:
    committed = make_openapi.PATH.read_text(encoding="utf-8")

    assert committed == make_openapi.made(), "run python -m tools.make_openapi"
