"""A fast filter of redaction rules: most texts contain none of the words that a rule needs."""

from collections.abc import Iterable

_Start = tuple[str, str, str]


class Hints:
    """Lower-case words. A rule can match a text only if the text contains one of them."""

    __slots__ = ("by_start", "short", "starts")

    def __init__(self, *words: str) -> None:
        self.short = tuple(word for word in words if len(word) < 3)
        self.by_start: dict[_Start, list[str]] = {}
        for word in words:
            if len(word) >= 3:
                self.by_start.setdefault((word[0], word[1], word[2]), []).append(word)
        self.starts = frozenset(self.by_start)


class Lowered:
    """A text in lower case, with its three-letter sequences for fast lookups."""

    __slots__ = ("starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text.replace("İ", "i").lower()  # the only letter whose lower case is longer; positions would shift
        self.starts = frozenset(zip(self.text, self.text[1:], self.text[2:], strict=False))

    def has(self, hints: Hints) -> bool:
        """Return whether the text contains one of the words."""
        text = self.text
        for word in hints.short:
            if word in text:
                return True
        if self.starts.isdisjoint(hints.starts):
            return False
        return any(word in text for start in self.starts & hints.starts for word in hints.by_start[start])


class Index:
    """Finds all rules whose hints a text contains, in one pass."""

    __slots__ = ("_by_start", "_short", "_starts")

    def __init__(self, rules: Iterable[Hints]) -> None:
        self._by_start: dict[_Start, list[tuple[str, int]]] = {}
        self._short: list[tuple[str, int]] = []
        for position, hints in enumerate(rules):
            self._short += ((word, position) for word in hints.short)
            for start, words in hints.by_start.items():
                self._by_start.setdefault(start, []).extend((word, position) for word in words)
        self._starts = frozenset(self._by_start)

    def positions_in(self, lowered: Lowered) -> list[int]:
        """Return the positions of the matching rules, in order."""
        text = lowered.text
        positions = {position for word, position in self._short if word in text}
        for start in lowered.starts & self._starts:
            positions.update(position for word, position in self._by_start[start] if word in text)
        return sorted(positions)
