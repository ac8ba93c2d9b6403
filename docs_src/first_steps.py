"""Store what was said, learn from it, and follow what is remembered back to where it came from."""

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
        await memory.learn()
        if remembered := await memory.session_memory(session):
            print("remembered:", remembered.summary)


anyio.run(main)
