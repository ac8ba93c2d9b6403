"""Carries out the verbs of memory tests: each question is recalled, and what comes back is compared."""

from collections.abc import Callable
from dataclasses import replace
from typing import Self

from bethink.errors import NotFound
from bethink.extend import Redactor
from bethink.features.memory_tests import queries as rows
from bethink.features.memory_tests.operations import (
    ADD_TEST,
    LIST_TESTS,
    REMOVE_TEST,
    RUN_TESTS,
    AddTestRequest,
    ListTestsRequest,
    RunTestsRequest,
    TestRequest,
)
from bethink.features.memory_tests.records import MemoryTest, MemoryTestResult, check_test, judged
from bethink.memory.recall.search import Searcher
from bethink.memory.registry import Host, handles
from bethink.model.framing import text_cleaner
from bethink.model.ids import new_id
from bethink.model.operations.memory import RecallRequest
from bethink.store.db import Database, Tx


class MemoryTestService:
    """The memory tests of every space in one database."""

    def __init__(self, database: Database, *, searcher: Callable[[], Searcher], redactor: Redactor) -> None:
        self._database = database
        self._searcher = searcher
        self._cut = text_cleaner(redactor.redact)

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.database, searcher=host.searcher, redactor=host.redactor)

    @handles(ADD_TEST)
    async def add(self, space: str, request: AddTestRequest) -> MemoryTest:
        """Store a test, redacted. One with the same id is replaced."""
        test = self._cut_all(replace(request.as_test(), id=request.test_id or new_id("test")))

        def body(tx: Tx) -> MemoryTest:
            rows.put(tx, test, space=space)
            return _found(tx, space, test.id)

        return await self._database.transact(body, space=space, repeatable=True)

    @handles(LIST_TESTS)
    async def all(self, space: str, request: ListTestsRequest) -> list[MemoryTest]:
        """List tests, ordered by id."""
        return await self._database.transact(
            lambda tx: rows.page(tx, space=space, limit=request.limit, after=request.after),
            space=space,
            read=True,
        )

    @handles(REMOVE_TEST)
    async def remove(self, space: str, request: TestRequest) -> None:
        """Remove a test."""

        def body(tx: Tx) -> None:
            if not rows.remove(tx, space=space, test_id=request.test_id):
                raise _missing(space, request.test_id)

        await self._database.transact(body, space=space)

    @handles(RUN_TESTS)
    async def run(self, space: str, request: RunTestsRequest) -> list[MemoryTestResult]:
        """Ask the question of each test, and compare. The ledger records nothing: a test shows memory to no session."""
        if request.tests is not None:
            tests = [self._cut_all(each) for each in request.tests]
        else:
            tests = await self._database.transact(lambda tx: _chosen(tx, space, request), space=space, read=True)
        found = await self._searcher().answer_each(space, [_question(each) for each in tests])
        return [judged(test, answer.items) for test, answer in zip(tests, found, strict=True)]

    def _cut_all(self, test: MemoryTest) -> MemoryTest:
        # What is stored was redacted the same way, so a test that names a secret still finds its mark there.
        cut = self._cut
        kept = replace(
            test,
            question=cut(test.question),
            must=tuple(map(cut, test.must)),
            must_not=tuple(map(cut, test.must_not)),
            tags=tuple(map(cut, test.tags)),
            note=cut(test.note),
        )
        check_test(kept)  # of a text that was private or recalled, nothing may be left
        return kept


def _question(test: MemoryTest) -> RecallRequest:
    return RecallRequest(question=test.question, as_of=test.as_of, limit=test.limit, kinds=test.kinds, tags=test.tags)


def _chosen(tx: Tx, space: str, request: RunTestsRequest) -> list[MemoryTest]:
    if request.only is None:
        return rows.page(tx, space=space)
    return [_found(tx, space, each) for each in request.only]


def _found(tx: Tx, space: str, test_id: str) -> MemoryTest:
    found = rows.find(tx, space=space, test_id=test_id)
    if found is None:
        raise _missing(space, test_id)
    return found


def _missing(space: str, test_id: str) -> NotFound:
    return NotFound(f"no memory test {test_id!r} in space {space!r}.", hint="List the tests to see their ids.")
