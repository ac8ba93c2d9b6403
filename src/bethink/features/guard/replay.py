"""Counts in transcripts how often agents followed what their users told them. Nothing is stored."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from bethink.agents.transcripts.events import BEFORE, PROMPT, STOP, TranscriptEvent
from bethink.base.frozen import frozen
from bethink.base.language.preferences import own_sentences
from bethink.features.guard.check import (
    BREACHED,
    OBEYED,
    STANDING,
    UNKNOWN,
    WITHDRAWS,
    GuardCheck,
    StatementReading,
    UserStatement,
)
from bethink.features.guard.events import AgentEvent
from bethink.features.guard.force import conflicts, is_about
from bethink.features.guard.judge import judge_event
from bethink.features.guard.read import read_statement
from bethink.features.guard.state import AgentSession

_MAX_PROMPT = 10_000
_MAX_BREACHES = 5
_UNCHECKABLE = "uncheckable"
_ABOUT_COMMANDS = frozenset({"use-instead", "forbid-command", "required-flag"})
_FOR_NOW = re.compile(
    r"\b(?:yet|for now|right now|today|tonight|noch nicht|erstmal|erst mal|vorerst|heute|de momento|por ahora|todavía"
    r"|aún|hoy|mientras|until|bis)\b",
    re.IGNORECASE,
)


def is_certain(check: GuardCheck) -> bool:
    """Return whether counts of a check can be trusted without a person who confirms it.

    A command must be named in the sentence: "orders are never deleted" is not about `rm`. What holds only for now may
    have ended without anybody saying so.
    """
    if check.shape == _UNCHECKABLE or _FOR_NOW.search(check.rule):
        return False
    if check.shape not in _ABOUT_COMMANDS:
        return True
    words = set(re.findall(r"[\w.+-]+", check.rule.lower()))
    return any(not words.isdisjoint((command.program, *command.words)) for command in (*check.bad, *check.good))


@frozen
class Breach:
    """An act of an agent against an instruction."""

    agent: str
    session: str
    at: str
    matched: str
    """Words of the act."""


@dataclass(slots=True)
class Compliance:
    """How an instruction was followed in one project."""

    project: str
    check: GuardCheck
    stated: list[UserStatement] = field(default_factory=list[UserStatement])
    """Every time it was said, oldest first."""
    is_in_force: bool = True
    """False after it was withdrawn or replaced."""
    followed: int = 0
    violated: int = 0
    unknown: int = 0
    """Acts of which the transcript does not show whether they follow it."""
    agents: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """Followed and violated, by agent."""
    breaches: list[Breach] = field(default_factory=list[Breach])
    """The last violations."""

    @property
    def opportunities(self) -> int:
        """The number of acts that it is about."""
        return self.followed + self.violated

    @property
    def text(self) -> str:
        """The instruction in the user's words, as said last."""
        return self.stated[-1].text


class Replay:
    """Reads sessions in order of time, and counts."""

    def __init__(self, project_of: Callable[[str], str]) -> None:
        self._project_of = project_of
        self._rules: dict[str, dict[GuardCheck, Compliance]] = {}
        self._sessions: dict[tuple[str, str], AgentSession] = {}
        self._counted: set[tuple[int, str]] = set()
        """The violations of the current turn: a repeated act counts once."""
        self.events = 0

    def count_events(self, events: Iterable[TranscriptEvent]) -> None:
        """Count the events of one transcript."""
        session = AgentSession()
        for event in events:
            self.events += 1
            cwd = event.hook_input.get("cwd")
            project = self._project_of(cwd if isinstance(cwd, str) else "")
            kind = event.hook_input["hook_event_name"]
            hook_event = session.add(event.hook_input)
            if kind == PROMPT:
                self._counted.clear()
                self._hear(project, event)
            elif kind in (BEFORE, STOP):
                self._judge(project, event, hook_event, session)

    def results(self) -> list[Compliance]:
        """Return every instruction: the most violated first, then those with the most opportunities."""
        rules = [rule for of_project in self._rules.values() for rule in of_project.values()]
        return sorted(rules, key=lambda rule: (-rule.violated, -rule.opportunities, rule.stated[0].at))

    def _hear(self, project: str, event: TranscriptEvent) -> None:
        text: Any = event.hook_input.get("prompt")
        for index, sentence in enumerate(own_sentences(text[:_MAX_PROMPT] if isinstance(text, str) else "")):
            statement = UserStatement(id=f"{event.session}:{event.at}:{index}", who="user", text=sentence, at=event.at)
            reading = read_statement(statement)
            if reading.binds == WITHDRAWS:
                for rule in self._in_force(project):
                    rule.is_in_force = not is_about(rule.check, sentence)
            elif reading.binds == STANDING:
                self._add(project, statement, reading)

    def _add(self, project: str, statement: UserStatement, reading: StatementReading) -> None:
        if reading.check is None or not is_certain(reading.check):
            return
        for rule in self._in_force(project):
            rule.is_in_force = not conflicts(rule.check, reading.check)
        key = replace(reading.check, statement=UserStatement())
        rule = self._rules.setdefault(project, {}).setdefault(key, Compliance(project, reading.check))
        rule.is_in_force = True
        rule.stated.append(statement)

    def _in_force(self, project: str) -> list[Compliance]:
        return [rule for rule in self._rules.get(project, {}).values() if rule.is_in_force]

    def _judge(self, project: str, event: TranscriptEvent, hook_event: AgentEvent, session: AgentSession) -> None:
        for rule in self._in_force(project):
            verdict = judge_event(rule.check, hook_event, session, branch=event.branch, at=event.at)
            if verdict.result == UNKNOWN:
                rule.unknown += 1
            elif verdict.result in (OBEYED, BREACHED):
                self._count(rule, event, verdict.matched, breached=verdict.result == BREACHED)

    def _count(self, rule: Compliance, event: TranscriptEvent, matched: str, *, breached: bool) -> None:
        if breached:
            act = (id(rule), matched)
            if act in self._counted:
                return
            self._counted.add(act)
            rule.violated += 1
            rule.breaches = [
                *rule.breaches,
                Breach(agent=event.agent, session=event.session, at=event.at, matched=matched),
            ]
            rule.breaches = rule.breaches[-_MAX_BREACHES:]
        else:
            rule.followed += 1
        rule.agents.setdefault(event.agent, [0, 0])[breached] += 1
