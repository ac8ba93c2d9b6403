"""Retracted messages: hidden everywhere and never learned from, but still in the log."""

import threading
from datetime import timedelta
from typing import Any

import anyio
import psycopg
import pytest
from anyio import to_thread

import bethink
from bethink.errors import LegalHoldError, ModelUnavailableError, NotFoundError
from bethink.memory.learning.learner import start_over
from bethink.model.calls import ModelCall
from bethink.model.changes import ChangeKind
from bethink.model.documents import DocumentDraft, DocumentSource, Provenance, SourceKind
from bethink.store import learning, messages, reviews
from bethink.store.db import Database, Tx
from tests.conftest import KEY, FakeClock, said
from tests.rooms.learn_kit import DONE, a_fact, a_note, answer, reviewed, worker
from tests.rooms.stored_kit import stored

BIRD = "zebrafinch"


def clever(call: ModelCall) -> str:
    """Learn what each message says, and nothing about a bird where none is spoken of."""
    if call.schema_name == "document_calls":
        return DONE
    if BIRD not in call.prompt.partition("<messages>")[2]:
        return answer(a_note("likes tea"))
    return answer(a_fact(f"The user keeps a {BIRD}.", 1), a_fact("The user likes tea.", 2))


async def shown(space: bethink.Space, **more: object) -> str:
    found = await space.recall(f"Do I keep a {BIRD}?", **more)  # pyright: ignore[reportArgumentType]
    return str([item.text for item in found.items])


async def test_retracted_message_is_hidden_and_stays_in_the_log(
    memory: bethink.Memory, clock: FakeClock, target: str, superuser_dsn: str
) -> None:
    space = memory.space("alice")
    session = await space.session(KEY)
    await session.append(said(f"I keep a {BIRD}.", "I like tea."))
    before = clock.time
    clock.time += timedelta(minutes=1)

    assert BIRD in await shown(space)
    assert await session.retract(1)

    assert BIRD not in await shown(space)
    assert BIRD not in (await space.context(f"the {BIRD}")).text
    assert [record.number for record in await session.messages()] == [2]
    assert [each.message.content for each in await memory.backend.local().history("alice").all(KEY)] == ["I like tea."]
    assert await memory.backend.local().history("alice").length(KEY) == 1
    kept = (await session.transcript()).lines
    assert [(line.record.number, line.record.retracted_at is None) for line in kept] == [(1, False), (2, True)]
    assert BIRD in await shown(space, as_of=before), "at that time it had been said"
    assert BIRD in stored(target, superuser_dsn)


async def test_message_is_retracted_once_if_it_exists(session: bethink.Session) -> None:
    await session.append(said("one"))

    assert [await session.retract(1), await session.retract(1)] == [True, False]
    with pytest.raises(NotFoundError):
        await session.retract(2)
    assert await session.append(said("two")) == [2], "its number is not given again"


async def test_last_messages_can_be_retracted_one_by_one(session: bethink.Session) -> None:
    await session.append(said("one", "two", "three"))

    popped: list[str] = []
    while last := await session.messages(last=1):
        assert await session.retract(last[0].number)
        popped.append(last[0].message.content)

    assert popped == ["three", "two", "one"]


async def test_retracted_message_is_not_learned_from(memory: bethink.Memory, database: Database) -> None:
    space = memory.space("alice")
    session = await space.session(KEY)
    await session.append(said(f"I keep a {BIRD}.", "I like tea."))
    await session.retract(1)
    await session.checkpoint(force=True)
    asked: list[str] = []

    def watched(call: ModelCall) -> str:
        asked.append(call.prompt)
        return clever(call)

    await worker(database, watched).run_once()

    assert asked
    assert BIRD not in "".join(asked)
    assert (await space.sessions.get(session.id)).info.processed_until == 2


async def test_retract_deletes_derived_data(memory: bethink.Memory, database: Database) -> None:
    space = memory.space("alice")
    session = await space.session(KEY)
    await session.append(said(f"I keep a {BIRD}.", "I like tea."))
    await session.checkpoint(force=True)
    await worker(database, clever).run_once()
    source = DocumentSource(kind=SourceKind.SESSION_SUMMARY, id=session.id)
    page = await space.documents.create(
        DocumentDraft(slug="pets", title="Pets", body=f"There is a {BIRD}."), provenance=Provenance(sources=(source,))
    )
    assert sorted(fact.text for fact in await space.facts.list()) == [
        f"The user keeps a {BIRD}.",
        "The user likes tea.",
    ]

    await session.retract(1)

    assert [fact.text for fact in await space.facts.list()] == ["The user likes tea."]
    assert await session.summary() is None
    assert (await space.documents.get(page.id)).redacted
    assert BIRD not in await shown(space)
    told = [change.kind for change in await space.admin.changes.list(after=0)]
    assert ChangeKind.MESSAGE_RETRACTED in told


async def test_legal_hold_blocks_retracting_a_learned_message(memory: bethink.Memory, database: Database) -> None:
    space = memory.space("alice")
    session = await space.session(KEY)
    await session.append(said(f"I keep a {BIRD}.", "I like tea."))
    await session.checkpoint(force=True)
    await worker(database, clever).run_once()
    await session.append(said("a slip"))
    await space.admin.holds.place("case 12")

    with pytest.raises(LegalHoldError):
        await session.retract(1)

    assert BIRD in await shown(space)
    assert await session.retract(3), "nothing was learnt from it, so nothing goes"


async def test_forget_deletes_a_retracted_message(memory: bethink.Memory, target: str, superuser_dsn: str) -> None:
    session = await memory.space("alice").session(KEY)
    await session.append(said(f"I keep a {BIRD}."))
    await session.retract(1)

    gone = await memory.space("alice").forget(f"message:{session.id}:1")

    assert gone.messages == 1
    assert BIRD not in stored(target, superuser_dsn)


@pytest.mark.parametrize("approved", [True, False])
async def test_retract_deletes_a_claim_proposed_from_the_message(memory: bethink.Memory, *, approved: bool) -> None:
    space = memory.space("alice")
    session = await space.session(KEY)
    await session.append(said(f"I keep a {BIRD}."))
    review = await space.reviews.propose(f"message:{session.id}:1")
    if approved:
        await space.reviews.approve(review.id)

    await session.retract(1)

    assert await space.facts.list() == []
    assert BIRD not in await shown(space)
    with pytest.raises(NotFoundError):
        await space.reviews.approve(review.id)


async def test_retract_waits_for_a_concurrent_proposal(
    memory: bethink.Memory, target: str, superuser_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = memory.space("alice")
    session = await space.session(KEY)
    await session.append(said(f"I keep a {BIRD}."))
    read, put = threading.Event(), reviews.put

    def put_late(*given: Any, **more: Any) -> Any:
        read.set()
        while target.startswith("postgresql") and not waits():  # in a SQLite file there is one writer at a time
            assert not done.is_set(), "it was taken back after it was read"
        return put(*given, **more)

    def waits() -> bool:
        with psycopg.connect(superuser_dsn) as above:
            return above.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone() is not None

    async def take_back() -> None:
        await to_thread.run_sync(read.wait)
        await session.retract(1)
        done.set()

    done = anyio.Event()
    monkeypatch.setattr(reviews, "put", put_late)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take_back)
        await space.reviews.propose(f"message:{session.id}:1")

    assert await space.reviews.list() == []


async def test_a_legal_hold_keeps_a_claim_that_a_person_made_of_it(memory: bethink.Memory) -> None:
    space = memory.space("alice")
    session = await space.session(KEY)
    await session.append(said(f"I keep a {BIRD}."))
    review = await space.reviews.propose(f"message:{session.id}:1")
    await space.admin.holds.place("case 12")

    with pytest.raises(LegalHoldError):
        await session.retract(1)

    assert [record.number for record in await session.messages()] == [1]
    assert await space.reviews.get(review.id) == review


async def test_retract_deletes_quotes_while_a_model_is_pending(memory: bethink.Memory, database: Database) -> None:
    space = memory.space("alice")
    session = await space.session(KEY)
    await session.append(said(f"I keep a {BIRD}.", "I like tea."))
    await session.checkpoint(force=True)
    await worker(database, None).run_once()
    assert await start_over(database) == 1
    assert (await space.sessions.get(session.id)).info.processed_until is None
    assert await session.summary() is not None, "it stays until the model has learnt"

    await session.retract(1)

    assert BIRD not in await shown(space)
    assert await session.summary() is None


async def test_pending_answer_about_a_retracted_message_is_not_used(
    memory: bethink.Memory, database: Database, clock: FakeClock
) -> None:
    space = memory.space("alice")
    session = await space.session(KEY)
    await session.append(said(f"I keep a {BIRD}.", "I like tea."))
    await session.checkpoint(force=True)

    await worker(database, clever, reader=lambda _: ModelUnavailableError("away")).run_once()
    assert await session.summary() is None, "it is not applied"
    await session.retract(1)
    clock.time += timedelta(hours=1)
    await worker(database, clever).run_once()

    assert await session.summary() is not None
    assert BIRD not in str(await reviewed(database))


async def test_retract_keeps_data_based_on_other_messages(memory: bethink.Memory, database: Database) -> None:
    space = memory.space("alice")
    session = await space.session(KEY)
    await session.append(said(f"I keep a {BIRD}.", "I like tea."))
    await session.checkpoint(force=True)
    await worker(database, clever).run_once()
    await session.append(said("I like snails."))
    review = await space.reviews.propose(f"message:{session.id}:3")
    await space.reviews.approve(review.id)
    assert len(await space.facts.list()) == 3

    await session.retract(3)

    assert len(await space.facts.list()) == 2
    assert await session.summary() is not None, "it was made before"


@pytest.mark.parametrize(("count", "gone"), [(4, 2), (210, 140)])
async def test_new_messages_are_not_shown_as_read_before(
    memory: bethink.Memory, database: Database, count: int, gone: int
) -> None:
    space = memory.space("alice")
    session = await space.session(KEY)
    await session.append(said(*(f"old {number}." for number in range(1, count + 1))))

    def learnt(tx: Tx) -> None:
        learning.advance(tx, space="alice", session_id=session.id, start=0, until=count)
        for number in range(1, gone + 1):
            messages.retract(tx, space="alice", session_id=session.id, number=number)

    await database.transact(learnt, space="alice")
    await session.append(said("new one.", "new two."))
    await session.checkpoint(force=True)
    asked: list[str] = []

    def watched(call: ModelCall) -> str:
        asked.append(call.prompt)
        return clever(call)

    await worker(database, watched).run_once()

    before, _, new = asked[0].partition("New:")
    assert before.count("old ") == count - gone
    assert "new " not in before.partition("Read before:")[2]
    assert new.count("new ") == 2
