"""Learn facts with a model. Here a scripted one answers; in its place put a setting such as model="openai:NAME"."""

import json

import anyio

import bethink

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


def answer(call: bethink.ModelCall) -> str:
    return json.dumps(SESSION) if call.schema_name == "session_memory" else NOTHING_TO_WRITE


async def main() -> None:
    model = bethink.ScriptedModel(answer)
    async with bethink.connect("learnt.db", model=model) as memory:
        alice = memory.space("alice")
        session = await alice.session("chat")
        await session.append("I moved to Bergen in May.")
        await session.idle()
        await memory.learn()

        for fact in await alice.facts.search("Bergen", limit=5):
            print(fact.content, fact.origin, await alice.facts.sources(fact.id), fact.made_by)
        print((await memory.audit()).spent_today)


anyio.run(main)
