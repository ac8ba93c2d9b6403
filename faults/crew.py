"""The processes of a campaign, and the supervisor that kills and stops them at the worst of moments."""

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio

from faults.places import Place, fork
from faults.signs import Signs

_PAUSE = (0.0, 0.12)
_AIMED = 0.75
_PATIENCE = 0.3
"""Seconds that a fault waits at most for its moment."""

Work = Callable[[], Coroutine[Any, Any, None]]


@dataclass(slots=True)
class Crew:
    """One process in each slot; whoever dies is replaced. `hire` says what a new one does, by its slot and number.

    `stops` is how often a worker that is met with a fault is stopped and not killed.
    """

    place: Place
    signs: Signs
    hire: Callable[[int, int], Work]
    lease: float
    stops: float = 0.45
    running: dict[int, int] = field(default_factory=dict[int, int])
    stopped: dict[int, float] = field(default_factory=dict[int, float])
    started: int = 0
    failed: int = 0

    def start(self, slot: int) -> None:
        self.started += 1
        self.signs.clear(slot)
        work = self.hire(slot, self.started)
        self.running[slot] = fork(lambda: anyio.run(work))

    def start_all(self) -> None:
        for slot in range(self.signs.slots):
            self.start(slot)

    def kill(self, slot: int) -> None:
        """End one as a power cut would; it must have lived until then."""
        self.end(self.running.pop(slot))

    def kill_workers(self) -> None:
        for slot in range(self.signs.workers):
            self.kill(slot)

    def end(self, child: int) -> None:
        """Kill a process that was to run until then."""
        os.kill(child, signal.SIGKILL)
        self.failed += os.WIFEXITED(os.waitpid(child, 0)[1])

    def stop(self, slot: int, seconds: float) -> None:
        """Let a worker sleep until its lease is over and others have its jobs."""
        os.kill(self.running[slot], signal.SIGSTOP)
        self.stopped[slot] = time.monotonic() + seconds

    def wake(self, *, everyone: bool = False) -> None:
        """Let those go on whose time has come, as if nothing had happened."""
        for slot, until in list(self.stopped.items()):
            if everyone or time.monotonic() >= until:
                os.kill(self.running[slot], signal.SIGCONT)
                del self.stopped[slot]


def disturb(crew: Crew, faults: int, dice: random.Random) -> str:
    """Kill and stop at random moments, and say how often each was done."""
    began = time.monotonic()
    kills = stops = 0
    while kills + stops < faults:
        time.sleep(dice.uniform(*_PAUSE))
        crew.wake()
        slot = dice.randrange(crew.signs.slots)
        if slot in crew.stopped:
            continue  # to be killed in its sleep would spoil what it is stopped for
        aimed, feeds = dice.random() < _AIMED, slot == crew.signs.feeder
        # One worker is always left to take over.
        if not feeds and len(crew.stopped) < crew.signs.workers - 1 and dice.random() < crew.stops:
            _await(partial(crew.signs.busy, slot), aimed=aimed)
            crew.stop(slot, crew.lease + dice.uniform(0.05, 0.5))
            stops += 1
        else:
            # To feed is over soon; what a worker does goes on for a while after it was first asked something.
            sign, longest = (crew.signs.busy, 0.005) if feeds else (crew.signs.worked, 0.05)
            _await(partial(sign, slot), aimed=aimed)
            time.sleep(dice.uniform(0.0, longest))
            crew.kill(slot)
            crew.start(slot)
            kills += 1
        if (kills + stops) % 100 == 0:
            print(f"  {crew.place.database}: {kills + stops} of {faults} faults", file=sys.stderr, flush=True)
    crew.wake(everyone=True)
    return f"{kills} kills and {stops} stops ({faults / (time.monotonic() - began):.1f} a second)"


def _await(sign: Callable[[], bool], *, aimed: bool) -> None:
    """Wait for a sign of life where a fault is aimed at work; the others meet whatever there is, starts included."""
    deadline = time.monotonic() + _PATIENCE
    while aimed and not sign() and time.monotonic() < deadline:
        time.sleep(0.001)


def in_child(work: Callable[[], None]) -> bool:
    """Do something in a process of its own, and say whether it ended well."""
    return os.waitpid(fork(work), 0)[1] == 0
