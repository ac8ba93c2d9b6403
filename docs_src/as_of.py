"""Search memory as it was on another day."""

import bethink.sync

with bethink.sync.connect(":memory:") as memory:
    ida = memory.space("ida")
    session = ida.session("home")
    for day, text in [("2026-01-05", "I live in Oslo."), ("2026-05-20", "I live in Bergen now.")]:
        session.append([{"role": "user", "content": text, "said_at": day}])

    for day in ("2026-03-01", "2026-06-01"):
        print(day, [match.text for match in ida.recall("Where do I live?", as_of=day)])
