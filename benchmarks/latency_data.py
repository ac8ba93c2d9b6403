"""Made-up facts of many spaces, in words that follow Zipf's law, questions about them, and how both are loaded."""

# pyright: reportUnknownMemberType=false

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from struct import pack

import anyio
import apsw
import psycopg

from bethink.model.records import Origin
from bethink.model.rules import rank
from bethink.store import archived, vectors
from bethink.store.db import Database, Tx

DIMENSION = 384
EMBEDDER = "benchmark"
_WORDS = 4_000
_LENGTH = range(8, 17)
_BURST = 10
_POOL = 5_000
_BEGAN = 1_700_000_000_000
_HOUR = 3_600_000
_PAGE = 1_000
_SHIFT = 2.7
_ASKED = ("What about {}?", "Where do we find {}?", "Who has {}?", "Why is it {}?")
_TABLE = (
    "space_id, id, version, content, kind, origin, source, tags, metadata, entities, created_at, recorded_at, digest"
)
_STATEMENTS = f"""INSERT INTO fact_statements
    (space_id, fact_id, support, said_at, session_id, number, position, recorded_at, subject, slot, trust, change)
SELECT space_id, id, 'saved:1', created_at, '', 0, 0, recorded_at, subject, slot, {rank(Origin("user"))}, 'new'
FROM facts"""
"""Each fact was stated once, as the store writes it for a fact that a program saves."""
_VECTORS = "space_id, index_id, kind, id, number, part, vector"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One fact as it is loaded."""

    space: str
    id: str
    content: str
    at: int

    def row(self) -> tuple[str | int, ...]:
        """Return the values of its columns."""
        known = ("knowledge", "user", "benchmark", "[]", "{}", "[]")
        return (self.space, self.id, 1, self.content, *known, self.at, self.at, self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question that shares a few words with at least one fact of its space."""

    space: str
    text: str
    about: str
    vector: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """So many spaces of one size. A space is the same in every world of its seed, however many others there are."""

    seed: int
    spaces: int
    size: int

    @property
    def facts(self) -> int:
        return self.spaces * self.size

    def told(self) -> Iterator[Told]:
        """Give every fact in the order of its coming: a session brings a few, then it is another space's turn."""
        order = list(range(self.spaces))
        for first in range(0, self.size, _BURST):
            random.Random(f"{self.seed}/{first}").shuffle(order)
            for number in order:
                yield from self._burst(number, first)

    def questions(self, count: int) -> list[Question]:
        """Return questions, each to a space of its own as far as there are so many."""
        chance = random.Random(f"{self.seed}/questions")
        numbers = [
            number
            for _ in range(0, count, self.spaces)
            for number in chance.sample(range(self.spaces), k=min(count, self.spaces))
        ]
        found: list[Question] = []
        for number in numbers[:count]:
            fact = chance.choice(list(self._burst(number, chance.randrange(0, self.size, _BURST))))
            words = list(dict.fromkeys(fact.content.split()))
            shared = chance.sample(words, k=min(len(words), chance.randint(2, 4)))
            text = chance.choice(_ASKED).format(" ".join(shared))
            found.append(
                Question(space=fact.space, text=text, about=fact.id, vector=_beside(vector_of(fact.id), chance))
            )
        return found

    def _burst(self, number: int, first: int) -> Iterator[Told]:
        chance = random.Random(f"{self.seed}/{number}/{first}")
        words, weights = _vocabulary()
        for place in range(first, min(first + _BURST, self.size)):
            content = " ".join(chance.choices(words, cum_weights=weights, k=chance.choice(_LENGTH)))
            at = _BEGAN + place * 24 * _HOUR + chance.randrange(_HOUR)
            name = f"fct_{at:012x}{chance.getrandbits(56):014x}"
            yield Told(space=f"space-{number:06}", id=name, content=content, at=at * 1_000)


@cache
def _vocabulary() -> tuple[list[str], list[float]]:
    """Return words that no stemmer knows, and how often each is said, added up."""
    chance = random.Random("vocabulary")
    words: dict[str, None] = {}
    while len(words) < _WORDS:
        parts = [chance.choice("bdfgklmnprtvz") + chance.choice("aiou") for _ in range(chance.randint(2, 4))]
        words["".join(parts) + chance.choice("kmnprt")] = None
    return list(words), list(accumulate(1 / (rank + _SHIFT) for rank in range(1, _WORDS + 1)))


@cache
def _pool() -> list[list[float]]:
    chance = random.Random("vectors")
    return [_unit([chance.gauss() for _ in range(DIMENSION)]) for _ in range(_POOL)]


def vector_of(fact: str) -> list[float]:
    """Return a fact's vector: one of a few thousand, since only how many are compared matters, not which."""
    return _pool()[_place(fact)]


def _place(fact: str) -> int:
    return int(fact[-8:], 16) % _POOL


def _beside(vector: Sequence[float], chance: random.Random) -> list[float]:
    return _unit([value + 0.75 * chance.gauss() / math.sqrt(DIMENSION) for value in vector])


def _unit(values: Sequence[float]) -> list[float]:
    length = math.sqrt(sum(value * value for value in values))
    return [value / length for value in values]


def fill_postgres(superuser: str, world: World, *, index: int | None) -> None:
    """Copy a world into a database whose schema is there, past row-level security; with an index also its vectors."""
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        with connection.cursor().copy("COPY spaces (id, shard, created_at) FROM STDIN") as copy:
            copy.write("".join(f"space-{number:06}\t0\t{_BEGAN}\n" for number in range(world.spaces)))
        with connection.cursor().copy(f"COPY facts ({_TABLE}) FROM STDIN".encode()) as copy:
            for fact in world.told():
                copy.write("\t".join(map(str, fact.row())) + "\n")
        connection.execute(_STATEMENTS.encode())
        if index is not None:
            spelt = [f"[{','.join(f'{value:.4g}' for value in vector)}]" for vector in _pool()]
            with connection.cursor().copy(f"COPY vectors ({_VECTORS}) FROM STDIN".encode()) as copy:
                for fact in world.told():
                    vector = spelt[_place(fact.id)]
                    copy.write(f"{fact.space}\t{index}\tfact\t{fact.id}\t1\t0\t{vector}\n")
        connection.execute("VACUUM ANALYZE")


def settle(superuser: str) -> None:
    """Bring a filled database to the state that autovacuum would soon bring it to."""
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def fill_sqlite(path: str, world: World, *, index: int | None) -> None:
    """Insert a world into a file whose schema is there, in one transaction; with an index also its vectors."""
    connection = apsw.Connection(path)
    connection.execute("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000")
    marks = ", ".join("?" * len(_TABLE.split(", ")))
    with connection:
        spaces = ((f"space-{number:06}", 0, _BEGAN) for number in range(world.spaces))
        connection.executemany("INSERT INTO spaces (id, shard, created_at) VALUES (?, ?, ?)", spaces)
        connection.executemany(f"INSERT INTO facts ({_TABLE}) VALUES ({marks})", (fact.row() for fact in world.told()))
        connection.execute(_STATEMENTS)
        if index is not None:
            packed = [pack(f"<{DIMENSION}e", *vector) for vector in _pool()]
            rows = ((fact.space, index, fact.id, packed[_place(fact.id)]) for fact in world.told())
            connection.executemany(f"INSERT INTO vectors ({_VECTORS}) VALUES (?, ?, 'fact', ?, 1, 0, ?)", rows)
    connection.execute("ANALYZE")
    connection.close()


async def index_world(database: Database, world: World) -> None:
    """Index the facts of a world that was loaded past the store."""
    for number in range(world.spaces):
        space = f"space-{number:06}"
        await database.transact(lambda tx, space=space: _index_facts(tx, space), space=space)


def _index_facts(tx: Tx, space: str) -> None:
    [facts] = [table for table in archived.tables() if table.name == "facts"]
    for rows in archived.pages(tx, facts, space=space, size=_PAGE):
        archived.index(tx, facts, rows, space=space)


def index(database: Database, world: World) -> None:
    """Open a database, index its facts, and close it."""

    async def made() -> None:
        await database.open()
        await index_world(database, world)
        await database.close()

    anyio.run(made)


def prepare(database: Database, *, with_vectors: bool) -> int | None:
    """Make the schema, and an index for vectors if they are wanted."""

    async def made() -> int | None:
        await database.open()
        try:
            if not with_vectors:
                return None
            index = await database.transact(
                lambda tx: vectors.register(tx, embedder=EMBEDDER, dimension=DIMENSION), repeatable=True
            )
            return index.id
        finally:
            await database.close()

    return anyio.run(made)
