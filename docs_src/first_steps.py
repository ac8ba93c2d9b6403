"""Store what was said, learn from it, and follow what is remembered back to where it came from."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        desk = bethink.ConversationKey(channel="cli", chat="desk")
        session = await memory.open_session(space="alice", conversation=desk)
        await memory.append(session, [{"role": "user", "content": "I moved to Bergen in May."}])
        await memory.idle(session)

        await memory.learn()
        for item in (await memory.recall("Where did I move to?", space="alice", budget=1000)).items:
            print(item.ref.kind, "|", item.text)


anyio.run(main)
