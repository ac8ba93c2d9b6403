"""Find, export and delete all data about a person, in all spaces."""

import bethink.sync

with bethink.sync.connect("memory.db") as memory:
    kari = {"role": "user", "name": "Kari Moe", "content": "I am allergic to nuts."}
    memory.space("team").remember([kari, {"role": "user", "content": "So is Kari's son."}])
    memory.space("kitchen").remember("No nuts on Fridays: K. Moe is here.")

    people, aliases = memory.admin.people, ["Kari", "K. Moe"]
    for space in people.find("Kari Moe", aliases=aliases).spaces:
        print(space.space, space.messages, "messages:", space.speaker, "as speaker,", space.words, "by text")
    print(people.export("Kari Moe", aliases=aliases).items[0].text)
    report = people.forget("Kari Moe", aliases=aliases, reason="request 12")
    print("not covered:", report.limitations[0])
