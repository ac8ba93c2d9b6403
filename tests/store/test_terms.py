"""The index of keyed hashes compared with a plain model, on both databases."""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pytest

import bethink
from bethink.base.language import count_terms
from bethink.model.facts import Fact
from bethink.model.recall import Fate
from bethink.model.refs import Ref, RefKind
from bethink.model.views import TimeView
from bethink.store import search, term_counts, terms
from bethink.store.candidates import BOUNDS, Bounds
from bethink.store.db import Database, Tx
from bethink.store.search import TermMatch
from tests.conftest import KEY, FakeClock, memory_on, said
from tests.length import often

_WORDS = """
    oolong tea hiking hikes mountains Lisbon Müller café naïve 喝茶 喜欢 上海 Москва живёт running runs ran house houses
    user@host.org a_b/c.txt 2026 Straße เชียงใหม่ cello cellos
"""
WORDS = _WORDS.split()
SEEDS = range(often(2, long=6))


class Held(NamedTuple):
    """What the model knows of a text: what it says, since when, and until when it holds."""

    text: str
    since: datetime
    until: datetime | None = None


class Model:
    """A plain dictionary of texts, beside a memory that should find the same in them."""

    def __init__(self, database: Database, clock: FakeClock, seed: int) -> None:
        self.database = database
        self.clock = clock
        self.memory = memory_on(database)
        self.draw = random.Random(seed)
        self.held: dict[tuple[str, Ref], Held] = {}
        self.sessions: dict[str, bethink.Session] = {}

    def text(self) -> str:
        return " ".join(self.draw.choices(WORDS, k=self.draw.choice((1, 3, 12))))

    async def step(self) -> None:
        self.clock.time += timedelta(minutes=1)
        space = self.draw.choice(("ana", "bo"))
        steps = (self.append, self.state, self.forget_message, self.forget_fact)
        await self.draw.choices(steps, (6, 4, 2, 1))[0](space)

    async def append(self, space: str) -> None:
        if space not in self.sessions:
            self.sessions[space] = await self.memory.space(space).session(KEY)
        session, texts = self.sessions[space], [self.text() for _ in range(self.draw.choice((1, 5)))]
        at = self.clock()
        for number, text in zip(await session.append(said(*texts)), texts, strict=True):
            self.held[space, Ref(RefKind.MESSAGE, session.id, number)] = Held(text, at)

    async def state(self, space: str) -> None:
        name, text, at = f"f{self.draw.randrange(4)}", self.text(), self.clock()
        await self.memory.space(space).facts.save(Fact(id=name, text=text))
        before = [ref for (where, ref) in self.held if (where, ref.kind, ref.id) == (space, RefKind.FACT, name)]
        for ref in before:
            if self.held[space, ref].until is None:
                if self.held[space, ref].text == text:
                    return
                self.held[space, ref] = self.held[space, ref]._replace(until=at)
        version = max((ref.number for ref in before), default=0) + 1
        self.held[space, Ref(RefKind.FACT, name, version)] = Held(text, at)

    async def forget_message(self, space: str) -> None:
        known = [ref for (where, ref) in self.held if where == space and ref.kind is RefKind.MESSAGE]
        if known:
            gone = self.draw.choice(known)
            await self.memory.space(space).forget(str(gone))
            del self.held[space, gone]

    async def forget_fact(self, space: str) -> None:
        known = [ref for (where, ref) in self.held if where == space and ref.kind is RefKind.FACT]
        if known:
            name = self.draw.choice(known).id
            await self.memory.space(space).forget(f"fact:{name}:0")
            self.held = {key: held for key, held in self.held.items() if key[0] != space or key[1].id != name}

    def expected(self, space: str, stems: Sequence[str], as_of: datetime | None) -> dict[Ref, tuple[int, ...]]:
        found: dict[Ref, tuple[int, ...]] = {}
        for (where, ref), held in self.held.items():
            ended = held.until is not None and (as_of is None or held.until <= as_of)
            if where != space or ended or (as_of is not None and held.since > as_of):
                continue
            counts = Counter(count_terms(held.text))
            hits = tuple(counts[stem] for stem in stems)
            if any(hits):
                found[ref] = hits
        return found

    async def check(self) -> None:
        stems = tuple(count_terms(self.text()))
        for space in ("ana", "bo"):
            for as_of in (None, self.clock() - timedelta(minutes=self.draw.randrange(60))):
                found = await matched(self.database, space, stems, as_of)
                assert {match.ref: match.hits for match in found} == self.expected(space, stems, as_of)


async def matched(
    database: Database,
    space: str,
    stems: Sequence[str] | Mapping[str, float],
    as_of: datetime | None = None,
    *,
    past: bool = False,
    bounds: Bounds = BOUNDS,
) -> search.TermMatches:
    def body(tx: Tx) -> search.TermMatches:
        kinds = list(RefKind)
        terms = stems if isinstance(stems, Mapping) else dict.fromkeys(stems, 1.0)
        view = TimeView(as_of=as_of)
        return search.matches(tx, space=space, terms=terms, view=view, kinds=kinds, past=past, bounds=bounds)

    return await database.transact(body, space=space, read_only=True)


@pytest.mark.parametrize("seed", SEEDS)
async def test_term_index_matches_a_plain_model(database: Database, clock: FakeClock, seed: int) -> None:
    model = Model(database, clock, seed)
    for number in range(60):
        await model.step()
        if number % 6 == 5:
            await model.check()


async def rows(database: Database, text: str) -> list[dict[str, object]]:
    """Read below row-level security what the index holds: its table has none."""

    def body(tx: Tx) -> list[dict[str, object]]:
        tx._begin()
        fetched = tx._connection.execute(text)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]
        return [row if isinstance(row, dict) else {"row": row} for row in fetched]  # pyright: ignore[reportUnknownVariableType]

    return await database.transact(body)


async def test_a_space_that_is_forgotten_leaves_nothing_in_the_index(
    database: Database, memory: bethink.Memory
) -> None:
    for space in ("ana", "bo"):
        await memory.space(space).remember("Anna plays the cello.")
        await memory.space(space).facts.save(Fact(id="f", text="Anna plays the cello."))
    assert len(await rows(database, "SELECT doc FROM terms")) == 4

    await memory.space("ana").forget(everything=True)

    left = await rows(database, "SELECT space_id FROM terms")
    assert len(left) == 2
    assert len(await matched(database, "bo", ("cello",))) == 2
    assert await matched(database, "ana", ("cello",)) == []


async def test_each_space_hashes_words_with_its_own_key(database: Database, memory: bethink.Memory) -> None:
    def key(tx: Tx, space: str) -> bytes:
        return terms.find_space_index(tx, space=space).key

    async def key_of(space: str) -> bytes:
        return await database.transact(lambda tx: key(tx, space), space=space, read_only=True)

    for space in ("ana", "bo"):
        await memory.space(space).remember("cello")
    first = await key_of("ana")
    await memory.space("ana").forget(everything=True)
    await memory.space("ana").remember("cello")

    keys = {first, await key_of("ana"), await key_of("bo")}
    assert len(keys) == 3
    assert len({terms.hashes_of(key)["cello"] for key in keys}) == 3


async def test_replaced_fact_matches_only_if_past_is_requested(database: Database, memory: bethink.Memory) -> None:
    for text in ("Anna plays the cello.", "Anna plays the oboe."):
        await memory.space("ana").facts.save(Fact(id="f", text=text))

    assert await matched(database, "ana", ("cello",)) == []
    (found,) = await matched(database, "ana", ("cello",), past=True)
    assert (found.fate, found.because_of) == (Fate.SUPERSEDED, Ref(RefKind.FACT, "f", 2))


# ---------------------------------------- large spaces


FEW = Bounds(postings=60, one_term=100, newest=100, compared=20)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a space of a few hundred texts be a large one."""
    monkeypatch.setattr(term_counts, "BLOCK", 64)


async def fill(memory: bethink.Memory, count: int, text: Callable[[int], str]) -> None:
    session = await memory.space("ana").session(KEY)
    for first in range(0, count, 50):
        await session.append(said(*(text(number) for number in range(first, min(first + 50, count)))))


def numbers(found: Sequence[TermMatch]) -> list[int]:
    return [match.ref.number for match in found]


@pytest.mark.usefixtures("small_blocks")
async def test_rare_words_choose_the_candidates_and_frequent_ones_only_weigh(
    database: Database, memory: bethink.Memory
) -> None:
    await fill(
        memory, 600, lambda number: f"common {'often' if number % 3 else 'x'} {'rare' if number % 100 == 7 else ''}"
    )

    found = await matched(database, "ana", ("common", "often", "rare"), bounds=FEW)

    assert {7 + 1 + 100 * step for step in range(6)} <= set(numbers(found))
    assert len(found) <= 2 * 20
    assert found.counts[2] == 6
    assert 560 <= found.counts[0] <= 600
    assert all(match.hits[0] == 1 and match.hits[1] == int((match.ref.number - 1) % 3 > 0) for match in found)


@pytest.mark.usefixtures("small_blocks")
async def test_shorter_texts_with_equal_words_are_compared_first(database: Database, memory: bethink.Memory) -> None:
    await fill(memory, 60, lambda number: "rare" + " filler" * (400 if number % 3 else 1))

    found = numbers(await matched(database, "ana", ("rare",), bounds=FEW))

    assert found == [number + 1 for number in range(60) if number % 3 == 0]


@pytest.mark.usefixtures("small_blocks")
async def test_weightier_of_equally_rare_words_selects_candidates(database: Database, memory: bethink.Memory) -> None:
    await fill(memory, 40, lambda number: "topic" if number % 2 else "vague")

    found = numbers(await matched(database, "ana", {"topic": 1.0, "vagu": 0.3}, bounds=FEW))
    turned = numbers(await matched(database, "ana", {"topic": 0.3, "vagu": 1.0}, bounds=FEW))

    assert found == [number + 1 for number in range(40) if number % 2]
    assert turned == [number + 1 for number in range(40) if not number % 2]


@pytest.mark.usefixtures("small_blocks")
async def test_frequent_words_compare_the_newest_and_those_with_two(database: Database, memory: bethink.Memory) -> None:
    await fill(memory, 1_000, lambda number: f"{'one' if number % 4 == 0 else 'x'} {'two' if number % 5 == 0 else 'y'}")

    single = numbers(await matched(database, "ana", ("one",), bounds=FEW))
    double = numbers(await matched(database, "ana", ("one", "two"), bounds=FEW))

    newest = [number + 1 for number in range(1_000) if number % 4 == 0][-20:]
    assert single == newest
    assert set(double) <= {number + 1 for number in range(1_000) if number % 4 == 0 or number % 5 == 0}
    assert len([number for number in double if (number - 1) % 20 == 0]) == 20  # the newest with both


@pytest.mark.usefixtures("small_blocks")
async def test_frequent_word_counts_stay_within_their_error(database: Database, memory: bethink.Memory) -> None:
    draw = random.Random(3)
    every = [" ".join({f"w{min(int(draw.paretovariate(0.7)), 500)}" for _ in range(12)}) for _ in range(640)]
    await fill(memory, 640, lambda number: every[number])
    truth = Counter(word for text in every for word in text.split())

    def read(tx: Tx) -> tuple[term_counts.FrequentTerms, terms.SpaceIndex]:
        row = tx.first("open_index", space="ana")
        assert row is not None
        return term_counts.read_counts(row), terms.read_space_index(row)

    frequent, place = await database.transact(read, space="ana", read_only=True)
    hashes, counts = terms.hashes_of(place.key), frequent.unpack()
    for word, count in truth.items():
        known = counts.get(terms.number_of(hashes[word]))
        assert frequent.max_count(hashes[word]) == (None if known is None else sum(known))
        if known is None:
            assert count <= 640 // 64, word
        else:
            assert known[0] <= count <= sum(known), word
    assert 0 < len(counts) < len(truth)


@pytest.mark.usefixtures("small_blocks")
async def test_bytes_read_for_a_question_do_not_grow_with_the_space(
    database: Database, memory: bethink.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[int] = []
    kind: Any = type_of(database)
    whole = kind._fetch

    def counting(tx: Tx, query: object, values: list[object]) -> list[object]:
        found: list[object] = whole(tx, query, values)
        fetched.append(sum(len(str(row)) for row in found))
        return found

    draw = random.Random(5)
    vocabulary = [f"word{number}" for number in range(300)]
    weights = [1 / (rank + 1) for rank in range(300)]
    read: list[int] = []
    for _ in range(4):
        await fill(memory, 400, lambda _: " ".join(draw.choices(vocabulary, weights, k=8)))
        with monkeypatch.context() as patch:
            patch.setattr(kind, "_fetch", counting)
            fetched.clear()
            await matched(database, "ana", ("word0", "word3", "word40", "word90", "word200"), bounds=FEW)
        read.append(sum(fetched))

    assert len(fetched) <= 8
    assert read[3] <= 1.5 * read[0], read


def type_of(database: Database) -> type:
    from bethink.store.engines.postgres import PostgresTx  # noqa: PLC0415
    from bethink.store.engines.sqlite import SqliteTx  # noqa: PLC0415

    return SqliteTx if database.dialect == "sqlite" else PostgresTx
