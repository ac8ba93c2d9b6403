"""The first lesson, first half: store two sentences, ask for one."""

import bethink.sync

with bethink.sync.connect("lesson.db") as memory:
    memory.remember("I moved to Bergen in May.", user_id="ida")
    memory.remember("I am allergic to cashews.", user_id="ida")
    memory.learn()

    found = memory.recall("What am I allergic to?", user_id="ida")
    print(found.items[0].text)
    print(found.items[0].ref)
