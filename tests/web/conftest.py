"""A web UI in this process with a furnished space."""

from collections.abc import AsyncIterator

import pytest

from tests.web.kit import Story, Window, furnish, operate, windowed


@pytest.fixture
async def window(target: str) -> AsyncIterator[Window]:
    """A window of each kind of database, and someone who may do everything."""
    async with windowed(target) as found:
        yield found


@pytest.fixture
async def story(window: Window) -> Story:
    """A space with everything that the window shows."""
    found = await furnish(window.memory)
    await operate(window.memory)
    return found
