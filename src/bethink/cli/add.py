"""The command that stores one text: add."""

import sys
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from bethink.cli.command import CommandContext, Result, UsageError, command
from bethink.cli.narrowing import values
from bethink.cli.terminal import OutputLine, is_closed, is_terminal, waiting
from bethink.errors import Conflict
from bethink.model.plural import plural

app = typer.Typer()

_REDACTED = "[REDACTED:"


@command(app, effect="creates")
async def add(
    ctx: CommandContext,
    text: Annotated[str, typer.Argument(help="The text to store. Without one, or with -, read it from stdin.")] = "-",
    *,
    conversation: Annotated[
        str, typer.Option(metavar="NAME", help="The conversation it belongs to: any name that stays the same.")
    ] = "notes",
    agent: Annotated[str, typer.Option(metavar="NAME", help="The agent that takes part in the conversation.")] = (
        "assistant"
    ),
    idempotency_key: Annotated[
        str | None, typer.Option(metavar="KEY", help="Repeating the command with the same key stores nothing twice.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="A tag for it. Repeatable.")] = None,
    metadata: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Metadata for it, such as rank=3. Repeatable.")
    ] = None,
) -> Result:
    """Store a text. It is durable when the command returns."""
    given = read_text(text, what="the text")
    if not given.strip():
        raise UsageError("the text is empty.", hint="Pass a text, or write one to stdin.")
    try:
        stored = await ctx.space.remember(
            given,
            conversation=conversation,
            agent=agent,
            idempotency_key=idempotency_key,
            tags=tag or (),
            metadata=values(metadata or ()),
        )
    except Conflict as error:
        error.args = (_as_given(str(error.args[0]), idempotency_key),)
        raise
    for ref in stored.refs:  # an old message, if the key was known
        session = await ctx.space.get_session(ref.id)
        for record in await session.read(after=ref.number - 1, limit=1):
            note_redaction(ctx, given, record.message.content)
    data = {"space": ctx.space_name, "session": stored.session.id, "refs": stored.refs}
    return Result(data=data, lines=[OutputLine(ref) for ref in stored.refs])


def note_redaction(ctx: CommandContext, given: str, stored: str) -> None:
    """Note which parts of a text were not stored."""
    from bethink.model.text import clean  # noqa: PLC0415

    cut = stored.count(_REDACTED) - given.count(_REDACTED)
    if cut > 0:
        ctx.note(f"note: {plural(cut, 'secret was', 'secrets were')} redacted")
    elif stored != clean(given):
        ctx.note("note: private or recalled parts of the text were not stored")


def _as_given(message: str, key: str | None) -> str:
    """Name a key as the user gave it: it is stored with the position of its message."""
    return message if key is None else message.replace(repr(f"{key}:0"), repr(key))


def read_text(given: str, *, what: str) -> str:
    """Return a text argument; - reads it from stdin."""
    if given != "-":
        return given
    source = open_stdin()
    try:
        with waiting():  # before the prompt: its reader may want to leave at once
            if is_terminal(source):
                sys.stderr.write(f"Type {what}, then press Ctrl-D.\n")
                sys.stderr.flush()
            return source.read()
    except UnicodeDecodeError as error:
        raise UsageError("stdin is not valid UTF-8.", hint="Send the text in UTF-8.") from error


def open_stdin() -> TextIO:
    """Return stdin. Raises `UsageError` if the caller has closed it."""
    if is_closed(sys.stdin):
        raise UsageError("stdin is closed.", hint="Send the text to it, or name a file.")
    source: Any = sys.stdin
    if hasattr(source, "reconfigure"):  # a C locale would let any bytes pass, as question marks
        source.reconfigure(encoding="utf-8", errors="strict")
    return source


def read_file(name: str, *, what: str) -> str:
    """Return the text of a file; - reads stdin. Raises `UsageError` for one that it cannot read."""
    if name == "-":
        return read_text(name, what=what)
    try:
        return Path(name).expanduser().read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not valid UTF-8.", hint="Save it in UTF-8.") from error
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}.", hint="Pass a file, or - for stdin.") from error
