"""Brings the schema up to date: a new database gets the current schema, an older one the missing migrations."""

import hashlib
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError, DatabaseUnavailableError
from bethink.store.db import Tx
from bethink.store.sql import Dialect

BASELINE = 1
"""The version of the schema of the first release. Migrations have the numbers after it."""
MIGRATIONS: Traversable = resources.files("bethink.store") / "migrations"
"""The folder of the migrations: `sqlite/NNNN_name.sql` and `postgres/NNNN_name.sql`, the same numbers and names."""

_BASELINE_NAME = "baseline"


@frozen
class SchemaStatus:
    """Comparison of a database schema with this code: missing migrations, and reasons not to migrate."""

    version: int
    """The newest version of the database; 0 for a new one."""
    newest: int
    """The newest version that this code knows."""
    missing: tuple[int, ...]
    """The migrations that are still to be applied."""
    altered: tuple[int, ...]
    """Migrations whose text is not the one that was applied."""
    predates_release: bool
    """Whether code from before the first release created the database. Its versions count differently."""

    @property
    def is_current(self) -> bool:
        """True if this code can use the database as it is."""
        return self.version == self.newest and not (self.missing or self.altered or self.predates_release)

    def check(self) -> None:
        """Raise `ConfigurationError` if the database must be left as it is."""
        if self.predates_release:
            raise ConfigurationError(
                f"This database has schema {self.version} of a version before the first release, and no migration "
                "starts there.",
                hint="Export each space as an archive with the version that wrote it, then run 'bethink data "
                "import archive FILE' with this one.",
            )
        if self.version > self.newest:
            # This code would ignore or damage what newer schemas store.
            raise ConfigurationError(
                f"This database was created by a newer Bethink: its schema is {self.version}, "
                f"and this version supports {self.newest}.",
                hint="Install a newer version of Bethink.",
            )
        if self.altered:
            raise ConfigurationError(
                f"Migration {self.altered[0]} is not the one that was applied to this database: its text was altered.",
                hint="Install an unmodified release of Bethink. To change the schema, add a migration.",
            )


def schema(dialect: Dialect) -> str:
    """Return the text of the current schema."""
    return (resources.files("bethink.store") / "schema" / f"{dialect}.sql").read_text(encoding="utf-8")


def migrations(dialect: Dialect) -> list[tuple[int, str, str]]:
    """Return all migrations since the baseline as number, name and text, in order."""
    return list(_load(MIGRATIONS, dialect))


@cache
def _load(migrations_folder: Traversable, dialect: Dialect) -> tuple[tuple[int, str, str], ...]:
    folder = migrations_folder / str(dialect)
    if not folder.is_dir():  # there is no migration until the schema of a release changes
        return ()
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
    return _versions(dialect)[-1][0]


def _versions(dialect: Dialect) -> list[tuple[int, str, str]]:
    """Return the baseline and all migrations. The text of the baseline is empty: a new database gets `schema`."""
    return [(BASELINE, _BASELINE_NAME, ""), *migrations(dialect)]


def schema_status(tx: Tx) -> SchemaStatus:
    """Compare the schema of a database with this code. It changes nothing."""
    names = {row["version"]: row["name"] for row in tx.all("list_versions")} if tx.has_table("schema_version") else {}
    predates_release = bool(names) and names.get(BASELINE) != _BASELINE_NAME
    # The oldest schemas from before the first release have no checksums.
    rows = tx.all("list_checksums") if names and not predates_release else []
    checksums = {row["version"]: row["checksum"] for row in rows}
    versions = _versions(tx.dialect)
    return SchemaStatus(
        version=max(names, default=0),
        newest=versions[-1][0],
        missing=tuple(version for version, _, _ in versions if version not in names),
        altered=tuple(version for version, _, text in versions if checksums.get(version) not in (None, checksum(text))),
        predates_release=predates_release,
    )


def migrate(tx: Tx) -> list[int]:
    """Bring the schema up to date and return the versions that were added. Raises `ConfigurationError` if it cannot.

    A schema that is newer than this code, from before the first release, or with an altered migration is left
    unchanged. Other processes that write wait until the migration is done, and are then rejected.
    """
    state = schema_status(tx)
    state.check()
    if state.is_current:
        return []
    tx.begin_migration()
    state = schema_status(tx)  # another process may have been quicker
    state.check()
    if state.is_current:
        return []
    if not state.version:
        tx.script(schema(tx.dialect))
    for version, name, text in _versions(tx.dialect):
        if version in state.missing:
            if state.version:  # a new database got the current schema instead
                tx.script(text)
            tx.run("record_version", version=version, name=name, now=tx.now, checksum=checksum(text))
    tx.script(f"DELETE FROM schema_now; INSERT INTO schema_now (version) VALUES ({state.newest})")
    return list(state.missing)


def outdated_error(version: int, *, supported: int) -> DatabaseUnavailableError:
    """Return the error for a write by code that does not know the schema."""
    return DatabaseUnavailableError(
        f"The schema of this database is now {version}, but this process supports {supported}.",
        hint="Nothing was written. Upgrade and restart every process that runs another version of Bethink.",
    )
