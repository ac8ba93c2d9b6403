"""The access log: who read or changed a message."""

import bethink.sync

with bethink.sync.connect("memory.db") as memory:
    alice = memory.space("alice")
    stored = alice.remember("Anna plays the cello on Fridays.")
    with bethink.acting_for("kari"):  # the person this program serves
        alice.recall("Who plays the cello?")
    for entry in memory.admin.access.list(ref=stored.refs[0], limit=2):
        person = "kari" if entry.person == "kari" else "(system user)"
        print(entry.operation, "by", person, "through", entry.interface, "with", len(entry.refs), "refs")
