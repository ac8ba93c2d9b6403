"""Decide about a claim that was held. A scripted model answers; in its place put a setting: model="openai:NAME"."""

import json

import anyio

import bethink

CLAIM = {
    "quotes": [{"message": 1, "text": "I have asthma", "as": "word"}],
    "statement": "The owner has asthma.",
    "about": "owner",
    "kind": "detail",
    "review": "health",
}


def answer(call: bethink.ModelCall) -> str:
    if call.schema_name == "verdicts":
        return '{"said": ["c1"], "others": [], "fixed": []}'
    if call.schema_name == "claims":
        return json.dumps({"claims": [CLAIM], "suspicious": [], "title": None})
    return '{"calls": [], "done": true}'


async def main() -> None:
    async with bethink.connect(":memory:", model=bethink.ScriptedModel(answer)) as memory:
        alice = memory.space("alice")
        await alice.remember("I have asthma, but only in spring.")
        await memory.learn()

        for review in await alice.reviews.all():
            print(review.reason, review.claim.fact.content, [quote.text for quote in review.claim.quotes])
            await alice.reviews.approve(review.id, statement="The owner has asthma in spring.", note="asked her")

        [fact] = await alice.facts.all()
        print(fact.content, fact.evidence)
        done = await alice.correct(f"fact:{fact.id}:{fact.version}", "The owner has asthma in April and May.")
        print(done.text, done.ref != done.previous)


anyio.run(main)
