"""Commands that remember one thing: add."""

import sys
from typing import Annotated

import typer

from bethink.cli.frame import Answer, Door, Usage, command
from bethink.cli.terminal import Line, is_terminal, many, waiting
from bethink.errors import Conflict

app = typer.Typer()

_CUT = "[REDACTED:"


@command(app, does="makes")
async def add(
    door: Door,
    text: Annotated[str, typer.Argument(help="What to remember; - or nothing reads it from stdin.")] = "-",
    *,
    conversation: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Where it was said, such as channel:chat:thread.  [default: remember:notes]"),
    ] = None,
    agent: Annotated[str, typer.Option(metavar="NAME", help="Who it was said to.")] = "assistant",
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="Stored once, however often it is sent with this key.")
    ] = None,
) -> Answer:
    """Remember a text; it is durable when this returns."""
    said = read_text(text, what="what to remember")
    if not said.strip():
        raise Usage("there is nothing to remember.", hint="Give a text, or write one to stdin.")
    try:
        stored = await door.memory.remember(
            said, space=door.space, conversation=conversation, agent=agent, idempotency_key=key
        )
    except Conflict as error:
        error.args = (_as_given(str(error.args[0]), key),)
        raise
    for ref in stored.refs:  # which may name a message of long ago, if the key was known
        session = await door.memory.get_session(space=door.space, session_id=ref.id)
        found = [] if session is None else await door.memory.read(session, after=ref.number - 1, limit=1)
        for record in found:
            note_cut(door, said, record.message.content)
    refs = [str(ref) for ref in stored.refs]
    return Answer(
        data={"space": door.space, "session": stored.session.id, "refs": refs}, lines=[Line(ref) for ref in refs]
    )


def note_cut(door: Door, given: str, stored: str) -> None:
    """Say beside the data what of a text was not stored."""
    from bethink.model.text import clean  # noqa: PLC0415

    cut = stored.count(_CUT) - given.count(_CUT)
    if cut > 0:
        door.note(f"note: {many(cut, 'secret was', 'secrets were')} cut out")
    elif stored != clean(given):
        door.note("note: a part that is private, or was recalled from memory, was left out")


def _as_given(said: str, key: str | None) -> str:
    """Name a key as it was given: it is stored with the place of its message."""
    return said if key is None else said.replace(repr(f"{key}:0"), repr(key))


def read_text(given: str, *, what: str) -> str:
    """Return a text as it was given; a dash reads it from stdin."""
    if given != "-":
        return given
    try:
        with waiting():  # before anything is said: who reads it may want to leave at once
            if is_terminal(sys.stdin):
                sys.stderr.write(f"Write {what}, then end with Ctrl-D.\n")
                sys.stderr.flush()
            return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise Usage("what comes from stdin is no text.", hint="Send UTF-8.") from error
