"""Commands that remember one thing: add."""

import sys
from typing import Annotated

import typer

from bethink.cli.frame import Answer, Door, Usage, command
from bethink.cli.terminal import Line, is_terminal, waiting

app = typer.Typer()


@command(app, does="makes")
async def add(
    door: Door,
    text: Annotated[str, typer.Argument(help="What to remember; - or nothing reads it from stdin.")] = "-",
    *,
    conversation: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Where it was said: channel:chat:thread.  [default: remember:notes]"),
    ] = None,
    agent: Annotated[str, typer.Option(metavar="NAME", help="Who it was said to.")] = "assistant",
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="Stored once, however often it is sent with this key.")
    ] = None,
) -> Answer:
    """Remember a text; it is durable when this returns."""
    from bethink.model.records import ConversationKey  # noqa: PLC0415 - as every import here, for a quick --help

    said = _read() if text == "-" else text
    if not said.strip():
        raise Usage("there is nothing to remember.", hint="Give a text, or write one to stdin.")
    where = None if conversation is None else ConversationKey.parse(conversation)
    stored = await door.memory.remember(said, space=door.space, conversation=where, agent=agent, idempotency_key=key)
    refs = [str(ref) for ref in stored.refs]
    return Answer(
        data={"space": door.space, "session": stored.session.id, "refs": refs}, lines=[Line(ref) for ref in refs]
    )


def _read() -> str:
    if is_terminal(sys.stdin):
        sys.stderr.write("Write what to remember, then end with Ctrl-D.\n")
        sys.stderr.flush()
    try:
        with waiting():
            return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise Usage("what comes from stdin is no text.", hint="Send UTF-8.") from error
