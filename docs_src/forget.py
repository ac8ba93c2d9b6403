"""Forget one conversation: count first, then remove it with all that was made of it."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        flat = bethink.conversation_key(channel="chat", chat="ida", thread="flat")
        await memory.space("ida").remember("The door code of the flat is 4711.", conversation=flat)
        await memory.learn()

        print(await memory.space("ida").forget(conversation=flat, dry_run=True))
        gone = await memory.space("ida").forget(conversation=flat)
        print(gone.messages, "messages and", gone.session_memories, "session memories are gone")
        print((await memory.space("ida").recall("What is the door code?")).missing)


anyio.run(main)
