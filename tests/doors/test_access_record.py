"""The access log: who accessed which items, through every interface."""

import dataclasses
import typing
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import anyio
import pytest

import bethink
from bethink.errors import BethinkError, DatabaseError, NotFoundError
from bethink.memory.access.record import AccessRecord
from bethink.memory.access.refs import RECORD_REFS, Refs
from bethink.model.access import AccessEntry, Caller, Interface, Scope, calling_as
from bethink.model.operations import OPERATIONS
from bethink.model.refs import Ref, RefKind
from bethink.store import access_log
from bethink.store.db import Database, Tx
from tests.conftest import FakeClock, memory_on
from tests.doors.server_kit import Served, serving

pytestmark = pytest.mark.anyio

NAMELESS = {
    "AccessEntry", "AddedFile", "Answer", "AnswerSentence", "Audit", "Author", "BlamedLine", "BlamedVersion",
    "Candidate", "ChangedFact", "Chunk", "ClaimedFact", "ContextBlock", "ContextEntry", "ContextLogEntry", "Correction",
    "Deletion", "Delivery", "DispatchResult", "DocumentDraft", "Erasure", "Event", "Excerpt", "FactEntry",
    "FailedAttempt", "FailedEvent", "Feedback", "Health", "JobDetail", "LearnReport", "LearningRules", "LegalHold",
    "LineFact", "Lineage", "LineageStep", "LineageWalk", "Maker", "Match", "MemoryTestResult", "Message", "NewKey",
    "NewWebhook", "OpenErasure", "OpenErasures", "OutlineEntry", "PersonDeletion", "PersonInSpace", "PersonItems",
    "PersonMatches", "Preview", "PreviewedClaim", "Processed", "Prompt", "PromptChunk", "QueuedEvent", "RecallResult",
    "RecalledItem", "RecordedAnswer", "RelearningCounts", "Remembered", "RetentionReport", "RetentionRule",
    "SettingEntry", "SettledClaim", "ShownMemory", "Signal", "SinkState", "SpaceDeletion", "SpaceInfo", "Spending",
    "State", "StateDiff", "StateOperation", "StepResult", "TokenUsage", "Transcript", "TranscriptRow", "Usage", "Use",
    "Version",
}  # fmt: skip
"""Records that name nothing themselves: what they hold does, or the request, or a ref among their fields."""


@pytest.fixture
async def memory(database: Database) -> AsyncIterator[bethink.Memory]:
    async with memory_on(database) as memory:
        yield memory


@pytest.fixture
async def served(target: str) -> AsyncIterator[Served]:
    async with serving(target) as served:
        yield served


async def entries(memory: bethink.Memory, **asked: Any) -> list[AccessEntry]:
    """Everything in the record but the looks at it."""
    found = (await memory.admin.access.list(limit=1_000, **asked)).items
    return [each for each in found if each.operation != "memory.admin.access.list"]


async def test_access_log_records_refs_of_reads_and_writes_not_text(memory: bethink.Memory) -> None:
    stored = await memory.space("alice").remember("the canary sings in Oslo")
    found = await memory.space("alice").recall("where does the canary sing?")

    read, written = await entries(memory)
    assert (read.operation, read.space, read.interface) == ("space.recall", "alice", Interface.LIBRARY)
    assert (written.operation, written.refs) == (
        "space.remember",
        (f"session:{stored.session.id}", str(stored.refs[0])),
    )
    assert found.items[0].ref in read.refs
    assert read.person
    assert "canary" not in repr((read, written))


async def test_call_that_fails_before_writing_is_not_logged(memory: bethink.Memory) -> None:
    with pytest.raises(NotFoundError):
        await memory.space("alice").facts.get("nothing")

    assert await entries(memory) == []


async def test_write_is_not_stored_without_its_access_log_entry(
    memory: bethink.Memory, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(tx: Tx, entry: object) -> None:
        del tx, entry
        raise DatabaseError("no room.")

    with monkeypatch.context() as patch:
        patch.setattr(access_log, "add", broken)
        with pytest.raises(DatabaseError):
            await memory.space("alice").remember("lost")

    assert [space.name for space in await memory.spaces.list()] == []


async def test_read_fails_if_it_cannot_be_logged(memory: bethink.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    await memory.space("alice").remember("figs")

    def broken(tx: Tx, entry: object) -> None:
        del tx, entry
        raise DatabaseError("no room.")

    monkeypatch.setattr(access_log, "add", broken)
    outcomes: list[object] = []

    async def ask() -> None:
        with pytest.raises(DatabaseError):
            await memory.space("alice").recall("figs")
        outcomes.append("refused")

    async with anyio.create_task_group() as tasks:  # also those that are recorded together with another
        for _ in range(5):
            tasks.start_soon(ask)
    assert len(outcomes) == 5


async def test_calls_at_the_same_time_are_each_recorded_once(memory: bethink.Memory) -> None:
    await memory.space("alice").remember("figs")

    async with anyio.create_task_group() as tasks:
        for _ in range(30):
            tasks.start_soon(memory.space("alice").recall, "figs")

    found = await entries(memory, operation="space.recall")
    assert len({each.id for each in found}) == len(found) == 30


async def test_an_entry_is_found_by_space_key_person_operation_ref_and_time(memory: bethink.Memory) -> None:
    alice, bob = memory.space("alice"), memory.space("bob")
    stored = await alice.remember([{"role": "user", "content": word} for word in ("one", "two", "three")])
    session = await alice.sessions.get(stored.session.id)
    with bethink.acting_for("kari"):
        await session.messages()
    await bob.remember("four")

    second = str(stored.refs[1])
    whole = f"message:{stored.session.id}:1-3"
    assert [each.refs[-1] for each in await entries(memory, operation="session.messages")] == [whole]
    assert [each.operation for each in await entries(memory, ref=second)] == ["session.messages", "space.remember"]
    assert await entries(memory, ref=f"message:{stored.session.id}:4") == []
    assert [each.space for each in await entries(memory, space="bob")] == ["bob"]
    assert [each.operation for each in await entries(memory, person="kari")] == ["session.messages"]
    assert await entries(memory, key="0123456789ab") == []
    oldest = (await entries(memory))[-1]
    assert oldest.id not in {each.id for each in await entries(memory, since=oldest.at + timedelta(microseconds=1))}
    assert [each.id for each in await entries(memory, until=oldest.at)] == [oldest.id]


async def test_access_pages_continue_even_if_a_filtered_page_is_empty(
    memory: bethink.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_log, "_MAX_SCANNED", 4)
    for name in ("rare", *["often"] * 9):
        await memory.space(name).remember("figs")

    seen: list[str] = []
    after, pages = "", 0
    with calling_as(Caller(interface=Interface.PROBE)):  # looking adds nothing
        while True:
            page = await memory.admin.access.list(
                operation="space.remember", space=None, key=None, limit=2, after=after
            )
            seen += [each.id for each in page.items]
            pages += 1
            if not page.next:
                break
            after = page.next
        assert len(seen) == len(set(seen)) == 10
        first = await memory.admin.access.list(person="nobody", limit=2)
        assert (first.items, first.next == "") == ((), False)


async def test_access_entries_expire_but_survive_deletion_of_space(database: Database, clock: FakeClock) -> None:
    record = AccessRecord(database, keep_days=10)

    async def nothing(space: str, request: object) -> None:
        del space, request

    operation = next(each for each in OPERATIONS if each.name == "space.facts.count")
    await record.around(operation, "alice", operation.request(), nothing)
    clock.time += timedelta(days=11)
    await AccessRecord(database, keep_days=10).around(operation, "bob", operation.request(), nothing)

    async with memory_on(database) as memory:
        assert [each.space for each in await entries(memory)] == ["bob"]
        await memory.space("carol").remember("figs")
        await memory.space("carol").forget(everything=True)
        assert [each.operation for each in await entries(memory, space="carol")] == ["space.forget", "space.remember"]


async def test_access_log_is_empty_if_disabled(target: str) -> None:
    async with bethink.connect(target, learn_in_background=False, access_log_days=0) as memory:
        await memory.space("alice").remember("figs")
        assert (await memory.admin.access.list()).items == ()


async def test_the_record_is_only_added_to(memory: bethink.Memory, database: Database) -> None:
    await memory.space("alice").remember("figs")

    with pytest.raises(BethinkError, match="only added to"):
        await database.transact(lambda tx: tx.script("UPDATE access_log SET person = 'somebody else'"))


async def test_server_call_is_logged_under_its_key_but_health_is_not(served: Served) -> None:
    reader = await served.key_for("read", spaces=["alice"])
    prefix = reader[3:15]
    await served.memory.space("alice").remember("figs")

    assert (await served("POST", "/v1/spaces/alice/recall", {"question": "figs"}, key=reader)).status == 200
    before = len(await entries(served.memory))
    assert (await served("GET", "/readyz")).status == 200
    assert (await served("GET", "/metrics")).status == 200
    assert len(await entries(served.memory)) == before
    (found,) = await entries(served.memory, key=prefix)
    assert (found.operation, found.interface, found.person) == ("space.recall", Interface.HTTP, "")
    refused = await served("GET", "/v1/access", key=reader)
    assert refused.status == 403
    operator = await served.key_for("operate")
    shown = (await served("GET", f"/v1/access?key={prefix}&operation=space.recall", key=operator)).json()
    assert [each["key"] for each in shown["items"]] == [prefix]


async def test_key_cannot_grant_more_than_it_has(served: Served) -> None:
    async def made(key: str, **body: Any) -> int:
        return (await served("POST", "/v1/keys", {"name": "n", **body}, key=key)).status

    keeper = await served.key_for("keys", "read")
    assert await made(keeper, scopes=["read"], spaces=["alice"]) == 201
    assert await made(keeper, scopes=["read", "erase"]) == 422
    assert await made(keeper, scopes=["operate"]) == 422
    assert await made(await served.key_for("keys", "operate"), scopes=["keys", "operate"]) == 201
    assert await made(await served.key_for("keys", "operate"), scopes=["read"]) == 422
    assert await made(await served.key_for("operate", "read"), scopes=["read"]) == 403

    eraser = await served.key_for("erase")
    rotated = await served("POST", f"/v1/keys/{eraser[3:15]}/rotate", {}, key=keeper)
    assert rotated.status == 422  # who rotates a key would get to know it

    ends = "2999-01-01T00:00:00Z"
    short = await served.memory.admin.keys.create("short", [Scope.KEYS, Scope.READ], expires_at=ends)
    assert await made(short.key, scopes=["read"]) == 422
    assert await made(short.key, scopes=["read"], expires_at="2999-06-01") == 422
    assert await made(short.key, scopes=["read"], expires_at="2998-06-01") == 201


async def test_wrong_keys_are_throttled_but_cached_keys_are_not(served: Served) -> None:
    wrong = "bt_000000000000." + "A" * 43
    assert (await served("GET", "/v1/keys")).status == 200

    statuses = [(await served("GET", "/v1/keys", key=wrong)).status for _ in range(40)]

    assert statuses == [401] * 30 + [429] * 10
    refused = await served("GET", "/v1/keys", key=wrong)
    assert int(refused.headers["retry-after"]) >= 1
    assert (await served("GET", "/v1/keys")).status == 200
    assert (await served("GET", "/v1/keys", key=await served.key_for("keys"))).status == 429


def test_every_returned_record_has_refs_or_is_listed_without() -> None:
    found: set[str] = set()

    def look(kind: Any) -> None:
        for each in (kind, *typing.get_args(kind)):
            name = getattr(each, "__name__", "")
            if dataclasses.is_dataclass(each) and name not in found:
                found.add(name)
                for hint in typing.get_type_hints(each).values():
                    look(hint)
            elif each is not kind:
                look(each)

    for operation in OPERATIONS:
        look(operation.result)
    assert found - RECORD_REFS.keys() - NAMELESS == {"SourceMessage", "Fact"} - RECORD_REFS.keys()
    assert not NAMELESS & RECORD_REFS.keys()


def test_messages_in_a_row_are_named_as_a_range() -> None:
    refs = Refs()
    refs.add([Ref(RefKind.MESSAGE, "ses", number) for number in (5, 1, 2, 3, 9)])
    refs.add(Ref(RefKind.FACT, "f", 2))

    assert refs.texts() == ["fact:f:2", "message:ses:1-3", "message:ses:5", "message:ses:9"]
