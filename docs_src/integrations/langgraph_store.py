"""A graph whose nodes keep what they know in a space, and find it again."""

import asyncio
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore

import bethink
from bethink.integrations.langgraph import BethinkStore


class State(TypedDict):
    text: str
    known: list[str]


async def note(state: State, *, store: BaseStore) -> State:
    found = await store.asearch(("notes",), query=state["text"])
    await store.aput(("notes",), str(len(state["text"])), {"text": state["text"], "rank": len(state["text"])})
    return {"text": state["text"], "known": [item.value["text"] for item in found]}


async def main() -> None:
    async with bethink.connect("graph.db") as memory:
        store = BethinkStore(memory.space("mira"))
        graph = StateGraph(State).add_node("note", note).add_edge(START, "note").compile(store=store)
        await graph.ainvoke({"text": "The kettle is broken.", "known": []})
        print(await graph.ainvoke({"text": "Is the kettle broken?", "known": []}))
        print(await store.asearch(("notes",), filter={"rank": {"$gte": 21}}))


asyncio.run(main())
