"""Export and import hold only one page of rows in memory, whatever the size of the space."""

import gc
import os
import sys
import tracemalloc
from collections.abc import Awaitable
from pathlib import Path

import pytest

import bethink
from bethink.memory.archive.load import load_archive
from bethink.memory.archive.write import write_archive
from bethink.store.db import Database
from tests.conftest import memory_on
from tests.length import often

FEW, MANY = 6_000, 24_000
MOST_MORE = often(16_000, long=32_000)
"""Kilobytes, for the pages that SQLite caches: the rows take more than this, and a million of them far more."""


async def _peak(work: Awaitable[object]) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        await work
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


async def _fill(database: Database, space: str, count: int) -> None:
    session = await memory_on(database).space(space).session("cli:desk")
    for start in range(0, count, 1_000):
        await session.append(
            [
                bethink.Message(role="user", content=f"message {number} " + "word " * 20)
                for number in range(start, start + 1_000)
            ]
        )


@pytest.mark.slow
async def test_four_times_the_messages_take_the_same_memory(database: Database, tmp_path: Path) -> None:
    peaks: dict[int, tuple[int, int]] = {}
    for count in (FEW, MANY):
        await _fill(database, f"s{count}", count)
        path = tmp_path / f"{count}.zip"
        written = await _peak(write_archive(database, path, space=f"s{count}"))
        loaded = await _peak(load_archive(database, path, space=f"copy{count}"))
        peaks[count] = (written, loaded)
    assert peaks[MANY][0] < 1.5 * peaks[FEW][0], peaks
    assert peaks[MANY][1] < 1.5 * peaks[FEW][1], peaks


def _most_memory(*command: str) -> int:
    """Run the command line, and return the kilobytes that its process held at most."""
    environment = {**os.environ, "BETHINK_EMBEDDER": "none"}
    child = os.posix_spawn(sys.executable, [sys.executable, "-m", "bethink", *command, "--quiet"], environment)
    _, status, usage = os.wait4(child, 0)
    assert status == 0
    return usage.ru_maxrss


@pytest.mark.slow
@pytest.mark.timeout(often(400, long=7_200))
async def test_a_process_that_moves_an_archive_stays_as_small(database: Database, target: str, tmp_path: Path) -> None:
    held: dict[int, tuple[int, int]] = {}
    for count in (FEW, often(MANY, long=1_000_000)):
        await _fill(database, f"s{count}", count)
        path, where = str(tmp_path / f"{count}.zip"), ("--database", target, "--space")
        written = _most_memory("data", "export", "--format", "archive", "-o", path, *where, f"s{count}")
        held[count] = (written, _most_memory("import", "archive", path, "--yes", *where, f"copy{count}"))
    few, many = held.values()
    assert many[0] < few[0] + MOST_MORE, held
    assert many[1] < few[1] + MOST_MORE, held
