"""The pace at which the bodies of a key arrive."""

import anyio
import pytest

from bethink.http.limits import Pace

pytestmark = pytest.mark.anyio


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds of each wait; none of them passes."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(anyio, "sleep", sleep)
    return waits


async def test_many_bytes_of_a_key_wait_and_others_do_not(slept: list[float]) -> None:
    pace = Pace(rate=1_000_000, burst=500_000)
    for _ in range(5):
        await pace.wait("one", 100_000)
    assert slept == [0.0] * 5
    await pace.wait("one", 1_000_000)
    assert slept[-1] == pytest.approx(1.0, abs=0.1)
    await pace.wait("another", 100_000)
    assert slept[-1] == 0.0


async def test_waiting_restores_the_burst(slept: list[float]) -> None:
    pace = Pace(rate=1e12, burst=10)
    for _ in range(100):
        await pace.wait("one", 1_000)
    assert max(slept) < 0.001
