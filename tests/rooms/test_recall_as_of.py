"""Recall with `as_of` compared with a plain replay, with seeded bugs that must be detected."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from bethink import Fact, Memory
from bethink.errors import NotFoundError
from bethink.memory.facts.reconcile import reconcile
from bethink.model.documents import DocumentDraft
from bethink.model.facts import SourceMessage
from bethink.model.moments import EPOCH, from_micros, from_micros_or_none, to_micros
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind
from bethink.model.reviews import ClaimedFact
from bethink.model.rules import rank
from bethink.model.views import NOW, TimeView
from bethink.store import fates, search
from bethink.store.db import Database, Tx
from bethink.store.facts import lock
from bethink.store.statements import Statement
from bethink.store.timelines import Timelines
from bethink.store.views import read_timelines
from tests.conftest import DATABASES, FakeClock, database_at, memory_on
from tests.length import often
from tests.rooms.machine_kit import spoil
from tests.rooms.recall_kit import assistant, learnt, message, tell, texts, user, with_vectors, written
from tests.rooms.vector_kit import index_all

T = TypeVar("T")
KINDS = (RefKind.FACT, RefKind.DOCUMENT)


@dataclass(frozen=True, kw_only=True)
class Done:
    """Something that was done to a space, and when. `since` is when a fact was said."""

    at: int
    what: str
    name: str
    number: int
    since: int = 0
    ends: int | None = None
    slot: str | None = None
    origin: str = "import"

    def lasts(self, at: int) -> bool:
        """Whether its own words do not end it by then."""
        return self.ends is None or self.ends > at


@dataclass(frozen=True)
class Replay:
    """Says again, in the order in which it was said, what was said up to a moment; None stands for everything."""

    at: int
    said_until: int | None = None
    learned_until: int | None = None
    """Until when memory had learned it; None stands for always."""

    def counts(self, moment: int) -> bool:
        return self.said_until is None or moment <= self.said_until

    def shows(self, history: list[Done]) -> set[Ref]:
        """What holds at that moment, without what was forgotten at any time: that is gone from the past, too."""
        remaining = [
            done
            for place, done in enumerate(history)
            if not self.is_forgotten(done, history[place:])
            and (self.learned_until is None or done.at <= self.learned_until)
        ]
        return self.saved(remaining) | self.learned(remaining) | self.pages(remaining)

    def is_forgotten(self, done: Done, later: list[Done]) -> bool:
        return any(entry.what == "forget" and entry.name == done.name for entry in later)

    def saved(self, history: list[Done]) -> set[Ref]:
        versions: dict[str, list[Done]] = {}
        for done in history:
            if done.what == "index":
                versions.setdefault(done.name, []).append(done)
        shown: set[Ref] = set()
        for name, entries in versions.items():
            number = sum(self.counts(entry.since) for entry in entries)
            if number and entries[number - 1].lasts(self.at):
                shown.add(Ref(RefKind.FACT, name, number))
        return shown

    def learned(self, history: list[Done]) -> set[Ref]:
        said = [done for done in history if done.what == "learn" and self.counts(done.since)]
        current: list[Done] = []
        shown = {done.name for done in said if done.slot is None and done.lasts(self.at)}
        for new in sorted((done for done in said if done.slot), key=lambda done: done.since):
            rivals = [old for old in current if old.slot == new.slot and old.lasts(new.since)]
            trust = rank(Origin(new.origin))
            if not new.lasts(new.since) or any(rank(Origin(old.origin)) > trust for old in rivals):
                continue
            # What ends in the future because of this one is current until then.
            shown.update(old.name for old in rivals if old.lasts(self.at) and new.since > self.at)
            current = [old for old in current if old not in rivals] + [new]
        shown.update(done.name for done in current if done.lasts(self.at))
        return {Ref(RefKind.FACT, name, 1) for name in shown}

    def pages(self, history: list[Done]) -> set[Ref]:
        pages: dict[str, tuple[str, int]] = {}
        for done in history:
            if done.what == "write" and self.counts(done.at):
                document, version = pages.get(done.name, (f"{done.name}-{done.number}", 0))
                pages[done.name] = (document, version + 1)
            elif done.what == "remove" and self.counts(done.at):
                pages.pop(done.name, None)
        return {Ref(RefKind.DOCUMENT, *page) for page in pages.values()}


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
        saved = self.wait(lambda: self.memory.space(self.space).facts.save(fact))
        self.note("index", name, since=to_micros(saved.created_at or EPOCH), ends=valid_to)

    def learn(self, slot: str | None, begins: int, ends: int | None, origin: str) -> None:
        """Learn what was said at another time, also earlier than what is known already. Two are never said at once."""
        now, name = to_micros(self.clock.time) + 1, f"l{len(self.history)}"
        since, valid_to = now + begins, None if ends is None else now + ends
        while since in {done.since for done in self.history}:
            since -= 1
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

    def recalled(self, memory: Memory, as_of: int | None = None, known_at: int | None = None) -> set[Ref]:
        day, knowledge = from_micros_or_none(as_of), from_micros_or_none(known_at)
        found = self.wait(
            lambda: memory.space(self.space).recall("marmot", limit=1_000, kinds=KINDS, as_of=day, known_at=knowledge)
        )
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
SPOILT = settings(SOUND, max_examples=3000, phases=[Phase.generate], database=None)


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
            expected = Replay(moment, moment).shows(world.history)
            assert world.recalled(memory, moment) == expected
            believed = Replay(moment, moment, moment).shows(world.history)
            assert world.recalled(memory, known_at=moment) == believed
        # The clock goes on while recall works, and a fact may end in between.
        before = to_micros(world.clock.time)
        found = world.recalled(memory)
        while_it_ran = range(before, to_micros(world.clock.time) + 1)
        assert found in [Replay(moment).shows(world.history) for moment in while_it_ran]

    agrees()


@pytest.mark.timeout(600)
def test_recall_as_of_matches_a_replay(stage: Stage) -> None:
    compare(stage, SOUND, vectors=False)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_vector_brings_nothing_back_that_did_not_hold_then(stage: Stage) -> None:
    compare(stage, SOUND, vectors=True)


def _as_if_nothing_were_gone(*_: object, **__: object) -> set[Ref]:
    return set()


def _as_if_pages_stayed(judge: Any, ref: Ref, row: Any) -> tuple[Any, Ref | None]:
    return judge._fate_of_fact(ref, row) if ref.kind is RefKind.FACT else (None, None)


def _as_if_facts_stayed(*_: object) -> tuple[None, None]:
    return None, None


def _as_if_there_were_none(*_: object) -> tuple[()]:
    return ()


def _as_if_none_was_better(*_: object) -> None:
    """Return no statement of a more trusted source."""


def _if_ever(statement: Statement, **_: int) -> bool:
    return statement.dropped_at is not None


def _whatever_the_view(tx: Tx, *, space: str, fact_ids: Iterable[str], view: TimeView = NOW) -> Timelines:
    del view
    return read_timelines(tx, space=space, fact_ids=fact_ids)


def _as_heard(tx: Tx, *, space: str, fact_ids: Iterable[str], view: TimeView = NOW) -> Timelines:
    return read_timelines(tx, space=space, fact_ids=fact_ids, view=replace(view, known_at=None, as_of=view.moment))


PATCHES: dict[str, list[tuple[object, str, object]]] = {
    "a change that counts before it was said": [(fates, "read_timelines", _whatever_the_view)],
    "a change that counts before it was learned": [(fates, "read_timelines", _as_heard)],
    "a fact that no later one replaces": [(Timelines, "_rivals_after", _as_if_there_were_none)],
    "a fact of a less trusted origin that is believed": [(Timelines, "_better", _as_if_none_was_better)],
    "a version that is dropped for all times": [(Statement, "is_dropped", _if_ever)],
    "a fact that never ends": [(fates.FateJudge, "_fate_of_fact", _as_if_facts_stayed)],
    "a vector that brings back whatever there was": [
        (fates.FateJudge, "fate_of", _as_if_facts_stayed), (search, "outdated_refs", _as_if_nothing_were_gone),
    ],
}  # fmt: skip
"""Functions that decide when a fact is true, made wrong."""

SPOILED: dict[str, list[tuple[str, str, str]]] = {
    "a page known before it was written": [
        ("postings", "t.at <= ", "t.at > 0 OR 0 <= "),
        ("match_documents", "valid_from <= ", "version > 0 AND 0 <= "),
        ("read_documents_at", "valid_from <= ", "version > 0 AND 0 <= "),
    ],
    "a page that stays when it is rewritten": [("match_documents", "valid_to > ", "valid_to >= ")],
}
"""Queries made wrong. A page is judged once more when it is read: a bug in one of the two alone does no harm."""


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mutant", [*PATCHES, *SPOILED])
def test_the_replay_finds_each_seeded_bug(stage: Stage, mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name, wrong in PATCHES.get(mutant, ()):
        monkeypatch.setattr(owner, name, wrong)
    for name, old, new in SPOILED.get(mutant, ()):
        spoil(monkeypatch, stage.database.dialect, name, old, new)
        monkeypatch.setattr(fates.FateJudge, "fate_of", _as_if_pages_stayed)
        monkeypatch.setattr(search, "outdated_refs", _as_if_nothing_were_gone)

    with pytest.raises(AssertionError):
        compare(stage, SPOILT, vectors="vector" in mutant)


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
