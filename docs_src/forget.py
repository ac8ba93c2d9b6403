"""Delete a conversation with everything derived from it: preview first, then delete."""

import bethink.sync

with bethink.sync.connect("memory.db") as memory:
    ida = memory.space("ida")
    ida.remember("The door code of the flat is 4711.", conversation="flat")
    memory.learn()

    print(ida.forget(conversation="flat", dry_run=True))
    deletion = ida.forget(conversation="flat", reason="request 12")
    print("pending:", deletion.pending, "receipt:", bool(deletion.receipt))
    print(ida.recall("What is the door code?").note)
