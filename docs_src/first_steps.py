"""The first lines of the README."""

import bethink.sync

with bethink.sync.connect("memory.db") as memory:
    memory.space("mira").remember("I am allergic to cashews, not to walnuts.", idempotency_key="note-1")
    best = memory.space("mira").recall("What am I allergic to?", budget=500).items[0]
    print(best.text)
    print("said by the", memory.space("mira").explain(best.ref).origin)
    print(memory.space("mira").forget(best.ref, dry_run=True).messages, "message would be forgotten")
