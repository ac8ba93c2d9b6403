"""The first lesson, third part: with a model it learns facts, also from what was said before there was one."""

import json

import bethink
import bethink.sync

MOVE = {
    "quotes": [{"message": 1, "text": "moved to Bergen", "as": "word"}],
    "statement": "User moved to Bergen",
    "about": "owner",
    "kind": "detail",
    "slot": "home_town",
}


def answer(call: bethink.ModelCall) -> str:
    """Stand in for a model: it learns one fact, from the first message that names Bergen, and checks it."""
    if call.schema_name == "document_calls":
        return json.dumps({"calls": [], "done": True})
    if call.schema_name == "verdicts":
        return json.dumps({"said": ["c1"], "others": [], "fixed": []})
    return json.dumps({"claims": [MOVE] if "moved to Bergen" in call.prompt else []})


with bethink.sync.connect("lesson.db", model=bethink.ScriptedModel(answer)) as memory:
    ida = memory.space("ida")
    ida.learn()
    print(ida.facts.count(), "fact")
    for fact in ida.facts.all():
        print(fact.content, "-", fact.origin, "said so")
