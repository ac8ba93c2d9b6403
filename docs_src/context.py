"""Build the memory block for a prompt, and strip the citations from the reply."""

import bethink.sync

with bethink.sync.connect(":memory:") as memory:
    mira = memory.space("mira")
    mira.remember([{"role": "user", "content": "I am allergic to cashews.", "said_at": "2026-03-02"}])

    session = mira.session("dinner")
    block = session.context("What am I allergic to?", budget=500)
    print(block.text)
    print(block.tokens, "tokens,", len(block.to_openai()), "message")

    reply = f"You are allergic to cashews. [^{block.items[0].label}]"  # a model cites a line by its label
    print(session.strip_citations(reply))
