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
_IN_LIST = re.compile(r"in_list\((:[a-z_][a-z0-9_]*)\)")
_GIVEN = re.compile(r"/\*given (\w+)\*/(.*?)(?:/\*else\*/(.*?))?/\*end\*/", re.DOTALL)
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
    """The text as it stands in the file: filters are put into it before it is spelt for the driver."""
    optional: frozenset[str] = frozenset()
    """What its text asks for with `/*given NAME*/ … /*else*/ … /*end*/`: the part stands only if NAME has a value."""


@cache
def queries(dialect: Dialect) -> dict[str, Query]:
    """Load every named query for a database."""
    found: dict[str, Query] = {}
    for name, wanted, text in _sections():
        if wanted in ("", dialect):
            if name in found:
                raise ValueError(f"query {name!r} is defined twice for {dialect}")
            found[name] = spelt(name, text, dialect)
    return found


def query_files() -> "list[Traversable]":
    """Return the files with queries: those of the store, and one for each feature that has any."""
    folder = resources.files("bethink.store") / "queries"
    shared = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda entry: entry.name)
    return [*shared, *files_named("queries.sql").values()]


def _sections() -> list[tuple[str, str, str]]:
    sections: list[tuple[str, str, str]] = []
    texts = [file.read_text(encoding="utf-8") for file in query_files()]
    columns = {
        found["name"]: [column.strip() for column in found["columns"].split(",")]
        for text in texts
        for found in _COLUMNS.finditer(text)
    }
    for text in (_with_columns(text, columns) for text in texts):
        headers = list(_HEADER.finditer(text))
        ends = [header.start() for header in headers[1:]] + [len(text)]
        for header, end in zip(headers, ends, strict=True):
            sections.append((header["name"], header["dialect"] or "", text[header.end() : end].strip()))
    return sections


def _with_columns(text: str, columns: Mapping[str, Sequence[str]]) -> str:
    """Expand `fact_columns()` and `fact_columns(f)` to the columns that a file declares once, with a table name."""

    def written_out(found: re.Match[str]) -> str:
        table = found["alias"] and found["alias"] + "."
        return ", ".join(table + column for column in columns[found["name"]])

    return _COLUMNS_OF.sub(written_out, text)


def _pairs(found: re.Match[str], dialect: Dialect) -> str:
    join = "" if found["join"] is None else (" JOIN" if dialect is Dialect.POSTGRES else " CROSS JOIN")
    return found.expand(_PAIRS_IN[dialect]) + join


@lru_cache(maxsize=1_000)
def with_given(query: Query, given: frozenset[str], dialect: Dialect) -> Query:
    """Return a query with the parts for what is given, so that each database plans for these conditions alone."""
    text = _GIVEN.sub(lambda found: found[2] if found[1] in given else (found[3] or ""), query.source)
    return spelt(query.name, text, dialect)


def spelt(name: str, source: str, dialect: Dialect) -> Query:
    """Spell a query for a driver: the short forms written out, and the parameters by number."""
    optional = frozenset(found[1] for found in _GIVEN.finditer(source))
    text = _GIVEN.sub(lambda found: found[3] or "", source)
    if dialect is Dialect.POSTGRES:
        text = _IN_LIST.sub(r"= ANY(\1)", text).replace("/*for_update*/", "FOR NO KEY UPDATE")
        text = text.replace("/*skip_locked*/", "FOR UPDATE SKIP LOCKED")
        text = _PACKED.sub(r"array_send(\1)", text)
        mark = "$"
    else:
        text = _IN_LIST.sub(r"IN (SELECT value FROM json_each(\1))", text)
        text = _PACKED.sub(r"\1", text)
        mark = "?"
    text = _PAIRS.sub(lambda found: _pairs(found, dialect), text)
    names: list[str] = []

    def place(match: re.Match[str]) -> str:
        parameter = match["name"]
        if parameter is None:
            return "" if match[0].startswith("--") else match[0]
        if parameter not in names:
            names.append(parameter)
        return f"{mark}{names.index(parameter) + 1}"

    spelling = _TOKEN.sub(place, text).strip()
    return Query(name=name, text=spelling, parameters=tuple(names), source=source, optional=optional)
