"""Commands for backups: data backup, restore and verify."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, DryRun, Yes, command
from bethink.cli.results import ExitCode, Failure, Result, UsageError
from bethink.cli.terminal import OutputLine
from bethink.errors import NotFoundError
from bethink.model.plural import plural

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractContextManager

    from bethink.model.backups import BackupFinding, BackupManifest, RestoreReport

app = typer.Typer()

PgBin = Annotated[
    str, typer.Option(metavar="DIR", help="Folder of pg_dump, pg_restore and psql.  [default: from PATH]")
]


@command(app, "data backup", opens=False, local=True, without=NO_SPACE)
async def backup(
    ctx: CommandContext,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="New file for the backup.")],
    *,
    pg_bin: PgBin = "",
) -> Result:
    """Back up the database while it is in use.

    On PostgreSQL, use a role that bypasses row-level security.
    """
    from bethink.features.backups.make import back_up  # noqa: PLC0415 - like every import here, for a quick --help

    ctx.target.must_exist()
    with _as_cli():
        manifest = await back_up(ctx.target.settings, file, tools=pg_bin)
    line = f"{file}: {_contents(manifest)}, {manifest.bytes:,} bytes, complete up to {manifest.began_at:%H:%M:%S} UTC"
    return Result(data=manifest, lines=[OutputLine(line)])


@command(app, "data restore", effect="changes", opens=False, local=True, without=NO_SPACE)
async def restore(
    ctx: CommandContext,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Backup that 'bethink data backup' wrote.")
    ] = None,
    *,
    recovered_to: Annotated[
        str | None,
        typer.Option("--recovered-to", metavar="TIME", help="Time to which another tool recovered the database."),
    ] = None,
    tombstones: Annotated[
        list[Path] | None,
        typer.Option("--tombstones", metavar="FILE", help="File with later deletions. Repeatable."),
    ] = None,
    pg_bin: PgBin = "",
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Restore a backup.

    It replaces the whole database. Later changes are lost; later deletions are applied again. On PostgreSQL, stop
    servers and workers first. After a recovery with another tool, pass --recovered-to instead of a file.
    """
    from bethink.features.backups import manifest  # noqa: PLC0415 - as above
    from bethink.features.backups.restore import finish_recovery  # noqa: PLC0415
    from bethink.features.backups.restore import restore as restore_backup  # noqa: PLC0415
    from bethink.features.backups.verify import verify_backup  # noqa: PLC0415
    from bethink.model.moments import moment  # noqa: PLC0415

    if (file is None) == (recovered_to is None):
        raise UsageError("Pass a backup, or --recovered-to.", hint="Run 'bethink data restore FILE'.")
    if recovered_to is not None:
        at = moment(recovered_to)
        ctx.confirm(f"Apply the deletions since {at:%Y-%m-%d %H:%M:%S} UTC again?", yes=yes)
        with _as_cli():
            report = await finish_recovery(ctx.target.settings, at, tombstones=tombstones or ())
        return Result(data=report, lines=_restore_lines(report, ctx.target.address))
    assert file is not None  # noqa: S101 - one of the two is given
    if not file.is_file():
        raise NotFoundError(f"No backup at {file}.", hint="Check the path.")
    settings, backup_manifest = ctx.target.settings, manifest.load(file)
    if dry_run:
        return await _verify(verify_backup(settings, file, tools=pg_bin), f"would replace {ctx.target.address}")
    ctx.confirm(f"Replace {ctx.target.address} with {_label(file, backup_manifest)}? Later changes are lost.", yes=yes)
    with _as_cli():
        report = await restore_backup(settings, file, tombstones=tombstones or (), tools=pg_bin)
    return Result(data=report, lines=_restore_lines(report, ctx.target.address))


@command(app, "data verify", opens=False, local=True, without=NO_SPACE)
async def verify(
    ctx: CommandContext,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Backup.  [default: the database in use]")
    ] = None,
    *,
    pg_bin: PgBin = "",
) -> Result:
    """Check a database or backup for corruption.

    It reads the file, the schema, and the chain of every session.
    """
    from bethink.features.backups.verify import verify_backup, verify_database  # noqa: PLC0415 - as above

    if file is not None:
        if not file.is_file():
            raise NotFoundError(f"No backup at {file}.", hint="Check the path.")
        return await _verify(verify_backup(ctx.target.settings, file, tools=pg_bin))
    ctx.target.must_exist()
    async with ctx.target.make() as memory:
        return await _verify(verify_database(ctx.target.settings, memory.backend.local().database))


def _as_cli() -> "AbstractContextManager[None]":
    """Record the command line as the caller: these commands open no memory, which would do so."""
    from bethink.model.access import Caller, Interface, calling_as  # noqa: PLC0415 - as above

    return calling_as(Caller(interface=Interface.CLI))


async def _verify(findings: "AsyncIterator[BackupFinding]", last: str = "") -> Result:
    checks = [check async for check in findings]
    lines = [
        OutputLine(f"{'✓' if check.ok else '✗'} {check.name}: {check.result}", "" if check.ok else "red")
        for check in checks
    ]
    broken = [check for check in checks if not check.ok]
    if last and not broken:
        lines.append(OutputLine(last))
    if not broken:
        return Result(data={"checks": checks}, lines=lines)
    hint = "Stop writing to it, and restore a backup that passes 'bethink data verify FILE'."
    failure = Failure(code="damaged", message=f"{plural(len(broken), 'check')} failed.", hint=hint)
    return Result(data={"checks": checks}, lines=lines, code=ExitCode.FAILURE, failure=failure)


def _contents(manifest: "BackupManifest") -> str:
    return f"{plural(manifest.counts.messages, 'message')} in {plural(manifest.counts.spaces, 'space')}"


def _label(file: Path, manifest: "BackupManifest | None") -> str:
    if manifest is None:
        return f"the backup {file}"
    return f"{_contents(manifest)} of {manifest.began_at:%Y-%m-%d %H:%M:%S} UTC"


def _restore_lines(report: "RestoreReport", address: str) -> list[OutputLine]:
    lines = [f"Restored {address} as of {report.backup_at:%Y-%m-%d %H:%M:%S} UTC."]
    if report.sources:
        lines.append(
            f"Deleted again: {plural(report.erased, 'item')}, from {plural(report.tombstones, 'tombstone')}"
            f" in {' and '.join(report.sources)}."
        )
    else:
        lines.append(
            "Later deletions are unknown: no database could be read, and there is no file of tombstones."
            " Items that were deleted since are back."
        )
    if report.damaged:
        lines.append(f"The previous database could not be read. It is now {report.damaged}.")
    lines.append("Open sessions, leases and cursors are void: restart the programs that use this database.")
    return [OutputLine(line) for line in lines]
