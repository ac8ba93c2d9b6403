"""Brings a database's schema up to date: numbered SQL pairs, forward only, each applied once."""

from importlib import resources

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
    """Apply what is missing and return its numbers. A schema newer than this code is left as it is."""
    if _is_current(tx):
        return []
    tx.lock_schema()
    tx.script(_VERSIONS)
    applied = {row["version"] for row in tx.all("list_versions")}
    done: list[int] = []
    for version, name, text in migrations(tx.dialect):
        if version in applied or (upto is not None and version > upto):
            continue
        tx.script(text)
        tx.run("record_version", version=version, name=name, now=tx.now)
        done.append(version)
    return done


def _is_current(tx: Tx) -> bool:
    if not tx.has_table("schema_version"):
        return False
    applied = {row["version"] for row in tx.all("list_versions")}
    return applied >= {version for version, _, _ in migrations(tx.dialect)}
