"""The same without an event loop, for scripts and hooks."""

import bethink
import bethink.sync

with bethink.sync.connect("memory.db") as memory:
    desk = bethink.conversation_key(channel="cli", chat="desk")
    session = memory.space("alice").session(desk)
    message = bethink.Message(role="user", content="Call me Al.", idempotency_key="evt-1042")
    print(session.append([message]))
    print(session.append([message]))  # the retry of a nervous client: the same number, stored once
