"""The same without an event loop, for scripts and hooks."""

import bethink
import bethink.sync

with bethink.sync.connect("memory.db") as memory:
    session = memory.space("alice").session("terminal")
    message = bethink.Message(role="user", content="Call me Al.", idempotency_key="evt-1042")
    print(session.append([message]))
    print(session.append([message]))  # a retry: the same number, stored once
