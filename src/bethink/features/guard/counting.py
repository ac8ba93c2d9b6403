"""Counts compliance in the transcripts on this machine, and puts it into words. Also for other features."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from bethink.agents.scopes import scope_of
from bethink.agents.transcripts import claude_code, codex
from bethink.agents.transcripts.events import TranscriptEvent, read_events
from bethink.cli.terminal import OutputLine, Progress, one_line
from bethink.errors import ConfigurationError, CorruptDatabaseError
from bethink.features.guard.replay import Compliance, Replay
from bethink.model.plural import plural

_WIDTH = 100


def count_compliance(days: int, *, quiet: bool) -> tuple[Replay, int]:
    """Replay the transcripts of the last days. Returns the counts and the number of sessions."""

    since = (datetime.now(UTC) - timedelta(days=days)).timestamp()
    agents = ((claude_code.AGENT, claude_code.find()), (codex.AGENT, codex.find()))
    transcripts = [(path.stat().st_mtime, agent, path) for agent, paths in agents for path in paths]
    recent = sorted((time, agent, path) for time, agent, path in transcripts if time >= since)
    replay = Replay(_project_of)
    count = 0

    def events(agent: str, path: Path) -> Iterator[TranscriptEvent]:
        try:
            yield from read_events(agent, path)
        except (CorruptDatabaseError, ConfigurationError, OSError):
            return

    with Progress("sessions", len(recent), quiet=quiet) as progress:
        for _, agent, path in recent:
            replay.count_events(events(agent, path))
            count += 1
            progress.advance(1)
    return replay, count


@cache
def _project_of(cwd: str) -> str:
    return scope_of(cwd or "/").home or ""


def compliance_lines(rules: list[Compliance]) -> list[OutputLine]:
    """Return two lines for each instruction: its words, and how it was followed."""
    lines: list[OutputLine] = []
    for rule in rules:
        lines.append(OutputLine(f"  {one_line(rule.text, _WIDTH)}"))
        lines.append(OutputLine(f"    {summary_of(rule)}", "yellow" if rule.violated else "dim"))
    return lines


def summary_of(rule: Compliance) -> str:
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


def as_json(rule: Compliance) -> dict[str, Any]:
    """Return the counts of an instruction as JSON."""
    return {
        "text": rule.text,
        "project": rule.project,
        "shape": rule.check.shape,
        "stated": [{"at": statement.at, "text": statement.text} for statement in rule.stated],
        "in_force": rule.is_in_force,
        "followed": rule.followed,
        "violated": rule.violated,
        "unknown": rule.unknown,
        "agents": {agent: {"followed": counts[0], "violated": counts[1]} for agent, counts in rule.agents.items()},
        "breaches": rule.breaches,
    }
