"""Runs of the product and of the reference next to each other."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bethink import Memory, Space
from bethink.api.connect import connect
from bethink.model.facts import Fact
from bethink.providers.scripted_model import ScriptedModel
from tests.truth.histories import History, Step
from tests.truth.reference import LISTED, Entry, Reference
from tests.truth.script import ScriptedReader, Talk

SPACE = "truth"
Shown = tuple[str, str, str, str]
"""A listed fact: its text, its status, and the minutes at which it begins and ends."""


class Clock:
    """A clock that goes forward by a microsecond when it is read, and otherwise only when it is set."""

    def __init__(self, at: datetime) -> None:
        self.time = at

    def __call__(self) -> datetime:
        self.time += timedelta(microseconds=1)
        return self.time

    def set(self, at: datetime) -> None:
        self.time = max(self.time, at)


def open_memory(target: str, talks: Iterable[Talk], clock: Clock) -> Memory:
    """Return a memory that learns from a scripted reader of these talks."""
    model = ScriptedModel(ScriptedReader(talks))
    return connect(target, model=model, clock=clock, embedder="none", learn_in_background=False, daily_budget="inf")


async def store(space: Space, talk: Talk) -> str:
    """Store a talk, end its session and return its id."""
    session = await space.session(talk.id)
    await session.append(
        [
            {"role": line.role, "content": line.text, "said_at": line.at} | ({"name": line.name} if line.name else {})
            for line in talk.lines
        ]
    )
    await session.end()
    return session.id


async def learn(memory: Memory) -> None:
    """Learn until there is nothing left to do."""
    for _ in range(50):
        if not (await memory.learn()).leased:
            return
    raise AssertionError("learning does not end")


class Run:
    """A history that is taken in one order, by the product and by the reference."""

    def __init__(self, history: History, steps: Sequence[Step], target: str, folder: Path) -> None:
        self.history, self.steps, self.target, self.folder = history, steps, target, folder
        self.clock = Clock(history.moments[0] - timedelta(hours=1))
        self.reference = Reference()
        self.checkpoints: list[datetime] = []
        """Moments between two steps, for `known_at`; none if devices were synced, as each has times of its own."""
        self.corrected: set[str] = set()
        """Texts that a person corrected. The history may list them once more, as what was corrected."""
        self._talks = {talk.id: talk for talk in history.talks}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> "Run":
        self.memory = await self._open(self.target)
        for step in self.steps:
            if step.at is not None:
                self.clock.set(step.at)
            await getattr(self, f"_{step.do}")(step)
            self.clock.set(self.clock.time + timedelta(hours=1))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @property
    def space(self) -> Space:
        return self.memory.space(SPACE)

    async def _open(self, target: str) -> Memory:
        return await self._stack.enter_async_context(open_memory(target, self.history.talks, self.clock))

    async def _store(self, step: Step) -> None:
        if step.other and not hasattr(self, "other"):
            self.other = await self._open(":memory:")
        memory = self.other if step.other else self.memory
        for name in step.talks:
            await store(memory.space(SPACE), self._talks[name])
        await learn(memory)
        for name in step.talks:
            self.reference.learn(self._talks[name], self.clock.time)
        is_complete = len(self.reference.statements) == len(
            [claim for talk in self._talks.values() for claim in talk.claims]
        )
        if is_complete or not self.history.returns:
            self.checkpoints.append(self.clock.time + timedelta(minutes=1))

    async def _correct(self, _: Step) -> None:
        """Let a person correct the chosen fact, unless it is not listed now."""
        [text] = [
            claim.text for talk in self.history.talks for claim in talk.claims if claim.id == self.history.corrected_id
        ]
        listed = self.reference.view(at=self.clock.time).listed()
        if (text, "current") not in {(entry.text, entry.status) for entry in listed}:
            return
        facts = [fact for fact in await self.space.facts.list(limit=1_000) if fact.text == text]
        assert facts, f"{text!r} is not listed, so that a person cannot correct it"
        await self.space.correct(facts[0].ref, self.history.correction)
        self.corrected.add(text)
        self.reference.correct(text, self.history.correction, self.clock.time)

    async def _relearn(self, _: Step) -> None:
        await self.space.admin.relearning.propose(dry_run=False)

    async def _archive(self, _: Step) -> None:
        """Export the space, and go on with a memory that imported it."""
        path = self.folder / f"{self.history.seed}.zip"
        await self.space.admin.export_archive(path)
        self.memory = await self._open(":memory:")
        await self.memory.admin.import_archive(path)
        path.unlink()

    async def _sync(self, _: Step) -> None:
        self.checkpoints.clear()
        if hasattr(self, "other"):
            await self.memory.admin.sync(self.other, SPACE)
            await learn(self.memory)

    async def differences(self, views: Iterable[tuple[datetime | None, datetime | None]]) -> list[str]:
        """Return where the product and the reference list different facts, for pairs of `as_of` and `known_at`."""
        result: list[str] = []
        for as_of, known_at in views:
            times = _times(as_of, known_at)
            listed = {_shown(fact) for fact in await self.space.facts.list(limit=1_000, **times)}
            history = {_shown(entry.fact) for entry in await self.space.facts.history(limit=1_000, **times)}
            view = self.reference.view(at=self.clock.time, as_of=as_of, known_at=known_at)
            # A text that was said again without having ended in between may be shown as one or as two.
            entries = {_expected(entry) for entry in (*view.entries(), *view.continued())}
            where = f"as_of={_minute(as_of)} known_at={_minute(known_at)}"
            expected = {_expected(entry) for entry in view.listed()}
            if extra := listed - {entry for entry in entries if entry[1] in LISTED}:
                result.append(f"list at {where}: shows {sorted(extra)}, expected {sorted(expected)}")
            elif missing := {entry[0] for entry in expected} - {entry[0] for entry in listed}:
                result.append(f"list at {where}: lacks {sorted(missing)}")
            # The history has one line for each version of a fact, which may have been true more than once.
            texts = {entry[0] for entry in entries}
            past = {shown for shown in history if shown not in entries and shown[0] not in self.corrected}
            past |= {(text, "", "", "") for text in texts - {shown[0] for shown in history}}
            result += [f"history at {where}: {sorted(past)}"] if past else []
        return result

    async def leaks(self, as_of: datetime) -> list[str]:
        """Return what an explanation as of a time shows although it was said later."""
        result: list[str] = []
        view = self.reference.view(at=self.clock.time, as_of=as_of)
        texts = {entry.text for entry in view.entries()} | self.corrected
        entries = {_expected(entry) for entry in (*view.entries(), *view.continued())}
        for fact in await self.space.facts.list(limit=1_000, **_times(as_of, None)):
            lineage = await self.space.explain(fact.ref, **_times(as_of, None))
            shown = [lineage.text, *(version.text for version in lineage.versions)]
            result += [f"{text!r} in {fact.text!r}" for text in shown if text not in texts]
            result += [f"source of {source.said_at}" for source in lineage.sources if source.said_at > as_of]
            if lineage.fact is not None and _shown(lineage.fact) not in entries:
                result.append(f"{_shown(lineage.fact)} is none of {sorted(entries)}")
            if lineage.because_text is not None and lineage.because_text not in texts:
                result.append(f"{fact.text!r} because of {lineage.because_text!r}")
        return result


def sample(
    items: Sequence[datetime], count: int, choose: Callable[[Sequence[datetime], int], list[datetime]]
) -> list[datetime]:
    """Return at most so many of the items."""
    return choose(items, min(count, len(items)))


def _times(as_of: datetime | None, known_at: datetime | None) -> dict[str, Any]:
    times = {"as_of": as_of, "known_at": known_at}
    return {name: at for name, at in times.items() if at is not None}


def _shown(fact: Fact) -> Shown:
    return _as_shown(fact.text, str(fact.status), fact.valid_from or fact.created_at, fact.valid_to)


def _expected(entry: Entry) -> Shown:
    return _as_shown(entry.text, entry.status, entry.valid_from, entry.valid_to)


def _as_shown(text: str, status: str, begin: datetime | None, end: datetime | None) -> Shown:
    """Return a fact to compare. One that was never true has no times: they are an empty period somewhere."""
    never = begin is not None and end is not None and end <= begin
    return (text, status, "", "") if never else (text, status, _minute(begin), _minute(end))


def _minute(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%dT%H:%M}"
