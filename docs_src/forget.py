"""Forget one conversation: count first, then remove it with all that was made of it."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        ida = memory.space("ida")
        await ida.remember("The door code of the flat is 4711.", conversation="flat")
        await memory.learn()

        print(await ida.forget(conversation="flat", dry_run=True))
        gone = await ida.forget(conversation="flat")
        print(gone.messages, "messages and", gone.session_memories, "session memories are gone")
        print((await ida.recall("What is the door code?")).missing)


anyio.run(main)
