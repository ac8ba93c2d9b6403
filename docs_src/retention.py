"""Delete old data automatically, except under a legal hold."""

import bethink.sync
from bethink.errors import LegalHoldError

with bethink.sync.connect("memory.db") as memory:
    ida = memory.space("ida")
    ida.remember("I parked on level 3.", conversation="car")

    ida.admin.retention.set("message", 365)
    ida.admin.retention.set("fact", 30, origin="tool")
    print(*ida.admin.retention.list(), sep="\n")
    print(ida.admin.retention.run(dry_run=True).deletion.messages, "messages to delete")

    hold = ida.admin.holds.place("case 12")
    try:
        ida.forget(conversation="car")
    except LegalHoldError:
        print("under a legal hold: nothing was deleted")
    memory.admin.holds.lift("ida", hold.id, "closed")
