"""Request validation: the types of its fields and their content, and text that can be stored."""

from collections.abc import Callable
from typing import Any

import pytest

import bethink
from bethink import Fact, Memory
from bethink.errors import BethinkError, InvalidFieldError, InvalidRequestError
from bethink.features.keys.operations import CreateKeyRequest
from bethink.model.access import Scope
from bethink.model.documents import DocumentDraft
from bethink.model.kinds import FactKind
from bethink.model.operations.facts import SaveFactRequest
from bethink.model.operations.memory import MarkUsedRequest, RecallRequest, RememberRequest
from bethink.model.records import Origin
from bethink.model.working import Event
from tests.conftest import said

HALF = "a\ud83d"


def fact(**fields: Any) -> Fact:
    return Fact(id="f", text="c", **fields)


@pytest.mark.parametrize(
    ("make", "field", "told"),
    [
        (lambda: SaveFactRequest(fact=fact(metadata="a")), "fact.metadata", "must be a mapping, not str"),
        (lambda: SaveFactRequest(fact=fact(tags=("a", 5))), "fact.tags.1", "must be str, not int"),
        (lambda: SaveFactRequest(fact=fact(entities=[None])), "fact.entities.0", "must be str, not NoneType"),
        (lambda: SaveFactRequest(fact=fact(slot=5)), "fact.slot", "must be str, not int"),
        (lambda: fact(tags="abc"), "tags", "must be a list, not str"),
        (lambda: fact(kind="Song!"), "kind", "cannot be 'Song!'"),
        (lambda: DocumentDraft(slug="s", title="t", links="abc"), "links", "must be a list, not str"),  # pyright: ignore[reportArgumentType]
        (lambda: RecallRequest(question="q", origin=("user", 5)), "origin.1", "must be str, not int"),  # pyright: ignore[reportArgumentType]
        (lambda: MarkUsedRequest(refs=("fact:f:1",)), "refs.0", "must be Ref, not str"),  # pyright: ignore[reportArgumentType]
        (lambda: RememberRequest(messages=("tea",)), "messages.0", "must be Message, not str"),  # pyright: ignore[reportArgumentType]
        (lambda: CreateKeyRequest(name="k", scopes=("read",), spaces=("a", 5)), "spaces.1", "must be str"),  # pyright: ignore[reportArgumentType]
    ],
)  # fmt: skip
def test_the_types_in_a_request_are_checked_to_the_last_item(make: Callable[[], object], field: str, told: str) -> None:
    with pytest.raises(InvalidFieldError) as refused:
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
    "origin": lambda memory: memory.space("alice").recall("tea", origin=[f"tool:{HALF}"]),
    "before": lambda memory: memory.space("alice").sessions.list(after=HALF),
    "after": lambda memory: memory.space("alice").facts.list(after=HALF),
    "spaces": lambda memory: memory.spaces.list(after=HALF),
    "threads": lambda memory: memory.space("alice").threads.list(after=HALF),
    "fact id": lambda memory: memory.space("alice").facts.save(Fact(id=HALF, text="tea")),
    "fact": lambda memory: memory.space("alice").facts.save(Fact(id="f", text=HALF)),
    "tags": lambda memory: memory.space("alice").facts.save(fact(tags=(HALF,))),
    "slug": lambda memory: memory.space("alice").documents.create(DocumentDraft(slug=HALF, title="t")),
    "title": lambda memory: memory.space("alice").documents.create(DocumentDraft(slug="s", title=HALF)),
    "links": lambda memory: memory.space("alice").documents.create(DocumentDraft(slug="s", title="t", links=(HALF,))),
    "path": lambda memory: memory.space("alice").documents.find(f"~/{HALF}"),
    "event": lambda memory: memory.space("alice").threads.dispatch("t", Event(type=HALF)),
    "ref": lambda memory: memory.space("alice").explain(f"fact:{HALF}:1"),
    "session": lambda memory: memory.space("alice").sessions.get(HALF),
    "key name": lambda memory: memory.admin.keys.create(name=HALF, scopes=[Scope.READ]),
    "history": lambda memory: memory.backend.local().history("alice", agent=HALF).append("home", said("x")[0]),
    "history of": lambda memory: memory.backend.local().history("alice").all(HALF),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_half_a_character_in_a_name_is_refused_with_a_next_step(memory: Memory, call: Call) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        await call(memory)

    assert refused.value.hint


async def _dispatched(memory: Memory) -> object:
    thread = await memory.space("alice").threads.open()
    return await memory.space("alice").threads.dispatch(thread.id, Event(type="USER_MESSAGE", payload={"text": HALF}))


async def _cited(memory: Memory) -> object:
    return await (await memory.space("alice").session("home")).strip_citations(HALF)


KEPT: dict[str, Call] = {
    "remember": lambda memory: memory.space("alice").remember(HALF),
    "recall": lambda memory: memory.space("alice").recall(HALF),
    "context": lambda memory: memory.space("alice").context(HALF),
    "facts": lambda memory: memory.space("alice").facts.search(HALF),
    "documents": lambda memory: memory.space("alice").documents.search(HALF),
    "where": lambda memory: memory.space("alice").facts.list(where={HALF: HALF}),
    "payload": _dispatched,
    "summary": lambda memory: memory.backend.local().history("alice").set_summary("home", HALF),
    "cited": _cited,
}


@pytest.mark.parametrize("call", KEPT.values(), ids=KEPT)
async def test_lone_surrogate_in_text_is_replaced(memory: Memory, call: Call) -> None:
    await call(memory)


async def test_disabled_memory_rejects_a_lone_surrogate() -> None:
    async with bethink.connect(enabled=False) as nowhere:
        with pytest.raises(BethinkError, match="half of a character"):
            await nowhere.space("alice").recall("tea", origin=[f"tool:{HALF}"])
