"""Search, explain, look back and delete: the second program of the README."""

import bethink.sync

with bethink.sync.connect("mira.db") as memory:
    mira = memory.space("mira")
    mira.remember("I am allergic to cashews, not to walnuts.", idempotency_key="note-1")
    best = mira.recall("What am I allergic to?")[0]
    print(best.certainty, best.text)
    print("said by the", mira.explain(best.ref).origin)  # also: model, prompt, versions, every use in a prompt
    print(len(mira.recall("What am I allergic to?", as_of="2026-02-10")), "matches on February 10")
    print(mira.forget(best.ref, dry_run=True).messages, "message to delete, with all derived data")
