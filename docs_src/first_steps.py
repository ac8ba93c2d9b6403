"""Store what was said, look back, and see what is still to be learnt."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        desk = bethink.ConversationKey(channel="cli", chat="desk")
        session = await memory.open_session(space="alice", conversation=desk)
        await memory.append(session, [{"role": "user", "content": "I moved to Bergen in May."}])
        await memory.idle(session)

        for record in await memory.history(space="alice").recent(desk, 10):
            print(record.number, record.message.role, record.message.content)
        for marked in await memory.find_invalidated():
            print("to be learnt from:", marked.id, "up to record", marked.invalidated_at)


anyio.run(main)
