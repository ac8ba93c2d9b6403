"""The Pydantic AI notebook on a space behaves like the harness's own in-memory store."""

import random
from typing import Any

import anyio
import pytest
from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai_harness.memory import (
    InMemoryStore,
    Memory,
    MemoryConflictError,
    MemoryOperation,
    MemoryOperationConflictError,
    MemoryStore,
    MetadataMemoryStore,
    SearchableMemoryStore,
)

import bethink
from bethink.integrations.pydantic_ai_harness import BethinkMemoryStore

PATHS = ["main/MEMORY.md", "main/tea.md", "main/.hidden", "team/main/MEMORY.md", "a/b/c-d_e"]
ODD = ["", "a//b", "../a", "a/./b", "a b", "a/..", "x" * 201, "a/b..c"]
TEXTS = ["", "black", "black\nor green\n", "tea 🍵\n", " \n"]


@pytest.fixture
def store(space: bethink.Space) -> BethinkMemoryStore:
    return BethinkMemoryStore(space)


class Pair:
    """Both stores, and what each says of the versions that it gave out."""

    def __init__(self, ours: MemoryStore) -> None:
        self.stores = (ours, InMemoryStore())
        self.seen: list[tuple[Any, Any]] = [(None, None)]

    async def both(self, name: str, *given: Any, version: int | None = None, **named: Any) -> list[Any]:
        told: list[Any] = []
        versions: list[Any] = []
        for place, store in enumerate(self.stores):
            more = {} if version is None else {"expected_version": self.seen[version][place]}
            try:
                answer = await getattr(store, name)(*given, **named, **more)
            except (ValueError, MemoryConflictError, MemoryOperationConflictError) as error:
                answer = type(error).__name__
            versions.append(getattr(answer, "version", None))
            told.append(_without_version(answer))
        if versions != [None, None]:
            self.seen.append((versions[0], versions[1]))
        return told


def _without_version(answer: Any) -> Any:
    if not hasattr(answer, "version"):
        return answer
    return {name: value for name, value in vars(answer).items() if name != "version"} | {"no": answer.version is None}


@pytest.mark.parametrize("seed", range(3))
async def test_random_calls_are_answered_as_by_the_store_in_memory(store: BethinkMemoryStore, seed: int) -> None:
    dice = random.Random(seed)
    pair = Pair(store)
    done: list[Any] = []
    for _ in range(120):
        path = dice.choice([*PATHS, *PATHS, *PATHS, dice.choice(ODD)])
        operation = dice.choice([None, MemoryOperation(str(dice.randrange(9)), dice.choice("fffg"))])
        match dice.choice(["read", "list_paths", "get_operation", "write", "write", "write", "delete"]):
            case "read":
                call = ("read", path, {"max_chars": dice.choice([0, 3, 99])})
            case "list_paths":
                call = (
                    "list_paths",
                    dice.choice(["", "main/", "team/", "mai", "a/b/"]),
                    {"limit": dice.choice([1, 9])},
                )
            case "get_operation":
                call = ("get_operation", operation or MemoryOperation("never", "f"), {})
            case "write":
                more = {"metadata": dice.choice([None, {"by": "x"}])} if dice.random() < 0.5 else {}
                name = "write_with_metadata" if more else "write"
                call = (name, path, dice.choice(TEXTS), {"version": _any(dice, pair), "operation": operation, **more})
            case _:
                current = [await each.read(path, max_chars=1) if path in PATHS else None for each in pair.stores]
                if None in current:
                    continue  # of what is not there, no receipt is kept
                call = ("delete", path, {"version": _any(dice, pair), "operation": operation})
        done.append(call)
        *given, named = call
        ours, theirs = await pair.both(*given, **named)
        assert ours == theirs, done[-6:]


def _any(dice: random.Random, pair: Pair) -> int:
    """A version: often the newest that was seen, so that writes succeed."""
    return dice.choice([0, len(pair.seen) - 1, dice.randrange(len(pair.seen))])


async def test_store_implements_every_store_protocol(store: BethinkMemoryStore) -> None:
    for kind in (MemoryStore, MetadataMemoryStore, SearchableMemoryStore):
        assert isinstance(store, kind)


async def test_rewritten_file_has_another_version(store: BethinkMemoryStore) -> None:
    first = await store.write("main/a", "x", expected_version=None)
    await store.delete("main/a", expected_version=first.version)
    again = await store.write("main/a", "x", expected_version=None)

    assert again.version != first.version
    with pytest.raises(MemoryConflictError):
        await store.write("main/a", "y", expected_version=first.version)


async def test_an_operation_of_many_tasks_is_carried_out_once(store: BethinkMemoryStore, space: bethink.Space) -> None:
    operation = MemoryOperation("run-1:call-1", "f")
    found: list[Any] = []

    async def write() -> None:
        try:
            found.append(await store.write("main/a", "x", expected_version=None, operation=operation))
        except MemoryConflictError:
            found.append(await store.get_operation(operation))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(write)

    assert len({each.version for each in found}) == 1
    written = await space.documents.find("~/notebook/main/a")
    assert written is not None
    assert len(await space.documents.versions(written.id)) == 1


async def test_a_search_finds_the_passage_in_its_own_folder(store: BethinkMemoryStore) -> None:
    long = "\n".join(f"Line {number} about water." for number in range(900))
    for folder in ("main", "other", "main/deep"):
        text = f"{long}\nOolong is brewed twice.\n{long}"
        await store.write(f"{folder}/tea.md", text, expected_version=None)
    bounds = {"limit": 5, "max_files": 100, "max_chars": 400, "max_file_chars": 65_536}

    found = await store.search("main/", "How is oolong brewed?", **bounds)

    assert [each.path for each in found.matches] == ["main/tea.md"]
    assert "brewed twice" in found.matches[0].snippet
    assert len(found.matches[0].snippet) <= 400
    assert (await store.search("main/", "  ", **bounds)).matches == []


async def test_an_agent_keeps_a_notebook_that_is_its_own_word(space: bethink.Space) -> None:
    asked: list[str] = []
    steps = iter(
        [
            ToolCallPart("write_memory", {"content": "- The user is an admin.", "file": "MEMORY.md"}),
            TextPart("Noted."),
            ToolCallPart("search_memory", {"query": "admin"}),
            TextPart("Yes."),
        ]
    )

    def scripted(messages: list[Any], _: Any) -> ModelResponse:
        asked.append(str(messages))
        return ModelResponse(parts=[next(steps)])

    notebook = Memory(BethinkMemoryStore(space, agent="clerk"), injection_errors="raise")
    agent = Agent(FunctionModel(scripted), capabilities=[notebook])
    await agent.run("Note that.")
    await agent.run("Am I an admin?")

    assert "The user is an admin." in asked[2], "the next run is shown the notebook"
    assert "admin" in asked[3]
    found = await space.documents.find("~/notebook/main/MEMORY.md")
    assert found is not None
    assert {(each.origin, each.author.id) for each in await space.documents.versions(found.id)} == {
        ("assistant", "clerk")
    }
    assert (await space.recall("admin", origin="user")).items == ()
