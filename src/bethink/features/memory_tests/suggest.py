"""Suggests a memory test for a correction: recall must return the new text, and must not return the old one."""

from bethink.base.frozen import frozen

_MAX_LINES = 20
"""Maximum number of changed lines in a test."""
_MAX_LENGTH = 10_000


@frozen
class Suggestion:
    """A memory test suggested for a correction."""

    question: str
    must: tuple[str, ...]
    must_not: tuple[str, ...]


def suggest_test(before: str, after: str, question: str | None = None) -> Suggestion | None:
    """Return a test for a correction, or None if the texts do not differ enough.

    Without a question, the test uses the words that the old and the new text share.
    """
    from bethink.features.memory_tests.records import is_contained, normalize  # noqa: PLC0415 - for a quick --help

    old, new = _lines(before), _lines(after)
    added = [line for line in new if not is_contained(line, [normalize(before)])][:_MAX_LINES]
    # Lines that the new text still contains would be returned with it.
    removed = [line for line in old if not is_contained(line, [normalize(after)])][:_MAX_LINES]
    if not added and not removed:
        return None
    removed_words = set(normalize(" ".join(removed)).split())
    shared = [word for line in added for word in line.split() if word.casefold() in removed_words]
    test_question = question or (" ".join(shared) if len(shared) > 1 else (added or removed)[0])
    return Suggestion(question=test_question[:_MAX_LENGTH], must=tuple(added), must_not=tuple(removed))


def _lines(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if line and len(line) <= _MAX_LENGTH))
