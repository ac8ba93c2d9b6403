"""The verbs of memory tests: add, list, remove and run them."""

from dataclasses import replace
from typing import Annotated, Self

from bethink.base.frozen import frozen
from bethink.features.memory_tests.records import (
    FIRST,
    Among,
    Asked,
    Expected,
    MemoryTest,
    MemoryTestResult,
    Note,
    TestTags,
    check_test,
)
from bethink.model.access import Scope
from bethink.model.checks import Length, any_of
from bethink.model.ids import new_id
from bethink.model.moments import Moment
from bethink.model.operations.base import HandleClass, Limit, Name, Request, Retry, Verb, served_by
from bethink.model.recall import Ref, RefKind

READ, WRITE = Scope.READ, Scope.WRITE


@frozen
class AddTestRequest(Request):
    """A memory test to keep."""

    question: Asked
    """The question, in plain words."""
    must: Expected = ()
    """Texts or refs that must be among the first items. A text counts if an item contains it, in any case."""
    must_not: Expected = ()
    """Texts or refs that must not be among them."""
    as_of: Moment | None = None
    """Ask what was known at this time. A day means its end."""
    limit: Among = FIRST
    """How many items to look at."""
    kinds: tuple[RefKind, ...] = tuple(RefKind)
    """Which kinds of memory to ask."""
    tags: TestTags = ()
    """Ask only what has all of these tags."""
    note: Note = ""
    """Why the test is there."""
    about: Ref | None = None
    """The fact or document that it was made from. When the text of that is forgotten, the test is removed."""
    test_id: Name | None = None
    """A name for the test. One with the same name is replaced."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", any_of("kinds", self.kinds, RefKind))
        Request.__post_init__(self)
        check_test(self.as_test())

    def repeatable(self) -> Self:
        """Return it with an id of its own."""
        return self if self.test_id else replace(self, test_id=new_id("test"))

    def as_test(self) -> MemoryTest:
        """Return the test that it describes."""
        return MemoryTest(
            id=self.test_id or "",
            question=self.question,
            must=self.must,
            must_not=self.must_not,
            as_of=self.as_of,
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
    """How many tests to return at most."""
    after: str = ""
    """Only tests that follow this one: the last id of the previous page."""


@frozen
class TestRequest(Request):
    """One memory test."""

    test_id: Name
    """The test."""


@frozen
class RunTestsRequest(Request):
    """Which memory tests to run: all that the space keeps, some of them, or others that are only passed."""

    only: Annotated[tuple[Name, ...], Length(1, 1_000)] | None = None
    """Only the tests with these ids."""
    tests: Annotated[tuple[MemoryTest, ...], Length(1, 1_000)] | None = None
    """Run these instead of those that the space keeps. They are not stored."""

    def __post_init__(self) -> None:
        Request.__post_init__(self)
        for test in self.tests or ():
            check_test(test)


_TESTS = "/spaces/{space}/tests"
_MISSING = "NotFound: if the space has no such test."

ADD_TEST: Verb[AddTestRequest, MemoryTest] = Verb(
    "tests.add", AddTestRequest, MemoryTest, f"POST {_TESTS}", WRITE, Retry.IDEMPOTENT,
    "Keep a memory test and return it as stored.",
    status=201,
)  # fmt: skip
LIST_TESTS: Verb[ListTestsRequest, list[MemoryTest]] = Verb(
    "tests.all", ListTestsRequest, list[MemoryTest], f"GET {_TESTS}", READ, Retry.SAFE,
    "List the memory tests of the space, ordered by id.",
)  # fmt: skip
REMOVE_TEST: Verb[TestRequest, None] = Verb(
    "tests.remove", TestRequest, None, f"DELETE {_TESTS}/{{test_id}}", WRITE, Retry.ONCE,
    "Remove a memory test.",
    status=204,
    raises=_MISSING,
)  # fmt: skip
RUN_TESTS: Verb[RunTestsRequest, list[MemoryTestResult]] = Verb(
    "tests.run", RunTestsRequest, list[MemoryTestResult], f"POST {_TESTS}/run", READ, Retry.SAFE,
    "Ask the question of each memory test, and compare what comes back with what must and must not.",
    timed=False,
    raises=_MISSING,
    details="It only recalls: no language model is called, and nothing goes into the ledger or counts as used.",
)  # fmt: skip

VERBS = served_by("bethink.features.memory_tests.service", ADD_TEST, LIST_TESTS, REMOVE_TEST, RUN_TESTS)
HANDLE = HandleClass(name="tests", class_name="MemoryTests", parent="space", summary="The memory tests of a space.")
