"""The adapter behaves like LangGraph's in-memory store: filters, namespaces, pages and search."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import anyio
import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

import bethink
from bethink.integrations.langgraph import BethinkStore
from tests.length import often

FILTERS = often(50, long=2_000)
ITEMS: list[tuple[tuple[str, ...], str, dict[str, Any]]] = [
    (("docs",), "one", {"title": "A green tea", "rank": 2, "author": {"name": "Ann", "level": 3}, "open": True}),
    (("docs",), "two", {"title": "A black tea", "rank": 10, "author": {"name": "Bo"}, "labels": ["x", "y"]}),
    (("docs", "old"), "one", {"title": "The last coffee", "rank": 2.5, "open": False, "labels": ["y"]}),
    (("docs", "old"), "three", {"title": "A teapot of clay", "author": {"name": "Ann", "level": 4}}),
    (("notes", "docs"), "one", {"title": "Tea for two", "rank": 2, "open": True}),
]
VALUES: dict[str, list[Any]] = {
    "title": ["A green tea", "Tea for two", "none"],
    "rank": [2, 2.5, 10, -3],
    "open": [True, False],
    "labels": [["x", "y"], ["y"], []],
    "author": [{"name": "Ann"}, {"name": "Ann", "level": 4}, {"level": {"$gte": 3}}, {"name": {"$ne": "Bo"}}],
    "missing": ["x"],
}


@pytest.fixture
async def stores(memory: bethink.Memory) -> tuple[BaseStore, BaseStore]:
    """LangGraph's store and the adapter, with the same items."""
    both = InMemoryStore(), BethinkStore(memory.space("alice"))
    for store in both:
        for namespace, key, value in ITEMS:
            await store.aput(namespace, key, value)
    return both


async def found(store: BaseStore, prefix: tuple[str, ...] = (), **more: Any) -> list[tuple[Any, ...]]:
    asked: dict[str, Any] = {"limit": 100, **more}
    items = await store.asearch(prefix, **asked)
    return [(item.namespace, item.key, item.value) for item in items]


def key_of(item: tuple[Any, ...]) -> tuple[Any, ...]:
    return item[0], item[1]


async def test_an_item_is_put_read_replaced_and_deleted(stores: tuple[BaseStore, BaseStore]) -> None:
    for store in stores:
        first = await store.aget(("docs",), "one")
        assert first is not None
        await store.aput(("docs",), "one", {"title": "new"})
        second = await store.aget(("docs",), "one")
        assert second is not None
        assert (second.value, second.namespace, second.key) == ({"title": "new"}, ("docs",), "one")
        assert second.updated_at > first.updated_at
        await store.adelete(("docs",), "one")
        await store.adelete(("docs",), "never")
        assert await store.aget(("docs",), "one") is None
        assert ("docs",) in await store.alist_namespaces()


@pytest.mark.parametrize("prefix", [(), ("docs",), ("docs", "old"), ("notes",), ("doc",), ("old",)])
async def test_a_namespace_holds_what_is_below_it(stores: tuple[BaseStore, BaseStore], prefix: tuple[str, ...]) -> None:
    theirs, ours = [sorted(await found(store, prefix), key=key_of) for store in stores]

    assert ours == theirs


async def test_pages_hold_everything_once(stores: tuple[BaseStore, BaseStore]) -> None:
    for store in stores:
        pages = [await found(store, ("docs",), limit=3, offset=offset) for offset in (0, 3, 6)]
        assert list(map(len, pages)) == [3, 1, 0]
        assert len({key_of(item) for page in pages for item in page}) == 4


def a_filter(dice: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in dice.sample(list(VALUES), dice.choice([1, 1, 2])):
        value = dice.choice(VALUES[name])
        if name == "rank" and dice.random() < 0.7:
            found[name] = {dice.choice(["$gt", "$gte", "$lt", "$lte", "$eq", "$ne"]): value}
        elif isinstance(value, str | bool) and dice.random() < 0.5:
            found[name] = {dice.choice(["$eq", "$ne"]): value}
        else:
            found[name] = value
    return found


async def test_random_filters_find_what_the_store_of_langgraph_finds(stores: tuple[BaseStore, BaseStore]) -> None:
    dice = random.Random(7)
    compared = hits = 0
    for _ in range(FILTERS):
        wanted = a_filter(dice)
        try:
            theirs = sorted(await found(stores[0], filter=wanted), key=key_of)
        except TypeError:
            continue  # it cannot compare a missing number: ours does not find it
        assert sorted(await found(stores[1], filter=wanted), key=key_of) == theirs, wanted
        compared, hits = compared + 1, hits + bool(theirs)
    assert compared > FILTERS // 2
    assert hits > compared // 4


async def test_comparison_filter_omits_items_without_the_number(stores: tuple[BaseStore, BaseStore]) -> None:
    assert {key_of(item) for item in await found(stores[1], filter={"rank": {"$gt": 0}})} == {
        (("docs",), "one"), (("docs",), "two"), (("docs", "old"), "one"), (("notes", "docs"), "one"),
    }  # fmt: skip


async def test_a_search_is_ranked_within_its_namespace_and_its_filter(stores: tuple[BaseStore, BaseStore]) -> None:
    store = stores[1]
    items = await store.asearch(("docs",), query="green tea", limit=10)

    assert (items[0].key, items[0].value["title"]) == ("one", "A green tea")
    assert all(item.namespace[0] == "docs" for item in items)
    assert [item.score for item in items] == sorted((item.score or 0 for item in items), reverse=True)
    narrow = await store.asearch(("docs",), query="green tea", filter={"rank": {"$gte": 10}})
    assert [item.key for item in narrow] == ["two"]
    rest = await store.asearch(("docs",), query="tea", limit=1, offset=1)
    assert len(rest) == 1


async def test_facts_stored_by_a_graph_have_origin_assistant(memory: bethink.Memory) -> None:
    space = memory.space("alice")
    await BethinkStore(space).aput(("docs",), "one", {"text": "The user is an admin."})

    [fact] = await space.facts.list()
    assert fact.origin == "assistant"


async def test_similar_keys_and_namespaces_are_different_items(memory: bethink.Memory) -> None:
    store = BethinkStore(memory.space("alice"))
    names = [
        (("a/b",), "c"),
        (("a",), "b/c"),
        (("a", "b"), "c"),
        (("a%2Fb",), "c"),
        (("a",), "x" * 500),
        (("a",), "\n"),
    ]
    for place, (namespace, key) in enumerate(names):
        await store.aput(namespace, key, {"n": place})

    for place, (namespace, key) in enumerate(names):
        found = await store.aget(namespace, key)
        assert found is not None
        assert (found.value, found.namespace, found.key) == ({"n": place}, namespace, key)


async def test_other_facts_of_the_space_are_not_items(memory: bethink.Memory) -> None:
    space = memory.space("alice")
    await space.facts.save(bethink.Fact(id="f1", text="User likes tea."))
    store = BethinkStore(space)

    assert await store.alist_namespaces() == []
    assert await store.asearch((), query="tea") == []
    assert await store.asearch(()) == []


async def test_expired_items_are_hidden_and_reads_extend_the_ttl(memory: bethink.Memory) -> None:
    space = memory.space("alice")
    store = BethinkStore(space)
    await store.aput(("docs",), "past", {"text": "tea"}, ttl=-1)
    await store.aput(("docs",), "soon", {"text": "tea"}, ttl=60)
    await store.aput(("docs",), "always", {"text": "tea"})

    assert await store.aget(("docs",), "past") is None
    assert sorted(item.key for item in await store.asearch(("docs",))) == ["always", "soon"]
    assert "past" not in [item.key for item in await store.asearch(("docs",), query="tea")]
    before = await space.facts.get("docs/soon")
    assert before.expires_at is not None
    await space.facts.save(replace(before, expires_at=before.expires_at - timedelta(minutes=30)))
    await store.aget(("docs",), "soon", refresh_ttl=False)
    kept = (await space.facts.get("docs/soon")).expires_at
    await store.aget(("docs",), "soon")
    longer = (await space.facts.get("docs/soon")).expires_at
    assert kept is not None
    assert longer is not None
    assert longer - kept > timedelta(minutes=29)


def lengths(texts: Sequence[str]) -> list[list[float]]:
    """Embed texts by how many letters of two kinds they have."""
    return [[1.0 + text.count("a"), 1.0 + text.count("z")] for text in texts]


async def test_with_an_embedder_searches_compare_vectors(memory: bethink.Memory) -> None:
    store = BethinkStore(memory.space("alice"), index={"dims": 2, "embed": lengths, "fields": ["text"]})
    for key, text in (("a", "aaaa"), ("z", "zzzz"), ("both", "azaz")):
        await store.aput(("docs",), key, {"text": text})
    await store.aput(("docs",), "unseen", {"text": "zzzzzz"}, index=False)

    found = await store.asearch(("docs",), query="zzz")

    assert [item.key for item in found] == ["z", "both", "a", "unseen"]
    assert [item.score is None for item in found] == [False, False, False, True]


def test_store_can_be_called_without_await(target: str) -> None:
    memory = bethink.connect(target, learn=False)
    anyio.run(memory.open)
    store = BethinkStore(memory.space("alice"))
    store.put(("docs",), "one", {"text": "tea"})

    async def within() -> object:
        return store.get(("docs",), "one")

    assert store.get(("docs",), "one") == anyio.run(within)
    anyio.run(memory.close)
