"""Tables of a space, taken from the schema, and the queries that copy their rows unchanged.

A new table fails a test until `_CORE` or the module `archive.py` of a feature declares it, or the test says why not.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from bethink.base.features import modules_named
from bethink.base.frozen import frozen
from bethink.model.refs import RefKind
from bethink.store import messages, terms
from bethink.store.db import Row, Tx
from bethink.store.migrate import schema
from bethink.store.sql import Dialect, Query, compile_query
from bethink.store.terms import Entry

Values = tuple[Any, ...]


@frozen
class ArchivedTable:
    """Declares how the rows of a table are archived, and how the rows of two databases are merged."""

    name: str
    later: str = ""
    """The column with the time at which a row was set. Of two rows with the same key, the later one is kept;
    without such a column, the one whose text sorts last."""
    about: tuple[str, str, str] | None = None
    """The columns with the kind, id and number of the memory that a row is about. They are updated when a merge
    changes the id or number of that memory."""
    moved_only: bool = False
    """Not part of an archive: the rows are copied only when the space moves to another shard, with its key."""


_CORE = (
    ArchivedTable(name="agents"),
    ArchivedTable(name="conversations"),
    ArchivedTable(name="summaries", later="set_at"),
    ArchivedTable(name="sessions"),
    ArchivedTable(name="messages"),
    ArchivedTable(name="answers"),
    ArchivedTable(name="session_summaries", later="generated_at"),
    ArchivedTable(name="facts"),
    ArchivedTable(name="fact_statements"),
    ArchivedTable(name="fact_links"),
    ArchivedTable(name="fact_sources"),
    ArchivedTable(name="fact_quotes"),
    ArchivedTable(name="message_marks"),
    ArchivedTable(name="forget_requests", later="decided_at"),
    ArchivedTable(name="feedback"),
    ArchivedTable(name="reviews", later="decided_at"),
    ArchivedTable(name="review_sources"),
    ArchivedTable(name="relearnings", later="applied_at"),
    ArchivedTable(name="learning_rules", later="changed_at"),
    ArchivedTable(name="documents"),
    ArchivedTable(name="document_references"),
    ArchivedTable(name="document_sources"),
    ArchivedTable(name="change_sets", later="settled_at"),
    ArchivedTable(name="threads"),
    ArchivedTable(name="events"),
    ArchivedTable(name="chunks"),
    ArchivedTable(name="placements"),
    ArchivedTable(name="states"),
    ArchivedTable(name="ledger"),
    ArchivedTable(name="ledger_items", about=("kind", "id", "number")),
    ArchivedTable(name="usage", about=("kind", "id", "number")),
    ArchivedTable(name="chain_links", moved_only=True),
    ArchivedTable(name="changes", moved_only=True),
    ArchivedTable(name="erasures", moved_only=True),
    ArchivedTable(name="erasure_sinks", moved_only=True),
    ArchivedTable(name="tombstones", moved_only=True),
    ArchivedTable(name="written_files", moved_only=True),
    ArchivedTable(name="legal_holds", moved_only=True),
    ArchivedTable(name="space_spending", moved_only=True),
    ArchivedTable(name="document_operations", moved_only=True),
)

_LOCAL_COLUMNS = {("messages", "seal"), ("sessions", "sealed_from")}
"""Columns that are meaningless in another space, because seals depend on its key."""
_DERIVED_COLUMNS = {
    "facts": frozenset(
        {"created_at", "valid_from", "valid_to", "ended_by", "ended_as", "doubted_by", "doubted_at"}
    ),
}  # fmt: skip
"""Columns that follow from other rows. They are computed again after rows were added or merged."""
_TABLE = re.compile(r"(?ms)^CREATE (?:VIRTUAL )?TABLE (?P<name>\w+)(?: USING \w+)? \(\n(?P<body>.*?)^\)")
_COLUMN = re.compile(r"^    (?P<name>[a-z_]+) (?P<type>TEXT|INTEGER|BLOB)\b(?P<rest>.*?),?$", re.MULTILINE)
_KEY = re.compile(r"^    PRIMARY KEY \((?P<names>[^)]+)\)", re.MULTILINE)


@frozen
class TableColumn:
    """A column: INTEGER or TEXT, whether it may be empty, and whether its text is JSON."""

    name: str
    integer: bool
    optional: bool
    json: bool


@frozen
class Table:
    """A table as it is archived: its columns in the order of the schema, without the space and computed columns."""

    name: str
    columns: tuple[TableColumn, ...]
    key: tuple[str, ...]
    """The columns of its primary key after the space; rows are archived in their order."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(column.name for column in self.columns)

    def key_of(self, row: Row) -> Values:
        """Return the values that identify a row."""
        return tuple(row[name] for name in self.key)


def is_same(table: Table, row: Row, other: Row) -> bool:
    """Return whether two rows differ at most in columns that follow from other rows, or that one of them lacks."""
    derived = _DERIVED_COLUMNS.get(table.name, frozenset())
    return all(row.get(name, other[name]) == other[name] for name in table.names if name not in derived)


@cache
def tables(*, include_moved: bool = False) -> tuple[Table, ...]:
    """Return the tables of an archive, each after those it refers to; with `include_moved`, also those of a move."""
    texts = {match["name"]: match["body"] for match in _TABLE.finditer(schema(Dialect.SQLITE))}
    names = [table.name for table in declared_tables() if not table.moved_only]
    if include_moved:
        names += [table.name for table in declared_tables() if table.moved_only]
    return tuple(_table(name, texts[name], include_moved=include_moved) for name in names)


@cache
def declared_tables() -> tuple[ArchivedTable, ...]:
    """Return the declarations of all tables of a space, each after those it refers to: the core's, then features'."""
    return (*_CORE, *(table for module in modules_named("archive") for table in module.TABLES))


def _table(name: str, body: str, *, include_moved: bool) -> Table:
    columns = tuple(
        TableColumn(
            name=item["name"],
            integer=item["type"] == "INTEGER",
            optional="NOT NULL" not in item["rest"],
            json="json_valid" in item["rest"],
        )
        for item in _COLUMN.finditer(body)
        if item["name"] != "space_id"
        and "GENERATED" not in item["rest"]
        and (include_moved or (name, item["name"]) not in _LOCAL_COLUMNS)
    )
    key = _KEY.search(body)
    names = () if key is None else tuple(item for item in key["names"].split(", ") if item != "space_id")
    return Table(name=name, columns=columns, key=names)


def pages(tx: Tx, table: Table, *, space: str, size: int) -> Iterator[list[Row]]:
    """Yield the rows of a space in the order of their key, `size` rows at a time."""
    after: Values | None = None
    while rows := _page(tx, table, space=space, after=after, size=size):
        yield rows
        if len(rows) < size:
            return
        after = table.key_of(rows[-1])


def _page(tx: Tx, table: Table, *, space: str, after: Values | None, size: int) -> list[Row]:
    cursor = {} if after is None else dict(zip(_parameter_names(table, "after"), after, strict=True))
    return tx.all(_select(table, tx.dialect, is_continued=after is not None), space=space, limit=size, **cursor)


def between(tx: Tx, table: Table, first: Values, last: Values, *, space: str) -> dict[Values, Row]:
    """Return the rows of a space from one key to another, by their key."""
    bounds = dict(zip(_parameter_names(table, "first"), first, strict=True)) | dict(
        zip(_parameter_names(table, "last"), last, strict=True)
    )
    return {table.key_of(row): row for row in tx.all(_between(table, tx.dialect), space=space, **bounds)}


def is_empty(tx: Tx, *, space: str) -> bool:
    """Return whether a space has no row in any table of an archive."""
    return not any(_page(tx, table, space=space, after=None, size=1) for table in tables())


def insert(tx: Tx, table: Table, rows: Sequence[Row], *, space: str) -> None:
    """Insert rows unchanged, and index their texts. A missing column gets its default."""
    if not rows:
        return
    names = tuple(name for name in table.names if name in rows[0])
    if tx.dialect is Dialect.POSTGRES:
        values = [{name: row[name] for name in names} for row in rows]
        tx.run(_bulk_insert(table, names), space=space, rows=json.dumps(values, ensure_ascii=False))
    else:
        query = _insert(table, names)
        for row in rows:
            tx.run(query, space=space, **{name: row[name] for name in names})
    index(tx, table, rows, space=space)


def update(tx: Tx, table: Table, row: Row, *, space: str) -> None:
    """Set every column of an existing row, and index its text again."""
    tx.run(_update(table, tx.dialect), space=space, **row)
    if table.name in _TEXTS:
        kind, name, number = _TEXTS[table.name]
        entry_key = {"kind": kind, "id": row[name], "number": row[number] if number else 0}
        if not tx.all(_find_indexed(tx.dialect), space=space, **entry_key):
            index(tx, table, [row], space=space)


def delete(tx: Tx, table: Table, key: Values, *, space: str) -> None:
    """Delete a row and the rows that refer to it."""
    tx.run(_delete(table, tx.dialect), space=space, **dict(zip(table.key, key, strict=True)))


def has_reference(tx: Tx, table: str, columns: Sequence[str], key: Values, *, space: str) -> bool:
    """Return whether a row of a table refers to a key."""
    query = _find_reference(table, tuple(columns), tx.dialect)
    return bool(tx.all(query, space=space, **dict(zip(columns, key, strict=True))))


def created_at(tx: Tx, *, space: str) -> int | None:
    """Return when a space was created; None if it does not exist."""
    row = tx.first("space_made", space=space)
    return None if row is None else row["created_at"]


def set_created_at(tx: Tx, at: int, *, space: str) -> None:
    """Set when a space was created."""
    tx.run("set_space_made", space=space, at=at)


def index(tx: Tx, table: Table, rows: Sequence[Row], *, space: str) -> None:
    """Index the texts of rows, if their table has searchable texts."""
    if table.name in _TEXTS:
        entries = [entry for row in rows if (entry := _entry(table.name, row)) is not None]
        terms.put(tx, entries, space=space)


_TEXTS = {
    "messages": (RefKind.MESSAGE, "session_id", "number"),
    "facts": (RefKind.FACT, "id", "version"),
    "session_summaries": (RefKind.SESSION_SUMMARY, "session_id", ""),
    "documents": (RefKind.DOCUMENT, "id", "version"),
}


def _entry(table: str, row: Row) -> Entry | None:
    if table == "messages":
        if row["role"] == "system" or row["origin"] == "memory":
            return None
        words = messages.words_of(row["content"], row["name"], by_user=messages.is_by_user(row["role"], row["origin"]))
        return Entry(RefKind.MESSAGE, row["session_id"], row["number"], row["said_at"], words)
    if table == "facts":
        words = terms.fact_words(row["content"], row["kind"], row["slot"])
        return Entry(RefKind.FACT, row["id"], row["version"], row["created_at"], words)
    if table == "session_summaries":
        words = terms.words_of(f"{row['summary']}\n{row['raw_memory']}")
        return Entry(RefKind.SESSION_SUMMARY, row["session_id"], 0, row["generated_at"], words)
    if row["redacted"]:
        return None
    words = terms.words_of("\n".join((row["title"], row["description"], row["body"])))
    return Entry(RefKind.DOCUMENT, row["id"], row["version"], row["valid_from"], words)


def _parameter_names(table: Table, prefix: str) -> tuple[str, ...]:
    return tuple(f"{prefix}_{name}" for name in table.key)


def _placeholders(names: Sequence[str]) -> str:
    return ", ".join(f":{name}" for name in names)


@cache
def _select(table: Table, dialect: Dialect, *, is_continued: bool) -> Query:
    key = ", ".join(table.key)
    after = f" AND ({key}) > ({_placeholders(_parameter_names(table, 'after'))})" if is_continued else ""
    text = (
        f"SELECT {', '.join(table.names)} FROM {table.name} WHERE space_id = :space{after} ORDER BY {key} LIMIT :limit"
    )
    return compile_query(f"archive_{table.name}", text, dialect)


@cache
def _between(table: Table, dialect: Dialect) -> Query:
    key = f"({', '.join(table.key)})"
    text = (
        f"SELECT {', '.join(table.names)} FROM {table.name} WHERE space_id = :space "
        f"AND {key} >= ({_placeholders(_parameter_names(table, 'first'))}) "
        f"AND {key} <= ({_placeholders(_parameter_names(table, 'last'))})"
    )
    return compile_query(f"archive_{table.name}", text, dialect)


@cache
def _insert(table: Table, names: tuple[str, ...]) -> Query:
    text = f"INSERT INTO {table.name} (space_id, {', '.join(names)}) VALUES (:space, {_placeholders(names)})"
    return compile_query(f"load_{table.name}", text, Dialect.SQLITE)


@cache
def _bulk_insert(table: Table, names: tuple[str, ...]) -> Query:
    # One JSON value, as for every insert of many rows; JSON columns are read as text, which keeps every byte of them.
    columns = [column for column in table.columns if column.name in names]
    kinds = ", ".join(f"{item.name} {'bigint' if item.integer else 'text'}" for item in columns)
    values = ", ".join(f"CAST(r.{item.name} AS json)" if item.json else f"r.{item.name}" for item in columns)
    text = (
        f"INSERT INTO {table.name} (space_id, {', '.join(item.name for item in columns)}) "
        f"SELECT :space, {values} FROM json_to_recordset(CAST(:rows AS json)) AS r({kinds})"
    )
    return compile_query(f"load_{table.name}", text, Dialect.POSTGRES)


@cache
def _update(table: Table, dialect: Dialect) -> Query:
    changed = ", ".join(f"{name} = :{name}" for name in table.names if name not in table.key) or "space_id = :space"
    return compile_query(
        f"update_{table.name}", f"UPDATE {table.name} SET {changed} WHERE {_key_condition(table)}", dialect
    )


@cache
def _delete(table: Table, dialect: Dialect) -> Query:
    return compile_query(f"delete_{table.name}", f"DELETE FROM {table.name} WHERE {_key_condition(table)}", dialect)


@cache
def _find_reference(table: str, columns: tuple[str, ...], dialect: Dialect) -> Query:
    conditions = " AND ".join(f"{name} = :{name}" for name in columns)
    return compile_query(
        f"referring_{table}",
        f"SELECT 1 AS found FROM {table} WHERE space_id = :space AND {conditions} LIMIT 1",
        dialect,
    )


@cache
def _find_indexed(dialect: Dialect) -> Query:
    text = "SELECT doc FROM terms WHERE space_id = :space AND kind = :kind AND id = :id AND number = :number"
    return compile_query("archive_indexed", text, dialect)


def _key_condition(table: Table) -> str:
    return "space_id = :space AND " + " AND ".join(f"{name} = :{name}" for name in table.key)
