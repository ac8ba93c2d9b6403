"""Keeps a secret that two passages share in one: cut apart, neither half might look like one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bethink.extend import Redactor
from bethink.features.files.passages import FilePassage
from bethink.model.framing import text_cleaner


class RedactedOnce:
    """A redactor that keeps what it made of each text: a passage is looked at here, and again when it is stored."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._known: dict[str, str] = {}

    def redact(self, text: str) -> str:
        """Return a text without its secrets."""
        if text not in self._known:
            self._known[text] = self._redactor.redact(text)
        return self._known[text]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._redactor, name)


def kept_together(text: str, passages: Sequence[FilePassage], redactor: Redactor) -> list[FilePassage]:
    """Join neighbours until redacting them one by one leaves the same as redacting the whole text.

    So what is stored of a file never has more of a secret than the file as one message would have. White space does
    not count.
    """
    if not passages:
        return []
    joining = _Joining(text, passages, redactor)
    done: list[tuple[int, int]] = []
    """What is settled: the first of the passages that were joined, and where it begins in the redacted text."""
    first = at = 0
    back = 1
    while first < len(passages):
        count = joining.needed(first, at)
        if count:
            done.append((first, at))
            at = joining.end_of(first, count, at)
            first += count
        elif not done:
            return [replace(passages[0], end=passages[-1].end)]
        else:  # what comes before it says that it is a secret
            first, at = done[-min(back, len(done))]
            del done[-min(back, len(done)) :]
            passages = [*passages[:first], replace(passages[first], end=passages[-1].end)]
            joining = _Joining(text, passages, redactor)
            back *= 2
    starts = [first for first, _ in done]
    return [
        replace(passages[start], end=passages[following - 1].end)
        for start, following in zip(starts, [*starts[1:], len(passages)], strict=True)
    ]


class _Joining:
    def __init__(self, text: str, passages: Sequence[FilePassage], redactor: Redactor) -> None:
        self._text = text
        self._passages = passages
        self._clean = text_cleaner(redactor.redact)
        self._whole = self._cut(0, len(text))

    def needed(self, first: int, at: int) -> int:
        """Return how many passages from one on are to be joined, as few as will do; 0 if all that are left will not."""
        left = len(self._passages) - first
        count = before = 1
        while not self._fits(first, count, at):
            if count == left:
                return 0
            before, count = count + 1, min(count * 2, left)
        while before < count:
            middle = (before + count) // 2
            before, count = (before, middle) if self._fits(first, middle, at) else (middle + 1, count)
        return count

    def end_of(self, first: int, count: int, at: int) -> int:
        """Return where joined passages end in the redacted text."""
        return at + len(self._joined(first, count))

    def _fits(self, first: int, count: int, at: int) -> bool:
        """Return whether the redacted text has what is left of the joined passages, and of the one after them."""
        found, following = self._joined(first, count), first + count
        if not self._whole.startswith(found, at):
            return False
        if following == len(self._passages):
            return at + len(found) == len(self._whole)
        return self._whole.startswith(self._joined(following, 1), at + len(found))

    def _joined(self, first: int, count: int) -> str:
        return self._cut(self._passages[first].start, self._passages[first + count - 1].end)

    def _cut(self, start: int, end: int) -> str:
        return "".join(self._clean(self._text[start:end]).split())
