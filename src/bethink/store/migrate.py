"""Brings the schema up to date: a new database gets the current schema, an older one the missing migrations."""

from importlib import resources

from bethink.errors import Misconfigured
from bethink.store.backfill import index_everything
from bethink.store.db import Tx
from bethink.store.sql import Dialect

BASELINE = 13
"""The oldest version that can be migrated; migrations before it were never released."""

_BASELINE_COMMIT = "47eeef4"
_THEN = {15: index_everything}
"""What a migration does that SQL cannot."""
_VERSIONS = """
CREATE TABLE IF NOT EXISTS schema_version (
    version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL
)
"""


def schema(dialect: Dialect) -> str:
    """Return the text of the current schema."""
    return (resources.files("bethink.store") / "schema" / f"{dialect}.sql").read_text(encoding="utf-8")


def migrations(dialect: Dialect) -> list[tuple[int, str, str]]:
    """Return every migration since the baseline as number, name and text, in order."""
    folder = resources.files("bethink.store") / "migrations" / str(dialect)
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [
        (int(name[:4]), name[5:].removesuffix(".sql"), (folder / name).read_text(encoding="utf-8")) for name in names
    ]


def newest_version(dialect: Dialect) -> int:
    """Return the version of the schema that this code reads and writes."""
    return migrations(dialect)[-1][0]


def migrate(tx: Tx) -> list[int]:
    """Bring the schema up to date and return the versions that were added. Raises `Misconfigured` if it cannot.

    A schema that is newer than this code, or older than the baseline, is left unchanged.
    """
    known = migrations(tx.dialect)
    newest = known[-1][0]
    if tx.has_table("schema_version") and newest in _applied(tx, newest):
        return []
    tx.lock_schema()
    tx.script(_VERSIONS)
    applied = _applied(tx, newest)
    missing = [each for each in known if each[0] not in applied]
    if applied:
        for version, _, text in missing:
            tx.script(text)
            if version in _THEN:
                _THEN[version](tx)
    else:
        tx.script(schema(tx.dialect))
        missing.insert(0, (BASELINE, "baseline", ""))
    for version, name, _ in missing:
        tx.run("record_version", version=version, name=name, now=tx.now)
    return [version for version, _, _ in missing]


def _applied(tx: Tx, newest: int) -> set[int]:
    applied = {row["version"] for row in tx.all("list_versions")}
    last = max(applied, default=BASELINE)
    if last > newest:
        # This code would ignore or damage what newer schemas store.
        raise Misconfigured(
            f"this database was created by a newer Bethink: its schema is {last}, and this version supports {newest}.",
            hint="Upgrade: pip install --upgrade bethink.",
        )
    if last < BASELINE:
        raise Misconfigured(
            f"this database predates the first release: its schema is {last}, and the oldest supported is {BASELINE}.",
            hint=f"Open it once with commit {_BASELINE_COMMIT}, which migrates it to {BASELINE}, then again.",
        )
    return applied
