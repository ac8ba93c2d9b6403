"""Ask what was said, and begin a prompt with what is known."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        desk = bethink.ConversationKey(channel="cli", chat="trip")
        session = await memory.open_session(space="alice", conversation=desk)
        await memory.append(
            session,
            [
                {"role": "user", "content": "My sister went to Oslo for a job at the opera."},
                {"role": "assistant", "content": "When does she start?"},
                {"role": "user", "content": "On the first of August."},
            ],
        )

        found = await memory.recall("When does my sister begin to work?", space="alice", budget=500)
        for item in found.items:
            print(f"{item.score:.2f}", item.ref.kind, item.text)
        print((await memory.recall("What is my blood type?", space="alice")).missing)

        block = await memory.context(space="alice", question="Where does my sister work?", session=session)
        print(block.tokens, "tokens, shown to", len(await memory.shown(space="alice")), "session")


anyio.run(main)
