"""Forget one conversation: count first, then remove it with all that was made of it."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        flat = bethink.ConversationKey(channel="chat", chat="ida", thread="flat")
        await memory.remember("The door code of the flat is 4711.", user_id="ida", conversation=flat)
        await memory.learn()

        print(await memory.forget(user_id="ida", conversation=flat, dry_run=True))
        gone = await memory.forget(user_id="ida", conversation=flat)
        print(gone.messages, "messages and", gone.session_memories, "session memories are gone")
        print((await memory.recall("What is the door code?", user_id="ida")).missing)


anyio.run(main)
