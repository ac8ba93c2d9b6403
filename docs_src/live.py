"""A chat loop that remembers across restarts and never fails because of its memory."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("memory.db") as memory, memory.space("alice").live("terminal") as chat:
        await chat.append({"role": "user", "content": "What did I say last time?"})
        answer = f"I hold {len(chat.messages)} messages of yours."
        await chat.append({"role": "assistant", "content": answer})
    print(answer, "- not stored:", chat.failures)


anyio.run(main)
