"""The first lesson, first half: store two sentences, ask for one."""

import bethink.sync

with bethink.sync.connect("lesson.db") as memory:
    ida = memory.space("ida")
    ida.remember("I moved to Bergen in May.")
    ida.remember("I am allergic to cashews.")
    memory.learn()

    found = ida.recall("What am I allergic to?")
    print(found.items[0].text)
    print(found.items[0].ref)
