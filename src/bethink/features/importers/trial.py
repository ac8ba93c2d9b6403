"""What memory would make of the transcripts on this machine: read into a database in memory, and forgotten again."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from bethink.agents.transcripts import claude_code, codex
from bethink.agents.transcripts.lines import TranscriptLine
from bethink.base.frozen import frozen
from bethink.config.groups import ModelSettings
from bethink.errors import Corrupt, Misconfigured
from bethink.extend import Tokens
from bethink.memory.learning.model_use import INPUT_SHARE
from bethink.memory.learning.prompts import prompt

_LONGEST_TOOL = 2_000
_FRAME = 8
"""Tokens that a line takes beside its text: its number, its time and who speaks."""
_KNOWN = 400
"""Tokens of what is known already, which each call is shown."""
_QUOTED = 0.25
"""How much of the messages the second reading is shown again."""
_ANSWER, _VERDICTS = 500, 100


@dataclass(slots=True, kw_only=True)
class Trial:
    """The transcripts of some days: how many there are, and of what."""

    since: datetime
    files: int = 0
    unread: int = 0
    agents: Counter[str] = field(default_factory=Counter[str])
    """How many messages there are of each agent."""
    tokens: Counter[str] = field(default_factory=Counter[str])
    """How many tokens each conversation has."""
    projects: Counter[str] = field(default_factory=Counter[str])
    """How many messages were said in each folder."""

    @property
    def messages(self) -> int:
        """Count the messages."""
        return self.agents.total()

    def count(self, lines: Iterable[TranscriptLine], tokens: Tokens) -> Iterator[TranscriptLine]:
        """Pass lines on, and count them."""
        for line in lines:
            text = line.content[:_LONGEST_TOOL] if line.role == "tool" else line.content
            self.agents[line.agent] += 1
            self.tokens[line.conversation] += tokens.count(text) + _FRAME
            self.projects[line.cwd or "elsewhere"] += 1
            yield line


@frozen
class Estimate:
    """What learning from some conversations would take, roughly: calls of a model, tokens, and dollars."""

    calls: int
    input_tokens: int
    output_tokens: int
    dollars: float


def recent(found: Trial) -> Iterator[TranscriptLine]:
    """Yield what was said since a time, in the transcripts of Claude Code and Codex. Sub-agents are left out."""
    for agent in (claude_code, codex):
        for path in agent.find():
            if path.stat().st_mtime < found.since.timestamp():
                continue
            found.files += 1
            try:
                yield from (each for each in agent.read(path) if _counts(each, found.since))
            except (Corrupt, Misconfigured, OSError):
                found.unread += 1


def _counts(line: TranscriptLine, since: datetime) -> bool:
    return line.subagent is None and line.said_at is not None and line.said_at >= since


def estimate(found: Trial, tokens: Tokens, model: ModelSettings, *, second_reading: bool) -> Estimate:
    """Estimate what learning from all of it would cost, by the prices in the settings."""
    own, judge = tokens.count(prompt("extract-2")), tokens.count(prompt("second-1"))
    room = max(500, int(model.window * INPUT_SHARE) - own)
    calls = sum(-(-count // room) for count in found.tokens.values())
    said = found.tokens.total()
    given, answered = said + calls * (own + _KNOWN), calls * _ANSWER
    if second_reading:
        given += int(said * _QUOTED) + calls * judge
        answered += calls * _VERDICTS
    dollars = (given * model.price_input + answered * model.price_output) / 1_000_000
    return Estimate(
        calls=calls * (2 if second_reading else 1), input_tokens=given, output_tokens=answered, dollars=dollars
    )
