"""A chat that continues if the database fails."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect("memory.db") as memory, memory.space("alice").sessions.live("terminal") as chat:
        await chat.append({"role": "user", "content": "How many messages do you have?"})
        await chat.append({"role": "assistant", "content": f"I have {len(chat.messages)}."})
    print(chat.messages[-1].content, "Failures:", chat.failures)


anyio.run(main)
