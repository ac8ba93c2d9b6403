"""How the time of a function grows with its input: a ratio, which is independent of the machine."""

import gc
import time
from collections.abc import Callable

_ROUNDS = 3
_TRIES = 3
_CLOCK = 0.002  # below this the clock says little: what is that quick may grow a little more
_TICK = 0.0001  # a text that is read in less may take as long as this: caches and the clock say more than the work


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of this thread for `work`, the best of some rounds, without what others left to collect."""
    best = float("inf")
    gc.disable()
    try:
        for _ in range(_ROUNDS):
            begun = time.thread_time()
            work()
            best = min(best, time.thread_time() - begun)
    finally:
        gc.enable()
    return best


def growth(work: Callable[[int], object], size: int, *, enough: float = 8) -> float:
    """Return how many times longer four times the size takes: 4 for linear work, 16 for a square.

    The smallest of some tries: a neighbour on the machine can slow down one of them, while a square is one each time.
    The first try below `enough` is the last, because another could only make it smaller.
    """
    least = float("inf")
    for _ in range(_TRIES):
        least = min(least, seconds(lambda: work(4 * size)) / max(seconds(lambda: work(size)), _CLOCK))
        if least < enough:
            break
    return least


def is_linear(work: Callable[[str], object], unit: str, *, size: int, times: int = 16, slack: float = 1.6) -> bool:
    """Return whether `work` on `times` as much of a repeated unit takes at most `slack` times as much per letter.

    Both texts are whole repeats, so that what stands at their end is the same. `times` is large to notice a square that
    is still small beside the linear part. What seems to grow is measured again, and more carefully.
    """
    small = unit * -(-size // len(unit))
    large = small * times
    for rounds in (2, 4, 12):
        slow = _best(lambda: work(large), rounds // 2)
        if slow < slack * times * max(_best(lambda: work(small), rounds), _TICK):
            return True
    return False


def _best(work: Callable[[], object], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        begun = time.thread_time()
        work()
        best = min(best, time.thread_time() - begun)
    return best
