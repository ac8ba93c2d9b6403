"""Restores a backup: repeats later deletions, and invalidates leases issued since the backup."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from anyio import to_thread

from bethink.base.logs import logger
from bethink.config.settings import Settings
from bethink.config.units import milliseconds
from bethink.errors import BethinkError, ConfigurationError, ConflictError, NotFoundError
from bethink.features.backups import manifest
from bethink.features.backups.make import file_of, is_postgres
from bethink.host.databases import database_from, sqlite_file
from bethink.memory.access.record import AccessRecord
from bethink.memory.deletion.replay import replay
from bethink.model.backups import BackupManifest, Counts, RestoreReport
from bethink.model.holds import LegalHold
from bethink.model.moments import from_micros, moment_or_none, to_micros
from bethink.store import erasures, holds, restores, tombstone_file, tombstone_reading
from bethink.store.db import Database, Tx
from bethink.store.tombstone_file import TombstoneSet

if TYPE_CHECKING:
    from bethink.store.engines.postgres import PostgresDatabase

_log = logger("backup")
_UNKNOWN = Counts(spaces=0, sessions=0, messages=0, schema_version=0, epoch=0)


async def restore(
    settings: Settings, file: Path, *, tombstones: Iterable[Path] = (), tools: str = "", check: bool = True
) -> RestoreReport:
    """Replace the database with a backup.

    Items deleted after the backup are deleted again. Their tombstones come from the replaced database, if readable,
    the tombstone file next to it, and the files in `tombstones`. `check` first compares the backup with its manifest.

    Raises:
        CorruptDatabaseError: if the backup is damaged. Nothing is changed.
        DatabaseBusyError: if other clients are connected to a PostgreSQL database.
    """
    backup_manifest, backup_at = await to_thread.run_sync(lambda: _check_backup(settings, file, check=check))
    tombstone_set, sources = await _collect_tombstones(settings, tombstones)
    if is_postgres(settings):
        done = await _restore_dump(settings, file, tombstone_set, backup_at, tools)
    else:
        done = await _restore_copy(settings, file, tombstone_set, backup_at)
    default_path = settings.tombstones_path
    if default_path is not None and tombstone_set.stones:
        tombstone_file.write(default_path, tombstone_set)
    return _result(done, backup_manifest, sources, tombstone_set)


async def finish_recovery(
    settings: Settings, recovered_to: datetime, *, tombstones: Iterable[Path] = ()
) -> RestoreReport:
    """Finish a recovery done by other tools, such as point-in-time recovery: repeat deletions, begin a new epoch.

    `recovered_to` is the time whose state the database now has.
    """
    tombstone_set, sources = await _collect_tombstones(settings, tombstones)
    database = database_from(settings)
    await database.open()
    try:
        erased, restore_record = await _finish(database, settings, tombstone_set, recovered_to)
    finally:
        await database.close()
    own = "the replaced database"  # already replaced, so it only has the tombstones of that time
    return _result(_Done(restore_record, erased), None, [source for source in sources if source != own], tombstone_set)


def _check_backup(settings: Settings, file: Path, *, check: bool) -> tuple[BackupManifest | None, datetime]:
    """Return the manifest and time of a backup. Without a manifest, the time is the file's modification time."""
    if not file.is_file():
        raise NotFoundError(f"No backup at {file}.", hint="Check the path.")
    backup_manifest = manifest.load(file)
    if backup_manifest is None:
        return None, datetime.fromtimestamp(file.stat().st_mtime, UTC)
    if backup_manifest.database != ("postgres" if is_postgres(settings) else "sqlite"):
        raise ConflictError(
            f"{file} is a backup of a {backup_manifest.database} database.",
            hint="Move data between databases with an archive.",
        )
    if check:
        manifest.check(file, backup_manifest)
    return backup_manifest, backup_manifest.began_at


class _Done:
    def __init__(self, record: restores.Restore, erased: int, damaged: Path | None = None) -> None:
        self.record = record
        self.erased = erased
        self.damaged = damaged


def _result(
    done: _Done, backup_manifest: BackupManifest | None, sources: list[str], tombstone_set: TombstoneSet
) -> RestoreReport:
    return RestoreReport(
        restored_at=done.record.restored_at,
        backup_at=done.record.backup_at,
        counts=_UNKNOWN if backup_manifest is None else backup_manifest.counts,
        tombstones=len(tombstone_set.stones),
        erased=done.erased,
        sources=tuple(sources),
        damaged="" if done.damaged is None else str(done.damaged),
    )


async def _collect_tombstones(settings: Settings, files: Iterable[Path]) -> tuple[TombstoneSet, list[str]]:
    """Return the tombstones from all available sources, and the names of these sources."""
    tombstone_set, sources = TombstoneSet(), list[str]()
    for path in files:
        tombstone_set |= tombstone_file.read_file(path)
        sources.append(str(path))
    default_path = settings.tombstones_path
    if default_path is not None and default_path.is_file():
        tombstone_set |= tombstone_file.read_file(default_path)
        sources.append(str(default_path))
    if is_postgres(settings) or await to_thread.run_sync(file_of(settings).exists):
        try:
            tombstone_set |= await _read_replaced_database(settings)
            sources.append("the replaced database")
        except BethinkError as error:
            _log.warning("Cannot read tombstones from the replaced database: %s", type(error).__name__)
    return tombstone_set, sources


async def _read_replaced_database(settings: Settings) -> TombstoneSet:
    database = database_from(settings)
    if is_postgres(settings):
        cast("PostgresDatabase", database).finishes_restore = True
    await database.open()
    try:
        tombstone_set = await tombstone_reading.load_tombstones(database)
        # An interrupted restore left a note with the tombstones of the database it was replacing.
        note = await database.transact(lambda tx: tx.first("find_deployment_key", name="restoring"), read_only=True)
        return tombstone_set if note is None else tombstone_set | _parse_note(note["value"])[1]
    finally:
        await database.close()


def _build_note(backup_at: datetime, tombstone_set: TombstoneSet) -> dict[str, object]:
    holds = [asdict(hold) for hold in sorted(tombstone_set.holds, key=lambda item: (item.space, item.id))]
    return {
        "backup_at": to_micros(backup_at),
        "tombstones": tombstone_set.to_text(),
        "holds": json.dumps(holds, default=datetime.isoformat),
    }


def _parse_note(text: str) -> tuple[datetime, TombstoneSet]:
    values = json.loads(text)
    tombstone_set = tombstone_file.parse(values["tombstones"], name="the note of a restore")
    holds = frozenset(_hold(row) for row in json.loads(values.get("holds", "[]")))
    return from_micros(values["backup_at"]), tombstone_set | TombstoneSet(holds=holds)


def _hold(values: dict[str, str | None]) -> LegalHold:
    times = {name: moment_or_none(values[name]) for name in ("placed_at", "lifted_at")}
    return LegalHold(**{**values, **times})  # pyright: ignore[reportArgumentType]


async def _restore_copy(settings: Settings, file: Path, tombstone_set: TombstoneSet, backup_at: datetime) -> _Done:
    from bethink.store.engines.sqlite_copy import copy_file, find_problems, install_copy  # noqa: PLC0415 - see build

    path = file_of(settings)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    staging_path = path.with_name(f"{path.name}.restoring")
    _remove(staging_path)
    timeout = milliseconds(settings.sqlite.busy_timeout)
    try:
        await to_thread.run_sync(lambda: copy_file(file, staging_path, busy_timeout=timeout))
        # Finished separately and swapped in by one transaction, so no process sees deleted data or a partial state.
        database = sqlite_file(str(staging_path), settings)
        await database.open()
        try:
            erased, restore_record = await _finish(database, settings, tombstone_set, backup_at)
        finally:
            await database.close()
        problems = await to_thread.run_sync(lambda: find_problems(staging_path, busy_timeout=timeout))
        if problems:
            raise ConfigurationError(f"The backup is damaged: {problems[0]}.", hint="Use another backup.")
        damaged = await to_thread.run_sync(lambda: install_copy(staging_path, path, busy_timeout=timeout))
    finally:
        _remove(staging_path)
    return _Done(restore_record, erased, damaged)


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + end).unlink(missing_ok=True)


async def _restore_dump(
    settings: Settings, file: Path, tombstone_set: TombstoneSet, backup_at: datetime, tools: str
) -> _Done:
    from bethink.store.engines.postgres_dump import Tools, replace_database  # noqa: PLC0415 - see build

    note = _build_note(backup_at, tombstone_set)
    await to_thread.run_sync(
        lambda: replace_database(settings.postgres.dsn, file, tools=Tools(folder=tools), note=note)
    )
    database = database_from(settings)
    cast("PostgresDatabase", database).finishes_restore = True
    await database.open()
    try:
        erased, restore_record = await _finish(database, settings, tombstone_set, backup_at)
        await database.transact(lambda tx: tx.run("drop_deployment_key", name="restoring"))
    finally:
        await database.close()
    return _Done(restore_record, erased)


async def _finish(
    database: Database, settings: Settings, tombstone_set: TombstoneSet, backup_at: datetime
) -> tuple[int, restores.Restore]:
    """Repeat the deletions, then begin a new epoch and add the restore to the access log."""
    erased = 0
    for hold in tombstone_set.holds:
        await database.transact(lambda tx, hold=hold: holds.put_hold(tx, hold), space=hold.space)
    for name in tombstone_set.spaces:
        erased += await database.transact(_replay_body(tombstone_set, name), space=name)
    record = AccessRecord(database, keep_days=settings.access.keep_days).record_everything("memory.restore")

    def begin(tx: Tx) -> restores.Restore:
        record(tx, "")
        return restores.begin_epoch(tx, backup_at=backup_at, tombstones=len(tombstone_set.stones))

    return erased, await database.transact(begin)


def _replay_body(tombstone_set: TombstoneSet, space: str) -> Callable[[Tx], int]:
    def body(tx: Tx) -> int:
        stones = [stone for name, stone in tombstone_set.stones if name == space]
        erasures.put(tx, stones, keys=tombstone_set.keys, space=space)
        deletion = replay(tx, space=space)
        return 0 if deletion is None else deletion.messages + deletion.facts + deletion.documents

    return body
