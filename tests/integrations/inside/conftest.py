"""Fixtures for tests that run in a framework's environment: a space in the given memory."""

import os
import uuid
from collections.abc import AsyncIterator

import pytest

import bethink


@pytest.fixture
def anyio_backend() -> str:
    """Frameworks are written on asyncio."""
    return "asyncio"


@pytest.fixture
async def memory() -> AsyncIterator[bethink.Memory]:
    """The memory that the caller made."""
    async with bethink.connect(os.environ["SWAP_TARGET"], learn=False) as memory:
        yield memory


@pytest.fixture
def space(memory: bethink.Memory) -> bethink.Space:
    """A space that is empty."""
    return memory.space(uuid.uuid4().hex)
