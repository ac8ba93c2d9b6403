"""The OpenAPI document, made from the table of operations."""

from dataclasses import is_dataclass
from functools import cache
from typing import Any, NamedTuple, cast

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, Response

from bethink.host import codec
from bethink.http import problems
from bethink.http.auth import scopes_of
from bethink.model.operations import OPERATIONS
from bethink.model.operations.base import Operation, Request

_COMMON_STATUSES = (400, 401, 403, 421, 422, 429, 503)
_BODY_STATUSES = (408, 413, 415)
_WITHOUT_BODY = ("GET", "DELETE")
_ERROR_STATUSES = {"NotFoundError": 404, "ConflictError": 409}
"""Statuses of the errors that operations declare. Every operation can return a validation error."""
_HEADER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Makes retries safe: the same key is stored once.",
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
    """The fields of a request, by the name of the operation."""
    required: dict[str, list[str]]
    results: dict[str, dict[str, Any]]
    shared: dict[str, dict[str, Any]]
    """The referenced schemas, by name."""


def document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of a server."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        errors = _share_errors(schema["paths"])
        bodies = {operation.request.__name__: _body(operation) for operation in OPERATIONS if _body_fields(operation)}
        shared = {**_schemas().shared, **bodies, "Problem": problems.SCHEMA, "Status": _STATUS}
        used = _referenced_names(shared, [schema["paths"], errors])
        schema["components"] = {
            "schemas": {name: shared[name] for name in sorted(used)},
            "responses": errors,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "bearerFormat": "bt_prefix.secret"}},
        }
        app.openapi_schema = schema
    return app.openapi_schema


def _share_errors(paths: dict[str, Any]) -> dict[str, Any]:
    """Replace every error description by a reference, and return the descriptions."""
    responses: dict[str, Any] = {}
    for operation in (entry for methods in paths.values() for entry in methods.values()):
        for status, response in operation["responses"].items():
            if problems.MEDIA_TYPE in response.get("content", ()):
                responses[f"Error{status}"] = response
                operation["responses"][status] = {"$ref": f"#/components/responses/Error{status}"}
    return dict(sorted(responses.items()))


def _referenced_names(schemas: dict[str, Any], tree: object) -> set[str]:
    """Return the names of the schemas that a tree references, directly or indirectly."""
    referenced: set[str] = set()
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += cast("list[object]", node)
        elif isinstance(node, dict):
            members = cast("dict[str, object]", node)
            name = str(members.get("$ref", "")).rpartition("/")[2]
            if name in schemas and name not in referenced:
                referenced.add(name)
                pending.append(schemas[name])
            pending += members.values()
    return referenced


def route_arguments(operation: Operation[Any, Any]) -> dict[str, Any]:
    """Return the arguments of `add_api_route` for an operation."""
    extra: dict[str, Any] = {"security": [{"key": [str(scope) for scope in scopes_of(operation)]}]}
    parameters = _parameters(operation)
    if parameters:
        extra["parameters"] = parameters
    if _body_fields(operation):
        schema = {"$ref": codec.REF.format(model=operation.request.__name__)}
        required = bool(set(_schemas().required[operation.name]) & _body_fields(operation).keys())
        extra["requestBody"] = {"required": required, "content": {"application/json": {"schema": schema}}}
    return {
        "operation_id": operation_id(operation),
        "summary": operation.summary,
        "description": " ".join(filter(None, (operation.summary, operation.details))),
        "tags": [operation.handle],
        "response_model": None,
        "response_class": Response if operation.result is None else JSONResponse,
        "responses": {operation.status: _success(operation), **problems.error_responses(*sorted(_statuses(operation)))},
        "openapi_extra": extra,
    }


@cache
def _memory_method_names() -> frozenset[str]:
    return frozenset(operation.method_name for operation in OPERATIONS if operation.handle == "memory")


def operation_id(operation: Operation[Any, Any]) -> str:
    """Return the ID of an operation in the OpenAPI document."""
    # If an operation exists for all spaces and for one, the plain name is that for all spaces.
    alone = operation.handle == "memory" or (
        operation.handle == "space" and operation.method_name not in _memory_method_names()
    )
    return operation.method_name if alone else operation.name.replace(".", "_")


def _statuses(operation: Operation[Any, Any]) -> set[int]:
    statuses = {*_COMMON_STATUSES}
    if operation.http_method not in _WITHOUT_BODY:
        statuses |= {*_BODY_STATUSES}
    statuses |= {status for name, status in _ERROR_STATUSES.items() if f"{name}:" in operation.raises}
    if operation.scope != "read":
        statuses.add(409)
    if "{" in operation.path:
        statuses.add(404)
    if operation.handle == "space.threads" or operation.method_name == "learn":
        statuses.add(502)
    return statuses


@cache
def _schemas() -> _Schemas:
    schemas, shared = codec.schemas()
    fields: dict[str, dict[str, Any]] = {}
    required: dict[str, list[str]] = {}
    for operation in OPERATIONS:
        schema = schemas[operation.name, "request"]
        schema = shared.get(schema.get("$ref", "").rpartition("/")[2], schema)
        hidden = codec.local_fields(operation.request)
        inherited = _inherited_descriptions(operation.request)
        fields[operation.name] = {
            name: {"description": inherited.get(name, ""), **definition}
            for name, definition in schema.get("properties", {}).items()
            if name not in hidden
        }
        required[operation.name] = schema.get("required", [])
    results = {name: schema for (name, which), schema in schemas.items() if which == "result"}
    requests = {operation.request.__name__ for operation in OPERATIONS}
    return _Schemas(
        fields, required, results, {name: definition for name, definition in shared.items() if name not in requests}
    )


def _inherited_descriptions(request: type[Request]) -> dict[str, str]:
    """Return the descriptions of inherited fields. Pydantic reads only the docstrings of the class itself."""
    bases = [base for base in reversed(request.__mro__[1:]) if is_dataclass(base)]
    return {name: text for base in bases for name, text in _own_descriptions(base).items()}


@cache
def _own_descriptions(request: type[Any]) -> dict[str, str]:
    properties = codec.adapter(request).json_schema().get("properties", {})
    return {name: definition["description"] for name, definition in properties.items() if "description" in definition}


def _body_fields(operation: Operation[Any, Any]) -> dict[str, Any]:
    """Return the fields in the body of a request."""
    if operation.http_method in _WITHOUT_BODY:
        return {}
    in_path = codec.path_fields(operation)
    return {name: definition for name, definition in _schemas().fields[operation.name].items() if name not in in_path}


def _body(operation: Operation[Any, Any]) -> dict[str, Any]:
    fields = _body_fields(operation)
    return {
        "title": operation.request.__name__,
        "type": "object",
        "description": (operation.request.__doc__ or "").partition("\n")[0],
        "properties": fields,
        "required": [name for name in _schemas().required[operation.name] if name in fields],
        "additionalProperties": False,
    }


def _parameters(operation: Operation[Any, Any]) -> list[dict[str, Any]]:
    fields, required = _schemas().fields[operation.name], _schemas().required[operation.name]
    in_path = codec.path_fields(operation)
    parameters: list[dict[str, Any]] = [_SPACE] if operation.in_space else []
    parameters += [_parameter(name, fields[name], "path", required=True) for name in in_path]
    if operation.http_method in _WITHOUT_BODY:
        query_fields = {name: definition for name, definition in fields.items() if name not in in_path}
        parameters += [
            _query_parameter(operation, name, definition, required=name in required)
            for name, definition in query_fields.items()
        ]
    elif "idempotency_key" in fields:
        parameters.append(_HEADER)
    return parameters


def _parameter(name: str, schema: dict[str, Any], where: str, *, required: bool) -> dict[str, Any]:
    about = schema.get("description", "")
    schema = {key: value for key, value in schema.items() if key not in ("title", "description")}
    return {"name": name, "in": where, "required": required, "description": about, "schema": schema}


def _query_parameter(
    operation: Operation[Any, Any], name: str, schema: dict[str, Any], *, required: bool
) -> dict[str, Any]:
    """Describe a query parameter. Lists and objects are encoded as JSON."""
    parameter = _parameter(name, schema, "query", required=required)
    if name in codec.json_fields(operation.request):
        parameter["content"] = {"application/json": {"schema": parameter.pop("schema")}}
    return parameter


def _success(operation: Operation[Any, Any]) -> dict[str, Any]:
    if operation.result is None:
        return {"description": "Done."}
    schema = _schemas().results[operation.name]
    name = codec.wrapper_of(operation)
    if name:
        schema = {"type": "object", "properties": {name: schema}, "required": [name]}
    return {"description": "Done.", "content": {"application/json": {"schema": schema}}}
