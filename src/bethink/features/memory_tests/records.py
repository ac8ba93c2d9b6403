"""Memory tests: a question with texts that must or must not be returned. Compares texts, without a model."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated

from bethink.base.frozen import converted_field, frozen
from bethink.errors import InvalidFieldError, InvalidRequestError
from bethink.model.checks import Between, Length, Printable, tuple_from
from bethink.model.facts import FactStatus
from bethink.model.moments import Moment, moment_or_none
from bethink.model.recall import Match
from bethink.model.records import MAX_TAGS
from bethink.model.refs import Ref, RefKind

DEFAULT_LIMIT = 5
"""Default number of results that a test checks."""

TestId = Annotated[str, Length(0, 200), Printable()]
QuestionText = Annotated[str, Length(1, 10_000)]
Expected = Annotated[tuple[Annotated[str, Length(1, 10_000)], ...], Length(0, 100)]
ItemLimit = Annotated[int, Between(1, 1_000)]
TestTags = Annotated[tuple[Annotated[str, Length(1, 200), Printable()], ...], Length(0, MAX_TAGS)]
Note = Annotated[str, Length(0, 10_000)]

_PAST = (FactStatus.REPLACED, FactStatus.CORRECTED, FactStatus.ENDED)
"""Statuses of memories that do not count as results."""


@frozen
class MemoryTest:
    """A question with texts that must or must not be among the first results of recall.

    An item of `must` and `must_not` is a text contained in a result, in any case and spacing, or a ref. Replaced
    memories do not count. `about` names the fact or document that the test was created from. The test is removed
    when that is deleted.
    """

    id: TestId = ""
    question: QuestionText
    must: Expected = ()
    must_not: Expected = ()
    as_of: Moment | None = converted_field(default=None, converter=moment_or_none)
    known_at: Moment | None = converted_field(default=None, converter=moment_or_none)
    limit: ItemLimit = DEFAULT_LIMIT
    kinds: tuple[RefKind, ...] = tuple(RefKind)
    tags: TestTags = ()
    note: Note = ""
    about: Ref | None = None
    created_at: Moment | None = converted_field(default=None, converter=moment_or_none)

    def __post_init__(self) -> None:
        for name in ("must", "must_not", "tags"):
            object.__setattr__(self, name, tuple_from(name, getattr(self, name)))
        for name in ("as_of", "known_at", "created_at"):
            object.__setattr__(self, name, moment_or_none(getattr(self, name)))
        object.__setattr__(self, "kinds", tuple(map(RefKind, tuple_from("kinds", self.kinds))))


@frozen
class RecalledItem:
    """One result of recall for a memory test. Replaced memories do not count."""

    ref: Ref
    text: str
    at: datetime
    superseded_by: Ref | None = None


@frozen
class MemoryTestResult:
    """The result of one memory test. `absent` lists missing texts, `unwanted` lists returned texts of `must_not`."""

    test: MemoryTest
    passed: bool
    absent: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    items: tuple[RecalledItem, ...] = ()


def check_test(test: MemoryTest) -> None:
    """Raise `InvalidRequestError` for a test that cannot fail, cannot pass, or refers to a kind without versions."""
    if not test.question.strip():
        raise InvalidFieldError("question", "is empty.", hint="Write a question.")
    if not test.must and not test.must_not:
        raise InvalidRequestError(
            "A memory test needs `must` or `must_not`.",
            hint="Pass a text that results must contain, or must not contain.",
        )
    for name in ("must", "must_not"):
        if not all(text.strip() for text in getattr(test, name)):
            raise InvalidFieldError(name, "has an empty text, which every result contains.", hint="Remove it.")
    if not test.kinds:
        raise InvalidFieldError("kinds", "is empty.", hint="Omit `kinds` to search all kinds.")
    if test.about is not None and test.about.kind not in (RefKind.FACT, RefKind.DOCUMENT):
        raise InvalidFieldError("about", "must be a fact or a document.", hint="Use the form fact:ID:VERSION.")


def judge(test: MemoryTest, items: Sequence[Match]) -> MemoryTestResult:
    """Compare the results of recall with the expectations of a test."""
    current = [item for item in items if item.replaced_by is None and item.status not in _PAST]
    texts = [normalize(item.text) for item in current]
    refs = {ref for item in current for ref in (item.ref, *item.duplicates)}

    def was_returned(expected: str) -> bool:
        ref = _ref(expected)
        return ref in refs if ref is not None else is_contained(expected, texts)

    absent = tuple(text for text in test.must if not was_returned(text))
    unwanted = tuple(text for text in test.must_not if was_returned(text))
    return MemoryTestResult(
        test=test,
        passed=not absent and not unwanted,
        absent=absent,
        unwanted=unwanted,
        items=tuple(
            RecalledItem(ref=item.ref, text=item.text, at=item.said_at, superseded_by=item.replaced_by)
            for item in items
        ),
    )


def normalize(text: str) -> str:
    """Return a text for comparison: case-folded, with single spaces."""
    return " ".join(text.casefold().split())


def is_contained(expected: str, texts: Iterable[str]) -> bool:
    """Return whether any of the normalized texts contains a text."""
    needle = normalize(expected)
    return any(needle in text for text in texts)


def expected_texts(test: MemoryTest) -> list[str]:
    """Return the expected and forbidden texts of a test, without refs."""
    return [text for text in (*test.must, *test.must_not) if _ref(text) is None]


def _ref(expected: str) -> Ref | None:
    try:
        return Ref.parse(expected)
    except InvalidRequestError:
        return None
