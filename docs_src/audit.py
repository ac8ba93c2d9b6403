"""Trace one fact: from a message to everything derived from it, and back. A script stands in for the model."""

import json

import bethink.sync
from bethink.extend import ModelCall
from bethink.testing import ScriptedModel

CLAIM = {
    "quotes": [{"message": 1, "text": "I moved to Bergen in May", "as": "word"}],
    "statement": "User lives in Bergen", "about": "owner", "kind": "detail", "slot": "home_town", "since": "2026-05",
}  # fmt: skip
ANSWERS: dict[str, object] = {
    "claims": {"claims": [CLAIM], "title": "A move"},
    "verdicts": {"said": ["c1"], "others": []},  # the second pass: does message 1 say this?
    "document_calls": {"calls": [], "done": True},
}


def answer(call: ModelCall) -> str:
    return json.dumps(ANSWERS[call.schema_name])


with bethink.sync.connect(":memory:", model=ScriptedModel(answer), learn_in_background=False) as memory:
    ida = memory.space("ida")
    stored = ida.remember("I moved to Bergen in May.")
    memory.learn()
    ida.context(session_id=stored.session.id)

    refs = list(stored.refs)
    for ref in refs:  # forward: to everything derived from the message
        lineage = ida.explain(ref)
        author = lineage.created_by.model if lineage.created_by else lineage.written_by or "the user"
        title = (lineage.text or "").splitlines()[0]
        print(f"{ref.kind}: {title} (author: {author}, shown in prompts: {len(lineage.context_log)})")
        for quote in lineage.quotes:
            print("   quotes", repr(quote.text))
        refs += [derived for derived in lineage.derived if derived not in refs]

    document = next(ref for ref in refs if ref.kind == "document")
    for ref in ida.explain(document).source_refs:  # back: to the messages behind a document
        for message in ida.explain(ref).sources:
            print(f"{document.kind} <- {ref.kind} <- {message.origin}: {message.text}")
