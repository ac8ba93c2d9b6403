"""One space that grows: does `recall` cost what it returns, or what the space holds?"""

import argparse
import random
import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import accumulate
from pathlib import Path

import anyio

import bethink
from benchmarks.latency_data import Question, settle
from benchmarks.latency_measure import Figure, Subject, database_at, measured, plain_settings
from bethink.api.connect import memory_from
from bethink.model.records import conversation_key
from tools import postgres

GROWTH_GOAL = 3.0
"""A space of any size against one of 1,000 messages."""
COST_GOAL = 1.5
"""Against its bare statements, at 10,000 messages."""
BESIDE_GOAL = 1.2
"""A small space beside the largest one, against the same space alone."""
MILLION = 1_000_000
_COMPARED = 10_000
_BATCH = 500
_SESSION = 200
_WORDS = 60_000
_SHIFT = 8.0
_LENGTH = range(10, 60)
LARGE, SMALL = "large", "small"


def talk(space: str, size: int) -> Iterator[str]:
    """Give the messages of a space: a smaller space says the same, and stops earlier."""
    words, weights = _vocabulary()
    chance = random.Random(f"{space}/talk")
    for _ in range(size):
        yield " ".join(chance.choices(words, cum_weights=weights, k=chance.choice(_LENGTH)))


def questions(space: str, size: int, count: int) -> list[Question]:
    """Return questions that share a few words with one of the first messages, which every size has."""
    chance = random.Random(f"{space}/questions")
    told = list(talk(space, min(size, 1_000)))
    found: list[Question] = []
    for _ in range(count):
        words = list(dict.fromkeys(chance.choice(told).split()))
        shared = chance.sample(words, k=min(len(words), chance.randint(3, 5)))
        found.append(Question(space=space, text=f"What about {' '.join(shared)}?", about="", vector=()))
    return found


@cache
def _vocabulary() -> tuple[list[str], list[float]]:
    """Return words that no stemmer knows, and how often each is said, added up: the most frequent in one of a few."""
    chance = random.Random("words")
    words: dict[str, None] = {}
    while len(words) < _WORDS:
        parts = [chance.choice("bdfgklmnprtvz") + chance.choice("aiou") for _ in range(chance.randint(2, 4))]
        words["".join(parts) + chance.choice("kmnprt")] = None
    return list(words), list(accumulate(1 / (rank + _SHIFT) for rank in range(1, _WORDS + 1)))


async def _fill(target: str, sizes: dict[str, int]) -> None:
    memory = memory_from(plain_settings(), database=database_at(target))
    async with memory:
        for space, size in sizes.items():
            told = talk(space, size)
            for first in range(0, size, _BATCH):
                key = conversation_key(channel="benchmark", chat=str(first // _SESSION))
                session = await memory.space(space).session(key)
                texts = [next(told) for _ in range(min(_BATCH, size - first))]
                await session.append([bethink.Message(role="user", content=text) for text in texts])


def _loaded(name: str, target: str, sizes: dict[str, int], superuser: str | None) -> None:
    started = time.monotonic()
    anyio.run(_fill, target, sizes)
    if superuser is not None:
        settle(superuser)
    print(f"{name}: {sum(sizes.values()):,} messages loaded in {time.monotonic() - started:.0f} s", flush=True)


def on_space(options: argparse.Namespace) -> list[Figure]:
    """Load a space of each size into a database of its own, beside a small one, and ask all of them."""
    sizes: list[int] = sorted({*options.sizes, *([MILLION] if options.long else [])})
    if options.short:
        sizes, options.questions, options.rounds = [500, 3_000], 20, 2
    figures: list[Figure] = []
    if options.database != "postgres":
        with tempfile.TemporaryDirectory() as folder:
            files = {size: (str(Path(folder) / f"{size}.db"), None) for size in sizes}
            figures += _asked("SQLite", files, options)
    if options.database != "sqlite":
        with postgres.running() as superuser:
            targets: dict[int, tuple[str, str]] = {}
            for size in sizes:
                dsn = postgres.create_database(superuser, f"size{size}")
                targets[size] = (dsn, postgres.in_database(superuser, f"size{size}"))
            figures += _asked("PostgreSQL", targets, options)
    return figures


def _asked(where: str, targets: Mapping[int, tuple[str, str | None]], options: argparse.Namespace) -> list[Figure]:
    sizes = list(targets)
    least, most = sizes[0], sizes[-1]
    subjects: list[Subject] = []
    for size, (target, superuser) in targets.items():
        spaces = {LARGE: size} | ({SMALL: least} if size in (least, most) else {})
        _loaded(where, target, spaces, superuser)
        asked = questions(LARGE, size, options.questions)
        subjects.append(Subject(f"{where}, {size:,} messages", target, asked, with_vectors=False))
    for size in (least, most):
        name = f"{where}, small beside {size:,}"
        asked = questions(SMALL, least, options.questions)
        subjects.append(Subject(name, targets[size][0], asked, with_vectors=False))
    sides = anyio.run(measured, subjects, options.rounds)
    ours, bare = sides[0::2], sides[1::2]
    grown = {size: side.cost for size, side in zip(sizes, ours, strict=False)}
    figures = [
        Figure(
            text=f"{where}, recall at {size:,} messages of a space against {least:,}",
            ratio=grown[size] / grown[least], goal=GROWTH_GOAL,
        )
        for size in sizes[1:]
    ]  # fmt: skip
    compared = _COMPARED if _COMPARED in sizes else most
    place = sizes.index(compared)
    figures.append(
        Figure(
            text=f"{where}, recall at {compared:,} messages against its bare statements",
            ratio=ours[place].cost / bare[place].cost, goal=COST_GOAL,
        )
    )  # fmt: skip
    figures.append(
        Figure(
            text=f"{where}, a space of {least:,} messages beside one of {most:,}, against beside one of {least:,}",
            ratio=ours[-1].cost / ours[-2].cost, goal=BESIDE_GOAL,
        )
    )  # fmt: skip
    return figures
