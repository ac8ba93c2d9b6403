"""A session store for the Claude Agent SDK, and what memory knows of its transcripts."""

import asyncio
from uuid import uuid4

from claude_agent_sdk import ClaudeAgentOptions, list_sessions_from_store, project_key_for_directory

import bethink
from bethink.integrations.claude_agent_sdk import BethinkSessionStore


async def main() -> None:
    async with bethink.connect("claude.db") as memory:
        mira = memory.space("mira")
        store = BethinkSessionStore(mira)
        options = ClaudeAgentOptions(session_store=store)  # for query() and ClaudeSDKClient

        # What the SDK does on each turn of such a session:
        session = str(uuid4())
        said = {"role": "user", "content": "I am allergic to peanuts."}
        line = {"type": "user", "uuid": str(uuid4()), "sessionId": session, "message": said}
        await options.session_store.append({"project_key": project_key_for_directory(), "session_id": session}, [line])

        print([each.session_id == session for each in await list_sessions_from_store(store)])
        print(await mira.recall("What am I allergic to?"))


asyncio.run(main())
