"""A pytest plugin for the SDK's session tests: replaces their SQLite session with ours."""

import asyncio
import os
import uuid
from pathlib import Path
from typing import Any

import agents
import pytest
from agents.memory.session_settings import coerce_session_settings

import bethink
from bethink.integrations.openai_agents import BethinkSession

_memory = bethink.connect(os.environ["SWAP_TARGET"], learn=False)
asyncio.run(_memory.open())


class SwappedSession(BethinkSession):
    """What the SDK's tests make: one conversation in one database, which is a space here."""

    def __init__(self, session_id: str, db_path: str | Path = ":memory:", **given: Any) -> None:
        space = uuid.uuid4().hex if str(db_path) == ":memory:" else str(db_path).replace("/", ".")[-190:]
        settings = coerce_session_settings(given.get("session_settings") or {})
        super().__init__(session_id, _memory.space(space), session_settings=settings)

    def close(self) -> None:
        """Close nothing: the memory is shared."""


agents.SQLiteSession = SwappedSession  # pyright: ignore[reportAttributeAccessIssue]

_INSIDE = (
    "_await_mutation",
    "worker_thread",
    "connection",
    "corrupt",
    "closed_rejects",
    "lock",
    "failed_",
    "post_commit",
)
"""Parts of the names of tests about the insides of the SDK's own SQLite session."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is about the insides of SQLite."""
    inside = [item for item in items if any(part in item.name for part in _INSIDE)]
    items[:] = [item for item in items if item not in inside]
    config.hook.pytest_deselected(items=inside)
