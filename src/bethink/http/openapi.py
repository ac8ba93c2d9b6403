"""The OpenAPI document, made from the table of operations."""

from functools import cache
from typing import Any, NamedTuple, cast

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, Response

from bethink.host import codec
from bethink.http import problems
from bethink.http.auth import scopes_of
from bethink.model.operations import VERBS
from bethink.model.operations.base import Verb

_ALWAYS = (400, 401, 403, 421, 422, 429, 503)
_BODY = (408, 413, 415)
_WITHOUT_BODY = ("GET", "DELETE")
_NAMED = {"NotFound": 404, "Conflict": 409, "Stale": 409}
"""What the errors become that a verb names; whatever is invalid is answered by any verb."""
_HEADER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Makes it safe to send the request again: the same key stores nothing twice.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 180, "pattern": "^[!-~]+$"},
}
_SPACE = {
    "name": "space",
    "in": "path",
    "required": True,
    "description": "The name of the space.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^[^\x00-\x1f\x7f]*$"},
}
_STATUS = {
    "title": "Status",
    "type": "object",
    "properties": {"status": {"const": "ok", "type": "string"}},
    "required": ["status"],
}


class _Schemas(NamedTuple):
    fields: dict[str, dict[str, Any]]
    """The fields that a caller may send, by the name of the verb."""
    required: dict[str, list[str]]
    results: dict[str, dict[str, Any]]
    shared: dict[str, dict[str, Any]]
    """What the others refer to, by name."""


def document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of a server."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        errors = _share_errors(schema["paths"])
        bodies = {verb.request.__name__: _body(verb) for verb in VERBS if _body_fields(verb)}
        shared = {**_schemas().shared, **bodies, "Problem": problems.SCHEMA, "Status": _STATUS}
        used = _used(shared, [schema["paths"], errors])
        schema["components"] = {
            "schemas": {name: shared[name] for name in sorted(used)},
            "responses": errors,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "bearerFormat": "bt_prefix.secret"}},
        }
        app.openapi_schema = schema
    return app.openapi_schema


def _share_errors(paths: dict[str, Any]) -> dict[str, Any]:
    """Put a reference in place of every description of an error, and return the descriptions."""
    found: dict[str, Any] = {}
    for operation in (each for methods in paths.values() for each in methods.values()):
        for status, response in operation["responses"].items():
            if problems.MEDIA_TYPE in response.get("content", ()):
                found[f"Error{status}"] = response
                operation["responses"][status] = {"$ref": f"#/components/responses/Error{status}"}
    return dict(sorted(found.items()))


def _used(schemas: dict[str, Any], tree: object) -> set[str]:
    """Return the names of the schemas that a tree refers to, also by way of others."""
    found: set[str] = set()
    rest = [tree]
    while rest:
        each = rest.pop()
        if isinstance(each, list):
            rest += cast("list[object]", each)
        elif isinstance(each, dict):
            members = cast("dict[str, object]", each)
            name = str(members.get("$ref", "")).rpartition("/")[2]
            if name in schemas and name not in found:
                found.add(name)
                rest.append(schemas[name])
            rest += members.values()
    return found


def described(verb: Verb[Any, Any]) -> dict[str, Any]:
    """Return what FastAPI is told about the route of a verb."""
    extra: dict[str, Any] = {"security": [{"key": [str(scope) for scope in scopes_of(verb)]}]}
    parameters = _parameters(verb)
    if parameters:
        extra["parameters"] = parameters
    if _body_fields(verb):
        schema = {"$ref": codec.REF.format(model=verb.request.__name__)}
        required = bool(set(_schemas().required[verb.name]) & _body_fields(verb).keys())
        extra["requestBody"] = {"required": required, "content": {"application/json": {"schema": schema}}}
    return {
        "operation_id": operation_id(verb),
        "summary": verb.summary,
        "description": " ".join(filter(None, (verb.summary, verb.details))),
        "tags": [verb.handle],
        "response_model": None,
        "response_class": Response if verb.result is None else JSONResponse,
        "responses": {verb.status: _success(verb), **problems.documented(*sorted(_statuses(verb)))},
        "openapi_extra": extra,
    }


@cache
def _of_all_spaces() -> frozenset[str]:
    return frozenset(verb.method_name for verb in VERBS if verb.handle == "memory")


def operation_id(verb: Verb[Any, Any]) -> str:
    """Return the name of a verb in the OpenAPI document."""
    # Of a verb that there is for all spaces and for one, the plain name is that of all spaces.
    alone = verb.handle == "memory" or (verb.handle == "space" and verb.method_name not in _of_all_spaces())
    return verb.method_name if alone else verb.name.replace(".", "_")


def _statuses(verb: Verb[Any, Any]) -> set[int]:
    found = {*_ALWAYS}
    if verb.http_method not in _WITHOUT_BODY:
        found |= {*_BODY}
    found |= {status for name, status in _NAMED.items() if f"{name}:" in verb.raises}
    if verb.scope != "read":
        found.add(409)
    if "{" in verb.path:
        found.add(404)
    if verb.handle == "threads" or verb.method_name == "learn":
        found.add(502)
    return found


@cache
def _schemas() -> _Schemas:
    described, shared = codec.schemas()
    fields: dict[str, dict[str, Any]] = {}
    required: dict[str, list[str]] = {}
    for verb in VERBS:
        schema = described[verb.name, "request"]
        schema = shared.get(schema.get("$ref", "").rpartition("/")[2], schema)
        hidden = codec.local_fields(verb.request)
        fields[verb.name] = {name: each for name, each in schema.get("properties", {}).items() if name not in hidden}
        required[verb.name] = schema.get("required", [])
    results = {name: schema for (name, which), schema in described.items() if which == "result"}
    requests = {verb.request.__name__ for verb in VERBS}
    return _Schemas(fields, required, results, {name: each for name, each in shared.items() if name not in requests})


def _body_fields(verb: Verb[Any, Any]) -> dict[str, Any]:
    """Return the fields that stand in the body of a request."""
    if verb.http_method in _WITHOUT_BODY:
        return {}
    in_path = codec.path_fields(verb)
    return {name: each for name, each in _schemas().fields[verb.name].items() if name not in in_path}


def _body(verb: Verb[Any, Any]) -> dict[str, Any]:
    fields = _body_fields(verb)
    return {
        "title": verb.request.__name__,
        "type": "object",
        "description": (verb.request.__doc__ or "").partition("\n")[0],
        "properties": fields,
        "required": [name for name in _schemas().required[verb.name] if name in fields],
        "additionalProperties": False,
    }


def _parameters(verb: Verb[Any, Any]) -> list[dict[str, Any]]:
    fields, required = _schemas().fields[verb.name], _schemas().required[verb.name]
    in_path = codec.path_fields(verb)
    found: list[dict[str, Any]] = [_SPACE] if verb.in_space else []
    found += [_parameter(name, fields[name], "path", required=True) for name in in_path]
    if verb.http_method in _WITHOUT_BODY:
        rest = {name: each for name, each in fields.items() if name not in in_path}
        found += [_queried(verb, name, each, required=name in required) for name, each in rest.items()]
    elif "idempotency_key" in fields:
        found.append(_HEADER)
    return found


def _parameter(name: str, schema: dict[str, Any], where: str, *, required: bool) -> dict[str, Any]:
    about = schema.get("description", "")
    schema = {key: value for key, value in schema.items() if key not in ("title", "description")}
    return {"name": name, "in": where, "required": required, "description": about, "schema": schema}


def _queried(verb: Verb[Any, Any], name: str, schema: dict[str, Any], *, required: bool) -> dict[str, Any]:
    """Describe a parameter in a query; a list or an object is written as JSON."""
    found = _parameter(name, schema, "query", required=required)
    if name in codec.json_fields(verb.request):
        found["content"] = {"application/json": {"schema": found.pop("schema")}}
    return found


def _success(verb: Verb[Any, Any]) -> dict[str, Any]:
    if verb.result is None:
        return {"description": "Done."}
    schema = _schemas().results[verb.name]
    name = codec.wrapper_of(verb)
    if name:
        schema = {"type": "object", "properties": {name: schema}, "required": [name]}
    return {"description": "Done.", "content": {"application/json": {"schema": schema}}}
