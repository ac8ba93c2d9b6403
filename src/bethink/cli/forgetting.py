"""The command that forgets: one memory, a session, a conversation or everything of a space."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.frame import Answer, Door, Usage, command
from bethink.cli.terminal import Line, many
from bethink.errors import NotFound

if TYPE_CHECKING:
    from bethink.model.records import Forgotten

app = typer.Typer()

_SEE_REFS = "Run 'bethink recall' for the names of memories, 'bethink log' for documents; look in its own space."
_SEE_SESSIONS = "Run 'bethink sessions' for the sessions and conversations there are; look in their own space."
_SEE_SPACES = "Run 'bethink spaces' for the spaces there are."

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]


@command(app, does="changes")
async def forget(
    door: Door,
    ref: Annotated[str | None, typer.Argument(help="A memory as recall names it, kind:id:number.")] = None,
    *,
    session: Annotated[str | None, typer.Option(metavar="ID", help="A whole session.")] = None,
    conversation: Annotated[
        str | None, typer.Option(metavar="KEY", help="A conversation, as 'bethink sessions' shows it.")
    ] = None,
    agent: Annotated[str, typer.Option(metavar="NAME", help="Whose conversation.")] = "assistant",
    everything: Annotated[bool, typer.Option("--everything", help="All of the space.")] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Answer:
    """Forget something and all that was learnt from it. It cannot be taken back."""
    named = {"ref": ref, "session": session, "conversation": conversation, "everything": everything or None}
    if sum(value is not None for value in named.values()) != 1:
        raise Usage("one thing is forgotten at a time.", hint="Name a memory, a session, a conversation, or all of it.")
    what: dict[str, Any] = {"ref": ref, "everything": everything}
    try:
        if session is not None:
            what["session"] = await door.memory.get_session(space=door.space, session_id=session)
        if conversation is not None:
            what |= {"conversation": conversation, "agent": agent}
        gone = await door.memory.forget(space=door.space, dry_run=True, **what)
    except NotFound as error:
        error.hint = _SEE_REFS if ref is not None else _SEE_SPACES if everything else _SEE_SESSIONS
        raise
    if not dry_run:
        door.confirm(f"Forget {counted(gone)} of space {door.space}?", yes=yes)
        gone = await door.memory.forget(space=door.space, **what)
    said = "would be forgotten" if dry_run else "forgotten"
    return Answer(data=gone, lines=[Line(f"{said}: {counted(gone)}")])


def counted(gone: "Forgotten") -> str:
    """Say what is forgotten, in words."""
    kinds = {
        ("message", "messages"): gone.messages,
        ("fact", "facts"): gone.facts,
        ("session memory", "session memories"): gone.session_memories,
        ("version of a document", "versions of documents"): gone.documents,
        ("thread", "threads"): gone.threads,
    }
    parts = [many(count, *words) for words, count in kinds.items() if count]
    return ", ".join(parts) or "nothing"
