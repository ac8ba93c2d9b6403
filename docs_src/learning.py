"""Learn facts with a model. Here a scripted one answers; in its place put a setting such as model="openai:NAME"."""

import json

import anyio

import bethink

CLAIM = {
    "quotes": [{"message": 1, "text": "I moved to Bergen in May", "as": "word"}],
    "statement": "User lives in Bergen",
    "about": "owner",
    "kind": "detail",
    "slot": "home_town",
    "since": "2026-05",
}
ANSWERS: dict[str, object] = {
    "claims": {"claims": [CLAIM], "title": "A move"},
    "verdicts": {"said": ["c1"], "others": [], "fixed": []},  # the second reading: does message 1 say so?
    "document_calls": {"calls": [], "done": True},
}


def answer(call: bethink.ModelCall) -> str:
    return json.dumps(ANSWERS[call.schema_name])


async def main() -> None:
    model = bethink.ScriptedModel(answer)
    async with bethink.connect("learnt.db", model=model) as memory:
        alice = memory.space("alice")
        session = await alice.session("chat")
        await session.append("I moved to Bergen in May.")
        await session.idle()
        await memory.learn()

        for fact in await alice.facts.search("Bergen", limit=5):
            print(fact.content, fact.evidence, fact.origin, fact.valid_from, fact.made_by)
            for quote in (await alice.explain(f"fact:{fact.id}:{fact.version}")).quotes:
                print(f"message {quote.number}: {quote.text}")
        print((await memory.audit()).spent_today)


anyio.run(main)
