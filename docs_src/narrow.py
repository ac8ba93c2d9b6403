"""Filter by tags and metadata, and search several spaces."""

import bethink.sync

with bethink.sync.connect("memory.db") as memory:
    mira, team = memory.space("mira"), memory.space("team")
    mira.remember("The green tea is on the shelf.", tags=["kitchen"], metadata={"rank": 1})
    mira.remember("The black tea is in the tin.", tags=["kitchen"], metadata={"rank": 3, "brand": "Assam"})
    team.remember("The tea fund is empty.", tags=["money"])

    matches = mira.recall("tea", tags=["kitchen"], where={"rank": {"gte": 3}})
    print([match.text for match in matches])
    matches = mira.recall("tea", where={"rank": [1, 3], "brand": {"ne": "Assam"}}, since="2020-01-01")
    print([match.text for match in matches])
    matches = memory.group("mira", "team").recall("the tea fund", tags=["money"])
    print([(match.space, match.text) for match in matches])
