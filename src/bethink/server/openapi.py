"""Describes the routes for the OpenAPI document, from the table of verbs."""

from functools import cache
from typing import Any

from fastapi.responses import JSONResponse, Response

from bethink import codec
from bethink.model.verbs.base import Verb
from bethink.server.problems import documented

_ALWAYS = (400, 401, 403, 421, 422, 429, 503)
_BODY = (408, 413, 415)
_CONFLICTS = (409,)
_HEADER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Makes it safe to send the request again: the same key stores nothing twice.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 180},
}


def described(verb: Verb[Any, Any]) -> dict[str, Any]:
    """Return what FastAPI is to say of a verb's route."""
    requests, _ = _schemas()
    has_body = verb.http_method not in ("GET", "DELETE")
    statuses = {*_ALWAYS, *(_BODY if has_body else ()), *(_CONFLICTS if verb.scope != "read" else ())}
    if "{" in verb.path:
        statuses.add(404)
    if verb.handle == "threads" or verb.method_name == "learn":
        statuses.add(502)
    extra: dict[str, Any] = {"security": [{"key": scopes_of(verb)}], "parameters": _parameters(verb, requests)}
    if has_body:
        extra["requestBody"] = {
            "required": _has_required(verb, requests),
            "content": {"application/json": {"schema": _body(verb, requests)}},
        }
    return {
        "operation_id": operation_id(verb),
        "summary": verb.summary,
        "description": " ".join(filter(None, (verb.summary, verb.details))),
        "tags": [verb.handle],
        "response_model": None,
        "response_class": Response if verb.result is None else JSONResponse,
        "responses": {verb.status: _success(verb, requests), **documented(*sorted(statuses))},
        "openapi_extra": extra,
    }


def operation_id(verb: Verb[Any, Any]) -> str:
    """Return the name of a verb in the OpenAPI document."""
    return verb.method_name if verb.handle in ("space", "memory") else verb.name.replace(".", "_")


def scopes_of(verb: Verb[Any, Any]) -> list[str]:
    """Return every scope that a key must have."""
    return [str(verb.scope), *(["read"] if verb.also_reads else [])]


def definitions() -> dict[str, Any]:
    """Return the schemas that requests and results share."""
    return _schemas()[1]


@cache
def _schemas() -> tuple[dict[tuple[str, str], dict[str, Any]], dict[str, Any]]:
    return codec.schemas()


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return _schemas()[1][name] if name else schema


def _fields(verb: Verb[Any, Any], requests: Any) -> tuple[dict[str, Any], set[str]]:
    schema = _resolved(requests[verb.name, "request"])
    hidden = codec.local_fields(verb.request)
    properties = {name: each for name, each in schema.get("properties", {}).items() if name not in hidden}
    return properties, set(schema.get("required", ()))


def _parameters(verb: Verb[Any, Any], requests: Any) -> list[dict[str, Any]]:
    properties, required = _fields(verb, requests)
    in_path = codec.path_fields(verb)
    found = [_space()] if verb.in_space else []
    found += [_parameter(name, properties[name], "path", required=True) for name in in_path]
    if verb.http_method in ("GET", "DELETE"):
        rest = {name: each for name, each in properties.items() if name not in in_path}
        found += [_parameter(name, each, "query", required=name in required) for name, each in rest.items()]
    elif "idempotency_key" in properties:
        found.append(_HEADER)
    return found


def _space() -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1, "maxLength": 200}
    return {"name": "space", "in": "path", "required": True, "description": "The space.", "schema": schema}


def _parameter(name: str, schema: dict[str, Any], where: str, *, required: bool) -> dict[str, Any]:
    schema = {key: value for key, value in schema.items() if key not in ("title", "description")}
    about = _resolved(schema).get("description", "")
    return {"name": name, "in": where, "required": required, "description": about, "schema": schema}


def _body(verb: Verb[Any, Any], requests: Any) -> dict[str, Any]:
    properties, required = _fields(verb, requests)
    in_path = codec.path_fields(verb)
    kept = {name: each for name, each in properties.items() if name not in in_path}
    return {
        "type": "object",
        "title": verb.request.__name__,
        "properties": kept,
        "required": sorted(required & kept.keys()),
        "additionalProperties": False,
    }


def _has_required(verb: Verb[Any, Any], requests: Any) -> bool:
    return bool(_body(verb, requests)["required"])


def _success(verb: Verb[Any, Any], requests: Any) -> dict[str, Any]:
    if verb.result is None:
        return {"description": "Done."}
    schema = requests[verb.name, "result"]
    name = codec.wrapper_of(verb)
    if name:
        schema = {"type": "object", "properties": {name: schema}, "required": [name]}
    return {"description": "Done.", "content": {"application/json": {"schema": schema}}}
