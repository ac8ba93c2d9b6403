"""Merges the rows of facts that both sides learned: one fact for each effect, with the statements and links of both."""

from itertools import pairwise

from bethink.memory.archive.histories import Rows
from bethink.memory.archive.reading import RowDict
from bethink.store.archived import tables

_APPROVED = "stated"
_SAVED = "saved:"


def merge_effects(sides: tuple[Rows, Rows]) -> None:
    """Keep one fact if both sides learned from the same messages: the one a person decided about, or the first."""
    ours, theirs = ({row["effect"]: row for row in side.get("facts", {}).values() if row["effect"]} for side in sides)
    heirs: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for effect in sorted(ours.keys() & theirs.keys()):
        pair = ours[effect], theirs[effect]
        if pair[0]["id"] == pair[1]["id"]:
            continue
        keys = [_precedence(side, row) for side, row in zip(sides, pair, strict=True)]
        winner = pair[0] if keys[0] < keys[1] else pair[1]
        for side, row, side_heirs in zip(sides, pair, heirs, strict=True):
            if row is not winner:
                _retire(side, row, winner["id"])
                side_heirs[row["id"]] = winner["id"]
    for side, other, side_heirs in zip(sides, sides[::-1], heirs, strict=True):
        if side_heirs:
            _hand_over(side, other, side_heirs)


def _precedence(side: Rows, row: RowDict) -> tuple[int, int, str]:
    """Return the order of facts with the same effect: the newest decision of a person, then the first learned."""
    versions = [version for version in side["facts"].values() if version["id"] == row["id"]]
    decided = [version["recorded_at"] for version in versions if _is_decided(version)]
    decided += [
        link["recorded_at"]
        for link in side.get("fact_links", {}).values()
        if link["target_id"] == row["id"] and not link["fact_id"]
    ]
    return (-max(decided), row["recorded_at"], row["id"]) if decided else (0, row["recorded_at"], row["id"])


def _is_decided(version: RowDict) -> bool:
    return version["evidence"] == _APPROVED or version["version"] > 1 or version["retired_by"] == ""


def _retire(side: Rows, row: RowDict, heir: str) -> None:
    effect = row["effect"]
    row["effect"] = f"{effect}~{row['id']}"
    for fact in side["facts"].values():
        if fact["id"] == row["id"] and fact["retired_at"] is None:
            fact["retired_at"], fact["retired_by"], fact["ended_as"] = fact["recorded_at"], heir, None
    for table in ("fact_quotes", "fact_statements", "fact_links"):
        for item in side.get(table, {}).values():
            if item["fact_id"] == row["id"] and item["support"] == effect and table == "fact_quotes":
                item["support"] = row["effect"]


def _hand_over(side: Rows, other: Rows, heirs: dict[str, str]) -> None:
    """Give the statements, quotes and links of retired facts to the facts that stay."""
    stated = {(row["fact_id"], row["support"]) for row in other.get("fact_statements", {}).values()}
    renamed = set(heirs)
    moved_sources: list[RowDict] = []
    for row in side.get("fact_quotes", {}).values():
        heir = heirs.get(row["fact_id"])
        if (
            heir is not None
            and not row["support"].endswith(f"~{row['fact_id']}")
            and (heir, row["support"]) not in stated
        ):
            row["fact_id"] = heir
            moved_sources.append({"fact_id": heir, "session_id": row["session_id"], "number": row["number"]})
    statements = side.get("fact_statements", {})
    side["fact_statements"] = {
        key: row
        for key, row in statements.items()
        if row["fact_id"] not in renamed or (heirs[row["fact_id"]], row["support"]) not in stated
    }
    for row in side["fact_statements"].values():
        row["fact_id"] = heirs.get(row["fact_id"], row["fact_id"])
    for row in side.get("fact_links", {}).values():
        row["fact_id"] = heirs.get(row["fact_id"], row["fact_id"])
        row["target_id"] = heirs.get(row["target_id"], row["target_id"])
    side["fact_links"] = {
        key: row for key, row in side.get("fact_links", {}).items() if row["fact_id"] != row["target_id"]
    }
    for row in side.get("reviews", {}).values():
        row["fact_id"] = heirs.get(row["fact_id"], row["fact_id"])
    sources = [*side.get("fact_sources", {}).values(), *moved_sources]
    for table, rows in (
        ("fact_quotes", side.get("fact_quotes", {}).values()), ("fact_statements", side["fact_statements"].values()),
        ("fact_links", side["fact_links"].values()), ("fact_sources", sources),
    ):  # fmt: skip
        key_of = next(entry for entry in tables() if entry.name == table).key_of
        side[table] = {key_of(row): row for row in rows}


def merge_statement(ours: RowDict, theirs: RowDict) -> RowDict:
    """Merge two rows of a statement: it was learned when the first side learned it, and dropped by either."""
    first = min(ours, theirs, key=lambda row: (row["recorded_at"], sorted(row.items(), key=str).__repr__()))
    dropped = [row["dropped_at"] for row in (ours, theirs) if row["dropped_at"] is not None]
    return {**first, "dropped_at": min(dropped, default=None)}


def drop_replaced_statements(result: Rows) -> None:
    """Let only the last of several times count that programs saved for a fact, as on one side."""
    saved: dict[str, list[RowDict]] = {}
    for row in result["fact_statements"].values():
        if row["support"].startswith(_SAVED):
            saved.setdefault(row["fact_id"], []).append(row)
    for rows in saved.values():
        rows.sort(key=lambda row: int(row["support"].removeprefix(_SAVED)))
        for row, later in pairwise(rows):
            if row["dropped_at"] is None:
                row["dropped_at"] = later["recorded_at"]
