"""Trial run on the transcripts on this machine, with an in-memory database."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from bethink.agents.transcripts import claude_code, codex
from bethink.agents.transcripts.lines import TranscriptLine
from bethink.base.frozen import frozen
from bethink.config.groups import ModelSettings
from bethink.errors import ConfigurationError, CorruptDatabaseError
from bethink.extend import Tokens
from bethink.memory.learning.model_use import INPUT_SHARE
from bethink.memory.learning.prompts import prompt

_MAX_TOOL_TEXT = 2_000
_FRAME = 8
"""Tokens of a line in addition to its text: number, time and speaker."""
_EXISTING_FACTS = 400
"""Tokens of existing facts in each call."""
_QUOTED = 0.25
"""Share of the messages that the second reading repeats."""
_ANSWER, _VERDICTS = 500, 100


@dataclass(slots=True, kw_only=True)
class Trial:
    """Counts of recent transcripts."""

    since: datetime
    files: int = 0
    unread: int = 0
    agents: Counter[str] = field(default_factory=Counter[str])
    """Number of messages per agent."""
    tokens: Counter[str] = field(default_factory=Counter[str])
    """Number of tokens per conversation."""
    projects: Counter[str] = field(default_factory=Counter[str])
    """Number of messages per folder."""

    @property
    def messages(self) -> int:
        """Count the messages."""
        return self.agents.total()

    def count(self, lines: Iterable[TranscriptLine], tokens: Tokens) -> Iterator[TranscriptLine]:
        """Yield the lines and count them."""
        for line in lines:
            text = line.content[:_MAX_TOOL_TEXT] if line.role == "tool" else line.content
            self.agents[line.agent] += 1
            self.tokens[line.conversation] += tokens.count(text) + _FRAME
            self.projects[line.cwd or "elsewhere"] += 1
            yield line


@frozen
class Estimate:
    """Estimated cost of learning: model calls, tokens and dollars."""

    calls: int
    input_tokens: int
    output_tokens: int
    dollars: float


def recent_lines(trial: Trial) -> Iterator[TranscriptLine]:
    """Yield recent lines from the transcripts of Claude Code and Codex, without sub-agents."""
    for agent in (claude_code, codex):
        for path in agent.find():
            if path.stat().st_mtime < trial.since.timestamp():
                continue
            trial.files += 1
            try:
                yield from (line for line in agent.read_lines(path) if _counts(line, trial.since))
            except (CorruptDatabaseError, ConfigurationError, OSError):
                trial.unread += 1


def _counts(line: TranscriptLine, since: datetime) -> bool:
    return line.subagent is None and line.said_at is not None and line.said_at >= since


def estimate(trial: Trial, tokens: Tokens, model: ModelSettings, *, verify_claims: bool) -> Estimate:
    """Estimate the cost of learning from all lines, at the prices in the settings."""
    own, judge = tokens.count(prompt("extract-4")), tokens.count(prompt("second-3"))
    room = max(500, int(model.window * INPUT_SHARE) - own)
    calls = sum(-(-count // room) for count in trial.tokens.values())
    message_tokens = trial.tokens.total()
    input_tokens, output_tokens = message_tokens + calls * (own + _EXISTING_FACTS), calls * _ANSWER
    if verify_claims:
        input_tokens += int(message_tokens * _QUOTED) + calls * judge
        output_tokens += calls * _VERDICTS
    dollars = (input_tokens * model.input_price + output_tokens * model.output_price) / 1_000_000
    return Estimate(
        calls=calls * (2 if verify_claims else 1),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        dollars=dollars,
    )
