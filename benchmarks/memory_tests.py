"""Memory tests on the demo's space: 40 questions, each as of 12 days, judged without a model.

A day before something was said, its words must not come back; from that day on they must be among the first five.
"""

import argparse
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

import anyio

from bethink.cli.demo import SPACE, StoryClock, memory_at, seed
from bethink.features.memory_tests.records import MemoryTest, MemoryTestResult
from bethink.model.moments import moment

GOAL = 2.0
_FIRST_DAY = date(2026, 1, 13)
_DAYS = [_FIRST_DAY + timedelta(days=7 * week) for week in range(12)]

_ASKED = """
2026-01-05 | What does Mira read to children? | picture books
2026-01-05 | On which day do I read to the children? | Tuesdays
2026-01-07 | Why did I get a rash? | cake at work
2026-01-09 | How should answers be? | keep answers short
2026-01-12 | When is Solveig's birthday? | 14th of March
2026-01-12 | Who has a house in Bergen? | Solveig
2026-01-14 | When is the ten kilometre run? | 25th of April
2026-01-14 | How often do I run? | twice a week
2026-01-17 | Who wants somebody to teach school classes? | aquarium
2026-01-20 | When is the interview? | 28th of January
2026-01-22 | Where do Jonas and I go for a long weekend? | Copenhagen
2026-01-22 | Which museum do we want to see? | Louisiana
2026-01-25 | Which coffee do I drink? | cortado
2026-01-25 | When did I stop taking sugar? | New Year
2026-01-28 | What did they ask in the interview? | octopus to six-year-olds
2026-01-28 | How many brains and hearts does it have? | Nine brains
2026-01-31 | When do I start the new job? | 2nd of March
2026-02-02 | When is my last day at the library? | 27th of February
2026-02-04 | How many rooms should the flat have? | three rooms
2026-02-06 | What does the window of the flat look over? | harbour
2026-02-06 | Who is the owner of the flat? | Berit
2026-02-09 | Where does the deposit go? | locked account
2026-02-11 | What am I allergic to? | cashews
2026-02-14 | Which dog is in the shelter? | Pixel
2026-02-17 | When is the van booked? | Friday the 20th
2026-02-17 | Who drives the van? | Jonas drives
2026-02-20 | Where do I live now? | , in Sandviken
2026-02-20 | On which floor do I live? | third floor
2026-02-22 | Where are the winter shoes? | winter shoes
2026-02-24 | Who is my doctor? | Dr. Aas
2026-02-27 | What did the children draw? | drew me an octopus
2026-03-02 | How many classes a day do I teach? | two classes a day
2026-03-09 | What did Jonas lose on the train? | camera
2026-03-12 | What do I give Solveig for her birthday? | pottery course
2026-03-18 | What is Pixel afraid of? | umbrellas
2026-03-21 | Which food does Pixel eat? | salmon
2026-03-21 | What makes Pixel itch? | chicken
2026-03-24 | How old is Pixel? | Pixel is four
2026-03-28 | What hurts after eight kilometres? | knee
2026-03-28 | What does Dr. Aas say about the knee? | week of rest
"""


def questions() -> list[MemoryTest]:
    """Return every question at every day, with what must and must not come back then."""
    asked = [[part.strip() for part in line.split("|")] for line in _ASKED.strip().splitlines()]
    return [
        MemoryTest(
            question=question,
            as_of=moment(day),
            must=(text,) if day >= date.fromisoformat(said) else (),
            must_not=(text,) if day < date.fromisoformat(said) else (),
        )
        for said, question, text in asked
        for day in _DAYS
    ]


async def measured(folder: Path, rounds: int) -> tuple[float, float, list[MemoryTestResult]]:
    """Return the CPU and the wall time of the best of some rounds, and how the tests went.

    All of the work is done in this process, so on an idle machine both are the same.
    """
    path, clock = str(folder / "demo.db"), StoryClock()
    await seed(path, clock)
    tests, times, results = questions(), list[tuple[float, float]](), list[MemoryTestResult]()
    async with memory_at(path, clock) as memory:
        for _ in range(rounds):
            cpu, wall = time.process_time(), time.perf_counter()
            results = await memory.space(SPACE).admin.tests.run(tests=tests)
            times.append((time.process_time() - cpu, time.perf_counter() - wall))
    return *min(times), results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often to run all tests; the best counts")
    parser.add_argument("--failed", action="store_true", help="print every test that failed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seconds, wall, results = anyio.run(measured, Path(folder), options.rounds)
    for each in results:
        if options.failed and not each.passed:
            print(each.test.as_of, each.test.question, "| absent", each.absent, "| unwanted", each.unwanted)
    passed = sum(each.passed for each in results)
    print(f"{passed} of {len(results)} memory tests passed: 40 questions as of {len(_DAYS)} days each")
    reached = seconds <= GOAL
    print(f"{wall:.2f} s by the clock on the wall, with whatever else this machine does")
    print(f"{seconds:.2f} s of CPU (goal: at most {GOAL:.0f} s): {'reached' if reached else 'NOT reached'}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
