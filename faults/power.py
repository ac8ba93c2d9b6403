"""The power fails while a memory on SQLite is written to (--cuts): whatever was acknowledged is there when it is back.

Each life runs on a disk that is recorded, with a write-ahead log or a rollback journal. Then it is cut at many moments,
and what was not synced by then is dropped, reordered or torn. Each state must be sound, hold every acknowledged message
once, and nothing forgotten; some are opened by Bethink and used again, and lives begin where another was cut.
"""

import argparse
import contextlib
import secrets
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from unittest.mock import patch

import anyio

from bethink.errors import BethinkError
from bethink.store.engines import checkpoint
from bethink.store.engines.sqlite import SqliteDatabase
from faults.ledger import Verdict
from faults.power_life import FILE, Found, Known, Life, connect, look, use_again
from faults.recorded_disk import Act, Disk, Left, Replay, recording

_CUTS_OF_A_LIFE = 100
_USED_AGAIN = 0.1
_FRESH = 0.25
"""How many lives begin with no file at all, or an empty memory; others begin where one was cut."""
_MOST_PRINTED = 20
_EARLY_FOLD, _LATE_FOLD = 40, 120
"""Pages of log from which on it is folded: far fewer than usual, so that cuts meet checkpoints."""


class Mutant(StrEnum):
    """A bug on purpose."""

    NORMAL = "normal"
    """Commits in the write-ahead log are not synced."""
    NO_FOLDER_SYNC = "no-folder-sync"
    """A commit deletes the rollback journal, and does not sync the folder that it stood in."""
    LYING_DISK = "lying-disk"
    """Nothing is synced, whatever is said."""


@dataclass(slots=True)
class Course:
    """How a campaign goes."""

    dice: Random
    mutant: Mutant | None
    cuts: int = 0
    lives: int = 0
    acknowledged: int = 0
    used_again: int = 0
    left: Counter[Left] = field(default_factory=Counter[Left])
    violations: list[str] = field(default_factory=list[str])


@contextlib.contextmanager
def folding_early() -> Generator[None]:
    """Let the log be folded into the file every few commits."""
    with patch.object(checkpoint, "_MIN_PAGES", _EARLY_FOLD), patch.object(checkpoint, "_MAX_PAGES", _LATE_FOLD):
        yield


@contextlib.contextmanager
def _mutated(mutant: Mutant | None) -> Generator[None]:
    with contextlib.ExitStack() as stack:
        if mutant is Mutant.NO_FOLDER_SYNC:
            stack.enter_context(patch.object(SqliteDatabase, "_synchronous", return_value="FULL"))
        yield


async def _live(life: Life, course: Course) -> None:
    try:
        await life.run()
    except BethinkError as error:
        course.violations.append(f"life {life.name} on a disk that is well: {type(error).__name__}: {error}")


def _life(course: Course, folder: Path, known: Known, cuts: int) -> tuple[dict[str, bytes], Known]:
    """Live on a folder, cut it in many ways, and return one state and what is known of it."""
    course.lives += 1
    wal = course.mutant is Mutant.NORMAL or (course.mutant is not Mutant.NO_FOLDER_SYNC and course.lives % 3 != 0)
    disk = Disk(folder, lies=course.mutant is Mutant.LYING_DISK)
    life = Life(disk, course.dice, known, name=str(course.lives), wal=wal)
    life.synchronous = "NORMAL" if course.mutant is Mutant.NORMAL else "FULL"
    with recording(disk), folding_early():
        anyio.run(_live, life, course)
    replay, chosen = Replay(disk, course.dice), moments(disk, cuts, course.dice)
    go_on = course.dice.choice(chosen)
    kept: tuple[dict[str, bytes], Known] = ({}, Known())
    heard, now = 0, known.copy()
    for moment in chosen:
        replay.go(moment)
        now.hear(replay.told[heard:])
        heard = len(replay.told)
        left = course.dice.choice(list(Left))
        state = replay.cut(left, course.dice)
        found = _judge(course, state, now, f"life {life.name}, cut at {moment} of {len(disk.events)}, {left}", wal=wal)
        if moment == go_on:
            kept = (state, _as_found(found, now))
    course.acknowledged += len(now.stored) - len(known.stored)
    return kept


def moments(disk: Disk, cuts: int, dice: Random) -> list[int]:
    """Choose when to cut: half of them right after somebody was answered, when most is at stake."""
    answers = [index + 1 for index, event in enumerate(disk.events) if event.act is Act.TELL]
    return sorted(
        dice.choice(answers) if answers and dice.random() < 0.5 else dice.randint(0, len(disk.events))
        for _ in range(cuts)
    )


def _judge(course: Course, state: dict[str, bytes], known: Known, where: str, *, wal: bool) -> Found:
    with tempfile.TemporaryDirectory() as made:
        put(state, Path(made), course.dice)
        found = look(Path(made) / FILE, known)
        if not found.problems and course.dice.random() < _USED_AGAIN:
            put(state, Path(made), course.dice)
            course.used_again += 1
            after = known.copy()
            try:
                found.problems += anyio.run(_use_again, Path(made) / FILE, after, wal)
            except (BethinkError, TimeoutError) as error:
                found.problems.append(f"cannot be used: {type(error).__name__}: {error}")
            found.problems += look(Path(made) / FILE, after).problems
    course.cuts += 1
    course.violations += [f"{where}: {problem}" for problem in found.problems]
    return found


async def _use_again(file: Path, known: Known, wal: bool) -> list[str]:  # noqa: FBT001 - anyio passes places only
    return await use_again(file, known, wal=wal)


def put(state: dict[str, bytes], folder: Path, dice: Random) -> None:
    """Write the files of a state into a folder, with rubbish where processes shared memory before the cut."""
    for path in folder.iterdir():
        path.unlink()
    for name, data in state.items():
        (folder / name).write_bytes(data)
    if dice.random() < 0.5 and f"{FILE}-wal" in state:
        (folder / f"{FILE}-shm").write_bytes(dice.randbytes(32 * 1024))


def _as_found(found: Found, known: Known) -> Known:
    """Return what is known once somebody has read a state: from then on all that it holds must stay."""
    now = known.copy()
    now.stored = {key: place for key, place in found.messages.items() if key in known.texts}
    now.forgotten |= known.leaving - found.messages.keys()
    now.facts = set(found.facts)
    return now


def campaign(cuts: int, seed: int, mutant: Mutant | None = None) -> tuple[str, Verdict]:
    """Cut the power so many times."""
    course = Course(Random(seed), mutant)
    began, state, known = time.monotonic(), dict[str, bytes](), Known()
    with _mutated(mutant):
        empty = _empty_memory()
        while course.cuts < cuts and not (mutant and course.violations):
            if course.dice.random() < _FRESH:
                state, known = course.dice.choice(({}, empty)), Known()
            folder = Path(tempfile.mkdtemp(prefix="bethink-power-")).resolve()
            try:
                put(state, folder, course.dice)
                state, known = _life(course, folder, known, min(_CUTS_OF_A_LIFE, cuts - course.cuts))
            finally:
                shutil.rmtree(folder)
    lost = sum("acknowledged message" in each or "all of it" in each for each in course.violations)
    done = f"{course.cuts} power cuts in {course.lives} lives, {time.monotonic() - began:.0f} s"
    figures = (
        f"{course.acknowledged} messages acknowledged, {lost} times one was lost, {course.used_again} states used again"
    )
    return done, Verdict(figures=figures, violations=course.violations)


def _empty_memory() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as made:
        file = Path(made) / FILE

        async def make() -> None:
            async with connect(file, wal=True):
                pass

        anyio.run(make)
        return {FILE: file.read_bytes()}


def main() -> int:
    """Run the campaign as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, required=True, help="how many times the power fails")
    parser.add_argument("--seed", type=int, default=None, help="repeat the random choices of an earlier run")
    parser.add_argument("--mutant", choices=list(Mutant), default=None, help="a bug on purpose: this run must fail")
    options = parser.parse_args()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    done, verdict = campaign(options.cuts, seed, None if options.mutant is None else Mutant(options.mutant))
    for violation in verdict.violations[:_MOST_PRINTED]:
        print(f"sqlite: {violation}")
    print(f"sqlite: {done}, {verdict.figures}, {len(verdict.violations)} violations (seed {seed})")
    return 1 if verdict.violations else 0


if __name__ == "__main__":
    sys.exit(main())
