"""Add a file, find a passage of it, and add its next version."""

import bethink.sync

HANDBOOK = "# Handbook\n\n## Tea\n\nTea is served at four.\n\n## Cats\n\nTwo cats live in the house.\n"

with bethink.sync.connect(":memory:") as memory:
    house = memory.space("house")
    print(house.files.add("handbook.md", text=HANDBOOK).added, "passages")

    best = house.recall("When is tea served?")[0]
    print(best.text, best.origin, best.metadata["file"], best.metadata["headings"])
    print(HANDBOOK[best.metadata["start"] : best.metadata["end"]] == best.text)

    change = house.files.add("handbook.md", text=HANDBOOK.replace("at four", "at five"))
    print(change.added, "added,", change.unchanged, "unchanged,", change.retracted, "retracted")
