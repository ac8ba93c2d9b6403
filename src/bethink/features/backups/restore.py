"""Restores a backup: what was erased since is erased again, and what was handed out since is void."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from anyio import to_thread

from bethink.base.logs import logger
from bethink.config.settings import Settings
from bethink.errors import BethinkError, Conflict, Misconfigured, NotFound
from bethink.features.backups import manifest
from bethink.features.backups.make import file_of, is_postgres
from bethink.host.databases import database_from, sqlite_file
from bethink.memory.access.record import AccessRecord
from bethink.memory.deletion.replay import replay
from bethink.model.backups import BackupManifest, Counts, Restored
from bethink.model.holds import LegalHold
from bethink.model.moments import from_micros, moment_or_none, to_micros
from bethink.store import erasures, holds, restores, tombstone_file, tombstone_reading
from bethink.store.db import Database, Tx
from bethink.store.tombstone_file import Buried

if TYPE_CHECKING:
    from bethink.store.engines.postgres import PostgresDatabase

_log = logger("backup")
_UNKNOWN = Counts(spaces=0, sessions=0, messages=0, schema_version=0, epoch=0)


async def restore(
    settings: Settings, file: Path, *, tombstones: Iterable[Path] = (), tools: str = "", check: bool = True
) -> Restored:
    """Replace the database by a backup of it.

    What was erased after the backup was made is erased again: as the replaced database says, if it can be read, the
    file of tombstones beside it, and those in `tombstones`. `check` compares the backup with its manifest first.

    Raises:
        Corrupt: if the backup is damaged; nothing is changed then.
        Busy: if others are connected to a PostgreSQL database.
    """
    known, backup_at = await to_thread.run_sync(lambda: _checked(settings, file, check=check))
    buried, sources = await _gathered(settings, tombstones)
    if is_postgres(settings):
        done = await _restore_dump(settings, file, buried, backup_at, tools)
    else:
        done = await _restore_copy(settings, file, buried, backup_at)
    beside = settings.tombstones_path
    if beside is not None and buried.stones:
        tombstone_file.write(beside, buried)
    return _result(done, known, sources, buried)


async def finish_recovery(settings: Settings, recovered_to: datetime, *, tombstones: Iterable[Path] = ()) -> Restored:
    """Finish what other means have put back, such as a recovery to a point in time: erase again, begin a new epoch.

    `recovered_to` is the moment whose state the database has now.
    """
    buried, sources = await _gathered(settings, tombstones)
    database = database_from(settings)
    await database.open()
    try:
        erased, made = await _finish(database, settings, buried, recovered_to)
    finally:
        await database.close()
    own = "the replaced database"  # it was replaced before: what it says is what was known at that moment
    return _result(_Done(made, erased), None, [each for each in sources if each != own], buried)


def _checked(settings: Settings, file: Path, *, check: bool) -> tuple[BackupManifest | None, datetime]:
    """Return the manifest of a backup, and when it was made: as its manifest says, or else its file."""
    if not file.is_file():
        raise NotFound(f"no backup at {file}.", hint="Check the path.")
    known = manifest.read(file)
    if known is None:
        return None, datetime.fromtimestamp(file.stat().st_mtime, UTC)
    if known.database != ("postgres" if is_postgres(settings) else "sqlite"):
        raise Conflict(
            f"{file} is a backup of a {known.database} database.", hint="Move between databases with an archive."
        )
    if check:
        manifest.check(file, known)
    return known, known.began_at


class _Done:
    def __init__(self, made: restores.Restore, erased: int, damaged: Path | None = None) -> None:
        self.made = made
        self.erased = erased
        self.damaged = damaged


def _result(done: _Done, known: BackupManifest | None, sources: list[str], buried: Buried) -> Restored:
    return Restored(
        restored_at=done.made.restored_at,
        backup_at=done.made.backup_at,
        counts=_UNKNOWN if known is None else known.counts,
        tombstones=len(buried.stones),
        erased=done.erased,
        sources=tuple(sources),
        damaged="" if done.damaged is None else str(done.damaged),
    )


async def _gathered(settings: Settings, files: Iterable[Path]) -> tuple[Buried, list[str]]:
    """Collect the tombstones of everything that may know of any, and say where they are from."""
    buried, sources = Buried(), list[str]()
    for path in files:
        buried |= tombstone_file.read(path)
        sources.append(str(path))
    beside = settings.tombstones_path
    if beside is not None and beside.is_file():
        buried |= tombstone_file.read(beside)
        sources.append(str(beside))
    if is_postgres(settings) or await to_thread.run_sync(file_of(settings).exists):
        try:
            buried |= await _of_replaced(settings)
            sources.append("the replaced database")
        except BethinkError as error:
            _log.warning("the replaced database cannot be read for its tombstones: %s", type(error).__name__)
    return buried, sources


async def _of_replaced(settings: Settings) -> Buried:
    database = database_from(settings)
    if is_postgres(settings):
        cast("PostgresDatabase", database).finishes_restore = True
    await database.open()
    try:
        found = await tombstone_reading.of_database(database)
        # A restore that was interrupted has left those of the database that it replaced.
        note = await database.transact(lambda tx: tx.one("find_deployment_key", name="restoring"), read=True)
        return found if note is None else found | _noted(note["value"])[1]
    finally:
        await database.close()


def _note(backup_at: datetime, buried: Buried) -> dict[str, object]:
    holds = [asdict(hold) for hold in sorted(buried.holds, key=lambda each: (each.space, each.id))]
    return {
        "backup_at": to_micros(backup_at),
        "tombstones": buried.dumped(),
        "holds": json.dumps(holds, default=datetime.isoformat),
    }


def _noted(text: str) -> tuple[datetime, Buried]:
    values = json.loads(text)
    found = tombstone_file.parsed(values["tombstones"], name="the note of a restore")
    holds = frozenset(_hold(each) for each in json.loads(values.get("holds", "[]")))
    return from_micros(values["backup_at"]), found | Buried(holds=holds)


def _hold(values: dict[str, str | None]) -> LegalHold:
    times = {name: moment_or_none(values[name]) for name in ("placed_at", "lifted_at")}
    return LegalHold(**{**values, **times})  # pyright: ignore[reportArgumentType]


async def _restore_copy(settings: Settings, file: Path, buried: Buried, backup_at: datetime) -> _Done:
    from bethink.store.engines.sqlite_copy import copy_file, put_in_place, unsound  # noqa: PLC0415 - see build

    path = file_of(settings)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = path.with_name(f"{path.name}.restoring")
    _remove(made)
    timeout = settings.sqlite.busy_timeout
    try:
        await to_thread.run_sync(lambda: copy_file(file, made, busy_timeout=timeout))
        # Finished apart, and put in place by one transaction: no process sees it with what was erased, or as it was.
        database = sqlite_file(str(made), settings)
        await database.open()
        try:
            erased, restore_made = await _finish(database, settings, buried, backup_at)
        finally:
            await database.close()
        problems = await to_thread.run_sync(lambda: unsound(made, busy_timeout=timeout))
        if problems:
            raise Misconfigured(f"the backup is damaged: {problems[0]}.", hint="Use another backup.")
        damaged = await to_thread.run_sync(lambda: put_in_place(made, path, busy_timeout=timeout))
    finally:
        _remove(made)
    return _Done(restore_made, erased, damaged)


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + end).unlink(missing_ok=True)


async def _restore_dump(settings: Settings, file: Path, buried: Buried, backup_at: datetime, tools: str) -> _Done:
    from bethink.store.engines.postgres_dump import Tools, replace_database  # noqa: PLC0415 - see build

    note = _note(backup_at, buried)
    await to_thread.run_sync(
        lambda: replace_database(settings.postgres.dsn, file, tools=Tools(folder=tools), note=note)
    )
    database = database_from(settings)
    cast("PostgresDatabase", database).finishes_restore = True
    await database.open()
    try:
        erased, made = await _finish(database, settings, buried, backup_at)
        await database.transact(lambda tx: tx.run("drop_deployment_key", name="restoring"))
    finally:
        await database.close()
    return _Done(made, erased)


async def _finish(
    database: Database, settings: Settings, buried: Buried, backup_at: datetime
) -> tuple[int, restores.Restore]:
    """Erase again what was erased, then let a new epoch begin, with the restore in the access record."""
    erased = 0
    for hold in buried.holds:
        await database.transact(lambda tx, hold=hold: holds.place(tx, hold), space=hold.space)
    for name in buried.spaces:
        erased += await database.transact(_replaying(buried, name), space=name)
    record = AccessRecord(database, keep_days=settings.access.keep_days).of_everything("memory.restore")

    def begin(tx: Tx) -> restores.Restore:
        record(tx, "")
        return restores.begin_epoch(tx, backup_at=backup_at, tombstones=len(buried.stones))

    return erased, await database.transact(begin)


def _replaying(buried: Buried, space: str) -> Callable[[Tx], int]:
    def body(tx: Tx) -> int:
        stones = [stone for name, stone in buried.stones if name == space]
        erasures.put(tx, stones, keys=buried.keys, space=space)
        gone = replay(tx, space=space)
        return 0 if gone is None else gone.messages + gone.facts + gone.documents

    return body
