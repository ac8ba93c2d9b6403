"""Working memory on each database, with a compactor that records its requests."""

import pytest

from bethink.memory.working.memory import WorkingMemory
from bethink.model.working import Mode
from bethink.store.db import Database
from tests.rooms.working_kit import THREAD, Scripted, engine


@pytest.fixture
def compactor() -> Scripted:
    return Scripted()


@pytest.fixture
def desk(database: Database, compactor: Scripted) -> WorkingMemory:
    return WorkingMemory(database, space="alice", engine=engine(retain_recent=2), compactor=compactor)


@pytest.fixture
async def stepping(desk: WorkingMemory) -> WorkingMemory:
    await desk.open_thread(THREAD, mode=Mode.STEPPING)
    return desk
