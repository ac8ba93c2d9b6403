"""The command that stores a note or files: add."""

import sys
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from bethink.base.features import modules_named
from bethink.cli.command import CommandContext, command
from bethink.cli.narrowing import values
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine, is_closed, is_terminal, waiting
from bethink.errors import ConfigurationError, ConflictError
from bethink.model.plural import plural

app = typer.Typer()

_REDACTED = "[REDACTED:"
_FILE_OPTIONS = {
    "file": (
        Annotated[
            list[str] | None,
            typer.Option(metavar="PATH", help="Text, Markdown, HTML or PDF file; - for stdin. Repeatable."),
        ],
        None,
    ),
    "name": (
        Annotated[str | None, typer.Option(metavar="NAME", help="Name of the file.  [default: its path]")],
        None,
    ),
    "media_type": (
        Annotated[str | None, typer.Option(metavar="TYPE", help="Media type.  [default: from the file extension]")],
        None,
    ),
}


@command(app, effect="creates", more=_FILE_OPTIONS)
async def add(
    ctx: CommandContext,
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT]", help="Note; - for stdin (the default). With --file, more files."),
    ] = None,
    *,
    conversation: Annotated[str, typer.Option(metavar="NAME", help="Conversation of the note.")] = "notes",
    agent: Annotated[str, typer.Option(metavar="NAME", help="Agent of the conversation.")] = "assistant",
    idempotency_key: Annotated[str | None, typer.Option(metavar="KEY", help="Idempotency key of the note.")] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="Tag. Repeatable.")] = None,
    metadata: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Metadata, such as rank=3. Repeatable.")
    ] = None,
) -> Result:
    """Store a note, or files with --file.

    A note is durable when the command returns. A file is stored as passages, as data, never as your
    instructions. A file is identified by its name: add it again after a change, and only the differences are stored.
    """
    if ctx.more["file"]:
        if tag or metadata or idempotency_key:
            raise UsageError(
                "--file cannot be combined with --tag, --metadata or --idempotency-key.", hint="Leave them out."
            )
        return await _add_files(ctx, [*ctx.more["file"], *(texts or ())])
    if ctx.more["name"] is not None or ctx.more["media_type"] is not None:
        raise UsageError("--name and --media-type need --file.", hint="Pass the file with --file PATH.")
    if len(texts or ()) > 1:
        raise UsageError("The note was passed as several arguments.", hint="Put the text in quotes.")
    text = read_text(texts[0] if texts else "-", label="the text")
    if not text.strip():
        raise UsageError("The text is empty.", hint="Pass a text, or write one to stdin.")
    try:
        stored = await ctx.space.remember(
            text,
            conversation=conversation,
            agent=agent,
            idempotency_key=idempotency_key,
            tags=tag or (),
            metadata=values(metadata or ()),
        )
    except ConflictError as error:
        error.args = (_name_key(str(error.args[0]), idempotency_key),)
        raise
    for ref in stored.refs:  # an old message, if the key exists
        session = await ctx.space.sessions.get(ref.id)
        for record in await session.messages(after=ref.number - 1, limit=1):
            note_redaction(ctx, text, record.message.content)
    data = {"space": ctx.space_name, "session": stored.session.id, "refs": stored.refs}
    return Result(data=data, lines=[OutputLine(ref) for ref in stored.refs])


async def _add_files(ctx: CommandContext, files: list[str]) -> Result:
    """Store files: the feature that reads them has a module `addition`."""
    for module in modules_named("addition"):
        return await module.add_files(ctx, files, name=ctx.more["name"], media_type=ctx.more["media_type"])
    raise ConfigurationError("This installation cannot store files.", hint="Add a note instead.")


def note_redaction(ctx: CommandContext, text: str, stored: str) -> None:
    """Note which parts of a text were not stored."""
    from bethink.model.text import clean  # noqa: PLC0415

    cut = stored.count(_REDACTED) - text.count(_REDACTED)
    if cut > 0:
        ctx.note(f"note: {plural(cut, 'secret was', 'secrets were')} redacted")
    elif stored != clean(text):
        ctx.note("note: private or recalled parts of the text were not stored")


def _name_key(message: str, key: str | None) -> str:
    """Name a key as the user passed it: it is stored with the position of its message."""
    return message if key is None else message.replace(repr(f"{key}:0"), repr(key))


def read_text(text: str, *, label: str) -> str:
    """Return a text argument; - reads it from stdin."""
    if text != "-":
        return text
    source = open_stdin()
    try:
        with waiting():  # before the prompt: its reader may want to leave at once
            if is_terminal(source):
                sys.stderr.write(f"Type {label}, then press Ctrl-D.\n")
                sys.stderr.flush()
            return source.read()
    except UnicodeDecodeError as error:
        raise UsageError("stdin is not valid UTF-8.", hint="Send the text in UTF-8.") from error


def open_stdin() -> TextIO:
    """Return stdin. Raises `UsageError` if the caller has closed it."""
    if is_closed(sys.stdin):
        raise UsageError("stdin is closed.", hint="Pipe the text to stdin, or pass a file.")
    source: Any = sys.stdin
    if hasattr(source, "reconfigure"):  # a C locale would let any bytes pass, as question marks
        source.reconfigure(encoding="utf-8", errors="strict")
    return source


def read_file(name: str, *, label: str) -> str:
    """Return the text of a file; - reads stdin. Raises `UsageError` if it cannot be read."""
    if name == "-":
        return read_text(name, label=label)
    try:
        return Path(name).expanduser().read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not valid UTF-8.", hint="Save it in UTF-8.") from error
    except OSError as error:
        raise UsageError(f"Cannot read {name}: {error.strerror}.", hint="Pass a file, or - for stdin.") from error
