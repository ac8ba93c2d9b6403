"""Merges two trees of documents: documents at the same path become one, and each has an existing parent."""

from hashlib import sha256

from bethink.memory.archive.reading import RowDict
from bethink.store.archived import Values, declared_tables, tables

Rows = dict[str, dict[Values, RowDict]]

_ID_COLUMNS = {
    "documents": ("id", "parent_id"),
    "document_references": ("source_id", "target_id"),
    "document_sources": ("document_id", "source_id"),
}
"""Columns with the id of a document, in addition to those of tables about any item; ids are unique across kinds."""


def unify_paths(sides: tuple[Rows, Rows]) -> None:
    """Give documents that both sides created at the same path one id: that of the older."""
    while (pair := _pair_at_same_path(sides)) is not None:
        older = min(pair, key=lambda row: (row["created_at"], row["id"]))
        for side, row in zip(sides, pair, strict=True):
            if row is not older:
                _rename(side, row["id"], older["id"])


def _pair_at_same_path(sides: tuple[Rows, Rows]) -> tuple[RowDict, RowDict] | None:
    """Return two documents at the same path, each of which only one side has."""
    ids = [{key[0] for key in side.get("documents", {})} for side in sides]
    ours, theirs = (
        {
            (row["parent_id"], row["slug"]): row
            for row in side.get("documents", {}).values()
            if row["valid_to"] is None and row["id"] not in other
        }
        for side, other in zip(sides, reversed(ids), strict=True)
    )
    key = min(ours.keys() & theirs.keys(), default=None)
    return None if key is None else (ours[key], theirs[key])


def _rename(side: Rows, old: str, new: str) -> None:
    columns_about = {table.name: table.about[1:2] for table in declared_tables() if table.about is not None}
    for table, columns in {**_ID_COLUMNS, **columns_about}.items():
        for row in side.get(table, {}).values():
            for column in columns:
                if row[column] == old:
                    row[column] = new
        if table in side:
            key_of = next(entry for entry in tables() if entry.name == table).key_of
            side[table] = {key_of(row): row for row in side[table].values()}


def repair_tree(result: Rows) -> None:
    """Reopen the parents of current documents, break cycles, and give every document a unique path."""
    last: dict[str, RowDict] = {}
    for row in sorted(result["documents"].values(), key=lambda row: row["version"]):
        last[row["id"]] = row
    waiting = [row for row in last.values() if row["valid_to"] is None]
    while waiting:
        parent = last.get(waiting.pop()["parent_id"])
        if parent is not None and parent["valid_to"] is not None:
            parent["valid_to"], parent["closed_run"] = None, ""
            waiting.append(parent)
    current = {name: row for name, row in last.items() if row["valid_to"] is None}
    for name in sorted(current):
        visited, ancestor = {name}, current[name]["parent_id"]
        while ancestor in current and ancestor not in visited:
            visited.add(ancestor)
            ancestor = current[ancestor]["parent_id"]
        if ancestor == name:
            current[name]["parent_id"] = ""
    used: set[tuple[str, str]] = set()
    for row in sorted(current.values(), key=lambda row: (row["created_at"], row["id"])):
        if (row["parent_id"], row["slug"]) in used:
            row["slug"] = f"{row['slug']}-{sha256(row['id'].encode()).hexdigest()[:6]}"
        used.add((row["parent_id"], row["slug"]))
