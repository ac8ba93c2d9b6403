"""Pauses between retries: their limits, their growth and their jitter."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bethink.base.backoff import pause_after, with_jitter

SECONDS = st.floats(0.001, 100_000.0)
SPREADS = st.floats(0.0, 1.0)
FAILURES = st.integers(0, 10_000)
ROUNDING = 1e-9


@given(failures=FAILURES, first=SECONDS, max_pause=SECONDS, spread=SPREADS)
def test_pause_stays_within_its_spread_and_limit(failures: int, first: float, max_pause: float, spread: float) -> None:
    # `min` keeps the power small enough for a float; 0.001 s reach 100,000 s after 27 doublings.
    nominal = min(max_pause, first * 2 ** min(failures, 40))

    pause = pause_after(failures, first=first, max_pause=max_pause, spread=spread)

    assert nominal * (1.0 - spread) * (1.0 - ROUNDING) <= pause <= nominal
    assert pause <= max_pause


@given(first=SECONDS, max_pause=SECONDS)
def test_pause_doubles_until_its_limit(first: float, max_pause: float) -> None:
    pauses = [pause_after(failures, first=first, max_pause=max_pause, spread=0.0) for failures in range(40)]

    assert pauses[0] == min(first, max_pause)
    assert all(later == min(2 * earlier, max_pause) for earlier, later in pairwise(pauses))
    assert pauses[-1] == pause_after(10_000, first=first, max_pause=max_pause, spread=0.0) == max_pause


@given(failures=FAILURES, at_least=SECONDS, spread=SPREADS)
def test_requested_wait_is_never_cut_short(failures: int, at_least: float, spread: float) -> None:
    pause = pause_after(failures, first=0.001, max_pause=0.001, at_least=at_least, spread=spread)

    assert at_least <= pause <= at_least * (1.0 + spread) * (1.0 + ROUNDING)


@given(seconds=SECONDS, spread=SPREADS)
def test_jitter_shortens_by_at_most_the_spread(seconds: float, spread: float) -> None:
    assert seconds * (1.0 - spread) * (1.0 - ROUNDING) <= with_jitter(seconds, spread=spread) <= seconds


def test_jitter_covers_its_full_range() -> None:
    pauses = [pause_after(3, first=1.0, max_pause=60.0, at_least=5.0, spread=0.5) for _ in range(1_000)]
    waits = [pause_after(0, first=0.0, max_pause=60.0, at_least=10.0, spread=0.5) for _ in range(1_000)]

    assert 5.0 <= min(pauses) < 5.6
    assert 7.8 < max(pauses) <= 8.0
    assert 10.0 <= min(waits) < 10.2
    assert 14.8 < max(waits) <= 15.0
