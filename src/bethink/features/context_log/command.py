"""The command that shows what coding agents and other callers were told: log."""

from datetime import UTC, datetime
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import CommandContext, command
from bethink.cli.paging import After, Limit
from bethink.cli.results import Result
from bethink.cli.terminal import OutputLine, one_line, when
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.features.context_log.records import ContextLogEntry

app = typer.Typer()

_WIDTH = 110


@command(app, "log")
async def log(
    ctx: CommandContext,
    *,
    today: Annotated[bool, typer.Option("--today", help="Only entries of today.")] = False,
    limit: Limit = 20,
    after: After = "",
) -> Result:
    """Show what agents were told, and when. The newest is first."""
    page = await ctx.space.admin.context_log.list(limit=min(limit, 100), after=after)
    begins = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)
    entries = list(takewhile(lambda entry: not today or entry.shown_at >= begins, page.items))
    if page.next and len(entries) == len(page.items):
        ctx.note(f"note: there may be more; continue with --after {page.next}")
    if not entries:
        ctx.note(f"note: nothing was told {'today' if today else 'yet'} from space {ctx.space_name!r}")
    return Result(
        data={"items": entries, "next": page.next}, lines=[line for entry in entries for line in _lines(entry)]
    )


def _lines(entry: "ContextLogEntry") -> list[OutputLine]:
    agent, _, session = entry.conversation.partition(":")
    who = " ".join(filter(None, (entry.agent or agent or "a deleted session", session[:8])))
    texts = [one_line(memory.text, _WIDTH) if memory.text else "(deleted since)" for memory in entry.memories]
    head = f"{when(entry.shown_at)}  {who}: {plural(len(texts), 'line')}, {plural(entry.tokens, 'token')}"
    return [OutputLine(head, "bold"), *(OutputLine(f"  {text}") for text in texts)]
