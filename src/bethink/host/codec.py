"""Encodes and decodes requests and results as JSON.

Only interfaces load this module: it uses pydantic, which `import bethink` never loads.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import JsonSchemaMode

from bethink.errors import ConfigurationError, InvalidFieldError, InvalidRequestError
from bethink.model.checks import rules_of
from bethink.model.operations import OPERATIONS
from bethink.model.operations.base import LocalOnly, Operation, Request, RequestT, ResultT
from bethink.model.text import canonical_json

REF = "#/components/schemas/{model}"


_DIGITS = re.compile("-?[0-9]+")
_PAGE_NAME = re.compile(r"\bPage_([A-Za-z]+)_")
_MAX_ERRORS = 20
_MAX_PATH_LENGTH = 100
_UNKNOWN = "unknown field"
_VERBS = ("is", "must", "cannot", "has", "needs", "takes")
"""Verbs that start a message whose subject is the field."""
_MESSAGES = {
    "missing": "is required", "missing_argument": "is required", "unexpected_keyword_argument": _UNKNOWN,
    "greater_than_equal": "must be at least {ge}", "less_than_equal": "must be at most {le}",
    "int_type": "must be a whole number", "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number", "string_type": "must be text",
    "bool_type": "must be true or false", "bool_parsing": "must be true or false",
    "list_type": "must be a list", "tuple_type": "must be a list", "dict_type": "must be an object",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
}  # fmt: skip
"""Messages that replace those of pydantic, by type of error."""


class Unreadable(InvalidRequestError):
    """A request does not match its schema. `errors` has the positions and reasons, without the values."""

    def __init__(self, errors: list[dict[str, str]], *, fields: Collection[str] = ()) -> None:
        at = errors[0]["at"]
        message, _, hint = errors[0]["message"].partition(". ")
        message = message.removesuffix(".").removeprefix(f"`{at}` ")
        if message.startswith("unknown"):
            reason = f"{message.capitalize()}: `{at}`"
            similar = get_close_matches(at, fields, n=1)
            hint = f"Did you mean `{similar[0]}`?" if similar else ""
        elif message.partition(" ")[0] in _VERBS:
            reason = f"`{at}` {message}"
        else:
            reason = f"`{at}`: {message}"
        super().__init__(f"{reason}.", hint=hint or "See /openapi.json for the schema.")
        self.errors = errors


def dump(value: object) -> Any:
    """Return a record as JSON values."""
    return adapter(type(value)).dump_python(value, mode="json", warnings=False)


def encode_result(operation: Operation[Any, ResultT], value: ResultT) -> bytes:
    """Write the result of an operation: a record as an object, a list as `items`, anything else as `result`."""
    if operation.result is None:
        return b""
    body = adapter(operation.result).dump_json(value, warnings=False)
    name = wrapper_of(operation)
    return b'{"%s":%s}' % (name.encode(), body) if name else body


def decode_result(operation: Operation[Any, ResultT], data: bytes) -> ResultT:
    """Decode the output of `encode_result`. Fields that a newer server adds are ignored.

    Raises:
        ConfigurationError: if it is not from a Bethink server.
    """
    if operation.result is None:
        return cast("ResultT", None)
    name = wrapper_of(operation)
    try:
        if name:
            tree = json.loads(data)
            return adapter(operation.result).validate_json(json.dumps(tree[name]))
        return adapter(operation.result).validate_json(data)
    except (ValueError, KeyError, TypeError) as error:
        hint = "Check the address of the server, and that its version is not older than this client."
        raise ConfigurationError(f"Cannot read the server's response to {operation.name}.", hint=hint) from error


def encode_request(operation: Operation[RequestT, Any], request: RequestT) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the path fields of a request, and all other fields without a default value.

    Raises:
        InvalidRequestError: for a value that is not JSON, as a database would.
    """
    _check_json(request)
    hidden = local_fields(operation.request)
    for name in hidden:
        if getattr(request, name) is not None:
            # If it were dropped, the server would store its default: text of a tool would become the user's.
            hint = "Connect to the file or PostgreSQL directly, or omit it."
            raise InvalidRequestError(f"{name} needs a database in this process.", hint=hint)
    body = adapter(operation.request).dump_python(
        request, mode="json", exclude_defaults=True, exclude=set(hidden), warnings=False
    )
    path = {name: str(body.pop(name)) for name in path_fields(operation)}
    return path, body


def _check_json(value: object) -> None:
    # pydantic would convert bytes, iterators and keys that are not strings.
    if is_dataclass(value):
        for item in fields(value):
            _check_json(getattr(value, item.name))
    elif isinstance(value, tuple):
        for item in cast("tuple[object, ...]", value):
            _check_json(item)
    elif isinstance(value, Mapping | list):
        canonical_json(cast("object", value))


def decode_body(operation: Operation[RequestT, Any], path: Mapping[str, str], body: bytes) -> RequestT:
    """Decode a request from a JSON body and its path fields.

    Raises:
        InvalidRequestError: if it does not fit.
    """
    request = _validate(
        operation, lambda: adapter(operation.request).validate_json(_add_path_fields(body, path), strict=True)
    )
    for name in local_fields(operation.request):
        if getattr(request, name) is not None:
            raise Unreadable([{"at": name, "message": _UNKNOWN}])
    for name, value in path.items():
        if str(getattr(request, name)) != value:
            raise Unreadable([{"at": name, "message": "is in the path; remove it from the body"}])
    return request.from_outside()


def decode_query(operation: Operation[RequestT, Any], path: Mapping[str, str], query: Mapping[str, str]) -> RequestT:
    """Decode a request from a query string and its path fields.

    Raises:
        InvalidRequestError: if it does not fit.
    """
    unknown = "unknown query parameter"
    for name in query:
        if name in path:
            raise Unreadable([{"at": name, "message": unknown}])
    structured = {name: _json(name, query[name]) for name in json_fields(operation.request) if name in query}
    for name in _whole_numbers(operation.request):
        value = {**query, **path}.get(name, "0")
        if not _DIGITS.fullmatch(value):  # pydantic would parse 1_0 as 10
            raise Unreadable([{"at": name, "message": "must be a whole number in digits"}])
    # Strict parsing of strings works only without lists and objects; with them, values are parsed as in Python.
    validate = adapter(operation.request).validate_python if structured else adapter(operation.request).validate_strings
    return _validate(operation, lambda: validate({**query, **structured, **path}), unknown=unknown).from_outside()


def _json(name: str, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Unreadable([{"at": name, "message": "is not valid JSON"}]) from None


def _validate(
    operation: Operation[RequestT, Any], validate: Callable[[], RequestT], *, unknown: str = _UNKNOWN
) -> RequestT:
    try:
        return validate()
    except ValidationError as error:
        problem = _problem_of(operation, error, unknown)
    try:
        raise problem
    finally:
        del problem  # it would refer to itself through this frame


def _problem_of(operation: Operation[Any, Any], error: ValidationError, unknown: str) -> InvalidRequestError:
    """Return the error to raise for a request that does not fit, without what refers to the parsed request."""
    errors = error.errors(include_url=False, include_input=False)
    broken: object = errors[0].get("ctx", {}).get("error")
    if len(errors) == 1 and not errors[0]["loc"] and isinstance(broken, InvalidRequestError):
        return broken.with_traceback(None)  # a rule of the request itself, with the same message as in Python
    hidden = local_fields(operation.request)
    details = [_error_detail(detail) for detail in errors[:_MAX_ERRORS]]
    for detail in details:
        if detail["at"].partition(".")[0] in hidden or detail["message"] == _UNKNOWN:
            detail["message"] = unknown
    return Unreadable(details, fields=[field.name for field in fields(operation.request) if field.name not in hidden])


def reason_of(error: Any) -> str:
    """Return why a value is invalid, in our words where pydantic's are not plain."""
    message = _MESSAGES.get(error["type"])
    return str(error["msg"]) if message is None else message.format_map(error.get("ctx", {}))


def _error_detail(error: Any) -> dict[str, str]:
    parts, message = [*error["loc"]], reason_of(error)
    broken = error.get("ctx", {}).get("error")
    if isinstance(broken, InvalidFieldError):
        parts += filter(None, [broken.field])
        message = str(broken.args[0]).removeprefix(f"{broken.field} ")
    elif isinstance(broken, Exception):
        message = str(broken)
    return {"at": ".".join(map(str, parts))[:_MAX_PATH_LENGTH] or "body", "message": message}


def _add_path_fields(body: bytes, path: Mapping[str, str]) -> bytes:
    """Insert the path fields into the body, without parsing it twice."""
    text = body.strip() or b"{}"
    if not path or not text.startswith(b"{"):
        return text
    names = json.dumps(path)[:-1].encode()
    return names + (b"" if text[1:].lstrip().startswith(b"}") else b",") + text[1:]


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """Return the cached pydantic adapter of a type."""
    return TypeAdapter(kind)


@cache
def wrapper_of(operation: Operation[Any, Any]) -> str:
    """Return the JSON key that contains a result, or an empty string for a record, which is an object itself."""
    if get_origin(operation.result) in (list, dict):
        return "items"
    return "" if is_dataclass(get_origin(operation.result) or operation.result) else "result"


@cache
def path_fields(operation: Operation[Any, Any]) -> tuple[str, ...]:
    """Return the fields of a request that are in the path of its operation."""
    names = (part[1:-1] for part in operation.path.split("/") if part.startswith("{"))
    return tuple(name for name in names if name != "space")


@cache
def _whole_numbers(request: type[Request]) -> tuple[str, ...]:
    return tuple(name for name, rule in rules_of(request) if int in rule.kinds and float not in rule.kinds)


@cache
def local_fields(request: type[Request]) -> tuple[str, ...]:
    """Return the fields that callers cannot set through an interface."""
    hints = get_type_hints(request, include_extras=True)
    return tuple(
        name
        for name, hint in hints.items()
        if any(isinstance(mark, LocalOnly) for mark in getattr(hint, "__metadata__", ()))
    )


@cache
def json_fields(request: type[Request]) -> tuple[str, ...]:
    """Return the fields that are lists or objects, which are JSON in a query string."""
    hints = get_type_hints(request, include_extras=True)
    return tuple(name for name, hint in hints.items() if any(_is_structured(option) for option in _alternatives(hint)))


def _alternatives(hint: Any) -> list[Any]:
    while get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) in (Union, UnionType):
        return [part for option in get_args(hint) for part in _alternatives(option)]
    return [hint]


def _is_structured(hint: Any) -> bool:
    return get_origin(hint) in (tuple, list, dict, Mapping)


def schemas() -> tuple[dict[tuple[str, str], dict[str, Any]], dict[str, Any]]:
    """Return the OpenAPI schemas of all requests and results, and their shared definitions.

    The first part has a schema for each operation's name and either `request` or `result`.
    """
    inputs: list[tuple[Any, JsonSchemaMode, TypeAdapter[Any]]] = []
    for operation in OPERATIONS:
        inputs.append(((operation.name, "request"), "validation", adapter(operation.request)))
        if operation.result is not None:
            inputs.append(((operation.name, "result"), "serialization", adapter(operation.result)))
    generated, shared = TypeAdapter.json_schemas(inputs, ref_template=REF)
    by_operation = {key[0]: _with_plain_names(schema) for key, schema in generated.items()}
    return cast("Any", by_operation), _with_plain_names(shared.get("$defs", {}))


def _with_plain_names(schema: dict[str, Any]) -> dict[str, Any]:
    """Name the schema of a page after its items: `FactPage`, which pydantic calls `Page_Fact_`."""
    return json.loads(_PAGE_NAME.sub(r"\1Page", json.dumps(schema)))
