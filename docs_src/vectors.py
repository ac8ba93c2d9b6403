"""Search by words, and by meaning."""

import bethink.sync

for embedder in ("none", "local"):
    with bethink.sync.connect(":memory:", embedder=embedder) as memory:
        mira = memory.space("mira")
        mira.remember("I am allergic to cashews.")
        mira.remember("My bike has a flat tire.")
        result = mira.recall("Which nuts should I avoid?")
        print(embedder, [(match.text, str(match.certainty)) for match in result])
