"""Pauses between retries: they double up to a limit and differ at random, so that clients do not retry in step."""

import random

_MAX_DOUBLINGS = 1_000
"""2.0 ** 1_000 is a float, 2.0 ** 1_024 overflows. A pause reaches its limit long before."""


def pause_after(failures: int, *, first: float, max_pause: float, at_least: float = 0.0, spread: float = 0.2) -> float:
    """Return how many seconds to wait before the next attempt.

    Args:
        failures: Number of failures before the latest one: 0 for the first failure.
        first: Maximum seconds after the first failure. Doubles with each failure.
        max_pause: Maximum seconds after any failure, unless `at_least` is longer.
        at_least: Seconds that the other side asked to wait (default 0). Jitter only adds to them.
        spread: Fraction of the pause that is random, from 0 to 1 (default 0.2).
    """
    pause = min(max_pause, first * 2.0 ** min(failures, _MAX_DOUBLINGS))
    requested = at_least * (1.0 + spread * random.random())  # noqa: S311 - separates clients, protects no secret
    return max(with_jitter(pause, spread=spread), requested)


def with_jitter(seconds: float, *, spread: float = 0.2) -> float:
    """Return a random duration between `seconds` and `seconds` less the fraction `spread`."""
    return seconds * (1.0 - spread * random.random())  # noqa: S311 - separates clients, protects no secret
