"""Schemas of the OpenAPI document, spelt as types of TypeScript."""

import json
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bethink.host import codec
from bethink.model.operations.base import Verb

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 116
_OPENAPI = ROOT / "docs" / "reference" / "openapi.json"
_REF = re.compile('"#/components/schemas/([^"]+)"')


class Document:
    """The OpenAPI document, and what is asked of it here."""

    def __init__(self) -> None:
        self.whole: dict[str, Any] = json.loads(_OPENAPI.read_text(encoding="utf-8"))
        self.schemas: dict[str, Any] = self.whole["components"]["schemas"]

    def operation(self, verb: Verb[Any, Any]) -> dict[str, Any]:
        return self.whole["paths"]["/v1" + verb.path][verb.http_method.lower()]

    def fields(self, verb: Verb[Any, Any]) -> dict[str, Any]:
        """Return the schemas of what a caller may send, by name."""
        operation = self.operation(verb)
        found = {
            each["name"]: {"description": each.get("description", ""), **_schema_of(each)}
            for each in operation.get("parameters", [])
        }
        if "requestBody" in operation:
            body = operation["requestBody"]["content"]["application/json"]["schema"]
            found |= self.schemas[ref(body)]["properties"]
        return found

    def result(self, verb: Verb[Any, Any]) -> dict[str, Any] | None:
        """Return the schema of a result, without what it is wrapped in."""
        content = self.operation(verb)["responses"][str(verb.status)].get("content")
        if content is None:
            return None
        schema = content["application/json"]["schema"]
        name = codec.wrapper_of(verb)
        return schema["properties"][name] if name else schema

    def used(self, trees: Iterable[object]) -> dict[str, Any]:
        """Return the schemas that these refer to, also by way of others."""
        found: set[str] = set()
        rest = list(trees)
        while rest:
            named = set(_REF.findall(json.dumps(rest.pop()))) - found
            found |= named
            rest += [self.schemas[name] for name in named]
        return {name: self.schemas[name] for name in sorted(found)}


def _schema_of(parameter: dict[str, Any]) -> dict[str, Any]:
    return parameter["schema"] if "schema" in parameter else parameter["content"]["application/json"]["schema"]


def ref(schema: dict[str, Any]) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def camel(name: str) -> str:
    """Spell a name as JavaScript does."""
    first, *rest = name.split("_")
    return first + "".join(each.capitalize() for each in rest)


def _named(name: str) -> str:
    return name.removesuffix("-Output").replace("-", "")


def type_of(schema: dict[str, Any], *, given: bool) -> str:
    """Spell a schema as a type: of what is given to the client, or of what it returns."""
    if "$ref" in schema:
        return _named(ref(schema))
    if "const" in schema or "enum" in schema:
        return " | ".join(json.dumps(each) for each in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(type_of(each, given=given) for each in schema["anyOf"]))
    return _plain(schema, given=given)


def _plain(schema: dict[str, Any], *, given: bool) -> str:
    match schema.get("type"):
        case "string":
            return ("When" if given else "Date") if schema.get("format") == "date-time" else "string"
        case "integer" | "number":
            return "number"
        case "boolean" | "null" as name:
            return name
        case "array":
            inner = type_of(schema.get("items", {}), given=given)
            return f"{'readonly ' if given else ''}{f'({inner})' if ' ' in inner else inner}[]"
        case "object":
            return _object(schema, given=given)
        case _:
            return "unknown"


def _object(schema: dict[str, Any], *, given: bool) -> str:
    if "properties" in schema:
        known = " ".join(f"{name}: {type_of(each, given=given)};" for name, each in schema["properties"].items())
        return f"{{ {known} [more: string]: unknown }}"
    more = schema.get("additionalProperties", True)
    return f"{{ [name: string]: {type_of({} if more is True else more, given=given)} }}"


_WORDS = {"None": "null", "True": "true", "False": "false"}


def about(text: str, indent: str) -> list[str]:
    words = re.sub(r"\b(None|True|False)\b", lambda found: _WORDS[found[0]], " ".join(text.split()))
    lines = textwrap.wrap(words, WIDTH - len(indent) - 7)
    if not lines:
        return []
    if len(lines) == 1:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}" for line in lines), f"{indent} */"]


def component(name: str, schema: dict[str, Any], *, given: bool) -> list[str]:
    head = about(schema.get("description", "").partition("\n\n")[0], "")
    if "properties" not in schema:
        return [*head, f"export type {_named(name)} = {type_of(schema, given=given)};", ""]
    required = schema.get("required", []) if given else schema["properties"]
    lines = [*head, f"export interface {_named(name)} {{"]
    for field, each in schema["properties"].items():
        lines += about(each.get("description", ""), "    ")
        lines.append(f"    {field}{'' if field in required else '?'}: {type_of(each, given=given)};")
    return [*lines, "}", ""]


def dated(schema: Any) -> bool:
    return '"date-time"' in json.dumps(schema)


def holds_texts(schema: dict[str, Any] | None) -> bool:
    """Return whether a caller's own words may stand in it under names that are not ours."""
    if schema is None:
        return False
    more = schema.get("additionalProperties", False)
    if isinstance(more, bool):
        return more or any(map(holds_texts, [*schema.get("anyOf", []), schema.get("items")]))
    return more.get("type") == "string" or holds_texts(more)


def is_text(schema: dict[str, Any]) -> bool:
    return any(each.get("type") == "string" or ref(each) for each in schema.get("anyOf", [schema]))
