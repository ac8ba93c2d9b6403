"""Stores files for `bethink add --file`."""

from pathlib import Path
from typing import TYPE_CHECKING

from bethink.cli.add import open_stdin
from bethink.cli.command import CommandContext
from bethink.cli.results import ExitCode, Failure, Result, UsageError
from bethink.cli.terminal import OutputLine, one_line, waiting
from bethink.errors import InvalidRequestError
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.model.files import AddedFile


async def add_files(ctx: CommandContext, files: list[str], *, name: str | None, media_type: str | None) -> Result:
    """Store files as passages, and report for each what was added, kept and removed."""
    if name is not None and len(files) > 1:
        raise UsageError("--name works with one file only.", hint="Add each file separately.")
    if "-" in files and name is None:
        raise UsageError("A file from stdin has no name.", hint="Pass one with --name.")
    _check(files)
    added: list[AddedFile] = []
    rejected: list[str] = []
    lines: list[OutputLine] = []
    for file in files:
        title = name or Path(file).as_posix()
        try:
            report = await ctx.space.files.add(title, data=_read_bytes(file), media_type=media_type)
        except InvalidRequestError as error:
            if len(files) == 1:
                raise
            rejected.append(title)
            ctx.note(one_line(str(error)))
            continue
        added.append(report)
        lines.append(OutputLine(f"{title}: {_summary(report)}"))
        if report.cut:
            ctx.note(
                f"note: about {plural(report.cut, 'character')} of {one_line(title)} not stored: secret or private"
            )
    data = {"space": ctx.space_name, "files": added, "refused": rejected}
    if not rejected:
        return Result(data=data, lines=lines)
    failure = Failure(
        code="partial",
        message=f"{plural(len(rejected), 'file was', 'files were')} rejected.",
        hint="The others are stored.",
    )
    return Result(data=data, lines=lines, code=ExitCode.PARTIAL, failure=failure)


def _check(files: list[str]) -> None:
    """Raise for a file that does not exist, before any is stored."""
    for file in files:
        if file != "-" and not Path(file).exists():
            raise FileNotFoundError(2, "No such file or directory", file)


def _summary(report: "AddedFile") -> str:
    omitted = f", {report.deleted_before} left out as deleted" if report.deleted_before else ""
    if not report.added and not report.retracted:
        return f"unchanged, {plural(report.unchanged, 'passage')}{omitted}"
    return f"{plural(report.added, 'passage')} added, {report.unchanged} unchanged, {report.retracted} removed{omitted}"


def _read_bytes(name: str) -> bytes:
    """Return the bytes of a file, up to one more than the maximum size."""
    from bethink.features.files.sources import MAX_BYTES  # noqa: PLC0415

    if name == "-":
        with waiting():
            return open_stdin().buffer.read(MAX_BYTES + 1)
    try:
        with Path(name).open("rb") as source:
            return source.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"Cannot read {name}: {error.strerror}.", hint="Pass a file, or - for stdin.") from error
