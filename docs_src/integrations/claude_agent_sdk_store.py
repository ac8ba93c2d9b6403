"""The Claude Agent SDK with transcripts in a space."""

import asyncio
from typing import cast
from uuid import uuid4

from claude_agent_sdk import (
    ClaudeAgentOptions,
    SessionKey,
    SessionStoreEntry,
    list_sessions_from_store,
    project_key_for_directory,
)

import bethink
from bethink.integrations.claude_agent_sdk import BethinkSessionStore


async def main() -> None:
    async with bethink.connect("claude.db") as memory:
        mira = memory.space("mira")
        store = BethinkSessionStore(mira)
        ClaudeAgentOptions(session_store=store)  # for query() and ClaudeSDKClient

        # The SDK's calls on each turn:
        key: SessionKey = {"project_key": project_key_for_directory(), "session_id": str(uuid4())}
        message = {"role": "user", "content": "I am allergic to peanuts."}
        line = {"type": "user", "uuid": str(uuid4()), "sessionId": key["session_id"], "message": message}
        await store.append(key, [cast("SessionStoreEntry", line)])

        print(len(await list_sessions_from_store(store)), "session")
        print((await mira.recall("What am I allergic to?")).items[0].text)


asyncio.run(main())
