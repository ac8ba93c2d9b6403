"""Reads the named queries: one text for both databases, with an override only where they differ."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING

from bethink.base.features import files_named
from bethink.base.frozen import frozen

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_HEADER = re.compile(r"^-- name: (?P<name>\w+)(?: \((?P<dialect>sqlite|postgres)\))?$", re.MULTILINE)
_TOKEN = re.compile(r"'[^']*'|--[^\n]*|(?<![:\w]):(?P<name>[a-z_][a-z0-9_]*)")
_COLUMNS = re.compile(r"^-- columns: (?P<name>\w+)\n(?P<columns>[^;]+);$", re.MULTILINE)
_COLUMNS_OF = re.compile(r"\b(?P<name>[a-z]+)_columns\((?P<alias>\w*)\)")
_EXPRESSION = re.compile(r"^-- expression: (?P<name>\w+)\((?P<alias>\w+)\)\n(?P<text>[^;]+);$", re.MULTILINE)
_IN_LIST = re.compile(r"in_list\((:[a-z_][a-z0-9_]*)\)")
_OPTIONAL = re.compile(r"/\*given (\w+)\*/(.*?)(?:/\*else\*/(.*?))?/\*end\*/", re.DOTALL)
_PACKED = re.compile(r"packed\((\w+(?:\.\w+)?)\)")
_PAIRS = re.compile(r"pairs\((:[a-z_][a-z0-9_]*), (:[a-z_][a-z0-9_]*)\)(?P<join>\s+JOIN\b)?")
_PAIRS_IN = {
    "postgres": r"unnest(CAST(\1 AS text[]), CAST(\2 AS bigint[])) AS pairs (id, number)",
    # A CROSS JOIN keeps SQLite from reading the whole space first, and then looking for each row among the pairs.
    "sqlite": r"(SELECT value AS id, \2 ->> key AS number FROM json_each(\1)) AS pairs",
}


class Dialect(StrEnum):
    """The two supported databases."""

    SQLITE = "sqlite"
    POSTGRES = "postgres"


@frozen
class Query:
    """One statement in the syntax of a driver, and its parameters in the order they are bound."""

    name: str
    text: str
    parameters: tuple[str, ...]
    source: str = field(default="", repr=False)
    """The text as in the file. Filters are inserted before it is compiled for the driver."""
    optional: frozenset[str] = frozenset()
    """Parameters in `/*given NAME*/ … /*else*/ … /*end*/`: the first part is used only if NAME has a value."""


@cache
def queries(dialect: Dialect) -> dict[str, Query]:
    """Load every named query for a database."""
    result: dict[str, Query] = {}
    for name, query_dialect, text in _sections():
        if query_dialect in ("", dialect):
            if name in result:
                raise ValueError(f"Query {name!r} is defined twice for {dialect}.")
            result[name] = compile_query(name, text, dialect)
    return result


def query_files() -> "list[Traversable]":
    """Return the files with queries: those of the store, and one for each feature that has any."""
    folder = resources.files("bethink.store") / "queries"
    shared = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda entry: entry.name)
    return [*shared, *files_named("queries.sql").values()]


def _sections() -> list[tuple[str, str, str]]:
    sections: list[tuple[str, str, str]] = []
    texts = [file.read_text(encoding="utf-8") for file in query_files()]
    columns = {
        match["name"]: [column.strip() for column in match["columns"].split(",")]
        for text in texts
        for match in _COLUMNS.finditer(text)
    }
    expressions = {match["name"]: match for text in texts for match in _EXPRESSION.finditer(text)}
    for text in (_with_columns(_with_expressions(text, expressions), columns) for text in texts):
        headers = list(_HEADER.finditer(text))
        ends = [header.start() for header in headers[1:]] + [len(text)]
        for header, end in zip(headers, ends, strict=True):
            sections.append((header["name"], header["dialect"] or "", text[header.end() : end].strip()))
    return sections


def _with_columns(text: str, columns: Mapping[str, Sequence[str]]) -> str:
    """Expand `fact_columns()` and `fact_columns(f)` to the columns that a file declares once, with a table name."""

    def expand(match: re.Match[str]) -> str:
        table = match["alias"] and match["alias"] + "."
        return ", ".join(table + column for column in columns[match["name"]])

    return _COLUMNS_OF.sub(expand, text)


def _with_expressions(text: str, expressions: Mapping[str, re.Match[str]]) -> str:
    """Expand `is_in_view(f)` to the expression that a file declares once, about the table with that name."""
    for name, declared in expressions.items():
        expression = declared["text"].strip()

        def expand(match: re.Match[str], expression: str = expression, alias: str = declared["alias"]) -> str:
            return "(" + re.sub(rf"\b{alias}\.", match["alias"] + ".", expression) + ")"

        text = re.sub(rf"(?<!expression: )\b{name}\((?P<alias>\w+)\)", expand, text)
    return text


def _expand_pairs(match: re.Match[str], dialect: Dialect) -> str:
    join = "" if match["join"] is None else (" JOIN" if dialect is Dialect.POSTGRES else " CROSS JOIN")
    return match.expand(_PAIRS_IN[dialect]) + join


@lru_cache(maxsize=1_000)
def with_present(query: Query, present: frozenset[str], dialect: Dialect) -> Query:
    """Return a query with the parts for the present parameters, so that databases plan for these conditions alone."""
    text = _OPTIONAL.sub(lambda match: match[2] if match[1] in present else (match[3] or ""), query.source)
    return compile_query(query.name, text, dialect)


def compile_query(name: str, source: str, dialect: Dialect) -> Query:
    """Compile a query for a driver: expand short forms, and number the parameters."""
    optional = frozenset(match[1] for match in _OPTIONAL.finditer(source))
    text = _OPTIONAL.sub(lambda match: match[3] or "", source)
    if dialect is Dialect.POSTGRES:
        text = _IN_LIST.sub(r"= ANY(\1)", text).replace("/*for_update*/", "FOR NO KEY UPDATE")
        text = text.replace("/*skip_locked*/", "FOR UPDATE SKIP LOCKED")
        text = _PACKED.sub(r"array_send(\1)", text)
        mark = "$"
    else:
        text = _IN_LIST.sub(r"IN (SELECT value FROM json_each(\1))", text)
        text = _PACKED.sub(r"\1", text)
        mark = "?"
    text = _PAIRS.sub(lambda match: _expand_pairs(match, dialect), text)
    names: list[str] = []

    def number_parameter(match: re.Match[str]) -> str:
        parameter = match["name"]
        if parameter is None:
            return "" if match[0].startswith("--") else match[0]
        if parameter not in names:
            names.append(parameter)
        return f"{mark}{names.index(parameter) + 1}"

    compiled = _TOKEN.sub(number_parameter, text).strip()
    return Query(name=name, text=compiled, parameters=tuple(names), source=source, optional=optional)
