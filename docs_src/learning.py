"""Learn facts with a model. Here a scripted one answers; in its place put a setting such as model="openai:NAME"."""

import json

import anyio

import bethink
from bethink.model.calls import ModelCall
from bethink.providers.scripted_model import ScriptedModel

FACT = {
    "statement": "User lives in Bergen",
    "kind": "detail",
    "sources": [1],
    "entities": ["Bergen"],
    "subject": "user",
    "slot": "home_town",
    "valid_from": "2026-05",
    "valid_to": None,
}
SESSION = {"raw_memory": "The user moved.", "summary": "A move.", "slug": "a-move", "facts": [FACT]}
NOTHING_TO_WRITE = '{"calls": [], "done": true}'


def answer(call: ModelCall) -> str:
    return json.dumps(SESSION) if call.schema_name == "session_memory" else NOTHING_TO_WRITE


async def main() -> None:
    model = ScriptedModel(answer)
    async with bethink.connect("learnt.db", model=model) as memory:
        desk = bethink.conversation_key(channel="cli", chat="desk")
        session = await memory.space("alice").session(desk)
        await session.append([{"role": "user", "content": "I moved to Bergen in May."}])
        await session.idle()
        await memory.learn()

        facts = memory.space("alice").facts
        for fact in await facts.search("Bergen", 5):
            print(fact.content, fact.origin, await facts.sources(fact.id), fact.made_by)
        print((await memory.audit()).spent_today)


anyio.run(main)
