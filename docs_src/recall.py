"""Ask what was said, and begin a prompt with what is known."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        desk = bethink.conversation_key(channel="cli", chat="trip")
        session = await memory.space("alice").session(desk)
        await session.append(
            [
                {"role": "user", "content": "My sister went to Oslo for a job at the opera."},
                {"role": "assistant", "content": "When does she start?"},
                {"role": "user", "content": "On the first of August."},
            ],
        )

        found = await memory.space("alice").recall("When does my sister begin to work?", budget=500)
        for item in found.items:
            print(f"{item.score:.2f}", item.ref.kind, item.text)
        print((await memory.space("alice").recall("What is my blood type?")).missing)

        block = await memory.space("alice").context(question="Where does my sister work?", session_id=session.id)
        print(block.tokens, "tokens, shown to", len(await memory.space("alice").shown()), "session")


anyio.run(main)
