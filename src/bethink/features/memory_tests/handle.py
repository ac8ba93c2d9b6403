"""The memory tests of a space.

Written by tools/make_api.py from the table of operations; change a request there and run it again.
"""

from collections.abc import Iterable

from bethink.api.handles import Handle, tuple_of
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
from bethink.features.memory_tests.records import MemoryTest, MemoryTestResult
from bethink.model.moments import When, moment
from bethink.model.recall import Ref, RefKind


class MemoryTests(Handle):
    """The memory tests of a space."""

    async def add(
        self,
        question: str,
        *,
        must: Iterable[str] = (),
        must_not: Iterable[str] = (),
        as_of: When | None = None,
        limit: int = 5,
        kinds: Iterable[RefKind] = tuple(RefKind),
        tags: Iterable[str] = (),
        note: str = "",
        about: Ref | str | None = None,
        test_id: str | None = None,
    ) -> MemoryTest:
        """Keep a memory test and return it as stored.

        Args:
            question: The question, in plain words.
            must: Texts or refs that must be among the first items. A text counts if an item contains it, in any
                case.
            must_not: Texts or refs that must not be among them.
            as_of: Ask what was known at this time. A day means its end.
            limit: How many items to look at.
            kinds: Which kinds of memory to ask.
            tags: Ask only what has all of these tags.
            note: Why the test is there.
            about: The fact or document that it was made from. When the text of that is forgotten, the test is
                removed.
            test_id: A name for the test. One with the same name is replaced.
        """
        return await self._run(
            ADD_TEST,
            AddTestRequest(
                question=question,
                must=tuple_of(must),
                must_not=tuple_of(must_not),
                as_of=None if as_of is None else moment(as_of),
                limit=limit,
                kinds=tuple_of(kinds),
                tags=tuple_of(tags),
                note=note,
                about=None if about is None else Ref.read(about),
                test_id=test_id,
            ),
        )

    async def all(self, *, limit: int = 100, after: str = "") -> list[MemoryTest]:
        """List the memory tests of the space, ordered by id.

        Args:
            limit: How many tests to return at most.
            after: Only tests that follow this one: the last id of the previous page.
        """
        return await self._run(LIST_TESTS, ListTestsRequest(limit=limit, after=after))

    async def remove(self, test_id: str) -> None:
        """Remove a memory test.

        Args:
            test_id: The test.

        Raises:
            NotFound: if the space has no such test.
        """
        return await self._run(REMOVE_TEST, TestRequest(test_id=test_id))

    async def run(
        self, *, only: Iterable[str] | None = None, tests: Iterable[MemoryTest] | None = None
    ) -> list[MemoryTestResult]:
        """Ask the question of each memory test, and compare what comes back with what must and must not.

        It only recalls: no language model is called, and nothing goes into the ledger or counts as used.

        Args:
            only: Only the tests with these ids.
            tests: Run these instead of those that the space keeps. They are not stored.

        Raises:
            NotFound: if the space has no such test.
        """
        return await self._run(
            RUN_TESTS,
            RunTestsRequest(
                only=None if only is None else tuple_of(only), tests=None if tests is None else tuple_of(tests)
            ),
        )
