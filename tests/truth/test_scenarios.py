"""What is said in a few conversations, and what memory answers on each day: live, late, and by the reference.

A line of an answer is a fact, a match or a line of the context block, with its status where it is not current.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from bethink import Memory, Space
from bethink.model.facts import Fact
from bethink.model.recall import Match
from tests.truth.more_scenarios import LATE
from tests.truth.reference import Entry, Reference, Statement, end_of_day
from tests.truth.runs import Clock, learn, open_memory, store
from tests.truth.scenario_kit import Check, Scenario, Step
from tests.truth.scenarios import CHANGES
from tests.truth.script import Talk, moment

SCENARIOS = (*CHANGES, *LATE)
KINDS = (
    *("change", "change-back", "compound", "correction-later", "correction-next", "doubt", "expiry", "late-import"),
    *("negation", "person-correction", "plan", "retracted-tool", "shuffled", "spoken-forgetting", "states-then-asks"),
    *("time-travel", "two-people"),
)
UNMARKED = ("", "current")
STANDING = (*UNMARKED, "doubtful")
Period = tuple[str | None, str | None]


@dataclass(frozen=True)
class Shown:
    """A line that memory shows: what it says, what it is based on, its status, and when it is true."""

    text: str
    status: str = ""
    evidence: str = ""
    valid: Period = (None, None)


# --- what a check wants ----------------------------------------------------------------------------------------------


def has(text: str, words: str) -> bool:
    """Return whether a text has one of the words between `|`, in any case."""
    return any(way.casefold() in text.casefold() for way in words.split("|"))


def problems(check: Check, lines: Sequence[Shown], *, evidence: bool = True) -> list[str]:
    """Return what is wrong with an answer. Without `evidence`, only what the lines themselves say is looked at."""
    wrong = [*_lacking(check, lines, evidence=evidence), *_shown_wrongly(check, lines)]
    if check.first and not (lines and has(lines[0].text, check.first)):
        wrong.append(f"begins with {lines[0].text if lines else None!r}")
    for words, status in check.status.items():
        statuses = {line.status for line in lines if has(line.text, words)}
        if statuses != {status}:
            wrong.append(f"{words!r} is {sorted(statuses)}, not {status}")
    if check.valid and check.valid not in [line.valid for line in lines]:
        wrong.append(f"is true in {[line.valid for line in lines]}")
    name = " ".join(filter(None, (check.ask, check.question, check.as_of, check.known_at)))
    return [f"{name}: {problem}" for problem in wrong]


def _lacking(check: Check, lines: Sequence[Shown], *, evidence: bool) -> Iterator[str]:
    standing = lines if check.ask == "explain" else [line for line in lines if line.status in STANDING]
    for words in check.must if evidence or check.ask != "explain" else ():
        if not any(has(line.text, words) or has(line.evidence, words) for line in standing):
            yield f"lacks {words!r}"
    for words in check.plain:
        if not any(has(line.text, words) for line in lines if line.status in UNMARKED):
            yield f"does not show {words!r} without a mark"


def _shown_wrongly(check: Check, lines: Sequence[Shown]) -> Iterator[str]:
    for line in lines:
        if line.status in UNMARKED and any(has(line.text, words) for words in check.never):
            yield f"shows {line.text!r} without a mark"
        if any(has(line.text, words) or has(line.evidence, words) for words in check.nowhere):
            yield f"shows {line.text!r}"


def period(begin: datetime | None, end: datetime | None) -> Period:
    return begin and begin.date().isoformat(), end and end.date().isoformat()


# --- the product -----------------------------------------------------------------------------------------------------


class Player:
    """Plays a scenario in a space of its own."""

    def __init__(self, memory: Memory, clock: Clock, space: Space, scenario: Scenario) -> None:
        self.memory, self.clock, self.space, self.scenario = memory, clock, space, scenario
        self.talks = {talk.id: talk for talk in scenario.talks}
        self.sessions: dict[str, str] = {}

    async def play(self, steps: Iterable[Step]) -> list[str]:
        """Take the steps and return what is wrong with the answers afterwards."""
        for step in steps:
            if step.at:
                self.clock.set(moment(step.at))
            await getattr(self, f"_{step.do}")(step)
            self.clock.set(self.clock.time + timedelta(minutes=5))
        wrong: list[str] = []
        for check in self.scenario.checks:
            if check.now:
                self.clock.set(moment(check.now))
            wrong += problems(check, await getattr(self, f"_ask_{check.ask}")(check))
        return wrong

    async def _live(self, step: Step) -> None:
        for name in step.talks:
            self.clock.set(self.talks[name].ends_at + timedelta(minutes=30))
            await self._imported(Step("imported", talks=(name,), learned=step.learned))

    async def _imported(self, step: Step) -> None:
        for name in step.talks:
            self.sessions[name] = await store(self.space, self.talks[name])
            if step.learned:
                await learn(self.memory)
                self.clock.set(self.clock.time + timedelta(minutes=10))

    async def _learned(self, _: Step) -> None:
        await learn(self.memory)

    async def _corrected(self, step: Step) -> None:
        [fact] = [fact for fact in await self.space.facts.list() if has(fact.text, step.words)]
        await self.space.correct(fact.ref, step.text)

    async def _relearned(self, _: Step) -> None:
        await self.space.admin.relearning.propose(dry_run=False)

    async def _saved(self, step: Step) -> None:
        for fact in step.facts:
            await self.space.facts.save(fact)

    async def _retracted(self, step: Step) -> None:
        session = await self.space.sessions.get(self.sessions[step.talks[0]])
        await session.retract(step.message)

    async def _deleted(self, step: Step) -> None:
        if step.words:
            await self.space.forget(origin=step.words)
        else:
            await self.space.forget(f"message:{self.sessions[step.talks[0]]}:{step.message}")

    # what it answers

    async def _ask_facts(self, check: Check) -> list[Shown]:
        return [_line(fact) for fact in await self.space.facts.list(limit=1_000, **times(check))]

    async def _ask_recall(self, check: Check) -> list[Shown]:
        return [_match(match) for match in await self.space.recall(check.question, **times(check))]

    async def _ask_context(self, check: Check) -> list[Shown]:
        block = await self.space.context(check.question, **times(check))
        lines = [_match(match) for match in block.items]
        written = [line for line in block.text.splitlines() if line.startswith("- ")]
        return lines + [Shown(line) for line in written if not any(match.text in line for match in lines)]

    async def _ask_explain(self, check: Check) -> list[Shown]:
        lines: list[Shown] = []
        for entry in await self.space.facts.history(limit=1_000, **times(check)):
            if has(entry.fact.text, check.question):
                lineage = await self.space.explain(entry.fact.ref, **times(check))
                texts = [lineage.text or "", *(source.text for source in lineage.sources)]
                lines.append(_line(entry.fact, " / ".join(texts)))
        return lines


def times(check: Check) -> dict[str, Any]:
    return {name: value for name in ("as_of", "known_at") if (value := getattr(check, name))}


def _line(fact: Fact, evidence: str = "") -> Shown:
    return Shown(fact.text, str(fact.status), evidence, period(fact.valid_from or fact.created_at, fact.valid_to))


def _match(match: Match) -> Shown:
    status = match.status or (match.fact.status if match.fact else None)
    texts = [*(excerpt.text for excerpt in match.excerpts), match.because_text or ""]
    shown = str(status) if status else "replaced" if match.replaced_by else ""
    return Shown(match.text, shown, " / ".join(texts))


def steps_of(scenario: Scenario) -> tuple[Step, ...]:
    return scenario.steps or (Step("live", talks=tuple(talk.id for talk in scenario.talks)),)


def orders_of(steps: Sequence[Step]) -> list[list[Step]]:
    """Return the steps in every order of the talks of a shuffled one."""
    ways = [
        [replace(step, talks=talks) for talks in itertools.permutations(step.talks)] if step.shuffled else [step]
        for step in steps
    ]
    return [list(order) for order in itertools.product(*ways)]


async def played(target: str, scenario: Scenario, steps: Sequence[Step]) -> list[str]:
    """Return what is wrong after any order of the steps, each in a space of its own."""
    clock = Clock(min(talk.begins_at for talk in scenario.talks))
    wrong: list[str] = []
    async with open_memory(target, scenario.talks, clock) as memory:
        for number, order in enumerate(orders_of(steps)):
            player = Player(memory, clock, memory.space(f"truth-{number}"), scenario)
            names = [step.talks for step in order if step.shuffled]
            wrong += [f"{problem} {names or ''}" for problem in await player.play(order)]
    return wrong


_LATE = [scenario for scenario in SCENARIOS if not scenario.steps and len(scenario.talks) > 1]
_STATED = [scenario for scenario in SCENARIOS if any(check.ask in ("facts", "explain") for check in scenario.checks)]


def named(scenario: Scenario) -> str:
    return scenario.id


@pytest.mark.parametrize("scenario", SCENARIOS, ids=named)
async def test_scenario_as_written(target: str, scenario: Scenario) -> None:
    assert await played(target, scenario, steps_of(scenario)) == []


@pytest.mark.parametrize("scenario", _LATE, ids=named)
async def test_scenario_imported_late_in_every_order(target: str, scenario: Scenario) -> None:
    after = max(talk.ends_at for talk in scenario.talks) + timedelta(days=1)
    step = Step("imported", after.date().isoformat(), tuple(talk.id for talk in scenario.talks), shuffled=True)
    checks = tuple(check for check in scenario.checks if not check.known_at)
    assert await played(target, Scenario(scenario.kind, scenario.name, scenario.talks, checks), [step]) == []


def test_scenarios_cover_each_kind_twice() -> None:
    kinds = [scenario.kind for scenario in SCENARIOS]
    assert set(kinds) == set(KINDS)
    assert [kind for kind in KINDS if kinds.count(kind) < 2] == []
    assert len({scenario.id for scenario in SCENARIOS}) == len(SCENARIOS)


# --- the reference ---------------------------------------------------------------------------------------------------


class ReferencePlayer:
    """Plays a scenario with the reference, which knows facts but no messages."""

    def __init__(self, scenario: Scenario) -> None:
        self.clock, self.reference = Clock(min(talk.begins_at for talk in scenario.talks)), Reference()
        self.talks: dict[str, Talk] = {talk.id: talk for talk in scenario.talks}
        self.scenario, self.waiting = scenario, list[str]()

    def play(self, steps: Iterable[Step]) -> list[str]:
        for step in steps:
            if step.at:
                self.clock.set(moment(step.at))
            self._take(step)
        wrong: list[str] = []
        for check in self.scenario.checks:
            if check.now:
                self.clock.set(moment(check.now))
            if check.ask in ("facts", "explain"):
                wrong += problems(check, self._lines(check), evidence=False)
        return wrong

    def _take(self, step: Step) -> None:
        for name in step.talks:
            if step.do == "live":
                self.clock.set(self.talks[name].ends_at + timedelta(minutes=30))
            self.waiting.append(name)
            if step.learned:
                self._learn()
        if step.do == "learned":
            self._learn()
        elif step.do == "corrected":
            [entry] = [entry for entry in self._entries(Check("facts")) if has(entry.text, step.words)]
            self.reference.correct(entry.text, step.text, self.clock.time)
        for before, fact in zip(("", *(fact.id for fact in step.facts)), step.facts, strict=False):
            assert fact.created_at is not None
            statement = Statement(
                fact.id, fact.text, fact.created_at, self.clock.time, op="replaces", of=(before,) if before else ()
            )
            self.reference.statements[fact.id] = statement

    def _learn(self) -> None:
        for name in self.waiting:
            self.reference.learn(self.talks[name], self.clock.time)
        self.waiting.clear()
        self.clock.set(self.clock.time + timedelta(minutes=10))

    def _entries(self, check: Check) -> list[Entry]:
        as_of = end_of_day(check.as_of) if check.as_of else None
        known_at = end_of_day(check.known_at) if check.known_at else None
        return self.reference.view(at=self.clock.time, as_of=as_of, known_at=known_at).entries()

    def _lines(self, check: Check) -> list[Shown]:
        entries = self._entries(check)
        if check.ask == "facts":
            entries = [entry for entry in entries if entry.status in (*STANDING, "upcoming")]
        elif check.question:
            entries = [entry for entry in entries if has(entry.text, check.question)]
        return [Shown(entry.text, entry.status, "", period(entry.valid_from, entry.valid_to)) for entry in entries]


@pytest.mark.parametrize("scenario", _STATED, ids=named)
def test_reference_passes_scenario(scenario: Scenario) -> None:
    for order in orders_of(steps_of(scenario)):
        assert ReferencePlayer(scenario).play(order) == []
