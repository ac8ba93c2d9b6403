"""The second lesson: follow one memory from a message to a fact, to a document, to a prompt, and back."""

import json

import anyio

import bethink
from bethink.model.calls import ModelCall
from bethink.model.recall import Ref, RefKind
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


def answer(call: ModelCall) -> str:
    return json.dumps(SESSION) if call.schema_name == "session_memory" else '{"calls": [], "done": true}'


async def main() -> None:
    async with bethink.connect(":memory:", model=ScriptedModel(answer), learn_at_start=False) as memory:
        said = await memory.space("ida").remember("I moved to Bergen in May.")
        await memory.learn()
        await memory.space("ida").context(session_id=said.session.id)

        # Forwards: from the message to whatever rests on it, and on to where that was shown.
        steps: list[Ref] = list(said.refs)
        for ref in steps:
            lineage = await memory.space("ida").explain(ref)
            print(ref.kind, "|", (lineage.text or "").splitlines()[0])
            print("   made by", lineage.made_by.model if lineage.made_by else lineage.written_by or "whoever spoke")
            print("   shown", len(lineage.shown), "times")
            steps += [later for later in lineage.used_in if later not in steps]

        # Backwards: from a line of the document to the words it rests on.
        document = next(ref for ref in steps if ref.kind is RefKind.DOCUMENT)
        lineage = await memory.space("ida").explain(document)
        for ref in lineage.rests_on:
            for source in (await memory.space("ida").explain(ref)).sources:
                print("the document rests on a", ref.kind, "from", source.origin, "|", source.text)


anyio.run(main)
