"""The commands of the guard: guard try."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, command
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.features.guard.replay import Compliance

app = typer.Typer()

_SHOWN = 20


@command(app, "guard try", opens=False, local=True, without=(*NO_SPACE, "database"))
async def guard_try(
    ctx: CommandContext,
    *,
    days: Annotated[int, typer.Option(metavar="N", help="Number of days to look back.", min=1, max=3_650)] = 30,
) -> Result:
    """Count how often agents followed your instructions.

    It reads the transcripts of Claude Code and Codex. Nothing is stored, installed or blocked, and no model is called.
    An instruction is counted from when you said it until you took it back. What a transcript does not show is unknown.
    """
    from bethink.features.guard.counting import as_json, compliance_lines, count_compliance  # noqa: PLC0415

    ctx.note("reading transcripts of Claude Code and Codex; nothing is stored…")
    replay, sessions = count_compliance(days, quiet=ctx.options.quiet)
    if not sessions:
        hint = "Look back further with --days, or try 'bethink demo'."
        raise UsageError(f"No transcripts of the last {plural(days, 'day')}.", hint=hint)
    rules = replay.results()
    data = {"sessions": sessions, "events": replay.events, "instructions": [as_json(rule) for rule in rules]}
    return Result(data=data, lines=[*_heading(rules, sessions), *compliance_lines(rules[:_SHOWN])])


def _heading(rules: "list[Compliance]", sessions: int) -> list[OutputLine]:
    title = f"{plural(len(rules), 'instruction')} that a program can check, in {plural(sessions, 'session')}"
    more = f"; the first {_SHOWN}" if len(rules) > _SHOWN else ""
    return [OutputLine(f"{title}{more}", "bold")] + ([] if rules else [OutputLine("  none was found")])
