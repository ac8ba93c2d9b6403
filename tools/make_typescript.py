"""Write the generated part of the TypeScript client: types, the table of operations, and the error classes.

Types come from the committed OpenAPI document, so run `tools.make_openapi` first. Positional parameters and retry rules
come from the table of operations, as in Python.
"""

import argparse
import inspect
import json
import sys
import textwrap
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bethink import errors
from bethink.errors import BethinkError, VersionConflictError
from bethink.host import codec
from bethink.model.operations import OPERATIONS
from bethink.model.operations.base import KeyedRequest, Operation, Request, Retry
from bethink.model.records import SessionInfo
from tools.make_api import CLASSES, operations_of, parameters_of, summary_of
from tools.typescript_types import (
    ROOT,
    WIDTH,
    Document,
    about,
    camel,
    component,
    has_date,
    holds_texts,
    is_text,
    ref,
    type_of,
)

_TARGET = ROOT / "clients" / "typescript" / "src"
_HEAD = "// Written by tools/make_typescript.py from the table of operations and the OpenAPI document. Do not edit.\n"

HANDLES = [handle for handle in CLASSES if handle != "group"]
"""The Python client merges the results of several spaces, because it has the weights of recall."""

_KEY_FIELDS = {"space.threads.open": "thread_id", "space.admin.tests.add": "test_id"}
"""Requests that are safe to repeat with an ID from the client."""

_CURSORS = {"space.threads.states": "after:number"}
"""Cursors of lists without pages: the request field, and the field of the last item that it takes."""

_STREAMED = {
    "space.ask": """
    /** Called with each sentence of the answer as soon as it is verified, before the promise resolves. */
    onSentence?: (sentence: AnswerSentence) => void;"""
}
"""Options of operations that index.ts can stream: their path then ends in `/stream`."""

_BY_HAND = {
    "space.admin": """
    /** Return the bytes of a file with everything in the space, which `bethink import archive` reads. */
    exportArchive(options?: CallOptions): Promise<ReadableStream<Uint8Array>>;""",
    "space.admin.changes": """
    /**
     * Yield each change of the space as it happens: `for await (const change of space.admin.changes.follow())`. It ends
     * with its signal and reconnects by itself. Rejects with `VersionConflictError` if changes after this number have
     * been deleted.
     *
     * @param options.after Number of the last change you have seen; 0 for all that are stored (default: from now on).
     */
    follow(options?: CallOptions & { after?: number }): AsyncGenerator<Change, void, void>;""",
}
"""Methods that index.ts implements, because their results are streams."""


_SHARED = """\
/** A time. Text is in ISO 8601. A date means its end, or its start for fields that begin something. */
export type When = Date | string;

/** Options of every method. */
export interface CallOptions {
    /** Cancels the call, which rejects with the reason of the signal. */
    signal?: AbortSignal;
}

/** A page of a list. `next` is the cursor of the next page, empty on the last one: pass it as `after`. */
export interface Page<Item> {
    items: Item[];
    next: string;
}

/** Await it for a page, or iterate with `for await` over the items of this page and all later pages. */
export type Paged<Result, Item> = Promise<Result> & AsyncIterable<Item>;
"""


def _types(document: Document) -> str:
    results = document.referenced_schemas(
        [*filter(None, map(document.result, OPERATIONS)), {"$ref": "#/components/schemas/Problem"}]
    )
    inputs = document.referenced_schemas([document.fields(operation) for operation in OPERATIONS])
    both = [name for name in inputs if name in results]
    unclear = [name for name in both if has_date(inputs[name])]
    if unclear:
        raise SystemExit(f"make_typescript: types with a time in both requests and results: {', '.join(unclear)}")
    lines = [_HEAD, _SHARED]
    for name, schema in results.items():
        lines += [] if name.endswith("Page") else component(name, schema, is_input=False)
    for name, schema in inputs.items():
        lines += [] if name in both else component(name, schema, is_input=True)
    for handle in HANDLES:
        lines += _handle(document, handle)
    return "\n".join(lines)


def interface_of(handle: str) -> str:
    """Return the name of the interface of a handle. The classes in index.ts add to those of the three main ones."""
    names = {"memory": "MemoryOperations", "space": "SpaceOperations", "session": "SessionOperations"}
    return names.get(handle, CLASSES[handle].name)


def _has_sessions(handle: str) -> bool:
    """Return whether a method of a handle, or of one below it, returns a `Session`."""
    return any(_opens(operation) for below in (handle, *_below(handle)) for operation in operations_of(below))


def _below(handle: str) -> list[str]:
    return [other for other in HANDLES if other.startswith(f"{handle}.")]


def _typed(handle: str) -> str:
    # The class `Session` uses these types. A type parameter avoids a cyclic import.
    return interface_of(handle) + ("<Session>" if _has_sessions(handle) else "")


def _handle(document: Document, handle: str) -> list[str]:
    options: list[str] = []
    methods: list[str] = []
    for child in HANDLES:
        if child.rpartition(".")[0] == handle:
            methods += [
                *about(CLASSES[child].about, "    "),
                f"    readonly {camel(child.rpartition('.')[2])}: {_typed(child)};",
            ]
    for operation in operations_of(handle):
        more, method = _method(document, handle, operation)
        options += more
        methods += method
    methods += [_BY_HAND[handle].lstrip("\n")] if handle in _BY_HAND else []
    return [*options, *about(CLASSES[handle].about, ""), f"export interface {_typed(handle)} {{", *methods, "}", ""]


def _method(document: Document, handle: str, operation: Operation[Any, Any]) -> tuple[list[str], list[str]]:
    """Return the interface of a method's options, and the method."""
    schemas = document.fields(operation)
    hidden = codec.local_fields(operation.request)
    first, keyword_only = (
        [field for field in part if field.name not in hidden] for part in parameters_of(operation, handle)
    )
    required = [field for field in first if field.name not in operation.positional]
    parameters = [
        f"{camel(field.name)}{'' if field in required else '?'}: {type_of(schemas[field.name], is_input=True)}"
        for field in first
    ]
    lines: list[str] = []
    options = "CallOptions"
    if keyword_only:
        name = "Memory" if handle == "memory" else CLASSES[handle].name
        options = f"{name}{camel(f'_{operation.method_name}')}Options"
        lines.append(f"export interface {options} extends CallOptions {{")
        for field in keyword_only:
            lines += about(schemas[field.name].get("description", ""), "    ")
            lines.append(f"    {field.name}?: {type_of(schemas[field.name], is_input=True)};")
        lines += [_STREAMED[operation.name].lstrip("\n")] if operation.name in _STREAMED else []
        lines += ["}", ""]
    parameters.append(f"options?: {options}")
    description = " ".join(filter(None, (summary_of(operation, handle), operation.details)))
    return lines, [
        *about(description, "    "),
        f"    {camel(operation.method_name)}({', '.join(parameters)}): {_return_type(document, operation)};",
    ]


def _return_type(document: Document, operation: Operation[Any, Any]) -> str:
    schema = document.result(operation)
    if schema is None:
        return "Promise<void>"
    result = type_of(schema, is_input=False).replace("SessionInfo", "Session" if _opens(operation) else "SessionInfo")
    if not _page(document, operation):
        return f"Promise<{result}>"
    items = schema if schema.get("type") == "array" else document.schemas[ref(schema)]["properties"]["items"]
    return f"Paged<{result}, {type_of(items['items'], is_input=False)}>"


def _opens(operation: Operation[Any, Any]) -> bool:
    return operation.result in (SessionInfo, SessionInfo | None)


def _page(document: Document, operation: Operation[Any, Any]) -> str:
    """Return the cursor of the next page; empty for a result without pages."""
    schemas, schema = document.fields(operation), document.result(operation) or {}
    pages = "after" in schemas and "next" in document.schemas.get(ref(schema), {}).get("properties", {})
    if not pages and {"limit", "after"} <= schemas.keys() and operation.name not in _CURSORS:
        raise SystemExit(f"make_typescript: _CURSORS has no cursor for {operation.name}")
    return "next" if pages else _CURSORS.get(operation.name, "")


def _table(document: Document) -> str:
    lines = [line for handle in HANDLES for line in _rows(document, handle)]
    times, free = _times(document)
    return "\n".join(
        [
            _HEAD,
            "/**",
            " * One operation per line: name, method, path below /v1, positional parameters, and options. A line that",
            " * begins with `=` has a handle and its path, which `.` stands for below; `~` stands for /spaces/{space}.",
            " * By default, a GET is retried because it changes nothing (safe), a PUT or DELETE because it is",
            " * idempotent, and a POST never (once). `once!dry_run` is safe with `dry_run`.",
            " */",
            "export const TABLE = `\\",
            *lines[:-1],
            f"{lines[-1]}`;",
            "",
            "/** Result fields with a time, in addition to those that end with _at. */",
            f"export const TIMES = {json.dumps(' '.join(name for name in times if not name.endswith('_at')))};",
            "",
            "/** Result fields with user content, which stays unchanged. */",
            f"export const FREE = {json.dumps(' '.join(free))};",
            "",
        ]
    )


_SPACE = "/spaces/{space}"
_USUAL = {"GET": Retry.SAFE, "POST": Retry.ONCE, "PUT": Retry.IDEMPOTENT, "DELETE": Retry.IDEMPOTENT}
"""Default retry rules by method."""


def _rows(document: Document, handle: str) -> list[str]:
    operations = operations_of(handle)
    bases = {"memory": "", "space": _SPACE, "session": f"{_SPACE}/sessions/{{session_id}}"}
    name = handle.rpartition(".")[2]
    base = bases.get(handle, f"{_SPACE if handle.startswith('space.') else ''}/{name}")
    return [
        f"= {handle} {base.replace(_SPACE, '~')}".rstrip(),
        *(_row(document, handle, operation, base) for operation in operations),
    ]


def _row(document: Document, handle: str, operation: Operation[Any, Any], base: str) -> str:
    hidden = codec.local_fields(operation.request)
    first = [field.name for field in parameters_of(operation, handle)[0] if field.name not in hidden]
    schema, retry = document.result(operation), _retry_mode(operation)
    below = base and (operation.path + "/").startswith(base + "/")
    path = "." + operation.path.removeprefix(base) if below else operation.path.replace(_SPACE, "~")
    more = {
        "fill": _key_field(operation),
        "page": _page(document, operation),
        "wait": _wait_field(operation),
    }
    flags = {
        retry: retry != _USUAL[operation.http_method],
        codec.wrapper_of(operation) if schema is not None else "": True,
        "untimed": not operation.timed,
        "opens": _opens(operation),
        "plain": holds_texts(schema),
        "streams": operation.name in _STREAMED,
    }
    row = [camel(operation.method_name), operation.http_method, path, ",".join(first) or "-"]
    row += [f"{name}={value}" for name, value in more.items() if value]
    return " ".join([*row, *(name for name, true in flags.items() if true and name)])


def _wait_field(operation: Operation[Any, Any]) -> str:
    """Return the field with the seconds that the server may wait, and its default."""
    if operation.request.wait_seconds is Request.wait_seconds:
        return ""
    return next(
        f"{field.name}:{field.default:g}" for field in fields(operation.request) if field.name in ("wait", "timeout")
    )


def _key_field(operation: Operation[Any, Any]) -> str:
    if issubclass(operation.request, KeyedRequest):
        return "idempotency_key"
    if operation.request.repeatable is not Request.repeatable and operation.name not in _KEY_FIELDS:
        raise SystemExit(f"make_typescript: _KEY_FIELDS has no field for {operation.name}")
    return _KEY_FIELDS.get(operation.name, "")


def _retry_mode(operation: Operation[Any, Any]) -> str:
    """Return the retry rule of a request, and the field that reverses it."""

    def retry_with(**changes: object) -> Retry:
        return operation.request.retry(
            SimpleNamespace(**{"session_id": None, "dry_run": False, **changes}), operation.retry
        )

    plain = retry_with()
    for changes in ({"session_id": "ses_1"}, {"dry_run": True}):
        if retry_with(**changes) is not plain:
            return f"{plain}!{next(iter(changes))}"
    return str(plain)


def _times(document: Document) -> tuple[list[str], list[str]]:
    """Return the names of fields with times, and of fields with user content. No name may be both."""
    dates: set[str] = set()
    texts: set[str] = set()
    free: set[str] = set()
    ours: set[str] = set()
    results = document.referenced_schemas(
        [*filter(None, map(document.result, OPERATIONS)), {"$ref": "#/components/schemas/Change"}]
    )
    for schema in results.values():
        for name, item in schema.get("properties", {}).items():
            if has_date(item):
                dates.add(name)
            elif is_text(item):
                texts.add(name)
            if holds_texts(item):
                free.add(name)
            elif has_date(list(document.referenced_schemas([item]).values())):
                ours.add(name)
    unclear = {item for item in texts if item in dates or item.endswith("_at")} | (free & (ours | dates))
    if unclear:
        raise SystemExit(f"make_typescript: fields with inconsistent content: {', '.join(sorted(unclear))}")
    return sorted(dates), sorted(free)


_BASE = """\
import type { Problem } from "./types.js";

/** Additional data of an error. */
export interface ErrorDetails {
    hint?: string | undefined;
    problem?: Partial<Problem> | undefined;
    cause?: unknown;
}

/** The base class of all errors. `hint` is the next step, in one sentence. */
export class BethinkError extends Error {
    readonly hint: string;
    /** The problem details of the server (RFC 9457), if the error comes from it. */
    readonly problem: Partial<Problem> | undefined;
    constructor(message: string, { hint = "", problem, cause }: ErrorDetails = {}) {
        super(hint ? `${message} ${hint}` : message, { cause });
        this.hint = hint;
        this.problem = problem;
    }
}
"""
_STALE = """{
    get current(): number | null {
        return this.problem?.current ?? null;
    }
}"""


def _errors() -> str:
    kinds = [
        cls
        for _, cls in inspect.getmembers(errors, inspect.isclass)
        if issubclass(cls, BethinkError) and cls is not BethinkError
    ]
    kinds.sort(key=lambda cls: len(cls.__mro__))  # base classes come first
    lines = [_HEAD, _BASE]
    for kind in kinds:
        lines += about((kind.__doc__ or "").partition("\n")[0].partition(". `")[0], "")
        body = _STALE if kind is VersionConflictError else "{}"
        lines.append(f"export class {kind.__name__} extends {kind.__bases__[0].__name__} {body}")
    names = ", ".join(["BethinkError", *(kind.__name__ for kind in kinds)])
    lines += ["", "/** Every error by its code. */"]
    lines += [
        "export const ERRORS = {",
        *textwrap.wrap(f"{names},", WIDTH, initial_indent="    ", subsequent_indent="    "),
        "};",
    ]
    lines += ["for (const [name, kind] of Object.entries(ERRORS)) kind.prototype.name = name;", ""]
    return "\n".join(lines)


def build_files() -> dict[Path, str]:
    """Return the text of each file."""
    document = Document()
    return {
        _TARGET / "types.ts": _types(document),
        _TARGET / "table.ts": _table(document),
        _TARGET / "errors.ts": _errors(),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if a file is out of date")
    options = parser.parse_args()
    stale = {
        path: text
        for path, text in build_files().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }
    if options.check:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date: run python -m tools.make_typescript")
        return 1 if stale else 0
    for path, text in stale.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
