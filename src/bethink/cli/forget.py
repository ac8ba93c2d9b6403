"""The command that deletes: one memory, a session, a conversation or a whole space."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import CommandContext, DryRun, Yes, command
from bethink.cli.erasures import write_receipt
from bethink.cli.narrowing import NARROWING, narrowing, repeatable
from bethink.cli.recall import parse_kinds
from bethink.cli.refs import not_found, resolve_ref
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine
from bethink.errors import NotFoundError
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.model.records import Deletion

app = typer.Typer()

FILTER = {
    **{name: option for name, option in NARROWING.items() if name not in ("conversation", "agent")},
    "before": (
        Annotated[str | None, typer.Option("--before", metavar="DATE", help="Items before this date.")],
        None,
    ),
    "only": repeatable("KIND", "Kind to delete: message, fact, session_summary or document."),
    "include_repeats": (
        Annotated[bool, typer.Option("--include-repeats", help="Also delete messages elsewhere that repeat the text.")],
        False,
    ),
    "reason": (Annotated[str, typer.Option("--reason", metavar="TEXT", help="Reason for the record.")], ""),
    "receipt": (
        Annotated[str | None, typer.Option("--receipt", metavar="FILE", help="File for the receipt.")],
        None,
    ),
}

_SESSIONS_HINT = "Run 'bethink sessions' to list the sessions and conversations of the space."
_SPACES_HINT = "Run 'bethink admin spaces' to list the spaces."


@command(app, effect="deletes", more=FILTER)
async def forget(
    ctx: CommandContext,
    ref: Annotated[str | None, typer.Argument(help="Ref as recall prints it: kind:id:number.")] = None,
    *,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Session to delete.")] = None,
    conversation: Annotated[str | None, typer.Option(metavar="NAME", help="Conversation to delete.")] = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="Agent, with --conversation or a filter.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Everything in the space.")] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Permanently delete memories and derived data.

    Pass a ref, --session, --conversation, --all or a filter such as --tag. The deletion cannot be undone.
    """
    filters = narrowing(ctx.more)
    if ctx.more["before"]:
        filters["before"] = ctx.more["before"]
    if sum(value is not None for value in (ref, session, conversation or filters or None, everything or None)) != 1:
        hint = "Pass a ref, --session, --conversation, --all, or a filter such as --tag."
        if agent is not None:
            hint += " --agent only narrows --conversation or a filter."
        raise UsageError("'bethink forget' takes one target.", hint=hint)
    request: dict[str, Any] = {"ref": ref, "session_id": session, "everything": everything, **filters}
    request |= {"include_repeats": ctx.more["include_repeats"], "reason": ctx.more["reason"]}
    if ctx.more["only"]:
        request["kinds"] = parse_kinds(ctx.more["only"])
    request |= {"conversation": conversation, "agent": agent}
    deletion = await _preview(ctx, request)
    if not dry_run:
        ctx.confirm(f"Delete {deletion_counts(deletion)} from space {ctx.space_name}?", yes=yes)
        deletion = await ctx.space.forget(**request)
        if ctx.more["receipt"] is not None:
            write_receipt(ctx.more["receipt"], deletion.receipt)
    for note in _notes(deletion, include_repeats=ctx.more["include_repeats"]):
        ctx.note(f"note: {note}")
    lines = [OutputLine(deletion_line(deletion, dry_run=dry_run))]
    if dry_run:
        lines += [OutputLine(f"  {item}") for item in (*deletion.document_paths, *deletion.refs)]
    return Result(data=deletion, lines=lines)


async def _preview(ctx: CommandContext, request: dict[str, Any]) -> "Deletion":
    """Count the items that a deletion would remove."""
    try:
        return await ctx.space.forget(dry_run=True, **request)
    except NotFoundError as error:
        if request["ref"] is not None:
            raise not_found(await resolve_ref(ctx.space, request["ref"]), ctx.space_name) from error
        error.hint = _SPACES_HINT if request["everything"] else _SESSIONS_HINT
        raise


def _notes(deletion: "Deletion", *, include_repeats: bool) -> list[str]:
    """Return notes about remaining copies and pending confirmations."""
    notes: list[str] = []
    if deletion.exposed_sessions and not include_repeats:
        sessions = plural(len(deletion.exposed_sessions), "other session had", "other sessions had")
        notes.append(f"{sessions} some of it in context and may repeat it; --include-repeats deletes such lines")
    if deletion.mentioning_tests:
        tests = plural(len(deletion.mentioning_tests), "memory test contains", "memory tests contain")
        notes.append(f"{tests} words of it, see 'bethink test remove': {', '.join(deletion.mentioning_tests)}")
    if deletion.pending:
        pending = ", ".join(deletion.pending)
        notes.append(f"not confirmed yet: {pending}; 'bethink admin erasures' shows when it is")
    return notes


def deletion_line(deletion: "Deletion", *, dry_run: bool) -> str:
    """Describe a deletion in one sentence."""
    return f"{'Would delete' if dry_run else 'Deleted'} {deletion_counts(deletion)}."


def deletion_counts(deletion: "Deletion") -> str:
    """List the counts of a deletion: 8 messages, 1 fact and 2 threads."""
    kinds = {
        ("message", "messages"): deletion.messages,
        ("fact", "facts"): deletion.facts,
        ("session summary", "session summaries"): deletion.session_summaries,
        ("document version", "document versions"): deletion.documents,
        ("thread", "threads"): deletion.threads,
        ("other text", "other texts"): deletion.others,
        ("memory test", "memory tests"): deletion.tests,
    }
    parts = [plural(count, *words) for words, count in kinds.items() if count]
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:]))) or "nothing"
