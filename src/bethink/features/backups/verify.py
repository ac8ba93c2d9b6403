"""Checks a database or backup: its integrity, hash chains, and agreement with its manifest."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import fields
from pathlib import Path

from anyio import to_thread

from bethink.config.settings import Settings
from bethink.config.units import milliseconds
from bethink.errors import BethinkError, CorruptDatabaseError
from bethink.features.backups import manifest
from bethink.features.backups.make import file_of, is_postgres
from bethink.model.backups import BackupFinding, BackupManifest, Counts
from bethink.model.plural import plural
from bethink.store import chain, jobs
from bethink.store.db import NO_LIMIT, Database, Tx
from bethink.store.migrate import newest_version

_PAGE = 1_000
_MAX_LISTED = 3
_QUICK_SPACES = 100
"""Number of spaces whose chains a quick check verifies."""


async def verify_database(
    settings: Settings, database: Database, *, quick: bool = False
) -> AsyncIterator[BackupFinding]:
    """Check an open database. A quick check skips indexes and all but the first spaces."""
    if not is_postgres(settings):
        from bethink.store.engines.sqlite_copy import find_problems  # noqa: PLC0415 - a server needs another driver

        path = file_of(settings)
        timeout = milliseconds(settings.sqlite.busy_timeout)
        problems = await to_thread.run_sync(lambda: find_problems(path, busy_timeout=timeout, quick=quick))
        yield _integrity_finding(problems)
    yield BackupFinding(name="schema", ok=True, result=f"version {newest_version(database.dialect)}")
    async for finding in _chains(database, max_spaces=_QUICK_SPACES if quick else NO_LIMIT):
        yield finding


async def verify_backup(settings: Settings, file: Path, *, tools: str = "") -> AsyncIterator[BackupFinding]:
    """Check a backup. This is read-only."""
    expected: BackupManifest | None = None
    try:
        expected = manifest.load(file)
        if expected is None:
            message = f"No manifest next to {file}: only the file itself is checked"
            yield BackupFinding(name="manifest", ok=True, result=message)
        else:
            await to_thread.run_sync(manifest.check, file, expected)
            yield BackupFinding(
                name="manifest", ok=True, result=f"made {expected.began_at:%Y-%m-%d %H:%M:%S} UTC, unchanged"
            )
    except CorruptDatabaseError as error:
        yield BackupFinding(name="manifest", ok=False, result=Exception.__str__(error))
    if _is_sqlite(file):
        async for finding in _verify_copy(settings, file, expected):
            yield finding
    else:
        yield await _verify_dump(file, expected, tools)


def _is_sqlite(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(16) == b"SQLite format 3\0"


async def _verify_copy(settings: Settings, file: Path, expected: BackupManifest | None) -> AsyncIterator[BackupFinding]:
    from bethink.store.engines.sqlite import SqliteOptions  # noqa: PLC0415 - a server needs another driver
    from bethink.store.engines.sqlite_copy import SqliteCopy, count_rows, find_problems  # noqa: PLC0415

    problems = await to_thread.run_sync(lambda: find_problems(file, busy_timeout=0, copied=True))
    yield _integrity_finding(problems)
    if problems:
        return
    counts = await to_thread.run_sync(count_rows, file)
    yield _compare_counts(counts, expected)
    timeout = milliseconds(settings.sqlite.busy_timeout)
    database = SqliteCopy(SqliteOptions(path=str(file), wal=False, busy_timeout=timeout))
    newest = newest_version(database.dialect)
    if counts.schema_version != newest:
        ok = counts.schema_version < newest
        message = f"version {counts.schema_version}(current: {newest}). Chains are checked after it is restored"
        yield BackupFinding(name="schema", ok=ok, result=message)
        return
    yield BackupFinding(name="schema", ok=True, result=f"version {newest}")
    await database.open()
    try:
        async for finding in _chains(database):
            yield finding
    finally:
        await database.close()


async def _verify_dump(file: Path, expected: BackupManifest | None, tools: str) -> BackupFinding:
    from bethink.store.engines.postgres_dump import Tools, check_dump  # noqa: PLC0415 - as above

    try:
        rows = await to_thread.run_sync(lambda: check_dump(file, tools=Tools(folder=tools)))
    except BethinkError as error:
        return BackupFinding(name="dump", ok=False, result=Exception.__str__(error))
    counts = {name: rows.get(name, 0) for name in ("spaces", "sessions", "messages")}
    expected_counts = counts if expected is None else {name: getattr(expected.counts, name) for name in counts}
    text = _format_counts(counts)
    if counts != expected_counts:
        return BackupFinding(
            name="dump", ok=False, result=f"{text}; expected: {', '.join(map(str, expected_counts.values()))}"
        )
    return BackupFinding(name="dump", ok=True, result=f"complete: {text}")


def _format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(plural(count, name.removesuffix("s")) for name, count in counts.items())


def _integrity_finding(problems: list[str]) -> BackupFinding:
    return BackupFinding(name="integrity", ok=not problems, result="; ".join(problems[:_MAX_LISTED]) or "ok")


def _compare_counts(counts: Counts, expected: BackupManifest | None) -> BackupFinding:
    text = _format_counts({"spaces": counts.spaces, "sessions": counts.sessions, "messages": counts.messages})
    if expected is None or expected.counts == counts:
        return BackupFinding(name="counts", ok=True, result=text)
    differ = [
        field.name for field in fields(counts) if getattr(counts, field.name) != getattr(expected.counts, field.name)
    ]
    return BackupFinding(name="counts", ok=False, result=f"{text}; the manifest differs in: {', '.join(differ)}")


async def _chains(database: Database, max_spaces: int = NO_LIMIT) -> AsyncIterator[BackupFinding]:
    """Check the chains of all spaces, one transaction per space."""
    sessions = messages = erased = unsealed = checked = 0
    broken: list[str] = []
    after = ""
    while checked < max_spaces and (
        names := await database.transact(
            lambda tx, after=after: jobs.spaces(tx, limit=min(max_spaces, _PAGE), after=after), read_only=True
        )
    ):
        checked += len(names)
        for name in names:
            report = await database.transact(_chain_check(name), space=name, read_only=True)
            sessions, messages = sessions + report.sessions, messages + report.messages
            erased, unsealed = erased + report.erased, unsealed + report.unsealed
            broken += [f"{name}: message {where.number} of {where.session_id}: {why}" for where, why in report.broken]
        after = names[-1]
    where = f"{plural(sessions, 'session')} of {plural(checked, 'space')}"
    text = f"{plural(messages, 'message')} in {where}, {erased} erased"
    if unsealed:
        text += f", {unsealed} stored before seals existed"
    if broken:
        more = f"; and {len(broken) - _MAX_LISTED} more" if len(broken) > _MAX_LISTED else ""
        text = f"{plural(len(broken), 'break')}: {'; '.join(broken[:_MAX_LISTED])}{more}"
    yield BackupFinding(name="chain", ok=not broken, result=text)


def _chain_check(name: str) -> "Callable[[Tx], chain.ChainReport]":
    def body(tx: Tx) -> chain.ChainReport:
        return chain.check(tx, space=name)

    return body
