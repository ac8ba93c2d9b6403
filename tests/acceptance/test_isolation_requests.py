"""The requests of the isolation campaign reach an operation: one that no route takes would test nothing."""

import re
from collections.abc import Mapping
from dataclasses import fields
from random import Random
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import pytest

from bethink.model.operations import OPERATIONS
from bethink.model.operations.base import Operation
from faults.isolation_requests import SPACES, Key, Requests, World


def _operation_of(method: str, path: str) -> tuple[Operation[Any, Any], set[str]] | None:
    """Return the operation that takes a request, and the fields in its path."""
    for operation in OPERATIONS:
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(operation.path))
        match = re.fullmatch(f"/v1{pattern}", path)
        if match and operation.http_method == method:
            return operation, set(match.groupdict())
    return None


def _unknown_fields(request: tuple[str, str, object]) -> set[str] | None:
    """Return the parameters that the operation of a request does not have, or None without an operation."""
    method, address, body = request
    parts = urlsplit(address)
    target = _operation_of(method, parts.path)
    if target is None:
        return None
    operation, in_path = target
    sent = {*parse_qs(parts.query), *cast("Mapping[str, object]", body or {})} | in_path - {"space"}
    return sent - {field.name for field in fields(operation.request)}


def _requests() -> list[tuple[str, str, object]]:
    sessions = {space: [f"ses_{number}" for number in range(2)] for space in SPACES}
    makers = Requests(World(keys=[Key(text="k")], sessions=sessions), Random(1))
    return [(method, path, body) for method, path, _, body in (makers.one(SPACES[0]) for _ in range(3_000))]


def test_every_request_of_the_isolation_campaign_has_a_route() -> None:
    dead = {(request[0], urlsplit(request[1]).path) for request in _requests() if _unknown_fields(request) is None}

    # Names with a slash in them are tried on purpose.
    assert {path for _, path in dead if "OR" not in path} == set()


def test_every_request_of_the_isolation_campaign_has_known_fields() -> None:
    unknown = {(request[1], *names) for request in _requests() if (names := _unknown_fields(request))}

    assert unknown == set()


@pytest.mark.parametrize(
    ("path", "problem"), [("/v1/spaces/a/shown", None), ("/v1/spaces/a/facts?origins=user", {"origins"})]
)
def test_dead_request_is_detected(path: str, problem: set[str] | None) -> None:
    assert _unknown_fields(("GET", path, None)) == problem
