"""Random histories of one slot compared with a plain model: the current fact ranks first, others name it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import example, given, note, settings
from hypothesis import strategies as st

from bethink import Fact, Memory, Message
from bethink.errors import NotFoundError
from bethink.memory.facts.reconcile import reconcile
from bethink.model.facts import Quote
from bethink.model.ids import new_id
from bethink.model.kinds import FactKind
from bethink.model.recall import RecallResult
from bethink.model.records import Origin, conversation_key
from bethink.model.refs import Ref, RefKind
from bethink.model.reviews import ClaimedFact
from bethink.store.db import Database, Tx
from tests.conftest import DATABASES, database_at, memory_on
from tests.length import often

HOME = "Where do I live?"
FIRST_DAY = datetime(2023, 1, 1, tzinfo=UTC)
TOWNS = ("Oslo", "Bergen", "Narvik", "Molde")
SAID = ("I live in {}.", "I live in {} now, which is nice.", "{} is where I live!")


class Said(NamedTuple):
    """A user says where they live. What is learnt later may have been said earlier."""

    town: str
    day: int
    words: str


class Corrected(NamedTuple):
    """Someone corrects by hand what stands."""

    town: str


class Forgotten(NamedTuple):
    """A message is forgotten."""

    place: int


Step = Said | Corrected | Forgotten
said = st.builds(Said, st.sampled_from(TOWNS), st.integers(0, 30), st.sampled_from(SAID))
corrected = st.builds(Corrected, st.sampled_from(TOWNS))
STEPS = st.lists(
    st.one_of(said, said, said, corrected, st.builds(Forgotten, st.integers(0, 20))), min_size=1, max_size=9
)

SAID_AGAIN_BY_HAND: list[Step] = [
    Said("Oslo", 0, SAID[0]),
    Corrected("Bergen"),
    Said("Bergen", 0, SAID[0]),
    Forgotten(0),
    Said("Oslo", 0, SAID[0]),
]
"""What a message said was only said by hand before, and the message before that is forgotten."""


@dataclass
class History:
    """A space that is told things, and what a reader of its log would say about it."""

    memory: Memory
    database: Database
    space: str
    messages: dict[Ref, Said] = field(default_factory=dict[Ref, Said])
    gone: set[Ref] = field(default_factory=set[Ref])
    simple: bool = True
    """Whether nothing was corrected or forgotten, so that the days alone tell what stands."""

    async def go(self, step: Step) -> None:
        match step:
            case Said():
                await self._say(step)
            case Corrected(town):
                self.simple = False
                for fact in await self.standing():
                    await self.memory.space(self.space).facts.save(replace(fact, text=f"User lives in {town}"))
            case Forgotten(place) if self.messages:
                self.simple = False
                ref = list(self.messages)[place % len(self.messages)]
                await self.memory.space(self.space).forget(ref)
                self.gone.add(ref)
                del self.messages[ref]
            case _:
                pass

    async def _say(self, said: Said) -> None:
        at = FIRST_DAY + timedelta(days=said.day)
        key = conversation_key(channel="history", chat=new_id("chat"))
        session = await self.memory.space(self.space).session(key)
        await session.append([Message(role="user", content=said.words.format(said.town), said_at=at)])
        fact = Fact(
            id=new_id("fct"), text=f"User lives in {said.town}", kind=FactKind.DETAIL, origin=Origin("user"),
            subject="user", slot="home", created_at=at,
        )  # fmt: skip
        quote = Quote(session_id=session.id, number=1, text=said.words.format(said.town))

        def learn(tx: Tx) -> None:
            claimed = ClaimedFact(fact=fact, quotes=(quote,))
            reconcile(tx, claimed, space=self.space, effect=fact.id, token=1)

        await self.database.transact(learn, space=self.space)
        self.messages[Ref(RefKind.MESSAGE, session.id, 1)] = said

    async def standing(self) -> list[Fact]:
        now = datetime.now(tz=UTC)
        known = await self.memory.space(self.space).facts.list()
        return [fact for fact in known if fact.valid_to is None or fact.valid_to > now]

    def latest(self) -> str:
        """Return the town of the latest day; of one day, what was learnt last, as each is learnt when it is said."""
        newest = max(said.day for said in self.messages.values())
        return [said.town for said in self.messages.values() if said.day == newest][-1]


async def check(history: History, found: RecallResult) -> None:
    space = history.memory.space(history.space)
    standing = await history.standing()
    assert len(standing) <= 1
    if standing:
        [now] = standing
        ref = Ref(RefKind.FACT, now.id, now.version)
        assert (found.items[0].ref, found.items[0].text) == (ref, now.text)
        if history.simple:
            assert history.latest() in now.text
        for message, said in history.messages.items():
            items = [item for item in found.items if message in (item.ref, *item.duplicates)]
            assert len(items) <= 1, "each is shown once"
            for item in items:
                assert (item.ref if said.town in now.text else item.replaced_by) == ref, said
    for item in found.items:
        named = {item.ref, *item.duplicates, *({item.replaced_by} if item.replaced_by else ())}
        assert not named & history.gone
        assert not {Ref(RefKind.MESSAGE, each.session_id, each.number) for each in item.sources} & history.gone
        for each in named:
            assert (await space.explain(each)).text is not None
        assert item.replaced_by is None or item.replaced_by.kind is RefKind.FACT


@pytest.fixture(params=DATABASES)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[BlockingPortal, Memory, Database]]:
    target = str(tmp_path / "histories.db") if request.param == "sqlite" else request.getfixturevalue("clean_dsn")
    database = database_at(target)
    with start_blocking_portal() as portal:
        portal.call(database.open)
        yield portal, memory_on(database), database
        portal.call(database.close)


def test_current_facts_rank_first_after_any_history(
    world: tuple[BlockingPortal, Memory, Database],
) -> None:
    portal, memory, database = world
    runs = iter(range(10_000))

    @settings(max_examples=often(20, long=60))
    @given(STEPS)
    @example(SAID_AGAIN_BY_HAND)
    def holds(steps: list[Step]) -> None:
        async def live() -> None:
            history = History(memory, database, f"life{next(runs)}")
            for step in steps:
                await history.go(step)
            try:
                await check(history, await memory.space(history.space).recall(HOME))
                await check(history, await memory.space(history.space).recall(HOME, explain=True, limit=3))
            except NotFoundError as missing:
                raise AssertionError(f"{missing} was named") from missing

        note(repr(steps))
        portal.call(live)

    holds()
