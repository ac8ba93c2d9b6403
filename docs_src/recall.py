"""Search one space."""

import bethink.sync

with bethink.sync.connect("memory.db") as memory:
    alice = memory.space("alice")
    alice.remember(
        [
            {"role": "user", "content": "My sister went to Oslo for a job at the opera."},
            {"role": "assistant", "content": "When does she start?"},
            {"role": "user", "content": "On the first of August."},
        ]
    )

    for match in alice.recall("When does my sister begin to work?", limit=3):
        print(match.certainty, match.ref.kind, match.text)
    print(alice.recall("What is my blood type?").note)
