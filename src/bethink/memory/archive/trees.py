"""Two trees of documents become one: what stands in the same place is one document, and none hangs loose."""

from hashlib import sha256

from bethink.memory.archive.reading import RowDict
from bethink.store.archived import Values, declared_tables, tables

Rows = dict[str, dict[Values, RowDict]]

_NAMED = {
    "documents": ("id", "parent_id"),
    "document_references": ("source_id", "target_id"),
    "document_sources": ("document_id", "source_id"),
}
"""The columns with the id of a document, besides those of tables about any memory; ids are unique across kinds."""


def unify_places(sides: tuple[Rows, Rows]) -> None:
    """Give documents that both sides made in the same place one id: that of the older."""
    while (pair := _same_place(sides)) is not None:
        older = min(pair, key=lambda row: (row["created_at"], row["id"]))
        for side, row in zip(sides, pair, strict=True):
            if row is not older:
                _rename(side, row["id"], older["id"])


def _same_place(sides: tuple[Rows, Rows]) -> tuple[RowDict, RowDict] | None:
    """Return a document of each side that only it has, in the same place."""
    ids = [{key[0] for key in side.get("documents", {})} for side in sides]
    ours, theirs = (
        {
            (row["parent_id"], row["slug"]): row
            for row in side.get("documents", {}).values()
            if row["valid_to"] is None and row["id"] not in other
        }
        for side, other in zip(sides, reversed(ids), strict=True)
    )
    place = min(ours.keys() & theirs.keys(), default=None)
    return None if place is None else (ours[place], theirs[place])


def _rename(side: Rows, old: str, new: str) -> None:
    columns_about = {table.name: table.about[1:2] for table in declared_tables() if table.about is not None}
    for table, columns in {**_NAMED, **columns_about}.items():
        for row in side.get(table, {}).values():
            for column in columns:
                if row[column] == old:
                    row[column] = new
        if table in side:
            key_of = next(each for each in tables() if each.name == table).key_of
            side[table] = {key_of(row): row for row in side[table].values()}


def keep_tree(result: Rows) -> None:
    """Reopen the parents of what is there, break circles, and give every document a place of its own."""
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
        seen, here = {name}, current[name]["parent_id"]
        while here in current and here not in seen:
            seen.add(here)
            here = current[here]["parent_id"]
        if here == name:
            current[name]["parent_id"] = ""
    taken: set[tuple[str, str]] = set()
    for row in sorted(current.values(), key=lambda row: (row["created_at"], row["id"])):
        if (row["parent_id"], row["slug"]) in taken:
            row["slug"] = f"{row['slug']}-{sha256(row['id'].encode()).hexdigest()[:6]}"
        taken.add((row["parent_id"], row["slug"]))
