"""Records as JSON: the one place that knows how requests and results are written and read.

Only interfaces load it: it is based on pydantic, which `import bethink` never loads.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import JsonSchemaMode

from bethink.errors import Invalid, Misconfigured
from bethink.model.checks import InvalidField, rules_of
from bethink.model.operations import VERBS
from bethink.model.operations.base import LocalOnly, Request, RequestT, ResultT, Verb
from bethink.model.text import canonical_json

REF = "#/components/schemas/{model}"


_DIGITS = re.compile("-?[0-9]+")
_MOST_ERRORS = 20
_MOST_SHOWN = 100
_UNKNOWN = "unknown field"
_PLAIN = {"missing": "is required", "unexpected_keyword_argument": _UNKNOWN}
"""What pydantic says in the words of Python, by the type of the error."""


class Unreadable(Invalid):
    """A request does not fit its description. `errors` says where and why, without repeating what was sent."""

    def __init__(self, errors: list[dict[str, str]]) -> None:
        super().__init__(f"{errors[0]['at']}: {errors[0]['message']}", hint="See /openapi.json for what is accepted.")
        self.errors = errors


def dump(value: object) -> Any:
    """Return a record as plain values, as JSON has them."""
    return adapter(type(value)).dump_python(value, mode="json", warnings=False)


def encode_result(verb: Verb[Any, ResultT], value: ResultT) -> bytes:
    """Write the result of a verb: a record as an object, a list as `items`, anything else as `result`."""
    if verb.result is None:
        return b""
    body = adapter(verb.result).dump_json(value, warnings=False)
    name = wrapper_of(verb)
    return b'{"%s":%s}' % (name.encode(), body) if name else body


def decode_result(verb: Verb[Any, ResultT], data: bytes) -> ResultT:
    """Read back what `encode_result` wrote. What a newer server adds is ignored.

    Raises:
        Misconfigured: if it was not written by a Bethink server.
    """
    if verb.result is None:
        return cast("ResultT", None)
    name = wrapper_of(verb)
    try:
        if name:
            tree = json.loads(data)
            return adapter(verb.result).validate_json(json.dumps(tree[name]))
        return adapter(verb.result).validate_json(data)
    except (ValueError, KeyError, TypeError) as error:
        hint = "Check the address of the server, and that it is not older than this client."
        raise Misconfigured(f"cannot read the answer to {verb.name}.", hint=hint) from error


def encode_request(verb: Verb[RequestT, Any], request: RequestT) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the names in the path of a request, and everything else that is not at its default.

    Raises:
        Invalid: for an object in it that is not JSON, as a database would.
    """
    _check_json(request)
    hidden = local_fields(verb.request)
    for name in hidden:
        if getattr(request, name) is not None:
            # Dropping it would let the server store its own default: a tool's text would become the user's.
            hint = "Open the file or PostgreSQL itself, or leave it out."
            raise Invalid(f"{name} needs a database in this process.", hint=hint)
    given = adapter(verb.request).dump_python(
        request, mode="json", exclude_defaults=True, exclude=set(hidden), warnings=False
    )
    path = {name: str(given.pop(name)) for name in path_fields(verb)}
    return path, given


def _check_json(value: object) -> None:
    # pydantic writes bytes, iterators and keys that are not text as something else.
    if is_dataclass(value):
        for each in fields(value):
            _check_json(getattr(value, each.name))
    elif isinstance(value, tuple):
        for each in cast("tuple[object, ...]", value):
            _check_json(each)
    elif isinstance(value, Mapping | list):
        canonical_json(cast("object", value))


def decode_body(verb: Verb[RequestT, Any], path: Mapping[str, str], body: bytes) -> RequestT:
    """Read a request from a JSON body and the names in its path.

    Raises:
        Invalid: if it does not fit.
    """
    request = _read(verb, lambda: adapter(verb.request).validate_json(_spliced(body, path), strict=True))
    for name in local_fields(verb.request):
        if getattr(request, name) is not None:
            raise Unreadable([{"at": name, "message": _UNKNOWN}])
    for name, value in path.items():
        if str(getattr(request, name)) != value:
            raise Unreadable([{"at": name, "message": "is in the path; leave it out of the body"}])
    return request.from_outside()


def decode_query(verb: Verb[RequestT, Any], path: Mapping[str, str], query: Mapping[str, str]) -> RequestT:
    """Read a request from a query and the names in its path.

    Raises:
        Invalid: if it does not fit.
    """
    unknown = "unknown query parameter"
    for name in query:
        if name in path:
            raise Unreadable([{"at": name, "message": unknown}])
    structured = {name: _json(name, query[name]) for name in json_fields(verb.request) if name in query}
    for name in _whole_numbers(verb.request):
        given = {**query, **path}.get(name, "0")
        if not _DIGITS.fullmatch(given):  # pydantic would read 1_0 as 10
            raise Unreadable([{"at": name, "message": "must be a whole number, written in digits"}])
    # Only plain values can be read strictly as text; with a list or an object among them, each is read as Python would.
    read = adapter(verb.request).validate_python if structured else adapter(verb.request).validate_strings
    return _read(verb, lambda: read({**query, **structured, **path}), unknown=unknown).from_outside()


def _json(name: str, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Unreadable([{"at": name, "message": "is not JSON"}]) from None


def _read(verb: Verb[RequestT, Any], read: Callable[[], RequestT], *, unknown: str = _UNKNOWN) -> RequestT:
    try:
        return read()
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
    broken: object = errors[0].get("ctx", {}).get("error")
    if len(errors) == 1 and not errors[0]["loc"] and isinstance(broken, Invalid):
        raise broken  # a rule of the request itself, told as Python tells it
    hidden = local_fields(verb.request)
    told = [_told(each) for each in errors[:_MOST_ERRORS]]
    for each in told:
        if each["at"].partition(".")[0] in hidden or each["message"] == _UNKNOWN:
            each["message"] = unknown
    raise Unreadable(told)


def _told(error: Any) -> dict[str, str]:
    parts, message = [*error["loc"]], _PLAIN.get(error["type"]) or str(error["msg"])
    broken = error.get("ctx", {}).get("error")
    if isinstance(broken, InvalidField):
        parts.append(broken.field)
        message = str(broken.args[0]).removeprefix(f"{broken.field} ")
    elif isinstance(broken, Exception):
        message = str(broken)
    return {"at": ".".join(map(str, parts))[:_MOST_SHOWN] or "body", "message": message}


def _spliced(body: bytes, path: Mapping[str, str]) -> bytes:
    """Put the names in the path into the body, without reading it twice."""
    text = body.strip() or b"{}"
    if not path or not text.startswith(b"{"):
        return text
    names = json.dumps(path)[:-1].encode()
    return names + (b"" if text[1:].lstrip().startswith(b"}") else b",") + text[1:]


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """Return what reads and writes a type; made once."""
    return TypeAdapter(kind)


@cache
def wrapper_of(verb: Verb[Any, Any]) -> str:
    """Return the name under which a result stands on the wire; empty for a record, which is an object itself."""
    if get_origin(verb.result) in (list, dict):
        return "items"
    return "" if is_dataclass(verb.result) else "result"


@cache
def path_fields(verb: Verb[Any, Any]) -> tuple[str, ...]:
    """Return the fields of a request that stand in the path of its verb."""
    names = (part[1:-1] for part in verb.path.split("/") if part.startswith("{"))
    return tuple(name for name in names if name != "space")


@cache
def _whole_numbers(request: type[Request]) -> tuple[str, ...]:
    return tuple(name for name, rule in rules_of(request) if int in rule.kinds and float not in rule.kinds)


@cache
def local_fields(request: type[Request]) -> tuple[str, ...]:
    """Return the fields that no interface reads from a caller."""
    hints = get_type_hints(request, include_extras=True)
    return tuple(
        name
        for name, hint in hints.items()
        if any(isinstance(each, LocalOnly) for each in getattr(hint, "__metadata__", ()))
    )


@cache
def json_fields(request: type[Request]) -> tuple[str, ...]:
    """Return the fields that are lists or objects, and so stand in a query as JSON."""
    hints = get_type_hints(request, include_extras=True)
    return tuple(name for name, hint in hints.items() if any(_structured(each) for each in _alternatives(hint)))


def _alternatives(hint: Any) -> list[Any]:
    while get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) in (Union, UnionType):
        return [part for each in get_args(hint) for part in _alternatives(each)]
    return [hint]


def _structured(hint: Any) -> bool:
    return get_origin(hint) in (tuple, list, dict, Mapping)


def schemas() -> tuple[dict[tuple[str, str], dict[str, Any]], dict[str, Any]]:
    """Describe every request and result for an OpenAPI document, with the definitions that they share.

    The first part has a schema for each verb's name and either `request` or `result`.
    """
    inputs: list[tuple[Any, JsonSchemaMode, TypeAdapter[Any]]] = []
    for verb in VERBS:
        inputs.append(((verb.name, "request"), "validation", adapter(verb.request)))
        if verb.result is not None:
            inputs.append(((verb.name, "result"), "serialization", adapter(verb.result)))
    found, rest = TypeAdapter.json_schemas(inputs, ref_template=REF)
    described = {key[0]: schema for key, schema in found.items()}
    return cast("Any", described), rest.get("$defs", {})
