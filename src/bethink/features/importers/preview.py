"""The command that shows what would be learnt from messages, and stores nothing."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.add import read_file, read_text
from bethink.cli.command import CommandContext, Result, UsageError, command
from bethink.cli.recall import quote_lines
from bethink.cli.terminal import OutputLine, one_line
from bethink.errors import BethinkError
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.model.preview import Preview, PreviewedClaim
    from bethink.model.records import Message

app = typer.Typer()


@command(app)
async def preview(
    ctx: CommandContext,
    file: Annotated[
        str, typer.Argument(help="A JSON Lines file as for 'bethink import', or one text of the user; - for stdin.")
    ] = "-",
    *,
    instructions: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Try other instructions than those of the rules.")
    ] = None,
    agent: Annotated[str, typer.Option(metavar="NAME", help="The agent whose rules apply.")] = "assistant",
) -> Result:
    """Show what would be learnt from messages, and store nothing.

    It says what would stand, wait for a person or be refused, with the words it rests on and why.
    """
    messages = _messages(read_file(file, what="the messages"))
    rules = None
    if instructions is not None:
        told = read_text(instructions, what="the instructions").strip()
        rules = replace(await ctx.space.rules.get(agent), instructions=told)
    found = await ctx.space.preview(messages, rules=rules, agent=agent)
    return Result(data=found, lines=_lines(found))


def _messages(text: str) -> "str | list[Message]":
    if not text.strip():
        raise UsageError("there are no messages.", hint="Write one JSON object per line, or a text of the user.")
    if not text.lstrip().startswith("{"):
        return text
    from bethink.features.importers.jsonl import message_of  # noqa: PLC0415 - few commands need it

    found: list[Message] = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            if line.strip():
                message = message_of(line.encode(), f"line {number}", "preview", "preview").message
                found.append(replace(message, idempotency_key=None))
        except (BethinkError, ValueError, TypeError, RecursionError) as error:
            raise UsageError(
                f"line {number}: {error}", hint="Write one message a line, with role and content."
            ) from error
    return found


def _lines(found: "Preview") -> list[OutputLine]:
    shown = [*_claims("would stand", found.stands), *_claims("would be held", found.held)]
    shown += _claims("would be refused", found.refused)
    shown += [OutputLine(f"note: {one_line(each)}") for each in found.notes]
    price = f"{plural(found.usage.calls, 'call')}, ${found.usage.cost / 1e6:.4f}"
    counts = f"{len(found.stands)} would stand, {len(found.held)} held, {len(found.refused)} refused; {price}"
    return [*shown, OutputLine(counts)]


def _claims(heading: str, claims: "Iterable[PreviewedClaim]") -> list[OutputLine]:
    shown: list[OutputLine] = []
    for each in claims:
        why = each.settlement or f"{each.reason}: {each.detail}".removesuffix(": ")
        shown.append(OutputLine(f"{heading} ({one_line(why)}): {one_line(each.claim.fact.content)}"))
        shown += quote_lines(each.claim.quotes)
    return shown
