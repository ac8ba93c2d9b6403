"""What a request takes: the types of its fields and of what is in them, and text that can be stored."""

from collections.abc import Callable
from typing import Any

import pytest

import bethink
from bethink import Fact, Memory
from bethink.errors import BethinkError, Invalid
from bethink.features.keys.operations import CreateKeyRequest
from bethink.model.access import Scope
from bethink.model.checks import InvalidField
from bethink.model.documents import DocumentDraft
from bethink.model.kinds import FactKind
from bethink.model.operations.facts import SaveFactRequest
from bethink.model.operations.memory import RecallRequest, RememberRequest, UsedRequest
from bethink.model.records import Origin
from bethink.model.working import Event
from tests.conftest import said

HALF = "a\ud83d"


def fact(**fields: Any) -> Fact:
    return Fact(id="f", content="c", **fields)


@pytest.mark.parametrize(
    ("make", "field", "told"),
    [
        (lambda: SaveFactRequest(fact=fact(metadata="a")), "fact.metadata", "must be a mapping. It was str"),
        (lambda: SaveFactRequest(fact=fact(tags=("a", 5))), "fact.tags.1", "must be str. It was int"),
        (lambda: SaveFactRequest(fact=fact(entities=[None])), "fact.entities.0", "must be str. It was NoneType"),
        (lambda: SaveFactRequest(fact=fact(slot=5)), "fact.slot", "must be str. It was int"),
        (lambda: fact(tags="abc"), "tags", "must be a list. It was str"),
        (lambda: fact(kind="Song!"), "kind", "cannot be 'Song!'"),
        (lambda: DocumentDraft(slug="s", title="t", links="abc"), "links", "must be a list. It was str"),  # pyright: ignore[reportArgumentType]
        (lambda: RecallRequest(question="q", origins=("user", 5)), "origins.1", "must be str. It was int"),  # pyright: ignore[reportArgumentType]
        (lambda: UsedRequest(refs=("fact:f:1",)), "refs.0", "must be Ref. It was str"),  # pyright: ignore[reportArgumentType]
        (lambda: RememberRequest(messages=("tea",)), "messages.0", "must be Message. It was str"),  # pyright: ignore[reportArgumentType]
        (lambda: CreateKeyRequest(name="k", scopes=("read",), spaces=("a", 5)), "spaces.1", "must be str"),  # pyright: ignore[reportArgumentType]
    ],
)  # fmt: skip
def test_the_types_in_a_request_are_checked_to_the_last_item(make: Callable[[], object], field: str, told: str) -> None:
    with pytest.raises(InvalidField) as refused:
        make()

    assert refused.value.field == field
    assert told in str(refused.value)


def test_a_fact_takes_lists_and_words_for_what_they_mean() -> None:
    given = fact(tags=["a"], entities=["b"], kind="goal", origin="user")

    assert (given.tags, given.entities, given.kind, given.origin) == (("a",), ("b",), FactKind.GOAL, Origin("user"))
    SaveFactRequest(fact=given)


Call = Callable[[Memory], Any]
CALLS: dict[str, Call] = {
    "space": lambda memory: memory.space(HALF).remember("tea"),
    "agent": lambda memory: memory.space("alice").remember("tea", agent=HALF),
    "conversation": lambda memory: memory.space("alice").remember("tea", conversation=HALF),
    "key": lambda memory: memory.space("alice").remember("tea", idempotency_key=HALF),
    "message key": lambda memory: memory.space("alice").remember(
        [{"role": "user", "content": "tea", "idempotency_key": HALF}]
    ),
    "origins": lambda memory: memory.space("alice").recall("tea", origins=[HALF]),
    "before": lambda memory: memory.space("alice").sessions(before=HALF),
    "after": lambda memory: memory.space("alice").facts.all(after=HALF),
    "spaces": lambda memory: memory.list_spaces(after=HALF),
    "threads": lambda memory: memory.space("alice").threads.all(after=HALF),
    "by key": lambda memory: memory.space("alice").facts.by_metadata(HALF, "x"),
    "by value": lambda memory: memory.space("alice").facts.by_metadata("x", HALF),
    "fact id": lambda memory: memory.space("alice").facts.save(Fact(id=HALF, content="tea")),
    "fact": lambda memory: memory.space("alice").facts.save(Fact(id="f", content=HALF)),
    "tags": lambda memory: memory.space("alice").facts.save(fact(tags=(HALF,))),
    "slug": lambda memory: memory.space("alice").documents.create(DocumentDraft(slug=HALF, title="t")),
    "title": lambda memory: memory.space("alice").documents.create(DocumentDraft(slug="s", title=HALF)),
    "links": lambda memory: memory.space("alice").documents.create(DocumentDraft(slug="s", title="t", links=(HALF,))),
    "path": lambda memory: memory.space("alice").documents.find(f"~/{HALF}"),
    "event": lambda memory: memory.space("alice").threads.dispatch("t", Event(type=HALF)),
    "ref": lambda memory: memory.space("alice").explain(f"fact:{HALF}:1"),
    "session": lambda memory: memory.space("alice").get_session(HALF),
    "key name": lambda memory: memory.keys.create(name=HALF, scopes=[Scope.READ]),
    "history": lambda memory: memory.local().history("alice", agent=HALF).append("home", said("x")[0]),
    "history of": lambda memory: memory.local().history("alice").all(HALF),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_half_a_character_in_a_name_is_refused_with_a_next_step(memory: Memory, call: Call) -> None:
    with pytest.raises(Invalid) as refused:
        await call(memory)

    assert refused.value.hint


async def _dispatched(memory: Memory) -> object:
    thread = await memory.space("alice").threads.open()
    return await memory.space("alice").threads.dispatch(thread.id, Event(type="USER_MESSAGE", payload={"text": HALF}))


async def _cited(memory: Memory) -> object:
    return await (await memory.space("alice").session("home")).cited(HALF)


KEPT: dict[str, Call] = {
    "remember": lambda memory: memory.space("alice").remember(HALF),
    "recall": lambda memory: memory.space("alice").recall(HALF),
    "context": lambda memory: memory.space("alice").context(HALF),
    "facts": lambda memory: memory.space("alice").facts.search(HALF),
    "documents": lambda memory: memory.space("alice").documents.search(HALF),
    "payload": _dispatched,
    "summary": lambda memory: memory.local().history("alice").set_summary("home", HALF),
    "cited": _cited,
}


@pytest.mark.parametrize("call", KEPT.values(), ids=KEPT)
async def test_half_a_character_in_what_was_written_or_asked_is_replaced(memory: Memory, call: Call) -> None:
    await call(memory)


async def test_a_memory_that_is_switched_off_refuses_half_a_character_as_well() -> None:
    async with bethink.connect(enabled=False) as nowhere:
        with pytest.raises(BethinkError, match="half of a character"):
            await nowhere.space("alice").facts.by_metadata(HALF, "x")
