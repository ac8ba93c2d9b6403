"""The first lines of the README."""

import bethink.sync

with bethink.sync.connect("mira.db") as memory:
    mira = memory.space("mira")
    mira.remember("I am allergic to cashews, not to walnuts.", idempotency_key="note-1")
    best = mira.recall("What am I allergic to?", budget=500).items[0]
    print(best.text)
    print("said by the", mira.explain(best.ref).origin)
    print(mira.forget(best.ref, dry_run=True).messages, "message would be forgotten")
