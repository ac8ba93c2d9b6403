"""From Zep: the same tasks in Bethink."""

import bethink
import bethink.sync

with bethink.sync.connect("memory.db") as memory:  # model="openai:NAME" to learn facts
    mira = memory.space("mira")
    session = mira.session("chat")
    session.append([{"role": "user", "content": "I moved to Bergen."}])  # add
    block = session.context("Where did I move?")  # context for the prompt
    fact = mira.facts.save(bethink.Fact(id="home", text="Lives in Bergen"))  # stands in for a learned fact
    matches = mira.recall("Where did I move?")  # search
    facts = mira.facts.list()  # list
    corrected = mira.correct(fact.ref, "Lives in Bergen, in Sandviken")  # update
    earlier = mira.facts.history(status="corrected")  # history; "replaced" for what has changed since
    print(block.tokens > 0, matches[0].text, len(facts), earlier[0].fact.text)
    mira.forget(corrected.ref)  # delete a fact
    session.forget()  # delete a thread
