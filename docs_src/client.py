"""The same program with a local file or with a server: only the address differs."""

import os

import bethink.sync

address = os.environ.get("MEMORY_URL", "memory.db")  # or https://memory.example
with bethink.sync.connect(address, api_key=os.environ.get("MEMORY_KEY", "")) as memory:
    alice = memory.space("alice")
    stored = alice.remember("Anna plays the cello on Fridays")
    print(stored.refs[0])
    best = alice.recall("Who plays the cello?").items[0]
    print(best.text)
    print(alice.explain(best.ref).origin)
