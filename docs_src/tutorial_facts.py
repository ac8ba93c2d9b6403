"""The first lesson, third part: with a model it learns facts, also from what was said before there was one."""

import json

import bethink
import bethink.sync

MOVE = {
    "statement": "User moved to Bergen",
    "kind": "detail",
    "sources": [1],
    "entities": ["Bergen"],
    "subject": "user",
    "slot": "home_town",
    "valid_from": None,
    "valid_to": None,
}


def answer(call: bethink.ModelCall) -> str:
    """Stand in for a model: it learns one fact, from the first message that names Bergen."""
    if call.schema_name != "session_memory":
        return json.dumps({"calls": [], "done": True})
    facts = [MOVE] if "moved to Bergen" in call.prompt else []
    return json.dumps({"raw_memory": "The user talked.", "summary": "A talk.", "slug": "a-talk", "facts": facts})


with bethink.sync.connect("lesson.db", model=bethink.ScriptedModel(answer)) as memory:
    ida = memory.space("ida")
    ida.learn()
    print(ida.facts.count(), "fact")
    for fact in ida.facts.all():
        print(fact.content, "-", fact.origin, "said so")
