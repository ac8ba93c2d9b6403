# pyright: reportUnknownMemberType=false
"""Processes forget and are killed at any statement, after lives with a model that cites at random: no word is left.

What was asked to be forgotten is searched in all pieces of six letters: in the rows, in the files beside, on SQLite in
the bytes of the file and of its log, and on PostgreSQL in those of the data folder after the documented vacuum.
"""

import argparse
import gc
import json
import math
import os
import random
import secrets
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import apsw
import psycopg

import bethink
from faults import erasure_life
from faults.crew import in_child
from faults.erasure_life import Life, pieces, pieces_in
from faults.erasure_mutants import ErasureMutant, break_down
from faults.ledger import Verdict
from faults.places import Place, chosen, fork, place
from faults.raw import Raw

_MOST_PRINTED = 20
_READS, _WORKS = 0.3, 0.3
"""How often a reader of an old state is held open, and a worker learns beside."""


@dataclass(slots=True)
class Tally:
    """What a campaign did, and what it found."""

    histories: int = 0
    killed: int = 0
    unrecorded: int = 0
    searched: int = 0
    erased: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    standing: set[bytes] = field(default_factory=set[bytes])
    """Pieces of words that nobody asked to forget: by chance a life says what another forgets."""
    violations: list[str] = field(default_factory=list[str])

    def gone(self) -> dict[bytes, str]:
        """Return the pieces that must stand nowhere any more, each with a space that forgot it."""
        return {piece: space for space, words in self.erased.items() for piece in pieces(words) - self.standing}


def campaign(where: Place, histories: int, kills: int, *, seed: int, busy: float, until: float) -> tuple[str, Verdict]:
    """Run the histories, one after the other, until a time at most, and search for what they forgot."""
    tally = Tally()
    template = where.ledger / "template.db"
    _prepare(template)
    for number in range(histories):
        if time.monotonic() > until:
            break
        # Kills are spread over all histories.
        kill = kills * (number + 1) // histories > kills * number // histories
        _history(where, template, number, seed, tally, busy=busy, kill=kill)
        if (number + 1) % 100 == 0:
            print(f"  {where.database}: {number + 1} of {histories} histories", file=sys.stderr, flush=True)
    if where.database == "postgres":
        _search_rows(where, tally)
        _search_data_folder(where, tally)
    done = (
        f"{tally.histories} of {histories} histories, {tally.killed} killed, {tally.unrecorded} before it was recorded"
    )
    figures = f"{tally.searched} pieces searched, {len(tally.violations)} survivors"
    return done, Verdict(figures=figures, violations=tally.violations)


def _prepare(template: Path) -> None:
    """Make an empty file to copy, and live one life here, so that no child has to load again what a life needs."""
    anyio.run(_make, str(template))
    example = template.parent / "example"
    (example / "files").mkdir(parents=True)
    shutil.copyfile(template, example / "memory.db")
    life = Life(target=str(example / "memory.db"), space="example", folder=example, seed=1)
    anyio.run(erasure_life.live, life)
    anyio.run(lambda: erasure_life.forget(life, kill=False))
    anyio.run(erasure_life.finish, life, example / "result.json")
    for thread in threading.enumerate():  # a child has only the thread that forks, and every lock as it was
        if thread is not threading.current_thread():
            thread.join(30)
            if thread.is_alive():
                raise SystemExit(f"the example left a thread behind: {thread.name}")
    gc.freeze()


async def _make(path: str) -> None:
    async with bethink.connect(path, embedder="none"):
        pass


def _history(where: Place, template: Path, number: int, seed: int, tally: Tally, *, busy: float, kill: bool) -> None:
    folder = where.ledger / f"h{number}"
    (folder / "files").mkdir(parents=True)
    target = where.target
    if where.database == "sqlite":
        target = str(folder / "memory.db")
        shutil.copyfile(template, target)
    life = Life(target=target, space=f"h{number}", folder=folder, seed=seed, busy=busy)
    dice = random.Random(f"{seed}/{number}")
    tally.histories += 1
    if not in_child(lambda: anyio.run(erasure_life.live, life)):
        tally.violations.append(f"{life.space}: the life ended in an error")
        return
    beside: list[int] = []
    if where.database == "sqlite" and dice.random() < _READS:
        beside.append(_held_open(target, folder))
    if dice.random() < _WORKS:
        beside.append(fork(lambda: anyio.run(erasure_life.learn, life)))
    status = os.waitpid(fork(lambda: anyio.run(lambda: erasure_life.forget(life, kill=kill))), 0)[1]
    tally.killed += os.WIFSIGNALED(status)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        tally.violations.append(f"{life.space}: forgetting ended in an error")
    _end(beside, dice)
    _check(life, where, tally, killed=os.WIFSIGNALED(status))
    shutil.rmtree(folder)


def _held_open(target: str, folder: Path) -> int:
    """Hold a reader of the present state open in another process; return once it reads."""
    ready = folder / "ready"

    def read() -> None:
        connection = apsw.Connection(target)
        connection.execute("BEGIN")
        list(connection.execute("SELECT count(*) FROM messages"))
        ready.touch()
        time.sleep(600)

    child = fork(read)
    while not ready.exists():
        time.sleep(0.002)
    return child


def _end(children: Iterable[int], dice: random.Random) -> None:
    for child in children:
        time.sleep(dice.uniform(0.0, 0.05))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _check(life: Life, where: Place, tally: Tally, *, killed: bool) -> None:
    result = life.folder / "result.json"
    if not in_child(lambda: anyio.run(erasure_life.finish, life, result)):
        tally.violations.append(f"{life.space}: the database could not be opened afterwards")
        return
    found = json.loads(result.read_text())
    said = {word for words in json.loads(life.said.read_text()).values() for word in words}
    asked: list[list[str]] = json.loads(life.asked.read_text())
    words = [word for each in asked[: found["recorded"]] for word in each]
    if found["recorded"] < len(asked):
        tally.unrecorded += 1
        if not killed:
            tally.violations.append(f"{life.space}: forgotten, and not recorded")
    tally.erased[life.space] = words
    kept = pieces(said - set(words))
    tally.standing |= kept
    # A folder that a killed worker was writing to is cleared again once it must have ended. It is searched below.
    waiting = [sinks for sinks in found["waiting"] if sinks != ["files"]]
    tally.violations += [f"{life.space}: not settled: {sinks}" for sinks in waiting]
    tally.violations += [f"{life.space}: recall shows {word}" for word in found["shown"]]
    held = {path: path.read_bytes().lower() for path in sorted(life.files.rglob("*")) if path.is_file()}
    if where.database == "sqlite":
        held |= {path: path.read_bytes().lower() for path in life.folder.glob("memory.db*")}
    wanted = pieces(words) - kept
    tally.searched += len(wanted)
    for path, data in held.items():
        if left := sorted(piece.decode() for piece in wanted & pieces_in(data)):
            tally.violations.append(f"{life.space}: {path.name} holds {left[:3]}")


def _search_rows(where: Place, tally: Tally) -> None:
    """Search every row of every table, past row-level security."""
    gone = tally.gone()
    with Raw(where.raw) as raw:
        for name, rows in raw.tables().items():
            text = repr(rows).lower().replace("\\\\", "\\").encode()  # as repr writes one backslash
            for space in _left(gone, text):
                tally.violations.append(f"{space}: a row of {name} holds a piece")


def _search_data_folder(where: Place, tally: Tally) -> None:
    """Vacuum as the documentation says, and search the bytes of all tables and indexes."""
    with psycopg.connect(where.raw, autocommit=True) as connection:
        connection.execute("VACUUM (FULL, ANALYZE)")
        connection.execute("VACUUM (FULL) pg_statistic")
        connection.execute("CHECKPOINT")
        [(folder,)] = connection.execute("SELECT current_setting('data_directory')").fetchall()
    gone = tally.gone()
    for path in sorted(Path(folder, "base").rglob("*")):
        data = path.read_bytes().lower() if path.is_file() else b""
        for space in _left(gone, data):
            tally.violations.append(f"{space}: {path.name} of the data folder holds a piece")


def _left(gone: dict[bytes, str], data: bytes) -> list[str]:
    """Return the spaces of which a piece stands in some bytes."""
    return sorted({gone[piece] for piece in pieces_in(data) & gone.keys()})


def main() -> int:
    """Run the campaign as the command line says; 1 if any word survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, required=True, help="how many lives, on each database")
    parser.add_argument("--kills", type=int, required=True, help="in how many of them whoever forgets is killed")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--busy", type=float, default=0.03, help="the share of lives that split SQLite's pages")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="end the histories on each database after so many minutes"
    )
    parser.add_argument("--seed", type=int, default=None, help="repeat the random choices of an earlier run")
    parser.add_argument("--mutant", choices=list(ErasureMutant), default=None, help="a bug on purpose: it must fail")
    options = parser.parse_args()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    break_down(None if options.mutant is None else ErasureMutant(options.mutant))
    ended: list[tuple[str, str, Verdict]] = []
    for database in chosen(options.database):
        with place(database) as where:
            until = time.monotonic() + 60 * options.minutes
            done = campaign(where, options.histories, options.kills, seed=seed, busy=options.busy, until=until)
            ended.append((database, *done))
    for database, _, verdict in ended:
        for violation in verdict.violations[:_MOST_PRINTED]:
            print(f"{database}: {violation}")
    for database, done, verdict in ended:
        print(f"{database}: {done}, {verdict.figures} (seed {seed})")
    return 1 if any(verdict.violations for _, _, verdict in ended) else 0


if __name__ == "__main__":
    sys.exit(main())
