"""Keeps a secret within one passage: split in two, neither half might be recognized."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bethink.extend import Redactor
from bethink.features.files.passages import FilePassage
from bethink.model.framing import text_cleaner


class CachingRedactor:
    """A redactor with a cache: each passage is redacted here, and again when it is stored."""

    def __init__(self, redactor: Redactor, pause: Callable[[], None]) -> None:
        self._redactor = redactor
        self._pause = pause
        self._cache: dict[str, str] = {}

    def redact(self, text: str) -> str:
        """Return a text without secrets."""
        if text not in self._cache:
            self._cache[text] = self._redactor.redact(text)
            self._pause()
        return self._cache[text]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._redactor, name)


def join_split_secrets(text: str, passages: Sequence[FilePassage], redactor: Redactor) -> list[FilePassage]:
    """Join adjacent passages until redacting each one gives the same result as redacting the whole text.

    Stored passages therefore never reveal more of a secret than the file stored as one message. White space is
    ignored.
    """
    if not passages:
        return []
    joining = _Joiner(text, passages, redactor)
    done: list[tuple[int, int]] = []
    """Finished groups: index of the first joined passage, and its start in the redacted text."""
    first = at = 0
    back = 1
    while first < len(passages):
        count = joining.count_to_join(first, at)
        if count:
            done.append((first, at))
            at = joining.end_of(first, count, at)
            first += count
        elif not done:
            return [replace(passages[0], end=passages[-1].end)]
        else:  # the text before it marks it as a secret
            first, at = done[-min(back, len(done))]
            del done[-min(back, len(done)) :]
            passages = [*passages[:first], replace(passages[first], end=passages[-1].end)]
            joining = _Joiner(text, passages, redactor)
            back *= 2
    starts = [first for first, _ in done]
    return [
        replace(passages[start], end=passages[following - 1].end)
        for start, following in zip(starts, [*starts[1:], len(passages)], strict=True)
    ]


class _Joiner:
    def __init__(self, text: str, passages: Sequence[FilePassage], redactor: Redactor) -> None:
        self._text = text
        self._passages = passages
        self._clean = text_cleaner(redactor.redact)
        self._redacted = self._cut(0, len(text))

    def count_to_join(self, first: int, at: int) -> int:
        """Return the smallest number of passages to join from `first` on, or 0 if joining all is not enough."""
        remaining = len(self._passages) - first
        count = before = 1
        while not self._fits(first, count, at):
            if count == remaining:
                return 0
            before, count = count + 1, min(count * 2, remaining)
        while before < count:
            middle = (before + count) // 2
            before, count = (before, middle) if self._fits(first, middle, at) else (middle + 1, count)
        return count

    def end_of(self, first: int, count: int, at: int) -> int:
        """Return the end of joined passages in the redacted text."""
        return at + len(self._joined_text(first, count))

    def _fits(self, first: int, count: int, at: int) -> bool:
        """Return whether the redacted text contains the redacted joined passages and the one after them."""
        joined, following = self._joined_text(first, count), first + count
        if not self._redacted.startswith(joined, at):
            return False
        if following == len(self._passages):
            return at + len(joined) == len(self._redacted)
        return self._redacted.startswith(self._joined_text(following, 1), at + len(joined))

    def _joined_text(self, first: int, count: int) -> str:
        return self._cut(self._passages[first].start, self._passages[first + count - 1].end)

    def _cut(self, start: int, end: int) -> str:
        return "".join(self._clean(self._text[start:end]).split())
