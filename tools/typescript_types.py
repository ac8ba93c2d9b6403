"""TypeScript types for the schemas of the OpenAPI document."""

import json
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bethink.host import codec
from bethink.model.operations.base import Operation

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 116
_OPENAPI = ROOT / "docs" / "reference" / "openapi.json"
_REF = re.compile('"#/components/schemas/([^"]+)"')


class Document:
    """The OpenAPI document with lookups of its schemas."""

    def __init__(self) -> None:
        self.content: dict[str, Any] = json.loads(_OPENAPI.read_text(encoding="utf-8"))
        self.schemas: dict[str, Any] = self.content["components"]["schemas"]

    def described(self, operation: Operation[Any, Any]) -> dict[str, Any]:
        """Return what the OpenAPI document says about an operation."""
        return self.content["paths"]["/v1" + operation.path][operation.http_method.lower()]

    def fields(self, operation: Operation[Any, Any]) -> dict[str, Any]:
        """Return the schemas of the request fields, by name."""
        described = self.described(operation)
        schemas = {
            parameter["name"]: {"description": parameter.get("description", ""), **_schema_of(parameter)}
            for parameter in described.get("parameters", [])
        }
        if "requestBody" in described:
            body = described["requestBody"]["content"]["application/json"]["schema"]
            schemas |= self.schemas[ref(body)]["properties"]
        return schemas

    def result(self, operation: Operation[Any, Any]) -> dict[str, Any] | None:
        """Return the schema of a result, without its wrapper."""
        content = self.described(operation)["responses"][str(operation.status)].get("content")
        if content is None:
            return None
        schema = content["application/json"]["schema"]
        name = codec.wrapper_of(operation)
        return schema["properties"][name] if name else schema

    def referenced_schemas(self, trees: Iterable[object]) -> dict[str, Any]:
        """Return the schemas that these reference, directly or indirectly."""
        names: set[str] = set()
        pending = list(trees)
        while pending:
            new_names = set(_REF.findall(json.dumps(pending.pop()))) - names
            names |= new_names
            pending += [self.schemas[name] for name in new_names]
        return {name: self.schemas[name] for name in sorted(names)}


def _schema_of(parameter: dict[str, Any]) -> dict[str, Any]:
    return parameter["schema"] if "schema" in parameter else parameter["content"]["application/json"]["schema"]


def ref(schema: dict[str, Any]) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def camel(name: str) -> str:
    """Return a name in camel case."""
    first, *words = name.split("_")
    return first + "".join(word.capitalize() for word in words)


def _type_name(name: str) -> str:
    if name.endswith("Page"):
        return f"Page<{name.removesuffix('Page')}>"
    return name.removesuffix("-Output").replace("-", "")


def type_of(schema: dict[str, Any], *, is_input: bool) -> str:
    """Return the TypeScript type of a schema, as input of the client or as result."""
    if "$ref" in schema:
        return _type_name(ref(schema))
    if "const" in schema or "enum" in schema:
        return " | ".join(json.dumps(option) for option in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(type_of(option, is_input=is_input) for option in schema["anyOf"]))
    return _plain(schema, is_input=is_input)


def _plain(schema: dict[str, Any], *, is_input: bool) -> str:
    match schema.get("type"):
        case "string":
            return ("When" if is_input else "Date") if schema.get("format") == "date-time" else "string"
        case "integer" | "number":
            return "number"
        case "boolean" | "null" as name:
            return name
        case "array":
            inner = type_of(schema.get("items", {}), is_input=is_input)
            return f"{'readonly ' if is_input else ''}{f'({inner})' if ' ' in inner else inner}[]"
        case "object":
            return _object(schema, is_input=is_input)
        case _:
            return "unknown"


def _object(schema: dict[str, Any], *, is_input: bool) -> str:
    if "properties" in schema:
        members = " ".join(
            f"{name}: {type_of(property_schema, is_input=is_input)};"
            for name, property_schema in schema["properties"].items()
        )
        return f"{{ {members} [more: string]: unknown }}"
    more = schema.get("additionalProperties", True)
    return f"{{ [name: string]: {type_of({} if more is True else more, is_input=is_input)} }}"


_WORDS = {"None": "null", "True": "true", "False": "false"}
_KEYWORD_CALL = re.compile(r"(`\w+)\((\w+)=([^,()]+)\)`")
"""A call with a keyword argument in Python, such as `checkpoint(force=True)`."""


def about(text: str, indent: str) -> list[str]:
    words = re.sub(r"\b(None|True|False)\b", lambda match: _WORDS[match[0]], " ".join(text.split()))
    words = _KEYWORD_CALL.sub(r"\1({ \2: \3 })`", words)
    lines = textwrap.wrap(words, WIDTH - len(indent) - 7)
    if not lines:
        return []
    if len(lines) == 1:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}" for line in lines), f"{indent} */"]


def component(name: str, schema: dict[str, Any], *, is_input: bool) -> list[str]:
    head = about(schema.get("description", "").partition("\n\n")[0], "")
    if "properties" not in schema:
        return [*head, f"export type {_type_name(name)} = {type_of(schema, is_input=is_input)};", ""]
    required = schema.get("required", []) if is_input else schema["properties"]
    lines = [*head, f"export interface {_type_name(name)} {{"]
    for field, property_schema in schema["properties"].items():
        lines += about(property_schema.get("description", ""), "    ")
        lines.append(f"    {field}{'' if field in required else '?'}: {type_of(property_schema, is_input=is_input)};")
    return [*lines, "}", ""]


def has_date(schema: Any) -> bool:
    return '"date-time"' in json.dumps(schema)


def holds_texts(schema: dict[str, Any] | None) -> bool:
    """Return whether a schema may contain user content under arbitrary names."""
    if schema is None:
        return False
    more = schema.get("additionalProperties", False)
    if isinstance(more, bool):
        return more or any(map(holds_texts, [*schema.get("anyOf", []), schema.get("items")]))
    return more.get("type") == "string" or holds_texts(more)


def is_text(schema: dict[str, Any]) -> bool:
    return any(option.get("type") == "string" or ref(option) for option in schema.get("anyOf", [schema]))
