"""The commands of the guard: guard try."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import NO_SPACE, CommandContext, command
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine, Progress, one_line
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.agents.transcripts.events import TranscriptEvent
    from bethink.features.guard.replay import Compliance, Replay

app = typer.Typer()

_WIDTH = 100
_SHOWN = 20


@command(app, "guard try", opens=False, local=True, without=(*NO_SPACE, "database"))
async def guard_try(
    ctx: CommandContext,
    *,
    days: Annotated[int, typer.Option(metavar="N", help="Number of days to look back.", min=1, max=3_650)] = 30,
) -> Result:
    """Count how often your coding agents followed what you told them.

    It reads the transcripts of Claude Code and Codex. Nothing is stored, installed or blocked, and no model is called.
    An instruction is counted from when you said it until you took it back. What a transcript does not show is unknown.
    """
    ctx.note("reading transcripts of Claude Code and Codex; nothing is stored…")
    replay, sessions = count_compliance(days, quiet=ctx.options.quiet)
    if not sessions:
        hint = "Look back further with --days, or try 'bethink demo'."
        raise UsageError(f"No transcripts of the last {plural(days, 'day')}.", hint=hint)
    rules = replay.results()
    data = {"sessions": sessions, "events": replay.events, "instructions": [_as_json(rule) for rule in rules]}
    return Result(data=data, lines=[*_heading(rules, sessions), *compliance_lines(rules[:_SHOWN])])


def count_compliance(days: int, *, quiet: bool) -> "tuple[Replay, int]":
    """Replay the transcripts of the last days. Returns the counts and the number of sessions."""
    from bethink.agents.scopes import scope_of  # noqa: PLC0415 - for a quick --help
    from bethink.agents.transcripts import claude_code, codex  # noqa: PLC0415
    from bethink.agents.transcripts.events import read_events  # noqa: PLC0415
    from bethink.errors import ConfigurationError, CorruptDatabaseError  # noqa: PLC0415
    from bethink.features.guard.replay import Replay  # noqa: PLC0415

    since = (datetime.now(UTC) - timedelta(days=days)).timestamp()
    agents = ((claude_code.AGENT, claude_code.find()), (codex.AGENT, codex.find()))
    found = [(path.stat().st_mtime, agent, path) for agent, paths in agents for path in paths]
    recent = sorted((time, agent, path) for time, agent, path in found if time >= since)
    replay = Replay(cache(lambda cwd: scope_of(cwd or "/").home or ""))
    read = 0

    def events(agent: str, path: Path) -> "Iterator[TranscriptEvent]":
        try:
            yield from read_events(agent, path)
        except (CorruptDatabaseError, ConfigurationError, OSError):
            return

    with Progress("sessions", len(recent), quiet=quiet) as progress:
        for _, agent, path in recent:
            replay.read(events(agent, path))
            read += 1
            progress.advance(1)
    return replay, read


def compliance_lines(rules: "list[Compliance]") -> list[OutputLine]:
    """Return two lines for each instruction: its words, and how it was followed."""
    lines: list[OutputLine] = []
    for rule in rules:
        lines.append(OutputLine(f"  {one_line(rule.text, _WIDTH)}"))
        lines.append(OutputLine(f"    {summary_of(rule)}", "yellow" if rule.violated else "dim"))
    return lines


def summary_of(rule: "Compliance") -> str:
    """Return a sentence such as "stated 4 times, followed 1 of 9, 2 unknown; last broken by codex: pip install x"."""
    parts = [f"stated {plural(len(rule.stated), 'time')}"]
    if not rule.opportunities:
        parts.append("no opportunity yet")
    elif rule.followed:
        parts.append(f"followed {rule.followed} of {rule.opportunities}")
    else:  # a ban has no opportunities but its violations
        parts.append(f"broken {plural(rule.violated, 'time')}")
    parts += [f"{rule.unknown} unknown"] if rule.unknown else []
    parts += [] if rule.is_in_force else ["taken back since"]
    last = rule.breaches[-1] if rule.breaches else None
    return ", ".join(parts) + (f"; last broken by {last.agent}: {one_line(last.matched, 60)}" if last else "")


def _heading(rules: "list[Compliance]", sessions: int) -> list[OutputLine]:
    found = f"{plural(len(rules), 'instruction')} that a program can check, in {plural(sessions, 'session')}"
    more = f"; the first {_SHOWN}" if len(rules) > _SHOWN else ""
    return [OutputLine(f"{found}{more}", "bold")] + ([] if rules else [OutputLine("  none was found")])


def _as_json(rule: "Compliance") -> dict[str, Any]:
    return {
        "text": rule.text,
        "project": rule.project,
        "shape": rule.check.shape,
        "stated": [{"at": said.at, "text": said.text} for said in rule.stated],
        "in_force": rule.is_in_force,
        "followed": rule.followed,
        "violated": rule.violated,
        "unknown": rule.unknown,
        "agents": {agent: {"followed": counts[0], "violated": counts[1]} for agent, counts in rule.agents.items()},
        "breaches": rule.breaches,
    }
