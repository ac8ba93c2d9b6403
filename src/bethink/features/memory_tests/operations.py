"""Operations on memory tests: add, list, remove and run."""

from dataclasses import replace
from typing import Annotated, Self

from bethink.base.frozen import frozen
from bethink.features.memory_tests.records import (
    DEFAULT_LIMIT,
    Expected,
    ItemLimit,
    MemoryTest,
    MemoryTestResult,
    Note,
    QuestionText,
    TestTags,
    check_test,
)
from bethink.model.access import Scope
from bethink.model.checks import Length, any_of
from bethink.model.ids import new_id
from bethink.model.operations.base import HandleClass, Limit, Name, Operation, Request, Retry, served_by
from bethink.model.operations.viewing import ViewRequest
from bethink.model.paging import Page
from bethink.model.refs import Ref, RefKind

READ, WRITE = Scope.READ, Scope.WRITE


@frozen
class AddTestRequest(ViewRequest):
    """A memory test to store."""

    question: QuestionText
    """Question to search for."""
    must: Expected = ()
    """Texts or refs that the first results must contain. Texts match in any case."""
    must_not: Expected = ()
    """Texts or refs that the first results must not contain."""
    limit: ItemLimit = DEFAULT_LIMIT
    """Number of results to check (default 5)."""
    kinds: tuple[RefKind, ...] = tuple(RefKind)
    """Kinds of memory to search (default: all)."""
    tags: TestTags = ()
    """Tags that items must all have."""
    note: Note = ""
    """Reason for the test."""
    about: Ref | None = None
    """Ref of a fact or document. Deleting its text also removes the test."""
    test_id: Name | None = None
    """Id of the test (default: a new id). A test with the same id is replaced."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", any_of("kinds", self.kinds, RefKind))
        Request.__post_init__(self)
        check_test(self.as_test())

    def repeatable(self) -> Self:
        """Return the request with an id for the test."""
        return self if self.test_id else replace(self, test_id=new_id("test"))

    def as_test(self) -> MemoryTest:
        """Return the test."""
        return MemoryTest(
            id=self.test_id or "",
            question=self.question,
            must=self.must,
            must_not=self.must_not,
            as_of=self.as_of,
            known_at=self.known_at,
            limit=self.limit,
            kinds=self.kinds,
            tags=self.tags,
            note=self.note,
            about=self.about,
        )


@frozen
class ListTestsRequest(Request):
    """A page of memory tests."""

    limit: Limit = 100
    """Maximum number of tests (default 100)."""
    after: str = ""
    """Cursor of the next page: the `next` of the previous page, or its last id."""


@frozen
class TestRequest(Request):
    """One memory test."""

    test_id: Name
    """Id of the test."""


@frozen
class RunTestsRequest(Request):
    """Memory tests to run: all tests of the space, some of them, or tests that are not stored."""

    only: Annotated[tuple[Name, ...], Length(1, 1_000)] | None = None
    """Ids of the tests to run (default: all)."""
    tests: Annotated[tuple[MemoryTest, ...], Length(1, 1_000)] | None = None
    """Tests to run instead of the stored ones. They are not stored."""

    def __post_init__(self) -> None:
        Request.__post_init__(self)
        for test in self.tests or ():
            check_test(test)


_TESTS = "/spaces/{space}/tests"
_NOT_FOUND = "NotFoundError: if the space has no such test."

ADD_TEST: Operation[AddTestRequest, MemoryTest] = Operation(
    "space.admin.tests.add", AddTestRequest, MemoryTest, f"POST {_TESTS}", WRITE, Retry.IDEMPOTENT,
    "Store a memory test and return it.",
    status=201,
)  # fmt: skip
LIST_TESTS: Operation[ListTestsRequest, Page[MemoryTest]] = Operation(
    "space.admin.tests.list", ListTestsRequest, Page[MemoryTest], f"GET {_TESTS}", READ, Retry.SAFE,
    "List the memory tests of the space, ordered by id.",
)  # fmt: skip
REMOVE_TEST: Operation[TestRequest, None] = Operation(
    "space.admin.tests.remove", TestRequest, None, f"DELETE {_TESTS}/{{test_id}}", WRITE, Retry.ONCE,
    "Remove a memory test.",
    status=204,
    raises=_NOT_FOUND,
)  # fmt: skip
RUN_TESTS: Operation[RunTestsRequest, list[MemoryTestResult]] = Operation(
    "space.admin.tests.run", RunTestsRequest, list[MemoryTestResult], f"POST {_TESTS}/run", READ, Retry.SAFE,
    "Run memory tests and return the result of each.",
    timed=False,
    raises=_NOT_FOUND,
    details="Only searches: no model is called, and nothing is added to the context log or marked as used.",
)  # fmt: skip

OPERATIONS = served_by("bethink.features.memory_tests.service", ADD_TEST, LIST_TESTS, REMOVE_TEST, RUN_TESTS)
HANDLES = (HandleClass(path="space.admin.tests", class_name="MemoryTests", summary="The memory tests of a space."),)
