"""The second lesson: follow one memory from a message to a fact, to a document, to a prompt, and back."""

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
    async with bethink.connect(":memory:", model=bethink.ScriptedModel(answer), learn_in_background=False) as memory:
        ida = memory.space("ida")
        said = await ida.remember("I moved to Bergen in May.")
        await memory.learn()
        await ida.context(session_id=said.session.id)

        # Forwards: from the message to everything made of it, and on to where that was shown.
        steps: list[bethink.Ref] = list(said.refs)
        for ref in steps:
            lineage = await ida.explain(ref)
            print(ref.kind, "|", (lineage.text or "").splitlines()[0])
            print("   made by", lineage.made_by.model if lineage.made_by else lineage.written_by or "the speaker")
            for quote in lineage.quotes:
                print("   quotes", repr(quote.text), "and is", lineage.fact.evidence if lineage.fact else "")
            print("   shown", len(lineage.shown), "times")
            steps += [later for later in lineage.used_in if later not in steps]

        # Backwards: from a line of the document to the words it rests on.
        document = next(ref for ref in steps if ref.kind is bethink.RefKind.DOCUMENT)
        lineage = await ida.explain(document)
        for ref in lineage.rests_on:
            for source in (await ida.explain(ref)).sources:
                print("the document rests on a", ref.kind, "from", source.origin, "|", source.text)


anyio.run(main)
