"""Whether working memory stays as quick as it was: dispatches early and late in a long thread, and what they store."""

import argparse
import json
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import anyio

from bethink.memory.working.ladder import Thresholds
from bethink.memory.working.memory import WorkingMemory
from bethink.memory.working.process import Engine
from bethink.model.working import Event, EventType
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions

MAX_GROWTH = 1.3
MAX_BYTES_GROWTH = 1.2
_TEXT = ("what was said is what we keep, " * 20)[:600]
_NEVER = 10**9  # no compaction: the thread only grows


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How the last part of a thread compares with its first, per event."""

    events: int
    first_micros: float
    last_micros: float
    first_bytes: float
    last_bytes: float

    @property
    def growth(self) -> float:
        return self.last_micros / self.first_micros

    @property
    def bytes_growth(self) -> float:
        return self.last_bytes / self.first_bytes


def _size(path: Path) -> int:
    return path.stat().st_size


async def _measure(path: Path, events: int) -> Figures:
    database = SqliteDatabase(SqliteOptions(path=str(path)))
    await database.open()
    engine = Engine(thresholds=Thresholds(soft=_NEVER, hard=_NEVER, truncation=_NEVER))
    desk = WorkingMemory(database, space="benchmark", engine=engine)
    await desk.open_thread("long")
    part = events // 10
    times: list[float] = []
    sizes = [0]
    for number in range(events):
        started = time.perf_counter()
        await desk.dispatch("long", Event(type=EventType.USER_MESSAGE, payload={"text": f"{number} {_TEXT}"}))
        times.append(time.perf_counter() - started)
        if (number + 1) % part == 0:
            sizes.append(_size(path))
            print(f"  {number + 1} of {events} events", file=sys.stderr)
    await database.close()
    return Figures(
        events=events,
        first_micros=statistics.median(times[:part]) * 1e6,
        last_micros=statistics.median(times[-part:]) * 1e6,
        first_bytes=sizes[2] / (2 * part),  # the empty schema weighs too much in the very first part
        last_bytes=(sizes[-1] - sizes[-3]) / (2 * part),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = anyio.run(_measure, Path(folder) / "working.db", options.events)
    if options.json:
        print(json.dumps({"events": found.events, "growth": found.growth, "bytes_growth": found.bytes_growth}))
    else:
        print(
            f"{found.events} events: {found.first_micros:.0f} then {found.last_micros:.0f} microseconds each, "
            f"growth {found.growth:.2f} (at most {MAX_GROWTH}); {found.first_bytes:.0f} then {found.last_bytes:.0f} "
            f"bytes each, growth {found.bytes_growth:.2f} (at most {MAX_BYTES_GROWTH})"
        )
    return 0 if found.growth <= MAX_GROWTH and found.bytes_growth <= MAX_BYTES_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
