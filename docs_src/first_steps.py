"""The first lines of the README."""

import bethink.sync

with bethink.sync.connect("memory.db") as memory:
    memory.remember("I am allergic to cashews, not to walnuts.", user_id="mira", idempotency_key="note-1")
    best = memory.recall("What am I allergic to?", user_id="mira", budget=500).items[0]
    print(best.text)
    print("said by the", memory.explain(best.ref, user_id="mira").origin)
    print(memory.forget(best.ref, user_id="mira", dry_run=True).messages, "message would be forgotten")
