"""Look before learning, pin a fact, say what a fact is worth, and learn again with other instructions."""

import json

import anyio

import bethink

SAID = "I was born in Bergen. I am a pilot."


def claim(statement: str, quote: str) -> dict[str, object]:
    quotes = [{"message": 1, "text": quote, "as": "word"}]
    return {"statement": statement, "quotes": quotes, "about": "owner", "kind": "detail"}


def answer(call: bethink.ModelCall) -> str:
    if call.schema_name == "verdicts":
        return '{"said": ["c1", "c2"], "others": [], "fixed": []}'
    if call.schema_name == "claims":
        work = [] if "Never learn jobs." in call.prompt else [claim("Alice is a pilot.", "I am a pilot")]
        born = claim("Alice was born in Bergen.", "I was born in Bergen")
        return json.dumps({"claims": [born, *work], "suspicious": [], "title": None})
    return '{"calls": [], "done": true}'


async def main() -> None:
    async with bethink.connect(":memory:", model=bethink.ScriptedModel(answer)) as memory:
        alice = memory.space("alice")
        found = await alice.preview(SAID)
        print([each.claim.fact.content for each in found.stands], found.usage.calls, "calls")
        print(await alice.facts.count(), "facts")

        await alice.remember(SAID)
        await memory.learn()
        diff = await alice.relearn(instructions="Never learn jobs.")
        print(diff.same, "the same,", [fact.content for fact in diff.gone], "gone")

        born, pilot = sorted(await alice.facts.all(), key=lambda fact: fact.content, reverse=True)
        await alice.pin(f"fact:{born.id}:1")
        print("## Pinned" in (await alice.context()).text)

        said = await alice.feedback(f"fact:{pilot.id}:1", bethink.FactVerdict.WRONG, note="She is a diver.", by="Tom")
        print([each.reason for each in await alice.reviews.all()], await alice.facts.count())
        await alice.reviews.approve_all([str(said.review_id)], note="She flies, too.")


anyio.run(main)
