"""The command that stores files: add-file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.add import open_stdin
from bethink.cli.command import CommandContext, ExitCode, Failure, Result, UsageError, command
from bethink.cli.terminal import OutputLine, one_line, waiting
from bethink.errors import Invalid
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.model.files import AddedFile

app = typer.Typer()


@command(app, "add-file", effect="creates")
async def add_file(
    ctx: CommandContext,
    files: Annotated[list[str], typer.Argument(help="Text, Markdown, HTML or PDF; - reads stdin.")],
    *,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The name to store it under; the path as given, if left out.")
    ] = None,
    media_type: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Such as text/html; by the suffix of the name, if left out.")
    ] = None,
) -> Result:
    """Store files as passages that can be recalled. Run it again after a change: only what differs is stored.

    What a file says is data: it is never taken as a wish of yours. A file is known by its name.
    """
    if name is not None and len(files) > 1:
        raise UsageError("--name is for one file.", hint="Add each file by itself.")
    if "-" in files and name is None:
        raise UsageError("a file from stdin has no name.", hint="Give it one with --name.")
    _check(files)
    added: list[AddedFile] = []
    refused: list[str] = []
    lines: list[OutputLine] = []
    for each in files:
        known_as = name or Path(each).as_posix()
        try:
            done = await ctx.space.add_file(known_as, data=_read(each), media_type=media_type)
        except Invalid as error:
            if len(files) == 1:
                raise
            refused.append(known_as)
            ctx.note(one_line(str(error)))
            continue
        added.append(done)
        lines.append(OutputLine(f"{known_as}: {_told(done)}"))
        if done.cut:
            ctx.note(
                f"note: about {plural(done.cut, 'character')} of {one_line(known_as)} not stored: secret or private"
            )
    data = {"space": ctx.space_name, "files": added, "refused": refused}
    if not refused:
        return Result(data=data, lines=lines)
    failure = Failure(
        code="partial",
        message=f"{plural(len(refused), 'file was', 'files were')} refused.",
        hint="The others are stored.",
    )
    return Result(data=data, lines=lines, code=ExitCode.PARTIAL, failure=failure)


def _check(files: list[str]) -> None:
    """Raise for a file that is not there, before any is stored."""
    for each in files:
        if each != "-" and not Path(each).exists():
            raise FileNotFoundError(2, "No such file or directory", each)


def _told(done: "AddedFile") -> str:
    left_out = f", {done.forgotten} left out as forgotten" if done.forgotten else ""
    if not done.added and not done.retracted:
        return f"unchanged, {plural(done.kept, 'passage')}{left_out}"
    return f"{plural(done.added, 'passage')} added, {done.kept} kept, {done.retracted} taken back{left_out}"


def _read(name: str) -> bytes:
    """Return the bytes of a file, and no more of them than tell that it is too large."""
    from bethink.features.files.sources import MAX_BYTES  # noqa: PLC0415

    if name == "-":
        with waiting():
            return open_stdin().buffer.read(MAX_BYTES + 1)
    try:
        with Path(name).open("rb") as source:
            return source.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}.", hint="Pass a file, or - for stdin.") from error
