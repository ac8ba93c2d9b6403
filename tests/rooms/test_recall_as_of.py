"""Recall with `as_of` compared with a plain replay, with seeded bugs that must be detected."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from bethink import Fact, Memory
from bethink.errors import NotFoundError
from bethink.memory.facts.reconcile import reconcile
from bethink.model.documents import DocumentDraft
from bethink.model.facts import SourceMessage
from bethink.model.moments import from_micros, from_micros_or_none, to_micros
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind
from bethink.model.reviews import ClaimedFact
from bethink.model.rules import rank
from bethink.store import search
from bethink.store.db import Database, Tx
from bethink.store.facts import lock
from tests.conftest import DATABASES, FakeClock, database_at, memory_on
from tests.length import often
from tests.rooms.machine_kit import spoil
from tests.rooms.recall_kit import assistant, learnt, message, tell, texts, user, with_vectors, written
from tests.rooms.vector_kit import index_all

T = TypeVar("T")
KINDS = (RefKind.FACT, RefKind.DOCUMENT)


@dataclass(frozen=True, kw_only=True)
class Done:
    """Something that was done to a space, and when."""

    at: int
    what: str
    name: str
    number: int
    since: int = 0
    ends: int | None = None
    slot: str | None = None
    origin: str = "import"


@dataclass
class Known:
    """A version of a fact, in plain Python."""

    made: Done
    version: int
    ends: int | None
    retired: bool = False

    def starts(self) -> int:
        return self.made.since if self.ends is None else min(self.made.since, self.ends)


@dataclass
class Replay:
    """Does again in plain lists what was done up to a moment."""

    until: int
    facts: list[Known] = field(default_factory=list[Known])
    pages: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])

    def play(self, history: list[Done]) -> "Replay":
        for done in history:
            if done.at <= self.until:
                getattr(self, done.what)(done)
        return self

    def index(self, done: Done) -> None:
        same = [fact for fact in self.facts if fact.made.name == done.name]
        for fact in same:
            fact.retired = True
        self.facts.append(Known(done, 1 + max([fact.version for fact in same], default=0), done.ends))

    def learn(self, done: Done) -> None:
        new = Known(done, 1, done.ends)
        rivals = [fact for fact in self.facts if not fact.retired and done.slot and fact.made.slot == done.slot]
        rivals = [fact for fact in rivals if self.overlap(new, fact)]
        trust = rank(Origin(done.origin))
        equal = [fact for fact in rivals if rank(Origin(fact.made.origin)) == trust]
        later = [fact for fact in equal if fact.starts() > new.starts()]
        if later:
            new.ends = min(fact.starts() for fact in later)
        self.facts.append(new)
        if any(rank(Origin(fact.made.origin)) > trust for fact in rivals):
            new.retired = True
            return
        for fact in rivals:
            fact.retired = fact.retired or fact not in later

    def overlap(self, one: Known, other: Known) -> bool:
        return one.ends == other.ends or not (
            (one.ends is not None and one.ends <= other.starts())
            or (other.ends is not None and other.ends <= one.starts())
        )

    def forget(self, done: Done) -> None:
        self.facts = [fact for fact in self.facts if fact.made.name != done.name]

    def write(self, done: Done) -> None:
        document, version = self.pages.get(done.name, (f"{done.name}-{done.number}", 0))
        self.pages[done.name] = (document, version + 1)

    def remove(self, done: Done) -> None:
        self.pages.pop(done.name, None)

    def shows(self, history: list[Done]) -> set[Ref]:
        """What holds at that moment, without what was forgotten since: that is gone from the past, too."""
        gone = [done for done in history if done.what == "forget"]
        facts = {
            Ref(RefKind.FACT, fact.made.name, fact.version)
            for fact in self.facts
            if not fact.retired
            and (fact.ends is None or fact.ends > self.until)
            and not any(each.name == fact.made.name and each.at > fact.made.at for each in gone)
        }
        return facts | {Ref(RefKind.DOCUMENT, *page) for page in self.pages.values()}


class World:
    """A space where things are done, with a record of what and when."""

    def __init__(
        self, portal: BlockingPortal, memory: Memory, database: Database, clock: FakeClock, space: str
    ) -> None:
        self.portal, self.memory, self.database, self.clock, self.space = portal, memory, database, clock, space
        self.history: list[Done] = []
        self.pages: dict[str, tuple[str, int]] = {}

    def wait(self, call: Callable[[], Awaitable[T]]) -> T:
        return self.portal.call(call)

    def note(self, what: str, name: str, **more: object) -> None:
        done = Done(at=to_micros(self.clock.time), what=what, name=name, number=len(self.history), **more)  # pyright: ignore[reportArgumentType]
        self.history.append(done)

    def index(self, name: str, ends: int | None) -> None:
        now = to_micros(self.clock.time) + 1
        valid_to = None if ends is None else now + ends
        fact = Fact(id=name, text=f"marmot {len(self.history)}", valid_to=from_micros_or_none(valid_to))
        self.wait(lambda: self.memory.space(self.space).facts.save(fact))
        self.note("index", name, since=now, ends=valid_to)

    def learn(self, slot: str | None, begins: int, ends: int | None, origin: str) -> None:
        now, name = to_micros(self.clock.time) + 1, f"l{len(self.history)}"
        since, valid_to = now + begins, None if ends is None else now + ends
        fact = Fact(
            id=name, text=f"marmot {len(self.history)}", created_at=from_micros(since),
            valid_to=from_micros_or_none(valid_to), subject="user", slot=slot, origin=Origin(origin),
        )  # fmt: skip

        def body(tx: Tx) -> None:
            tx.run("ensure_space", space=self.space, shard=0, now=tx.now)
            lock(tx, space=self.space)
            reconcile(tx, ClaimedFact(fact=fact, quotes=()), space=self.space, effect=name, token=1)

        self.wait(lambda: self.database.transact(body, space=self.space))
        self.note("learn", name, since=since, ends=valid_to, slot=slot, origin=origin)

    def forget(self, name: str) -> None:
        try:
            self.wait(lambda: self.memory.space(self.space).forget(f"fact:{name}:0"))
        except NotFoundError:
            return
        self.note("forget", name)

    def write(self, slug: str) -> None:
        docs = self.memory.space(self.space).documents
        draft = DocumentDraft(slug=slug, title="t", body=f"marmot {len(self.history)}")
        known = self.pages.get(slug)
        name = f"{slug}-{len(self.history)}"
        if known is None:
            self.wait(lambda: docs.create(draft, document_id=name))
        else:
            self.wait(lambda: docs.update(known[0], draft, if_version=known[1]))
        self.pages[slug] = (name, 1) if known is None else (known[0], known[1] + 1)
        self.note("write", slug)

    def remove(self, slug: str) -> None:
        known = self.pages.pop(slug, None)
        if known is not None:
            self.wait(lambda: self.memory.space(self.space).documents.delete(known[0], if_version=known[1]))
            self.note("remove", slug)

    def pause(self, micros: int) -> None:
        self.clock.time += timedelta(microseconds=micros)

    def recalled(self, memory: Memory, as_of: int | None) -> set[Ref]:
        moment = from_micros_or_none(as_of)
        found = self.wait(lambda: memory.space(self.space).recall("marmot", limit=1_000, as_of=moment, kinds=KINDS))
        return {item.ref for item in found.items}


NAME, SLUG = st.sampled_from("abc"), st.sampled_from(["tea", "cup"])
ENDS = st.none() | st.integers(-40, 60)
ORIGIN = st.sampled_from(["user", "user", "assistant", "tool:web"])
STEP = st.one_of(
    st.tuples(st.just("index"), NAME, ENDS),
    st.tuples(st.just("learn"), st.sampled_from([None, "home", "job"]), st.integers(-40, 10), ENDS, ORIGIN),
    st.tuples(st.just("forget"), NAME | st.sampled_from(["l0", "l1", "l2"])),
    st.tuples(st.just("write"), SLUG),
    st.tuples(st.just("remove"), SLUG),
    st.tuples(st.just("pause"), st.integers(1, 40)),
)
STEPS = st.lists(STEP, min_size=1, max_size=14)
MOMENTS = st.lists(st.tuples(st.integers(0, 20), st.integers(-2, 2)), min_size=1, max_size=6)
SOUND = settings(max_examples=often(20, long=60), print_blob=True)
SPOILT = settings(SOUND, max_examples=200, phases=[Phase.generate], database=None)


@dataclass(frozen=True)
class Stage:
    """Where worlds are made."""

    portal: BlockingPortal
    database: Database
    clock: FakeClock
    count: list[int] = field(default_factory=list[int])

    def world(self) -> World:
        self.count.append(1)
        return World(self.portal, memory_on(self.database), self.database, self.clock, f"run{len(self.count)}")


@pytest.fixture(params=DATABASES)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    target = str(tmp_path / "as_of.db") if request.param == "sqlite" else request.getfixturevalue("clean_dsn")
    clock = FakeClock()
    database = database_at(target, clock)
    with start_blocking_portal() as portal:
        portal.call(database.open)
        yield Stage(portal, database, clock)
        portal.call(database.close)


def compare(stage: Stage, run: settings, *, vectors: bool) -> None:
    """Do things in a space, look back at random moments, and hold each answer against the replay."""

    @run
    @given(STEPS, MOMENTS)
    def agrees(steps: list[tuple[str, object]], moments: list[tuple[int, int]]) -> None:
        world = stage.world()
        for what, *details in steps:
            getattr(world, what)(*details)
        memory = world.memory
        if vectors:
            memory = with_vectors(stage.database)
            world.wait(lambda: index_all(stage.database))
        turns = [done.at for done in world.history] or [to_micros(world.clock.time)]
        for place, beside in moments:
            moment = turns[place % len(turns)] + beside
            expected = Replay(moment).play(world.history).shows(world.history)
            assert world.recalled(memory, moment) == expected
        # The clock goes on while recall works, and a fact may end in between.
        before = to_micros(world.clock.time)
        found = world.recalled(memory, None)
        while_it_ran = range(before, to_micros(world.clock.time) + 1)
        assert found in [Replay(moment).play(world.history).shows(world.history) for moment in while_it_ran]

    agrees()


@pytest.mark.timeout(600)
def test_recall_as_of_matches_a_replay(stage: Stage) -> None:
    compare(stage, SOUND, vectors=False)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_vector_brings_nothing_back_that_did_not_hold_then(stage: Stage) -> None:
    compare(stage, SOUND, vectors=True)


def _as_if_it_held(*_: object) -> tuple[None, None]:
    return None, None


def _as_if_nothing_were_gone(*_: object, **__: object) -> set[Ref]:
    return set()


MUTANTS: dict[str, list[tuple[str, str, str]]] = {
    "a fact known before it was recorded": [
        ("postings", "t.at <= ", "t.at > 0 OR 0 <= "),
        ("match_facts", "recorded_at <= ", "version > 0 AND 0 <= "),
        ("read_facts_at", "recorded_at <= ", "version > 0 AND 0 <= "),
    ],
    "a fact that nobody can retire": [("match_facts", "retired_at > ", "retired_at >= 0 OR 0 > ")],
    "a fact retired a moment late": [("match_facts", "retired_at > ", "retired_at >= ")],
    "a fact that never ends": [("match_facts", "valid_to > ", "valid_to >= 0 OR 0 > ")],
    "a page known before it was written": [
        ("postings", "t.at <= ", "t.at > 0 OR 0 <= "),
        ("match_documents", "valid_from <= ", "version > 0 AND 0 <= "),
        ("read_documents_at", "valid_from <= ", "version > 0 AND 0 <= "),
    ],
    "a page that stays when it is rewritten": [("match_documents", "valid_to > ", "valid_to >= ")],
    "a vector that brings back whatever there was": [],
}


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_replay_finds_each_seeded_bug(stage: Stage, mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, old, new in MUTANTS[mutant]:
        spoil(monkeypatch, stage.database.dialect, name, old, new)
    # What was found is judged once more when it is read: a bug in one of the two alone does no harm.
    monkeypatch.setattr(search._Judge, "fate_of", _as_if_it_held)
    monkeypatch.setattr(search, "outdated_refs", _as_if_nothing_were_gone)

    with pytest.raises(AssertionError):
        compare(stage, SPOILT, vectors=not MUTANTS[mutant])


async def test_recall_as_of_finds_only_earlier_messages(memory: Memory, clock: FakeClock) -> None:
    session = await tell(memory, "The otter was seen once.")
    between = clock.time
    await session.append([assistant("Seen, you say?"), user("The otter was seen twice.")])
    late = await tell(memory, user("The otter was seen long ago.", said_at=between - timedelta(days=10)))

    found = await memory.space("alice").recall("otter", as_of=between, explain=True)

    assert {item.ref for item in found.items} == {message(session, 1), message(late, 1)}
    assert {each.ref for each in found.candidates} == {message(session, 1), message(late, 1)}
    assert found.as_of == between
    assert not await memory.space("alice").recall("otter", as_of=between - timedelta(days=20))


async def test_the_messages_behind_a_fact_are_those_known_by_then(
    memory: Memory, database: Database, clock: FakeClock
) -> None:
    session = await tell(memory, "We have an otter.")
    await learnt(database, "f", "Otters live here", SourceMessage(session.id, 1))
    between = clock.time
    later = await tell(memory, "The otter is back.")
    await database.transact(
        lambda tx: tx.run("insert_fact_source", space="alice", fact="f", session=later.id, number=1), space="alice"
    )

    then = await memory.space("alice").recall("Where do otters live?", as_of=between)
    now = await memory.space("alice").recall("Where do otters live?")

    assert [len(found.items[0].sources) for found in (then, now)] == [1, 2]


async def test_vector_search_omits_replaced_facts_and_later_versions(
    memory: Memory, database: Database, clock: FakeClock
) -> None:
    facts = memory.space("alice").facts
    await facts.save(Fact(id="f", text="alpha beta gamma"))
    page = await written(memory, "page", "alpha beta gamma delta", title="Page")
    first = clock.time
    await facts.save(Fact(id="f", text="alpha beta gamma epsilon"))
    await memory.space("alice").documents.update(
        page.id, DocumentDraft(slug="page", title="Page", body="alpha beta gamma zeta"), if_version=1
    )
    remembering = with_vectors(database)
    await index_all(database)

    then = await remembering.space("alice").recall("alpha beta gamma", as_of=first)
    now = await remembering.space("alice").recall("alpha beta gamma")

    assert sorted(texts(then)) == ["Page\nalpha beta gamma delta", "alpha beta gamma"]
    assert sorted(texts(now)) == ["Page\nalpha beta gamma zeta", "alpha beta gamma epsilon"]
