"""Compares three indexes for vectors on PostgreSQL: recall of the nearest ten, time, memory, and cost of writes.

- exact: every vector of the space is compared. Spaces of up to 20,000 vectors always use this.
- own: large spaces have an HNSW index of their own, as Bethink does.
- lists: large spaces have centroids, and each vector is in the list of its nearest one (an inverted file).
- shared: all spaces share one HNSW index per hash partition, searched by iterative scans.

Space sizes follow Zipf's law. Vectors are made from real ones: a text's vector plus a part of the difference of two
others, so that they are about as close to each other as those of real texts.
"""

# pyright: reportUnknownMemberType=false

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import numpy as np
import psycopg
from numpy.typing import NDArray

from benchmarks.everyday import everyday, everyday2
from benchmarks.sets import Conversation
from benchmarks.vector_designs import DESIGNS, Design, Vectors
from bethink.providers.multilingual_embedder import MultilingualEmbedder
from tools.postgres import running

GOAL = 0.95
LARGE = 20_000
"""A space with more vectors than this is large."""
_EXPONENT = 0.8
_MEAN = 250
_SHARE = 0.5
"""The part of the difference that is added to a real vector."""
_QUESTIONS = 60
_WRITTEN = 2_000
_BATCH = 20


@dataclass(frozen=True, slots=True)
class World:
    """The vectors of all spaces, one space after the other."""

    vectors: Vectors
    starts: Sequence[int]
    """The first row of each space, and the number of rows at the end."""

    def rows(self, space: int) -> slice:
        """Return the rows of a space."""
        return slice(self.starts[space], self.starts[space + 1])

    def size(self, space: int) -> int:
        """Return the number of vectors of a space."""
        return self.starts[space + 1] - self.starts[space]


def sizes_of(total: int) -> list[int]:
    """Return the sizes of spaces, the largest first."""
    weights = np.arange(1, total // _MEAN + 1) ** -_EXPONENT
    return [max(1, int(size)) for size in weights * (total / weights.sum())]


async def _real_vectors() -> Vectors:
    conversations: list[Conversation] = [*everyday(), *everyday2()]
    texts = sorted({turn.text for each in conversations for turn in each.turns})
    embedder = MultilingualEmbedder()
    return np.array(await embedder.embed(texts), np.float32)


def make_vectors(real: Vectors, count: int, dice: np.random.Generator) -> Vectors:
    """Return vectors of length 1 that are about as far from each other as the real ones."""
    made = np.empty((count, real.shape[1]), np.float16)
    for first in range(0, count, 50_000):
        rows = min(50_000, count - first)
        one, two, three = (real[dice.integers(0, len(real), rows)] for _ in range(3))
        mixed = one + _SHARE * (two - three)
        made[first : first + rows] = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    return made


def _nearest(world: World, space: int, question: NDArray[np.float32]) -> set[int]:
    rows = world.rows(space)
    scores = world.vectors[rows].astype(np.float32) @ question
    return {int(row) + rows.start for row in np.argsort(-scores)[:10]}


def _classes(world: World) -> Iterator[tuple[str, list[int]]]:
    """Return the spaces of each class of size."""
    spaces = range(len(world.starts) - 1)
    for name, low, high in (("small", 100, 2_000), ("medium", 2_000, LARGE), ("large", LARGE, 10**9)):
        yield name, [space for space in spaces if low <= world.size(space) < high]


@dataclass(frozen=True, slots=True)
class _Asked:
    recall: float
    milliseconds: float


def _ask(design: Design, world: World, spaces: Sequence[int], real: Vectors, seed: int) -> _Asked:
    dice = np.random.default_rng(seed)
    found, took = 0, list[float]()
    questions = make_vectors(real, _QUESTIONS, dice).astype(np.float32)
    for question in questions:
        space = spaces[int(dice.integers(0, len(spaces)))]
        wanted = _nearest(world, space, question)
        began = time.perf_counter()
        answered = design.nearest(space, question, is_large=world.size(space) > LARGE)
        took.append(time.perf_counter() - began)
        found += len(wanted & set(answered))
    return _Asked(found / (10 * len(questions)), statistics.median(took) * 1000)


def _timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _insert(design: Design, world: World, real: Vectors, seed: int) -> float:
    """Return the microseconds for each vector that is added, to spaces in proportion to their size."""
    dice = np.random.default_rng(seed)
    total = len(world.vectors)
    starts = np.array(world.starts)
    seconds = 0.0
    for first in range(0, _WRITTEN, _BATCH):
        space = int(np.searchsorted(starts, dice.integers(0, total), "right")) - 1
        vectors = make_vectors(real, _BATCH, dice)
        new = range(total + first, total + first + _BATCH)
        seconds += _timed(lambda: design.add(space, new, vectors, is_large=world.size(space) > LARGE))  # noqa: B023
    return seconds / _WRITTEN * 1e6


def _measure(design: Design, world: World, real: Vectors, seed: int) -> dict[str, float]:
    large = [space for space in range(len(world.starts) - 1) if world.size(space) > LARGE]
    figures = {"build s": _timed(lambda: design.build(large)), "index MB": design.index_bytes() / 1e6}
    for name, spaces in _classes(world):
        if spaces:
            asked = _ask(design, world, spaces, real, seed)
            figures |= {f"{name} recall": asked.recall, f"{name} ms": asked.milliseconds}
    figures["insert µs"] = _insert(design, world, real, seed)
    figures["delete µs"] = _timed(lambda: design.delete(range(0, len(world.vectors), 500))) / (
        len(world.vectors) / 500 / 1e6
    )
    figures["vacuum s"] = _timed(design.vacuum)
    return figures


def _report(figures: dict[str, dict[str, float]]) -> list[str]:
    names = list(dict.fromkeys(name for each in figures.values() for name in each))
    print(f"{'':14}" + "".join(f"{name:>10}" for name in figures))
    for name in names:
        print(f"{name:14}" + "".join(f"{each.get(name, float('nan')):10.3g}" for each in figures.values()))
    return [
        f"{design}: recall@10 in large spaces is {each['large recall']:.3f} (goal {GOAL})"
        for design, each in figures.items()
        if each.get("large recall", 1.0) < GOAL
    ]


def main() -> int:
    """Compare the designs. Returns 1 if a design misses the goal of recall."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--designs", nargs="+", default=list(DESIGNS), choices=list(DESIGNS))
    options = parser.parse_args()
    real = anyio.run(_real_vectors)
    sizes = sizes_of(options.vectors)
    starts = [0, *(int(at) for at in np.cumsum(sizes))]
    world = World(make_vectors(real, starts[-1], np.random.default_rng(options.seed)), starts)
    print(f"{len(sizes):,} spaces, the largest of {sizes[0]:,}; {real.shape[1]} dimensions; seed {options.seed}")
    figures: dict[str, dict[str, float]] = {}
    with (
        running(durable=True, settings=["shared_buffers=2GB"]) as superuser,
        psycopg.connect(superuser, autocommit=True) as link,
    ):
        link.execute("CREATE EXTENSION IF NOT EXISTS vector")
        for name in options.designs:
            design = DESIGNS[name](link, real.shape[1])
            design.load(world.vectors, world.starts)
            figures[name] = _measure(design, world, real, options.seed)
            print(f"{name}: {figures[name]}", file=sys.stderr, flush=True)
            design.drop()
    missed = _report(figures)
    print("; ".join(missed) or "every design reaches the goal")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
