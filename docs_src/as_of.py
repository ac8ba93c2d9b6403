"""Look at what was known on another day."""

import anyio

import bethink
from bethink.model.moments import moment


async def main() -> None:
    async with bethink.connect(":memory:") as memory:
        home = bethink.ConversationKey(channel="chat", chat="ida", thread="home")
        session = await memory.open_session(user_id="ida", conversation=home)
        for day, text in [("2026-01-05", "I live in Oslo."), ("2026-05-20", "I live in Bergen now.")]:
            await memory.append(session, [bethink.Message(role="user", content=text, said_at=moment(day))])

        for day in ("2026-03-01", "2026-06-01"):
            found = await memory.recall("Where do I live?", user_id="ida", as_of=day)
            print(day, [item.text for item in found.items])


anyio.run(main)
