"""Writes the generated part of the TypeScript client: types, the table of operations, and the tree of errors.

Types come from the committed OpenAPI document, so run `tools.make_openapi` first. What a method takes by position, and
what may be sent again, comes from the table of operations, as it does in Python.
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
from bethink.errors import BethinkError, Stale
from bethink.host import codec
from bethink.model.operations import VERBS
from bethink.model.operations.base import KeyedRequest, Request, Retry, Verb
from bethink.model.records import SessionInfo
from tools.make_api import ALSO, CLASSES, parameters_of
from tools.typescript_types import (
    ROOT,
    WIDTH,
    Document,
    about,
    camel,
    component,
    dated,
    holds_texts,
    is_text,
    ref,
    type_of,
)

_TARGET = ROOT / "clients" / "typescript" / "src"
_HEAD = (
    "// Written by tools/make_typescript.py from the table of verbs and the OpenAPI document; run it again instead.\n"
)

HANDLES = [handle for handle in CLASSES if handle != "spaces"]
"""Several spaces asked together are merged in the Python client, which has the weights of recall."""

_FILLED = {"threads.open": "thread_id", "tests.add": "test_id"}
"""Requests that become safe to repeat when they are given an id of their own."""

_CURSORS = {
    "facts.all": "after:id",
    "threads.all": "after:id",
    "tests.all": "after:id",
    "reviews.all": "after:id",
    "memory.list_spaces": "after:",
    "session.read": "after:number",
    "threads.states": "after:number",
    "space.changes": "after:number",
    "space.sessions": "before:session.id",
}
"""Lists that go on: the field that says where, and what of the last item it holds."""


def verbs_of(handle: str) -> list[Verb[Any, Any]]:
    """Return the verbs that a handle has, and those that it shares with a space."""
    return [verb for verb in VERBS if verb.handle == handle or verb.name in ALSO.get(handle, ())]


_SHARED = """\
/** A moment. A text is in ISO 8601; a day alone means its end, or its beginning where something begins. */
export type When = Date | string;

/** Options of every method. */
export interface CallOptions {
    /** Ends the call, and rejects with the reason of the signal. */
    signal?: AbortSignal;
}

/** A page when it is awaited; every item of this page and those after it when it is iterated with `for await`. */
export type Paged<Page, Item> = Promise<Page> & AsyncIterable<Item>;
"""


def _types(document: Document) -> str:
    results = document.used([*filter(None, map(document.result, VERBS)), {"$ref": "#/components/schemas/Problem"}])
    given = document.used([document.fields(verb) for verb in VERBS])
    both = [name for name in given if name in results]
    unclear = [name for name in both if dated(given[name])]
    if unclear:
        raise SystemExit(f"make_typescript: with a time, both given and returned: {', '.join(unclear)}")
    lines = [_HEAD, _SHARED]
    for name, schema in results.items():
        lines += component(name, schema, given=False)
    for name, schema in given.items():
        lines += [] if name in both else component(name, schema, given=True)
    for handle in HANDLES:
        lines += _handle(document, handle)
    return "\n".join(lines)


def _handle(document: Document, handle: str) -> list[str]:
    name, said = CLASSES[handle].name, CLASSES[handle].about
    options: list[str] = []
    methods: list[str] = []
    for verb in verbs_of(handle):
        more, method = _method(document, handle, verb)
        options += more
        methods += method
    verbs = name.removesuffix("Verbs") + "Verbs"
    # The class `Session` is made from these types. As a parameter, it needs no import, which would be a cycle.
    parameter = "<Session>" if any(map(_opens, verbs_of(handle))) else ""
    return [*options, *about(said, ""), f"export interface {verbs}{parameter} {{", *methods, "}", ""]


def _method(document: Document, handle: str, verb: Verb[Any, Any]) -> tuple[list[str], list[str]]:
    """Spell the interface of a method's options, and the method."""
    known = document.fields(verb)
    hidden = codec.local_fields(verb.request)
    first, rest = ([each for each in part if each.name not in hidden] for part in parameters_of(verb, handle))
    required = [each for each in first if each.name not in verb.positional]
    parameters = [
        f"{camel(each.name)}{'' if each in required else '?'}: {type_of(known[each.name], given=True)}"
        for each in first
    ]
    lines: list[str] = []
    options = "CallOptions"
    if rest:
        options = f"{CLASSES[handle].name.removesuffix('Verbs')}{camel(f'_{verb.method_name}')}Options"
        lines.append(f"export interface {options} extends CallOptions {{")
        for each in rest:
            lines += about(known[each.name].get("description", ""), "    ")
            lines.append(f"    {each.name}?: {type_of(known[each.name], given=True)};")
        lines += ["}", ""]
    parameters.append(f"options?: {options}")
    said = " ".join(filter(None, (verb.summary, verb.details)))
    return lines, [
        *about(said, "    "),
        f"    {camel(verb.method_name)}({', '.join(parameters)}): {_returned(document, verb)};",
    ]


def _returned(document: Document, verb: Verb[Any, Any]) -> str:
    schema = document.result(verb)
    if schema is None:
        return "Promise<void>"
    result = type_of(schema, given=False).replace("SessionInfo", "Session" if _opens(verb) else "SessionInfo")
    if not _page(document, verb):
        return f"Promise<{result}>"
    items = schema if schema.get("type") == "array" else document.schemas[ref(schema)]["properties"]["items"]
    return f"Paged<{result}, {type_of(items['items'], given=False)}>"


def _opens(verb: Verb[Any, Any]) -> bool:
    return verb.result in (SessionInfo, SessionInfo | None)


def _page(document: Document, verb: Verb[Any, Any]) -> str:
    """Return how the next page is asked for; empty for what comes whole."""
    known, schema = document.fields(verb), document.result(verb) or {}
    pages = "next" in document.schemas.get(ref(schema), {}).get("properties", {})
    if not pages and {"limit", "after"} <= known.keys() and verb.name not in _CURSORS:
        raise SystemExit(f"make_typescript: say in _CURSORS how {verb.name} goes on")
    return "next" if pages else _CURSORS.get(verb.name, "")


def _table(document: Document) -> str:
    lines = [line for handle in HANDLES for line in _rows(document, handle)]
    times, free = _times(document)
    return "\n".join(
        [
            _HEAD,
            "/**",
            " * A verb a line: name, method, path below /v1, what is given by position, and more. A line that begins",
            " * with `=` names a handle, and the path for which `.` stands below it; `~` stands for /spaces/{space}.",
            " * A GET is sent again because it changes nothing (safe), a PUT or DELETE because twice is as once",
            " * (idempotent), a POST never (once), where none of these words stands; `once!dry_run` is safe with it.",
            " */",
            "export const TABLE = `\\",
            *lines[:-1],
            f"{lines[-1]}`;",
            "",
            "/** Fields of results that hold a time, beside those that end with _at. */",
            f"export const TIMES = {json.dumps(' '.join(each for each in times if not each.endswith('_at')))};",
            "",
            "/** Fields of results whose content is not ours, and is left as it is. */",
            f"export const FREE = {json.dumps(' '.join(free))};",
            "",
        ]
    )


_SPACE = "/spaces/{space}"
_USUAL = {"GET": Retry.SAFE, "POST": Retry.ONCE, "PUT": Retry.IDEMPOTENT, "DELETE": Retry.IDEMPOTENT}
"""Whether a request is sent again where its line does not say it."""


def _rows(document: Document, handle: str) -> list[str]:
    verbs = verbs_of(handle)
    bases = {"memory": "", "space": _SPACE, "session": f"{_SPACE}/sessions/{{session_id}}"}
    base = bases.get(handle, f"{_SPACE if verbs[0].in_space else ''}/{handle}")
    return [f"= {handle} {base.replace(_SPACE, '~')}".rstrip(), *(_row(document, handle, verb, base) for verb in verbs)]


def _row(document: Document, handle: str, verb: Verb[Any, Any], base: str) -> str:
    hidden = codec.local_fields(verb.request)
    first = [each.name for each in parameters_of(verb, handle)[0] if each.name not in hidden]
    schema, retried = document.result(verb), _retried(verb)
    below = base and (verb.path + "/").startswith(base + "/")
    path = "." + verb.path.removeprefix(base) if below else verb.path.replace(_SPACE, "~")
    more = {
        "fill": _filled(verb),
        "page": _page(document, verb),
        "wait": next((f"{each.default:g}" for each in fields(verb.request) if each.name == "wait"), ""),
    }
    said = {
        retried: retried != _USUAL[verb.http_method],
        codec.wrapper_of(verb) if schema is not None else "": True,
        "untimed": not verb.timed,
        "opens": _opens(verb),
        "plain": holds_texts(schema),
    }
    row = [camel(verb.method_name), verb.http_method, path, ",".join(first) or "-"]
    row += [f"{name}={value}" for name, value in more.items() if value]
    return " ".join([*row, *(name for name, true in said.items() if true and name)])


def _filled(verb: Verb[Any, Any]) -> str:
    if issubclass(verb.request, KeyedRequest):
        return "idempotency_key"
    if verb.request.repeatable is not Request.repeatable and verb.name not in _FILLED:
        raise SystemExit(f"make_typescript: say in _FILLED what makes {verb.name} safe to repeat")
    return _FILLED.get(verb.name, "")


def _retried(verb: Verb[Any, Any]) -> str:
    """Return whether a request may be sent again, and the field that turns it around."""

    def asked(**given: object) -> Retry:
        return verb.request.retry(SimpleNamespace(**{"session_id": None, "dry_run": False, **given}), verb.retry)

    plain = asked()
    for given in ({"session_id": "ses_1"}, {"dry_run": True}):
        if asked(**given) is not plain:
            return f"{plain}!{next(iter(given))}"
    return str(plain)


def _times(document: Document) -> tuple[list[str], list[str]]:
    """Return the names of fields that hold times, and of those that hold what is not ours. No name may be both."""
    dates: set[str] = set()
    texts: set[str] = set()
    free: set[str] = set()
    ours: set[str] = set()
    results = document.used([*filter(None, map(document.result, VERBS)), {"$ref": "#/components/schemas/MemoryChange"}])
    for schema in results.values():
        for name, each in schema.get("properties", {}).items():
            if dated(each):
                dates.add(name)
            elif is_text(each):
                texts.add(name)
            if holds_texts(each):
                free.add(name)
            elif dated(list(document.used([each]).values())):
                ours.add(name)
    unclear = {each for each in texts if each in dates or each.endswith("_at")} | (free & (ours | dates))
    if unclear:
        raise SystemExit(f"make_typescript: in one result a time or ours, in another not: {', '.join(sorted(unclear))}")
    return sorted(dates), sorted(free)


_BASE = """\
import type { Problem } from "./types.js";

/** What an error may be told beside its message. */
export interface Told {
    hint?: string | undefined;
    problem?: Partial<Problem> | undefined;
    cause?: unknown;
}

/** The base class of all errors. `hint` is the next step, in one sentence. */
export class BethinkError extends Error {
    readonly hint: string;
    /** What the server answered (RFC 9457), if the error comes from it. */
    readonly problem: Partial<Problem> | undefined;
    constructor(message: string, { hint = "", problem, cause }: Told = {}) {
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
        each
        for _, each in inspect.getmembers(errors, inspect.isclass)
        if issubclass(each, BethinkError) and each is not BethinkError
    ]
    kinds.sort(key=lambda each: len(each.__mro__))  # a class comes after what it is made from
    lines = [_HEAD, _BASE]
    for kind in kinds:
        lines += about((kind.__doc__ or "").partition("\n")[0].partition(". `")[0], "")
        body = _STALE if kind is Stale else "{}"
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


def made() -> dict[Path, str]:
    """Return what the files hold."""
    document = Document()
    return {
        _TARGET / "types.ts": _types(document),
        _TARGET / "table.ts": _table(document),
        _TARGET / "errors.ts": _errors(),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if the files are not what would be written")
    options = parser.parse_args()
    stale = {
        path: text for path, text in made().items() if not path.exists() or path.read_text(encoding="utf-8") != text
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
