"""Learn facts from a session, and see what they quote and cost."""

import bethink.sync

with bethink.sync.connect("learned.db", model="openai:gpt-5-mini") as memory:
    alice = memory.space("alice")
    session = alice.session("chat")
    session.append("I moved to Bergen in May.")
    session.end()
    memory.learn()  # learning runs in the background; this waits for it

    for fact in alice.facts.list():
        print(fact.text, "|", fact.kind, fact.evidence, "| since", fact.valid_from)
        print("quotes", [quote.text for quote in alice.facts.quotes(fact.id)])
    print(memory.admin.audit().spent_today)
