"""The quickstart, first part: store messages and search them."""

import bethink.sync

with bethink.sync.connect("lesson.db") as memory:
    ida = memory.space("ida")
    ida.remember("I moved to Bergen in May.")
    ida.remember("I am allergic to cashews.")

    for match in ida.recall("What am I allergic to?"):
        print(match.certainty, match.text, match.ref)
