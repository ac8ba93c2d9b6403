"""Backs up a database that may be in use."""

from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from anyio import to_thread

from bethink.base.logs import logger
from bethink.config.settings import Settings
from bethink.config.units import milliseconds
from bethink.errors import ConfigurationError, ConflictError, DatabaseUnavailableError, NotFoundError
from bethink.features.backups import manifest
from bethink.host.databases import database_from
from bethink.memory.access.record import AccessRecord
from bethink.model.backups import BackupManifest, Counts

_log = logger("backup")


async def back_up(settings: Settings, file: Path, *, tools: str = "") -> BackupManifest:
    """Copy the database into a new file with a manifest next to it. All committed writes are included.

    On PostgreSQL the settings must name a role that bypasses row-level security; `tools` is the folder of pg_dump.

    Raises:
        ConflictError: if the file exists.
        ConfigurationError: if the role or the tools are unsuitable.
    """
    await to_thread.run_sync(_check, settings, file)
    await _record(settings)
    return await to_thread.run_sync(_make, settings, file, tools)


def is_postgres(settings: Settings) -> bool:
    """Return whether settings name a PostgreSQL server. Raises `ConfigurationError` if these do not support backups."""
    if settings.module == "memory.postgres":
        return True
    if settings.module != "memory.sqlite":
        hint = "Back up each database by its own address, and a shard directory with pg_dump."
        raise ConfigurationError(f"`{settings.module}` does not support backups.", hint=hint)
    if settings.database_path == ":memory:":
        raise ConfigurationError("An in-memory database cannot be backed up.", hint="Pass a file with --database.")
    return False


def file_of(settings: Settings) -> Path:
    """Return the file of a SQLite database."""
    return Path(settings.database_path).expanduser()


def _check(settings: Settings, file: Path) -> None:
    if file.exists() or manifest.path_of(file).exists():
        raise ConflictError(f"{file} already exists.", hint="Choose another name. Backups are never overwritten.")
    if not is_postgres(settings) and not file_of(settings).is_file():
        raise NotFoundError(f"No database at {file_of(settings)}.", hint="Check the path.")


async def _record(settings: Settings) -> None:
    """Add the backup to the access log, if the schema has that table."""
    database = database_from(settings)
    record = AccessRecord(database, keep_days=settings.access.keep_days).record_everything("memory.backup")
    try:
        await database.run_unopened(lambda tx: record(tx, "") if tx.has_table("access_log") else None, read_only=False)
    except (
        ConfigurationError,
        DatabaseUnavailableError,
    ) as error:  # read-only or locked: the backup matters more than the entry
        _log.warning("The backup is missing from the access log: %s", error)


def _make(settings: Settings, file: Path, tools: str) -> BackupManifest:
    part = file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)
    began_at = datetime.now(UTC)
    try:
        counts = _dump_postgres(settings, part, tools) if is_postgres(settings) else _copy_sqlite(settings, part)
        new_manifest = BackupManifest(
            database="postgres" if is_postgres(settings) else "sqlite",
            began_at=began_at,
            counts=counts,
            bytes=part.stat().st_size,
            sha256=manifest.digest(part),
            bethink=version("bethink"),
        )
        manifest.write(file, new_manifest)
        part.rename(file)  # last, so that an interrupted backup is never mistaken for a complete one
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return new_manifest


def _copy_sqlite(settings: Settings, part: Path) -> Counts:
    from bethink.store.engines.sqlite_copy import copy_file, count_rows  # noqa: PLC0415 - a server needs another driver

    copy_file(file_of(settings), part, busy_timeout=milliseconds(settings.sqlite.busy_timeout))
    return count_rows(part)


def _dump_postgres(settings: Settings, part: Path, tools: str) -> Counts:
    from bethink.store.engines.postgres_dump import Tools, dump  # noqa: PLC0415 - as above

    return dump(settings.postgres.dsn, part, tools=Tools(folder=tools))
