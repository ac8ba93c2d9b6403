"""Makes a memory test of a correction: what the new text says must come back, and what the old one said must not."""

from bethink.base.frozen import frozen

_MOST = 20
"""How many changed lines a test is made of."""
_LONGEST = 10_000


@frozen
class Suggestion:
    """A memory test that follows from a correction."""

    question: str
    must: tuple[str, ...]
    must_not: tuple[str, ...]


def suggestion(before: str, after: str, question: str | None = None) -> Suggestion | None:
    """Return the test of a correction; None if nothing in it could come back or stay away.

    Unless a question is given, it is the words that the old and the new text share: they ask for what has changed.
    """
    from bethink.features.memory_tests.records import contained, normalised  # noqa: PLC0415 - for a quick --help

    old, new = _lines(before), _lines(after)
    added = [line for line in new if not contained(line, [normalised(before)])][:_MOST]
    # What the new text still says would come back with it.
    removed = [line for line in old if not contained(line, [normalised(after)])][:_MOST]
    if not added and not removed:
        return None
    known = set(normalised(" ".join(removed)).split())
    shared = [word for line in added for word in line.split() if word.casefold() in known]
    asked = question or (" ".join(shared) if len(shared) > 1 else (added or removed)[0])
    return Suggestion(question=asked[:_LONGEST], must=tuple(added), must_not=tuple(removed))


def _lines(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if line and len(line) <= _LONGEST))
