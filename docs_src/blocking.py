"""The same without an event loop, for scripts and hooks."""

import bethink
import bethink.sync

with bethink.sync.connect("memory.db") as memory:
    desk = bethink.ConversationKey(channel="cli", chat="desk")
    session = memory.open_session(space="alice", conversation=desk)
    message = bethink.Message(role="user", content="Call me Al.", idempotency_key="evt-1042")
    print(memory.append(session, [message]))
    print(memory.append(session, [message]))  # the retry of a nervous client: the same number, stored once
