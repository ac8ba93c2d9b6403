"""From LangGraph's InMemoryStore: the same calls, stored in a space."""

import anyio

import bethink
from bethink.integrations.langgraph import BethinkStore


async def main() -> None:
    async with bethink.connect("graph.db") as memory:
        mira = memory.space("mira")
        store = BethinkStore(mira)
        await store.aput(("notes",), "food", {"text": "Allergic to cashews"})  # add
        items = await store.asearch(("notes",), query="allergic to what?")  # search
        namespaces = await store.alist_namespaces()  # list
        await store.aput(("notes",), "food", {"text": "Allergic to cashews and figs"})  # update
        versions = await mira.facts.versions((await mira.facts.list())[0].id)  # history
        print(items[0].value, namespaces, [version.text for version in versions])
        await store.adelete(("notes",), "food")  # delete


anyio.run(main)
