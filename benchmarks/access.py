"""What the access record costs: the same calls with it and without it, side by side on one database."""

import argparse
import random
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

import anyio

import bethink
from faults.places import chosen, place

_WORDS = ("oslo", "bergen", "cello", "walnut", "ferry", "garden", "parrot", "figs", "train", "lunch", "window", "river")
_MOST = 1.15
"""How much longer a recall may take."""
_WARM = 10

Call = Callable[[bethink.Memory], Awaitable[object]]


async def measured(target: str, *, messages: int, calls: int) -> dict[str, tuple[float, float]]:
    """Return for each call the median CPU seconds without and with the record; both take turns."""
    rng = random.Random(1)
    async with bethink.connect(target, learn_in_background=False) as memory:
        session = await memory.space("mira").session("bench")
        for first in range(0, messages, 50):
            said = [f"{' '.join(rng.choices(_WORDS, k=12))} {first + number}" for number in range(50)]
            await session.append([{"role": "user", "content": text} for text in said])
    names: dict[str, Call] = {
        "recall": lambda memory: memory.space("mira").recall(" ".join(rng.choices(_WORDS, k=3))),
        "remember": lambda memory: memory.space("mira").remember("a cello by the river"),
        "get_session": lambda memory: memory.space("mira").sessions.get(session.id),
    }
    figures: dict[str, tuple[float, float]] = {}
    async with (
        bethink.connect(target, learn_in_background=False, access_log_days=0) as without,
        bethink.connect(target, learn_in_background=False) as recorded,
    ):
        for name, call in names.items():
            took: dict[int, list[float]] = {0: [], 1: []}
            for turn in range(2 * (calls + _WARM)):
                which = (turn + turn // 2) % 2
                began = time.process_time()  # CPU of all threads: other processes do not count
                await call(recorded if which else without)
                took[which].append(time.process_time() - began)
            figures[name] = statistics.median(took[0][_WARM:]), statistics.median(took[1][_WARM:])
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000)
    parser.add_argument("--calls", type=int, default=100, help="of each kind, with the record and without it")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    options = parser.parse_args()
    slow = False
    for database in chosen(options.database):
        with place(database) as where:
            figures = anyio.run(lambda where=where: _run(where.target, options))
        for name, (without, recorded) in figures.items():
            ratio = recorded / without
            slow = slow or (name == "recall" and ratio > _MOST)
            print(
                f"{database}: {name}: {without * 1e3:.2f} ms without, {recorded * 1e3:.2f} with it: {ratio:.2f} times"
            )
    return 1 if slow else 0


async def _run(target: str, options: argparse.Namespace) -> dict[str, tuple[float, float]]:
    return await measured(target, messages=options.messages, calls=options.calls)


if __name__ == "__main__":
    sys.exit(main())
