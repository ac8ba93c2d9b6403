"""Checks a database, or a backup: whether it is whole, follows its chains, and is what its manifest says."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import fields
from pathlib import Path

from anyio import to_thread

from bethink.config.settings import Settings
from bethink.errors import BethinkError, Corrupt
from bethink.features.backups import manifest
from bethink.features.backups.make import file_of, is_postgres
from bethink.model.backups import BackupFinding, BackupManifest, Counts
from bethink.model.plural import plural
from bethink.store import chain, jobs
from bethink.store.db import NO_LIMIT, Database, Tx
from bethink.store.migrate import newest_version

_PAGE = 1_000
_MOST_NAMED = 3
_FEW = 100
"""How many spaces a quick look follows the chains of."""


async def verify_database(
    settings: Settings, database: Database, *, quick: bool = False
) -> AsyncIterator[BackupFinding]:
    """Check the database in use, which is open. A quick look leaves out indexes and all but the first spaces."""
    if not is_postgres(settings):
        from bethink.store.engines.sqlite_copy import unsound  # noqa: PLC0415 - a server needs another driver

        path = file_of(settings)
        timeout = settings.sqlite.busy_timeout
        problems = await to_thread.run_sync(lambda: unsound(path, busy_timeout=timeout, quick=quick))
        yield _sound(problems)
    yield BackupFinding(name="schema", ok=True, found=f"version {newest_version(database.dialect)}")
    async for finding in _chains(database, most=_FEW if quick else NO_LIMIT):
        yield finding


async def verify_backup(settings: Settings, file: Path, *, tools: str = "") -> AsyncIterator[BackupFinding]:
    """Check a backup without changing it, or anything else."""
    known: BackupManifest | None = None
    try:
        known = manifest.read(file)
        if known is None:
            found = f"there is none beside {file}: only what the file says of itself is checked"
            yield BackupFinding(name="manifest", ok=True, found=found)
        else:
            await to_thread.run_sync(manifest.check, file, known)
            yield BackupFinding(
                name="manifest", ok=True, found=f"made {known.began_at:%Y-%m-%d %H:%M:%S} UTC, unchanged"
            )
    except Corrupt as error:
        yield BackupFinding(name="manifest", ok=False, found=Exception.__str__(error))
    if _is_sqlite(file):
        async for finding in _verify_copy(settings, file, known):
            yield finding
    else:
        yield await _verify_dump(file, known, tools)


def _is_sqlite(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(16) == b"SQLite format 3\0"


async def _verify_copy(settings: Settings, file: Path, known: BackupManifest | None) -> AsyncIterator[BackupFinding]:
    from bethink.store.engines.sqlite import SqliteOptions  # noqa: PLC0415 - a server needs another driver
    from bethink.store.engines.sqlite_copy import SqliteCopy, counted, unsound  # noqa: PLC0415

    problems = await to_thread.run_sync(lambda: unsound(file, busy_timeout=0, copied=True))
    yield _sound(problems)
    if problems:
        return
    counts = await to_thread.run_sync(counted, file)
    yield _compared(counts, known)
    database = SqliteCopy(SqliteOptions(path=str(file), wal=False, busy_timeout=settings.sqlite.busy_timeout))
    newest = newest_version(database.dialect)
    if counts.schema_version != newest:
        ok = counts.schema_version < newest
        found = f"version {counts.schema_version}, and {newest} is current: its chains are checked once it is restored"
        yield BackupFinding(name="schema", ok=ok, found=found)
        return
    yield BackupFinding(name="schema", ok=True, found=f"version {newest}")
    await database.open()
    try:
        async for finding in _chains(database):
            yield finding
    finally:
        await database.close()


async def _verify_dump(file: Path, known: BackupManifest | None, tools: str) -> BackupFinding:
    from bethink.store.engines.postgres_dump import Tools, check_dump  # noqa: PLC0415 - as above

    try:
        rows = await to_thread.run_sync(lambda: check_dump(file, tools=Tools(folder=tools)))
    except BethinkError as error:
        return BackupFinding(name="dump", ok=False, found=Exception.__str__(error))
    held = {name: rows.get(name, 0) for name in ("spaces", "sessions", "messages")}
    said = held if known is None else {name: getattr(known.counts, name) for name in held}
    text = _told(held)
    if held != said:
        return BackupFinding(
            name="dump", ok=False, found=f"{text}; when it was made: {', '.join(map(str, said.values()))}"
        )
    return BackupFinding(name="dump", ok=True, found=f"readable to its end: {text}")


def _told(held: Mapping[str, int]) -> str:
    return ", ".join(plural(count, name.removesuffix("s")) for name, count in held.items())


def _sound(problems: list[str]) -> BackupFinding:
    return BackupFinding(name="integrity", ok=not problems, found="; ".join(problems[:_MOST_NAMED]) or "ok")


def _compared(counts: Counts, known: BackupManifest | None) -> BackupFinding:
    text = _told({"spaces": counts.spaces, "sessions": counts.sessions, "messages": counts.messages})
    if known is None or known.counts == counts:
        return BackupFinding(name="counts", ok=True, found=text)
    differ = [each.name for each in fields(counts) if getattr(counts, each.name) != getattr(known.counts, each.name)]
    return BackupFinding(
        name="counts", ok=False, found=f"{text}; its manifest says otherwise about {', '.join(differ)}"
    )


async def _chains(database: Database, most: int = NO_LIMIT) -> AsyncIterator[BackupFinding]:
    """Follow the chains of all spaces, each in a transaction of its own."""
    sessions = messages = erased = unsealed = seen = 0
    broken: list[str] = []
    after = ""
    while seen < most and (
        names := await database.transact(
            lambda tx, after=after: jobs.spaces(tx, limit=min(most, _PAGE), after=after), read=True
        )
    ):
        seen += len(names)
        for name in names:
            report = await database.transact(_checking(name), space=name, read=True)
            sessions, messages = sessions + report.sessions, messages + report.messages
            erased, unsealed = erased + report.erased, unsealed + report.unsealed
            broken += [f"{name}: message {where.number} of {where.session_id}: {why}" for where, why in report.broken]
        after = names[-1]
    where = f"{plural(sessions, 'session')} of {plural(seen, 'space')}"
    text = f"{plural(messages, 'message')} in {where}, {erased} erased"
    if unsealed:
        text += f", {unsealed} from before there were seals"
    if broken:
        more = f"; and {len(broken) - _MOST_NAMED} more" if len(broken) > _MOST_NAMED else ""
        text = f"{plural(len(broken), 'break')}: {'; '.join(broken[:_MOST_NAMED])}{more}"
    yield BackupFinding(name="chain", ok=not broken, found=text)


def _checking(name: str) -> "Callable[[Tx], chain.ChainReport]":
    def body(tx: Tx) -> chain.ChainReport:
        return chain.check(tx, space=name)

    return body
