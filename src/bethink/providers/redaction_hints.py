"""Which rules are worth a try: most texts contain none of the words that a rule needs."""

from collections.abc import Iterable

_Start = tuple[str, str, str]


class Hints:
    """Some lower-case words, one of which must stand in a text for a rule to find anything there."""

    __slots__ = ("by_start", "short", "starts")

    def __init__(self, *words: str) -> None:
        self.short = tuple(word for word in words if len(word) < 3)
        self.by_start: dict[_Start, list[str]] = {}
        for word in words:
            if len(word) >= 3:
                self.by_start.setdefault((word[0], word[1], word[2]), []).append(word)
        self.starts = frozenset(self.by_start)


class Lowered:
    """A text in lower case. It knows which three letters follow each other, which tells quickly what it lacks."""

    __slots__ = ("starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text.replace("İ", "i").lower()  # the only letter that grows in lower case: positions would shift
        self.starts = frozenset(zip(self.text, self.text[1:], self.text[2:], strict=False))

    def has(self, hints: Hints) -> bool:
        """Return whether one of the words stands in the text."""
        text = self.text
        for word in hints.short:
            if word in text:
                return True
        if self.starts.isdisjoint(hints.starts):
            return False
        return any(word in text for start in self.starts & hints.starts for word in hints.by_start[start])


class Index:
    """Finds the rules whose hints stand in a text at once, and not one by one."""

    __slots__ = ("_by_start", "_short", "_starts")

    def __init__(self, rules: Iterable[Hints]) -> None:
        self._by_start: dict[_Start, list[tuple[str, int]]] = {}
        self._short: list[tuple[str, int]] = []
        for place, hints in enumerate(rules):
            self._short += ((word, place) for word in hints.short)
            for start, words in hints.by_start.items():
                self._by_start.setdefault(start, []).extend((word, place) for word in words)
        self._starts = frozenset(self._by_start)

    def places_in(self, lowered: Lowered) -> list[int]:
        """Return the places of those rules, in their order."""
        text = lowered.text
        found = {place for word, place in self._short if word in text}
        for start in lowered.starts & self._starts:
            found.update(place for word, place in self._by_start[start] if word in text)
        return sorted(found)
