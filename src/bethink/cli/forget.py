"""The command that deletes: one memory, a session, a conversation or a whole space."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import CommandContext, DryRun, Result, UsageError, Yes, command
from bethink.cli.erasures import write_receipt
from bethink.cli.narrowing import NARROWING, narrowing, repeatable
from bethink.cli.recall import parse_kinds
from bethink.cli.terminal import OutputLine
from bethink.errors import NotFound
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.model.records import Forgotten

app = typer.Typer()

_KIND = "Of what fits, delete only message, fact, session_memory or document."
FILTER = {
    **{name: option for name, option in NARROWING.items() if name not in ("conversation", "agent")},
    "before": (
        Annotated[str | None, typer.Option("--before", metavar="DATE", help="Delete all that was said before then.")],
        None,
    ),
    "kind": repeatable("KIND", _KIND),
    "echoes": (Annotated[bool, typer.Option("--echoes", help="Also delete lines that repeat it elsewhere.")], False),
    "reason": (Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the record.")], ""),
    "receipt": (
        Annotated[str | None, typer.Option("--receipt", metavar="FILE", help="Write the receipt to a file.")],
        None,
    ),
}

_SEE_REFS = "Run 'bethink recall' to find the refs of memories, or 'bethink log' for documents, in the same space."
_SEE_SESSIONS = "Run 'bethink sessions' to list the sessions and conversations of the space."
_SEE_SPACES = "Run 'bethink spaces' to list the spaces."


@command(app, effect="changes", more=FILTER)
async def forget(
    ctx: CommandContext,
    ref: Annotated[str | None, typer.Argument(help="A ref as recall prints it: kind:id:number.")] = None,
    *,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Delete a whole session.")] = None,
    conversation: Annotated[
        str | None, typer.Option(metavar="NAME", help="Delete a conversation, named as in 'bethink sessions'.")
    ] = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="The agent of the conversation.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="Delete everything in the space.")] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Delete a memory, or all that fits some options, and everything that was learnt from it. This cannot be undone."""
    fitting = narrowing(ctx.more)
    if ctx.more["before"]:
        fitting["before"] = ctx.more["before"]
    if sum(value is not None for value in (ref, session, conversation or fitting or None, everything or None)) != 1:
        hint = "Pass a ref, --session, --conversation, --everything, or options that narrow, such as --tag."
        raise UsageError("forget takes exactly one thing to delete.", hint=hint)
    what: dict[str, Any] = {"ref": ref, "session_id": session, "everything": everything, **fitting}
    what |= {"echoes": ctx.more["echoes"], "reason": ctx.more["reason"]}
    if ctx.more["kind"]:
        what["kinds"] = parse_kinds(ctx.more["kind"])
    what |= {"conversation": conversation, "agent": agent}
    try:
        gone = await ctx.space.forget(dry_run=True, **what)
    except NotFound as error:
        error.hint = _SEE_REFS if ref is not None else _SEE_SPACES if everything else _SEE_SESSIONS
        raise
    if not dry_run:
        ctx.confirm(f"Delete {counted(gone)} from space {ctx.space_name}?", yes=yes)
        gone = await ctx.space.forget(**what)
        if ctx.more["receipt"] is not None:
            write_receipt(ctx.more["receipt"], gone.receipt)
    for each in _notes(gone, echoes=ctx.more["echoes"]):
        ctx.note(f"note: {each}")
    state = "would be forgotten" if dry_run else "forgotten"
    lines = [OutputLine(f"{state}: {counted(gone)}")]
    if dry_run:
        lines += [OutputLine(f"  {each}") for each in (*gone.pages, *gone.refs)]
    return Result(data=gone, lines=lines)


def _notes(gone: "Forgotten", *, echoes: bool) -> list[str]:
    """Say what stays, and what is still under way."""
    notes: list[str] = []
    if gone.shown_to and not echoes:
        shown = plural(len(gone.shown_to), "other session was", "other sessions were")
        notes.append(f"{shown} shown some of it, and may repeat it; --echoes deletes such lines")
    if gone.tests_naming:
        left = plural(len(gone.tests_naming), "memory test holds", "memory tests hold")
        notes.append(f"{left} words of it, see 'bethink test remove': {', '.join(gone.tests_naming)}")
    if gone.open_sinks:
        notes.append(f"not confirmed yet: {', '.join(gone.open_sinks)}; 'bethink erasures' shows when it is")
    return notes


def counted(gone: "Forgotten") -> str:
    """List what is deleted, with counts."""
    kinds = {
        ("message", "messages"): gone.messages,
        ("fact", "facts"): gone.facts,
        ("session memory", "session memories"): gone.session_memories,
        ("version of a document", "versions of documents"): gone.documents,
        ("thread", "threads"): gone.threads,
        ("other text", "other texts"): gone.others,
        ("memory test", "memory tests"): gone.tests,
    }
    parts = [plural(count, *words) for words, count in kinds.items() if count]
    return ", ".join(parts) or "nothing"
