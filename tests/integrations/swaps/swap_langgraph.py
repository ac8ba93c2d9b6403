"""A pytest plugin for LangGraph's store tests: replaces their in-memory store with ours."""

import asyncio
import os
import uuid
from typing import Any

import langgraph.store.memory

import bethink
from bethink.integrations.langgraph import BethinkStore

_memory = bethink.connect(os.environ["SWAP_TARGET"], learn=False)
asyncio.run(_memory.open())


class SwappedStore(BethinkStore):
    """What LangGraph's tests make: a store that is empty, which is a space here."""

    def __init__(self, **given: Any) -> None:
        super().__init__(_memory.space(uuid.uuid4().hex), **given)


langgraph.store.memory.InMemoryStore = SwappedStore
