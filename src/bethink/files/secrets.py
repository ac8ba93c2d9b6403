"""Keeps a secret that two passages share in one: cut apart, neither half might look like one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bethink.extend import Redactor
from bethink.files.passages import Passage
from bethink.model.framing import unframed
from bethink.model.text import clean


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


def kept_together(text: str, passages: Sequence[Passage], redactor: Redactor) -> list[Passage]:
    """Join neighbours until redacting them one by one leaves the same as redacting the whole text.

    So what is stored of a file never has more of a secret than the file as one message would have. White space does
    not count.
    """

    def cut(start: int, end: int) -> str:
        return "".join(redactor.redact(clean(unframed(text[start:end]))).split())

    whole = cut(0, len(text))
    done: list[tuple[Passage, int]] = []
    """What is settled, each with where it begins in the redacted text."""
    waiting = list(reversed(passages))
    at = reach = 0
    while waiting:
        passage = waiting.pop()
        found = cut(passage.start, passage.end)
        if whole.startswith(found, at) and (waiting or at + len(found) == len(whole)):
            done.append((passage, at))
            at += len(found)
            reach = 0
            continue
        if not done and not waiting:
            return [passage]
        # It differs here: take in as many before and behind it as it needs, twice as many each time.
        reach = max(1, reach * 2)
        for _ in range(min(reach, len(done))):
            before, at = done.pop()
            passage = replace(before, end=passage.end)
        for _ in range(min(reach, len(waiting))):
            passage = replace(passage, end=waiting.pop().end)
        waiting.append(passage)
    return [passage for passage, _ in done]
