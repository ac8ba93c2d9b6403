"""The command that previews learning: learn preview."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.add import read_file, read_text
from bethink.cli.command import CommandContext, command
from bethink.cli.lineage import quote_lines
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine, one_line
from bethink.errors import BethinkError
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.model.preview import Preview, PreviewedClaim
    from bethink.model.records import Message

app = typer.Typer()


@command(app, "learn preview")
async def preview_learning(
    ctx: CommandContext,
    file: Annotated[
        str, typer.Argument(help="JSON Lines as for 'bethink data import', or a user's text; - for stdin.")
    ] = "-",
    *,
    instructions: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Instructions to try instead of those in the rules.")
    ] = None,
    agent: Annotated[str, typer.Option(metavar="NAME", help="Agent whose rules apply.")] = "assistant",
) -> Result:
    """Show what would be learned, without storing it.

    It lists the claims that would be accepted, need review or be rejected, with quotes and reasons.
    """
    messages = _messages(read_file(file, label="the messages"))
    rules = None
    if instructions is not None:
        text = read_text(instructions, label="the instructions").strip()
        rules = replace(await ctx.space.admin.rules.get(agent), instructions=text)
    preview = await ctx.space.admin.rules.preview(messages, rules=rules, agent=agent)
    return Result(data=preview, lines=_lines(preview))


def _messages(text: str) -> "str | list[Message]":
    if not text.strip():
        raise UsageError("There are no messages.", hint="Write one JSON object per line, or a text of the user.")
    if not text.lstrip().startswith("{"):
        return text
    from bethink.features.importers.jsonl import message_of  # noqa: PLC0415 - few commands need it

    messages: list[Message] = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            if line.strip():
                message = message_of(line.encode(), f"line {number}", "preview", "preview").message
                messages.append(replace(message, idempotency_key=None))
        except (BethinkError, ValueError, TypeError, RecursionError) as error:
            raise UsageError(
                f"Line {number}: {error}", hint="Write one message a line, with role and content."
            ) from error
    return messages


def _lines(preview: "Preview") -> list[OutputLine]:
    lines = [*_claims("accept", preview.accepted), *_claims("review", preview.pending)]
    lines += _claims("reject", preview.rejected)
    lines += [OutputLine(f"note: {one_line(note)}") for note in preview.notes]
    price = f"{plural(preview.usage.calls, 'call')}, ${preview.usage.cost / 1e6:.4f}"
    counts = f"{len(preview.accepted)} accepted, {len(preview.pending)} for review, {len(preview.rejected)} rejected"
    return [*lines, OutputLine(f"{counts}; {price}")]


def _claims(heading: str, claims: "Iterable[PreviewedClaim]") -> list[OutputLine]:
    lines: list[OutputLine] = []
    for item in claims:
        reason = item.settlement or f"{item.reason}: {item.detail}".removesuffix(": ")
        lines.append(OutputLine(f"{heading} ({one_line(reason)}): {one_line(item.claim.fact.text)}"))
        lines += quote_lines(item.claim.quotes)
    return lines
