"""From mem0: the same tasks in Bethink."""

import bethink
import bethink.sync

with bethink.sync.connect("memory.db") as memory:  # model="openai:NAME" to learn facts
    mira = memory.space("mira")
    mira.remember([{"role": "user", "content": "I am allergic to cashews."}])  # add
    fact = mira.facts.save(bethink.Fact(id="home", text="Lives in Bergen"))  # add a finished fact
    matches = mira.recall("What is she allergic to?")  # search
    facts = mira.facts.list()  # list
    corrected = mira.correct(fact.ref, "Lives in Bergen, in Sandviken")  # update
    versions = mira.facts.versions(fact.id)  # history
    print(matches[0].text, len(facts), [version.text for version in versions])
    mira.forget(corrected.ref)  # delete
    mira.forget(everything=True)  # delete all
