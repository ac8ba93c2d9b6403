"""Makes a backup of a database that others may be using."""

from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from anyio import to_thread

from bethink.base.logs import logger
from bethink.config.settings import Settings
from bethink.errors import Conflict, Misconfigured, NotFound, Unavailable
from bethink.features.backups import manifest
from bethink.host.databases import database_from
from bethink.memory.access.record import AccessRecord
from bethink.model.backups import BackupManifest, Counts

_log = logger("backup")


async def back_up(settings: Settings, file: Path, *, tools: str = "") -> BackupManifest:
    """Copy the whole database into a new file, with a manifest beside it. Whatever was acknowledged before is in it.

    On PostgreSQL the settings must name a role that row-level security does not bind; `tools` is the folder of pg_dump.

    Raises:
        Conflict: if the file exists.
        Misconfigured: if the role or the tools do not fit.
    """
    await to_thread.run_sync(_check, settings, file)
    await _record(settings)
    return await to_thread.run_sync(_make, settings, file, tools)


def is_postgres(settings: Settings) -> bool:
    """Return whether settings name a PostgreSQL server. Raises `Misconfigured` if they name what has no backup."""
    if settings.module == "memory.postgres":
        return True
    if settings.module != "memory.sqlite":
        hint = "Back up each of its databases by its own address, and a directory of shards with pg_dump."
        raise Misconfigured(f"`{settings.module}` has no backup of its own.", hint=hint)
    if settings.database_path == ":memory:":
        raise Misconfigured("a memory without a file has no backup.", hint="Name a file with --database.")
    return False


def file_of(settings: Settings) -> Path:
    """Return the file of a SQLite database."""
    return Path(settings.database_path).expanduser()


def _check(settings: Settings, file: Path) -> None:
    if file.exists() or manifest.path_of(file).exists():
        raise Conflict(f"{file} exists.", hint="Choose another name: a backup is never written over.")
    if not is_postgres(settings) and not file_of(settings).is_file():
        raise NotFound(f"no database at {file_of(settings)}.", hint="Check the path.")


async def _record(settings: Settings) -> None:
    """Add the backup to the access record, if the schema has one: it stays what it is."""
    database = database_from(settings)
    record = AccessRecord(database, keep_days=settings.access.keep_days).of_everything("memory.backup")
    try:
        await database.look(lambda tx: record(tx, "") if tx.has_table("access_log") else None, read=False)
    except (Misconfigured, Unavailable) as error:  # it may only be read, or is locked: better a backup than an entry
        _log.warning("the backup is not in the access record: %s", error)


def _make(settings: Settings, file: Path, tools: str) -> BackupManifest:
    part = file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)
    began_at = datetime.now(UTC)
    try:
        counts = _dumped(settings, part, tools) if is_postgres(settings) else _copied(settings, part)
        made = BackupManifest(
            database="postgres" if is_postgres(settings) else "sqlite",
            began_at=began_at,
            counts=counts,
            bytes=part.stat().st_size,
            sha256=manifest.digest(part),
            bethink=version("bethink"),
        )
        manifest.write(file, made)
        part.rename(file)  # last: a backup that was interrupted is not taken for one
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return made


def _copied(settings: Settings, part: Path) -> Counts:
    from bethink.store.engines.sqlite_copy import copy_file, counted  # noqa: PLC0415 - a server needs another driver

    copy_file(file_of(settings), part, busy_timeout=settings.sqlite.busy_timeout)
    return counted(part)


def _dumped(settings: Settings, part: Path, tools: str) -> Counts:
    from bethink.store.engines.postgres_dump import Tools, dump  # noqa: PLC0415 - as above

    return dump(settings.postgres.dsn, part, tools=Tools(folder=tools))
