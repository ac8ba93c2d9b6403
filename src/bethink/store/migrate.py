"""Brings a database's schema up to date: numbered SQL pairs, forward only, each applied once."""

from importlib import resources

from bethink.errors import Misconfigured
from bethink.store.db import Tx
from bethink.store.sql import Dialect

_VERSIONS = """
CREATE TABLE IF NOT EXISTS schema_version (
    version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL
)
"""


def migrations(dialect: Dialect) -> list[tuple[int, str, str]]:
    """List every migration of a database as number, name and text, in order."""
    folder = resources.files("bethink.store") / "migrations" / str(dialect)
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [
        (int(name[:4]), name[5:].removesuffix(".sql"), (folder / name).read_text(encoding="utf-8")) for name in names
    ]


def migrate(tx: Tx, *, upto: int | None = None) -> list[int]:
    """Apply what is missing and return its numbers. A schema newer than this code is refused and left as it is."""
    known = migrations(tx.dialect)
    if tx.has_table("schema_version") and _applied(tx, known) >= {version for version, _, _ in known}:
        return []
    tx.lock_schema()
    tx.script(_VERSIONS)
    applied = _applied(tx, known)
    done: list[int] = []
    for version, name, text in known:
        if version in applied or (upto is not None and version > upto):
            continue
        tx.script(text)
        tx.run("record_version", version=version, name=name, now=tx.now)
        done.append(version)
    return done


def _applied(tx: Tx, known: list[tuple[int, str, str]]) -> set[int]:
    applied = {row["version"] for row in tx.all("list_versions")}
    newest = known[-1][0]
    if max(applied, default=0) > newest:
        # What it has learnt to hold since, this code would overlook or spoil.
        raise Misconfigured(
            f"this database was made by a newer Bethink: its schema is {max(applied)}, and this one knows {newest}.",
            hint="Upgrade: pip install --upgrade bethink.",
        )
    return applied
