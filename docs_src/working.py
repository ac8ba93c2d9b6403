"""A thread of working memory, one step at a time."""

import bethink.sync
from bethink.types import Event

with bethink.sync.connect(":memory:") as memory:
    threads = memory.space("alice").threads
    threads.open("thread_roof", mode="stepping")
    threads.dispatch("thread_roof", Event(type="USER_MESSAGE", payload={"text": "Fix the roof."}))
    threads.step("thread_roof")

    for state in threads.states("thread_roof"):
        print(state.number, state.source, state.event_type)
    print(threads.prompt("thread_roof", budget=500).to_openai()[-1])
