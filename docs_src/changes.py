"""Wait until Bethink has learned from a message, then read the change feed of the space."""

import bethink.sync

with bethink.sync.connect("memory.db") as memory:
    mira = memory.space("mira")
    stored = mira.remember("I moved to Lisbon in May.")
    learned = mira.sessions.get(stored.session.id).wait_until_learned(timeout=30)
    print("done:", learned.done, "new facts:", len(learned.new))

    for change in mira.admin.changes.follow(after=0):  # waits for more
        print(change.kind, change.ref.partition(":")[0])
        if change.kind == "session.learned":
            break
