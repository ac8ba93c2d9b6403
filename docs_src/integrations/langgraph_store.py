"""A LangGraph store in a space: items survive the process and are found again."""

import asyncio
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore

import bethink
from bethink.integrations.langgraph import BethinkStore


class State(TypedDict):
    text: str
    notes: list[str]


async def note(state: State, *, store: BaseStore) -> State:
    matches = await store.asearch(("notes",), query=state["text"])
    await store.aput(("notes",), str(len(state["text"])), {"text": state["text"], "length": len(state["text"])})
    return {"text": state["text"], "notes": [item.value["text"] for item in matches]}


async def main() -> None:
    async with bethink.connect("graph.db") as memory:
        store = BethinkStore(memory.space("mira"))
        graph = StateGraph(State).add_node("note", note).add_edge(START, "note").compile(store=store)
        await graph.ainvoke({"text": "The tall kettle is broken.", "notes": []})
        print((await graph.ainvoke({"text": "Is the kettle broken?", "notes": []}))["notes"])
        print([item.key for item in await store.asearch(("notes",), filter={"length": {"$gte": 25}})])


asyncio.run(main())
