"""Commands about the whole memory: backup, restore and verify."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, DryRun, ExitCode, Failure, Result, UsageError, Yes, command
from bethink.cli.terminal import OutputLine
from bethink.errors import NotFound
from bethink.model.plural import plural

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractContextManager

    from bethink.model.backups import BackupFinding, BackupManifest, Restored

app = typer.Typer()

Tools = Annotated[
    str, typer.Option("--tools", metavar="FOLDER", help="The folder of pg_dump, pg_restore and psql.  [default: PATH]")
]


@command(app, opens=False, local=True, without=NO_SPACE)
async def backup(
    ctx: CommandContext,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup to write. It must not exist.")],
    *,
    tools: Tools = "",
) -> Result:
    """Copy the whole memory into a file, while others use it.

    On PostgreSQL this needs a role that passes row-level security: name it in --database.
    """
    from bethink.features.backups.make import back_up  # noqa: PLC0415 - like every import here, for a quick --help

    ctx.target.must_exist()
    with _asked_here():
        made = await back_up(ctx.target.settings, file, tools=tools)
    line = f"{file}: {_held(made)}, {made.bytes:,} bytes; everything acknowledged before {made.began_at:%H:%M:%S} UTC"
    return Result(data=made, lines=[OutputLine(line)])


@command(app, effect="changes", opens=False, local=True, without=NO_SPACE)
async def restore(
    ctx: CommandContext,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="A backup that 'bethink backup' made.")] = None,
    *,
    recovered_to: Annotated[
        str | None,
        typer.Option("--recovered-to", metavar="TIME", help="Finish a recovery by other means to this moment."),
    ] = None,
    tombstones: Annotated[
        list[Path] | None,
        typer.Option(
            "--tombstones", metavar="FILE", help="A file that says what was erased since. May be given several times."
        ),
    ] = None,
    tools: Tools = "",
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Replace the whole memory by a backup.

    What was stored since is lost; what was erased since stays erased. On PostgreSQL, stop servers and workers first.
    After a recovery by other means, such as to a point in time, give --recovered-to instead of a file.
    """
    from bethink.features.backups import manifest  # noqa: PLC0415 - as above
    from bethink.features.backups.restore import finish_recovery  # noqa: PLC0415
    from bethink.features.backups.restore import restore as carry_out  # noqa: PLC0415
    from bethink.features.backups.verify import verify_backup  # noqa: PLC0415
    from bethink.model.moments import moment  # noqa: PLC0415

    if (file is None) == (recovered_to is None):
        raise UsageError("name a backup, or --recovered-to.", hint="Run 'bethink restore FILE'.")
    if recovered_to is not None:
        at = moment(recovered_to)
        ctx.confirm(f"Erase again what was erased since {at:%Y-%m-%d %H:%M:%S} UTC, and void the rest?", yes=yes)
        with _asked_here():
            done = await finish_recovery(ctx.target.settings, at, tombstones=tombstones or ())
        return Result(data=done, lines=_restored(done, ctx.target.address))
    assert file is not None  # noqa: S101 - one of the two is given
    if not file.is_file():
        raise NotFound(f"no backup at {file}.", hint="Check the path.")
    settings, known = ctx.target.settings, manifest.read(file)
    if dry_run:
        return await _told(verify_backup(settings, file, tools=tools), f"would replace {ctx.target.address}")
    what = f"the backup {file}" if known is None else f"{_held(known)} of {known.began_at:%Y-%m-%d %H:%M:%S} UTC"
    ctx.confirm(f"Replace {ctx.target.address} by {what}? What was stored since is lost.", yes=yes)
    with _asked_here():
        done = await carry_out(settings, file, tombstones=tombstones or (), tools=tools)
    return Result(data=done, lines=_restored(done, ctx.target.address))


@command(app, opens=False, local=True, without=NO_SPACE)
async def verify(
    ctx: CommandContext,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A backup. Without one, the memory in use.")
    ] = None,
    *,
    tools: Tools = "",
) -> Result:
    """Check that the memory, or a backup of it, is whole.

    It looks at the file, at its schema, and at the chain of every session.
    """
    from bethink.features.backups.verify import verify_backup, verify_database  # noqa: PLC0415 - as above

    if file is not None:
        if not file.is_file():
            raise NotFound(f"no backup at {file}.", hint="Check the path.")
        return await _told(verify_backup(ctx.target.settings, file, tools=tools))
    ctx.target.must_exist()
    async with ctx.target.make() as memory:
        return await _told(verify_database(ctx.target.settings, memory.local().database))


def _asked_here() -> "AbstractContextManager[None]":
    """Record what is done under the command line: these commands open no memory, which would see to that."""
    from bethink.model.access import Caller, Door, asked_by  # noqa: PLC0415 - as above

    return asked_by(Caller(door=Door.CLI))


async def _told(findings: "AsyncIterator[BackupFinding]", last: str = "") -> Result:
    found = [each async for each in findings]
    lines = [
        OutputLine(f"{'✓' if each.ok else '✗'} {each.name}: {each.found}", "" if each.ok else "red") for each in found
    ]
    broken = [each for each in found if not each.ok]
    if last and not broken:
        lines.append(OutputLine(last))
    if not broken:
        return Result(data={"checks": found}, lines=lines)
    hint = "Stop writing to it, and restore a backup that 'bethink verify FILE' finds whole."
    failure = Failure(code="damaged", message=f"{plural(len(broken), 'check')} failed.", hint=hint)
    return Result(data={"checks": found}, lines=lines, code=ExitCode.FAILURE, failure=failure)


def _held(made: "BackupManifest") -> str:
    return f"{plural(made.counts.messages, 'message')} in {plural(made.counts.spaces, 'space')}"


def _restored(done: "Restored", address: str) -> list[OutputLine]:
    lines = [f"restored {address} as it was on {done.backup_at:%Y-%m-%d %H:%M:%S} UTC"]
    if done.sources:
        lines.append(
            f"erased again: {plural(done.erased, 'item')}, as {plural(done.tombstones, 'tombstone')} say"
            f"{'s' if done.tombstones == 1 else ''}; known from {' and '.join(done.sources)}"
        )
    else:
        lines.append(
            "nothing says what was erased since: no database could be read, and there is no file of tombstones."
            " What was forgotten since is back"
        )
    if done.damaged:
        lines.append(f"what was there before could not be read: it is now {done.damaged}")
    lines.append("sessions, claims and positions from before are void: restart what used this memory")
    return [OutputLine(line) for line in lines]
