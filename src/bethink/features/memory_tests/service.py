"""Handles memory test operations: recalls each question and compares the results."""

from collections.abc import Callable
from dataclasses import replace
from typing import Self

from bethink.errors import NotFoundError
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
from bethink.features.memory_tests.records import MemoryTest, MemoryTestResult, check_test, judge
from bethink.memory.recall.search import Searcher
from bethink.memory.registry import Host, handles
from bethink.model.framing import text_cleaner
from bethink.model.ids import new_id
from bethink.model.operations.memory import RecallRequest
from bethink.model.paging import Page, page_of
from bethink.store.db import Database, Tx


class MemoryTestService:
    """Manages and runs the memory tests of all spaces in one database."""

    def __init__(self, database: Database, *, searcher: Callable[[], Searcher], redactor: Redactor) -> None:
        self._database = database
        self._searcher = searcher
        self._redact = text_cleaner(redactor.redact)

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Build the service from an open memory."""
        return cls(host.database, searcher=host.searcher, redactor=host.redactor)

    @handles(ADD_TEST)
    async def add(self, space: str, request: AddTestRequest) -> MemoryTest:
        """Store a test, redacted. One with the same id is replaced."""
        test = self._redact_all(replace(request.as_test(), id=request.test_id or new_id("test")))

        def body(tx: Tx) -> MemoryTest:
            rows.put(tx, test, space=space)
            return _get_test(tx, space, test.id)

        return await self._database.transact(body, space=space, repeatable=True)

    @handles(LIST_TESTS)
    async def list_tests(self, space: str, request: ListTestsRequest) -> Page[MemoryTest]:
        """List tests, ordered by id."""
        tests = await self._database.transact(
            lambda tx: rows.page(tx, space=space, limit=request.limit + 1, after=request.after),
            space=space,
            read_only=True,
        )
        return page_of(tests, request.limit, lambda test: test.id)

    @handles(REMOVE_TEST)
    async def remove(self, space: str, request: TestRequest) -> None:
        """Remove a test."""

        def body(tx: Tx) -> None:
            if not rows.remove(tx, space=space, test_id=request.test_id):
                raise _not_found(space, request.test_id)

        await self._database.transact(body, space=space)

    @handles(RUN_TESTS)
    async def run(self, space: str, request: RunTestsRequest) -> list[MemoryTestResult]:
        """Recall the question of each test and compare. Tests are not recorded in the context log."""
        if request.tests is not None:
            tests = [self._redact_all(item) for item in request.tests]
        else:
            tests = await self._database.transact(
                lambda tx: _select_tests(tx, space, request), space=space, read_only=True
            )
        results = await self._searcher().answer_all(space, [_question(item) for item in tests])
        return [judge(test, answer.items) for test, answer in zip(tests, results, strict=True)]

    def _redact_all(self, test: MemoryTest) -> MemoryTest:
        # Stored texts were redacted the same way, so a test that contains a secret still matches its placeholder.
        redact = self._redact
        redacted = replace(
            test,
            question=redact(test.question),
            must=tuple(map(redact, test.must)),
            must_not=tuple(map(redact, test.must_not)),
            tags=tuple(map(redact, test.tags)),
            note=redact(test.note),
        )
        check_test(redacted)  # redaction may have emptied a text
        return redacted


def _question(test: MemoryTest) -> RecallRequest:
    return RecallRequest(
        question=test.question,
        as_of=test.as_of,
        known_at=test.known_at,
        limit=test.limit,
        kinds=test.kinds,
        tags=test.tags,
    )


def _select_tests(tx: Tx, space: str, request: RunTestsRequest) -> list[MemoryTest]:
    if request.only is None:
        return rows.page(tx, space=space)
    return [_get_test(tx, space, test_id) for test_id in request.only]


def _get_test(tx: Tx, space: str, test_id: str) -> MemoryTest:
    test = rows.find(tx, space=space, test_id=test_id)
    if test is None:
        raise _not_found(space, test_id)
    return test


def _not_found(space: str, test_id: str) -> NotFoundError:
    return NotFoundError(f"No memory test {test_id!r} in space {space!r}.", hint="List the tests to see their ids.")
