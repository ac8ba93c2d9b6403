"""Runs the session store contracts of the Claude Agent SDK on the given memory."""

import asyncio
import os
import uuid

from claude_agent_sdk.testing import run_session_store_conformance

import bethink
from bethink.integrations.claude_agent_sdk import BethinkSessionStore


async def main() -> None:
    """Give each contract a space of its own; no optional part is left out."""
    async with bethink.connect(os.environ["SWAP_TARGET"], learn=False) as memory:
        await run_session_store_conformance(lambda: BethinkSessionStore(memory.space(uuid.uuid4().hex)))
    print("all contracts hold")


asyncio.run(main())
