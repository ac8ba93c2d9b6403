"""Memory tests: a question with `must` and `must_not`, judged by recall alone, on both databases."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bethink import Memory
from bethink.errors import InvalidRequestError, NotFoundError
from bethink.features.memory_tests.records import MemoryTestResult
from bethink.model.facts import SourceMessage
from bethink.store.db import Database
from bethink.types import MemoryTest, RefKind
from tests.conftest import FakeClock, memory_on
from tests.rooms.recall_kit import learnt, message, replace_fact, tell, user, with_vectors

HOME = "Where do I live?"


async def outcome(memory: Memory, question: str, **expected: Any) -> MemoryTestResult:
    """Run one test that is not stored."""
    [done] = await memory.space("alice").admin.tests.run(tests=[MemoryTest(question=question, **expected)])
    return done


async def test_memory_test_checks_must_and_must_not(memory: Memory) -> None:
    await tell(memory, "I live in Bergen.")

    right = await outcome(memory, HOME, must=["Bergen"], must_not=["Oslo"])
    wrong = await outcome(memory, HOME, must=["Oslo", "Bergen"], must_not=["Bergen", "Rome"])

    assert (right.passed, right.absent, right.unwanted) == (True, (), ())
    assert (wrong.passed, wrong.absent, wrong.unwanted) == (False, ("Oslo",), ("Bergen",))
    assert [item.text for item in wrong.items] == ["I live in Bergen."]


async def test_a_single_text_is_a_list_of_one(memory: Memory) -> None:
    added = await memory.space("alice").admin.tests.add(HOME, must="Bergen", must_not="Oslo")

    assert (added.must, added.must_not) == (("Bergen",), ("Oslo",))


@pytest.mark.parametrize("text", ["bergen", "LIVE  IN\n\tBergen", "I live in BERGEN, in der Strasse"])
async def test_neither_case_nor_spaces_matter(memory: Memory, text: str) -> None:
    await tell(memory, "I  live in\nBergen, in der Straße.")

    assert (await outcome(memory, HOME, must=[text])).passed
    assert not (await outcome(memory, HOME, must_not=[text])).passed


async def test_a_ref_matches_that_memory_and_no_other(memory: Memory) -> None:
    session = await tell(memory, "I live in Bergen.", "The harbour is wide.")
    first, second = message(session, 1), message(session, 2)

    assert (await outcome(memory, HOME, must=[first], must_not=[second])).passed
    assert not (await outcome(memory, HOME, must=[second])).passed
    assert not (await outcome(memory, HOME, must=[f"message:{session.id}:11"])).passed


async def test_memory_test_ignores_replaced_matches(memory: Memory, database: Database) -> None:
    oslo = await tell(memory, "I live in Oslo.")
    bergen = await tell(memory, "I have moved, so now I live in Bergen with my two cats.")
    await learnt(database, "old", "User lives in Oslo", SourceMessage(oslo.id, 1))
    await learnt(database, "new", "User lives in Bergen", SourceMessage(bergen.id, 1))
    assert (await outcome(memory, HOME, must=["Oslo", "Bergen"])).passed

    await replace_fact(database, "old", by="new")
    now = await outcome(memory, HOME, must=["Oslo"])

    assert now.absent == ("Oslo",)
    assert [(item.text, str(item.superseded_by)) for item in now.items[1:]] == [("I live in Oslo.", "fact:new:1")]
    assert (await outcome(memory, HOME, must=["Bergen"], must_not=["Oslo", message(oslo, 1)])).passed
    assert (await outcome(memory, HOME, must=[message(bergen, 1)])).passed, "the fact came back for it"


async def test_memory_test_question_supports_as_of(memory: Memory, clock: FakeClock) -> None:
    await tell(memory, "I live in Oslo.")
    before = clock()
    clock.time += timedelta(days=9)
    await tell(memory, "I live in Bergen.")

    then = await outcome(memory, HOME, must=["Oslo"], must_not=["Bergen"], as_of=before.date().isoformat())
    now = await outcome(memory, HOME, must=["Bergen"], must_not=["Oslo"])

    assert then.passed
    assert now.unwanted == ("Oslo",)


async def test_memory_test_applies_its_limit_and_filters(memory: Memory) -> None:
    await tell(memory, user("I live in Oslo in winter.", tags=("winter",)), "Where I live: in Bergen, I live there.")

    for narrowed in ({"limit": 1}, {"tags": ["winter"]}, {"kinds": ["message"], "tags": ["winter"]}):
        texts = [item.text for item in (await outcome(memory, HOME, must=["x"], **narrowed)).items]
        assert len(texts) == 1, narrowed
    assert (await outcome(memory, HOME, must=["Oslo"], must_not=["Bergen"], tags=["winter"])).passed
    assert not (await outcome(memory, HOME, must=["Oslo"], kinds=["fact"])).passed


async def test_memory_tests_are_stored_listed_replaced_and_removed(memory: Memory) -> None:
    tests = memory.space("alice").admin.tests
    await tell(memory, "I live in Bergen.")
    kept = await tests.add(
        HOME, must=["Bergen"], must_not=["Oslo"], as_of="2030-01-01", known_at="2031-01-01", limit=3,
        kinds=[RefKind.MESSAGE], tags=["home"], note="She moved.", about="fact:f1:2", test_id="home",
    )  # fmt: skip
    other = await tests.add("What is wide?", must_not=["harbour"])

    assert await tests.list() == [kept, other]
    assert kept.known_at is not None
    assert kept.known_at.year == 2031
    assert other.known_at is None
    assert await tests.list(limit=1, after="home") == [other]
    assert await memory.space("bob").admin.tests.list() == []
    assert (kept.about, kept.kinds, kept.created_at is not None) == ("fact:f1:2", (RefKind.MESSAGE,), True)

    again = await tests.add("And now?", must=["Bergen"], test_id="home")
    assert await tests.list() == [again, other]
    assert again == MemoryTest(id="home", question="And now?", must=("Bergen",), created_at=kept.created_at)

    await tests.remove("home")
    assert await tests.list() == [other]
    for missing in (tests.remove("home"), tests.run(only=["home"]), memory.space("bob").admin.tests.remove(other.id)):
        with pytest.raises(NotFoundError, match="No memory test"):
            await missing


async def test_memory_tests_run_all_some_or_unsaved_ones(memory: Memory) -> None:
    tests = memory.space("alice").admin.tests
    await tell(memory, "I live in Bergen.")
    one = await tests.add(HOME, must=["Bergen"], test_id="1")
    two = await tests.add(HOME, must=["Oslo"], test_id="2")

    assert [(each.test.id, each.passed) for each in await tests.run()] == [(one.id, True), (two.id, False)]
    assert [each.test for each in await tests.run(only=[two.id])] == [two]
    assert [each.passed for each in await tests.run(tests=[replace(two, id="", must=("Bergen",))])] == [True]
    assert await tests.list() == [one, two]
    assert await memory.space("empty").admin.tests.run() == []


async def test_a_test_shows_nothing_to_a_session_and_counts_nothing_as_used(memory: Memory) -> None:
    alice = memory.space("alice")
    session = await tell(memory, "I live in Bergen.")
    await alice.admin.tests.add(HOME, must=["Bergen"])

    await alice.admin.tests.run()

    assert await alice.admin.context_log.list() == []
    assert (await alice.explain(message(session, 1))).usage is None


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({}, "needs `must` or `must_not`"),
    ({"must": [" \n"]}, "empty text"),
    ({"must_not": [""]}, "length of 1"),
    ({"must": ["x"], "limit": 0}, "limit must be"),
    ({"must": ["x"], "kinds": ["fax"]}, "fax"),
    ({"must": ["x"], "kinds": []}, "kinds is empty"),
    ({"must": ["x"], "about": "message:ses_1:1"}, "must be a fact or a document"),
    ({"must": ["x"], "as_of": "soon"}, "soon"),
    ({"must": ["x"], "known_at": "soon"}, "soon"),
]


@pytest.mark.parametrize(("given", "why"), BROKEN, ids=[why for _, why in BROKEN])
async def test_a_test_that_could_not_fail_or_not_be_run_is_refused(
    memory: Memory, given: dict[str, Any], why: str
) -> None:
    with pytest.raises(InvalidRequestError, match=why):
        await memory.space("alice").admin.tests.add(HOME, **given)

    assert await memory.space("alice").admin.tests.list() == []


class Stars:
    """A redactor that knows one secret, and one word of which it leaves nothing."""

    def redact(self, text: str) -> str:
        return text.replace("hunter2", "[REDACTED]").replace("hush", "")


async def test_memory_test_redacts_secrets_and_still_matches(database: Database) -> None:
    memory = memory_on(database, redactor=Stars())
    await tell(memory, "My password for the harbour is hunter2.")

    kept = await memory.space("alice").admin.tests.add(
        "hunter2 for the harbour?", must=["is hunter2"], note="not hunter2"
    )

    assert "hunter2" not in repr(await memory.space("alice").admin.tests.list())
    [done] = await memory.space("alice").admin.tests.run()
    assert (done.test, done.passed) == (kept, True)
    with pytest.raises(InvalidRequestError, match="must has an empty text"):
        await memory.space("alice").admin.tests.add(HOME, must=["hush"])
    with pytest.raises(InvalidRequestError, match="question is empty"):
        await memory.space("alice").admin.tests.run(tests=[MemoryTest(question="hush", must=("Bergen",))])


QUESTIONS = [f"Who is in room {number}?" for number in range(45)]


@pytest.mark.parametrize("make", [memory_on, with_vectors], ids=["words", "vectors"])
async def test_many_tests_get_the_answers_that_recall_gives(database: Database, make: Callable[..., Memory]) -> None:
    memory = make(database)
    await tell(memory, *(f"Anna{number} is in room {number}." for number in range(45)))
    tests = [MemoryTest(question=each, must=(f"Anna{at} ",), limit=3) for at, each in enumerate(QUESTIONS)]

    done = await memory.space("alice").admin.tests.run(tests=tests)

    answers = [(await memory.space("alice").recall(each, limit=3)).items for each in QUESTIONS]
    assert [[item.ref for item in each.items] for each in done] == [[item.ref for item in each] for each in answers]
    assert all(each.passed for each in done)


async def cpu(work: Callable[[], Awaitable[object]]) -> float:
    begun = time.process_time()
    await work()
    return time.process_time() - begun


async def test_tests_cost_no_more_than_asking_their_questions(memory: Memory) -> None:
    await tell(memory, *(f"Anna{number} is in room {number}." for number in range(45)))
    alice = memory.space("alice")
    tests = [MemoryTest(question=each, must=("Anna",)) for each in QUESTIONS]

    async def ask() -> None:
        for each in QUESTIONS:
            await alice.recall(each, limit=5)

    ratios = [await cpu(lambda: alice.admin.tests.run(tests=tests)) / await cpu(ask) for _ in range(5)]

    assert min(ratios) < 1.1
