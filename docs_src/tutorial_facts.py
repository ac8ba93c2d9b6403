"""The first lesson, third part: with a model it learns facts, also from what was said before there was one."""

import json
import re

import bethink
import bethink.sync

QUOTE = "I moved to Bergen"


def answer(call: bethink.ModelCall) -> str:
    """Stand in for a model: it learns one fact, from the message that names Bergen, and finds it said."""
    if call.schema_name == "verdicts":
        return json.dumps({"said": ["c1"], "others": [], "fixed": []})
    if call.schema_name != "claims":
        return json.dumps({"calls": [], "done": True})
    said = re.search(rf"^\[(\d+)\].*{QUOTE}", call.prompt, re.MULTILINE)
    claims = [claim(int(said[1]))] if said else []
    return json.dumps({"claims": claims, "suspicious": [], "title": None})


def claim(message: int) -> dict[str, object]:
    """A claim rests on exact words of a message."""
    quotes = [{"message": message, "text": QUOTE, "as": "word"}]
    return {"statement": "User moved to Bergen", "kind": "detail", "about": "owner", "quotes": quotes}


with bethink.sync.connect("lesson.db", model=bethink.ScriptedModel(answer)) as memory:
    ida = memory.space("ida")
    ida.learn()
    print(ida.facts.count(), "fact")
    for fact in ida.facts.all():
        print(fact.content, "-", fact.origin, "said so,", fact.evidence)
