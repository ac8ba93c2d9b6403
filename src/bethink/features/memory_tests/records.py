"""Memory tests: a question, and what must or must not come back. Judged by comparing texts, without a model."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated

from bethink.base.frozen import frozen
from bethink.errors import Invalid
from bethink.model.checks import Between, InvalidField, Length, Printable, tuple_from
from bethink.model.moments import Moment, moment_or_none
from bethink.model.recall import Recalled, Ref, RefKind
from bethink.model.records import MAX_TAGS

FIRST = 5
"""How many items of an answer a test looks at, unless it says otherwise."""

TestId = Annotated[str, Length(0, 200), Printable()]
Asked = Annotated[str, Length(1, 10_000)]
Expected = Annotated[tuple[Annotated[str, Length(1, 10_000)], ...], Length(0, 100)]
Among = Annotated[int, Between(1, 1_000)]
TestTags = Annotated[tuple[Annotated[str, Length(1, 200), Printable()], ...], Length(0, MAX_TAGS)]
Note = Annotated[str, Length(0, 10_000)]


@frozen
class MemoryTest:
    """A question with what must, and what must not, be among the first items that recall returns.

    An item of `must` and `must_not` is a text that an answer contains, in any case and spacing, or a ref. What is
    marked as superseded does not count as coming back. `about` names the fact or document that the test was made from:
    the test is removed when the text of that is forgotten.
    """

    id: TestId = ""
    question: Asked
    must: Expected = ()
    must_not: Expected = ()
    as_of: Moment | None = None
    limit: Among = FIRST
    kinds: tuple[RefKind, ...] = tuple(RefKind)
    tags: TestTags = ()
    note: Note = ""
    about: Ref | None = None
    created_at: Moment | None = None

    def __post_init__(self) -> None:
        for name in ("must", "must_not", "tags"):
            object.__setattr__(self, name, tuple_from(name, getattr(self, name)))
        for name in ("as_of", "created_at"):
            object.__setattr__(self, name, moment_or_none(getattr(self, name)))
        object.__setattr__(self, "kinds", tuple(map(RefKind, tuple_from("kinds", self.kinds))))


@frozen
class CameBack:
    """One item that recall returned for a memory test. What is superseded does not count as coming back."""

    ref: Ref
    text: str
    at: datetime
    superseded_by: Ref | None = None


@frozen
class MemoryTestResult:
    """How one memory test went. `absent` did not come back and should have, `unwanted` did and should not have."""

    test: MemoryTest
    passed: bool
    absent: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    items: tuple[CameBack, ...] = ()


def check_test(test: MemoryTest) -> None:
    """Raise `Invalid` for a test that could not fail, could not pass, or is about something that has no versions."""
    if not test.question.strip():
        raise InvalidField("question", "is empty.", hint="Write what you would ask.")
    if not test.must and not test.must_not:
        raise Invalid("a memory test expects nothing.", hint="Give a text for must or must_not.")
    for name in ("must", "must_not"):
        if not all(each.strip() for each in getattr(test, name)):
            raise InvalidField(name, "has an empty text, which every answer contains.", hint="Leave it out.")
    if not test.kinds:
        raise InvalidField("kinds", "is empty.", hint="Leave it out to ask all kinds of memory.")
    if test.about is not None and test.about.kind not in (RefKind.FACT, RefKind.DOCUMENT):
        raise InvalidField("about", "must name a fact or a document.", hint="Write fact:ID:VERSION.")


def judged(test: MemoryTest, items: Sequence[Recalled]) -> MemoryTestResult:
    """Compare what recall returned with what a test expects."""
    standing = [item for item in items if item.superseded_by is None]
    texts = [normalised(item.text) for item in standing]
    refs = {ref for item in standing for ref in (item.ref, *item.also)}

    def came_back(expected: str) -> bool:
        ref = _ref(expected)
        return ref in refs if ref is not None else contained(expected, texts)

    absent = tuple(each for each in test.must if not came_back(each))
    unwanted = tuple(each for each in test.must_not if came_back(each))
    return MemoryTestResult(
        test=test,
        passed=not absent and not unwanted,
        absent=absent,
        unwanted=unwanted,
        items=tuple(
            CameBack(ref=item.ref, text=item.text, at=item.at, superseded_by=item.superseded_by) for item in items
        ),
    )


def normalised(text: str) -> str:
    """Return a text as it is compared: without case, and with single spaces."""
    return " ".join(text.casefold().split())


def contained(expected: str, texts: Iterable[str]) -> bool:
    """Return whether one of some normalised texts contains a text."""
    wanted = normalised(expected)
    return any(wanted in text for text in texts)


def expected_texts(test: MemoryTest) -> list[str]:
    """Return what a test expects or refuses that is a text, and not a ref."""
    return [each for each in (*test.must, *test.must_not) if _ref(each) is None]


def _ref(expected: str) -> Ref | None:
    try:
        return Ref.parse(expected)
    except Invalid:
        return None
