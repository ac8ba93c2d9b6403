"""Brings the schema up to date: a new database gets the current schema, an older one the missing migrations."""

import hashlib
from functools import cache
from importlib import resources

from bethink.base.frozen import frozen
from bethink.errors import Misconfigured, Unavailable
from bethink.store.backfill import index_everything
from bethink.store.db import Tx
from bethink.store.sql import Dialect

BASELINE = 13
"""The oldest version that can be migrated; migrations before it were never released."""

_CHECKSUMS = 31
"""The version from which on the checksums of migrations are kept."""
_BASELINE_COMMIT = "47eeef4"
_THEN = {15: index_everything}
"""What a migration does that SQL cannot."""
_VERSIONS = """
CREATE TABLE IF NOT EXISTS schema_version (
    version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL,
    checksum TEXT NOT NULL DEFAULT ''
)
"""


@frozen
class SchemaStanding:
    """How the schema of a database compares with this code: what is missing, and what speaks against migrating it."""

    version: int
    """The newest version of the database; 0 for a new one."""
    newest: int
    """The newest version that this code knows."""
    missing: tuple[int, ...]
    """The migrations that are still to be applied."""
    altered: tuple[int, ...]
    """Migrations whose text is not the one that was applied."""

    @property
    def is_current(self) -> bool:
        """Whether this code may use the database as it is."""
        return not self.missing and not self.altered and self.version == self.newest

    def check(self) -> None:
        """Raise `Misconfigured` if the database must be left as it is."""
        if self.version > self.newest:
            # This code would ignore or damage what newer schemas store.
            raise Misconfigured(
                f"this database was created by a newer Bethink: its schema is {self.version}, "
                f"and this version supports {self.newest}.",
                hint="Upgrade: pip install --upgrade bethink.",
            )
        if 0 < self.version < BASELINE:
            raise Misconfigured(
                f"this database predates the first release: its schema is {self.version}, "
                f"and the oldest supported is {BASELINE}.",
                hint=f"Open it once with commit {_BASELINE_COMMIT}, which migrates it to {BASELINE}, then again.",
            )
        if self.altered:
            raise Misconfigured(
                f"migration {self.altered[0]} is not the one that was applied to this database: its text was altered.",
                hint="Install a release of Bethink as it was published; a change of the schema is a new migration.",
            )


def schema(dialect: Dialect) -> str:
    """Return the text of the current schema."""
    return (resources.files("bethink.store") / "schema" / f"{dialect}.sql").read_text(encoding="utf-8")


def migrations(dialect: Dialect) -> list[tuple[int, str, str]]:
    """Return every migration since the baseline as number, name and text, in order."""
    return list(_read(dialect))


@cache
def _read(dialect: Dialect) -> tuple[tuple[int, str, str], ...]:
    folder = resources.files("bethink.store") / "migrations" / str(dialect)
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return tuple(
        (int(name[:4]), name[5:].removesuffix(".sql"), (folder / name).read_text(encoding="utf-8")) for name in names
    )


@cache
def checksum(text: str) -> str:
    """Return the checksum of a migration's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def newest_version(dialect: Dialect) -> int:
    """Return the version of the schema that this code reads and writes."""
    return migrations(dialect)[-1][0]


def standing(tx: Tx) -> SchemaStanding:
    """Compare the schema of a database with this code. It changes nothing."""
    known = migrations(tx.dialect)
    rows = tx.all("list_versions") if tx.has_table("schema_version") else []
    applied = {row["version"]: "" for row in rows}
    if _CHECKSUMS in applied:
        applied = {row["version"]: row["checksum"] for row in tx.all("list_checksums")}
    return SchemaStanding(
        version=max(applied, default=0),
        newest=known[-1][0],
        missing=tuple(version for version, _, _ in known if version not in applied),
        altered=tuple(version for version, _, text in known if applied.get(version) not in (None, "", checksum(text))),
    )


def migrate(tx: Tx) -> list[int]:
    """Bring the schema up to date and return the versions that were added. Raises `Misconfigured` if it cannot.

    A schema that is newer than this code, or older than the baseline, is left unchanged; so is one of which a migration
    has another text by now. A process that writes meanwhile waits until it is done, and is then refused.
    """
    found = standing(tx)
    found.check()
    if found.is_current:
        return []
    tx.begin_migration()
    tx.script(_VERSIONS)
    found = standing(tx)  # another process may have been quicker
    found.check()
    known = migrations(tx.dialect)
    missing = [each for each in known if each[0] in found.missing]
    if not missing:
        return []
    if found.version:
        for version, _, text in missing:
            tx.script(text)
            if version in _THEN:
                _THEN[version](tx)
    else:
        tx.script(schema(tx.dialect))
        missing.insert(0, (BASELINE, "baseline", ""))
    for version, name, text in missing:
        tx.run("record_version", version=version, name=name, now=tx.now, checksum=checksum(text) if text else "")
    for version, _, text in known:  # those from before checksums were kept
        tx.run("seal_version", version=version, checksum=checksum(text))
    tx.script(f"DELETE FROM schema_now; INSERT INTO schema_now (version) VALUES ({found.newest})")
    return [version for version, _, _ in missing]


def outdated(version: int, *, known: int) -> Unavailable:
    """Return the error for a write by code that does not know the schema."""
    return Unavailable(
        f"the schema of this database is {version} by now, and this process knows {known}.",
        hint="Nothing was written; upgrade what still runs another version of Bethink, and restart it.",
    )
