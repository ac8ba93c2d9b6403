"""The candidates of a question, as columns: entry `i` of each column and of each signal is candidate `i`."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.memory.recall.duplicates import Openings
from bethink.model.recall import Fate, Signal, Use
from bethink.model.refs import Ref, RefKind
from bethink.store.search import Size, TermMatch, Text

Key = tuple[RefKind, str, int]
"""The parts of a ref: a tuple costs a tenth of a `Ref`, and most candidates are never shown."""
SessionKey = str | int
"""The id of a message's session. Any other candidate counts as a session of its own, named by its position."""


@frozen
class MatchResult:
    """The result of a database search for a question."""

    matches: Sequence[TermMatch]
    similarities: Mapping[Ref, float]
    size: Size
    counts: Sequence[int] = ()
    """The number of texts in the space with each stem of the question, if that is more than the matches show."""
    answers: Collection[Ref] = ()
    """The messages that directly follow earlier repeats of the question."""


class WordCount(NamedTuple):
    """One word of the question, counted in the candidates that contain it and in the messages around these."""

    worth: float
    """The worth of the word: the rarer, the higher."""
    shares: Mapping[int, float]
    """The occurrences in each candidate, relative to the length of the text."""
    present: Mapping[int, float]
    """The same with at most 1 for each text, and not relative to its length."""
    session_worth: float
    sessions: Mapping[SessionKey, float]
    """The occurrences in each session."""


@frozen
class Candidates:
    """Everything that may answer a question: matches first, then the messages around them, then vector matches.

    The best of them become new `Candidates` once their texts are read: these have `texts`, and `positions` has the
    earlier position of each.
    """

    keys: Sequence[Key]
    matches: Sequence[TermMatch] = ()
    counts: Sequence[WordCount] = ()
    worth: float = 0.0
    """The total worth of all words of the question."""
    unmatched: float = 0.0
    """The worth of the character pairs that no text has. They do not lower a score: some are in no answer."""
    covered: Sequence[float] = ()
    """The share of the worth that each candidate has, with the messages around it: between 0 and 1."""
    matched: float = 0.0
    """The weight of the words of the question that the text with the most of them has."""
    replies: Collection[int] = frozenset()
    """Messages that directly follow a match which asks something."""
    similarities: Mapping[Key, float] = field(default_factory=dict[Key, float])
    outdated: Collection[int] = frozenset()
    """Outdated candidates are scored only to explain them; they must not change the scores of current ones."""
    positions: Sequence[int] = ()
    texts: Sequence[Text] = ()
    usage: Mapping[Ref, Use] = field(default_factory=dict[Ref, Use])
    openings: Openings = field(default_factory=Openings)

    def map_texts(self, value: Callable[[TermMatch | Text], float]) -> list[float]:
        """Compute a value from each text, or from each match while there are no texts; 0 for all others."""
        items = self.texts or self.matches
        return [*map(value, items), *[0.0] * (len(self.keys) - len(items))]

    def current(self, values: Sequence[float]) -> Sequence[float]:
        """Return the values of the candidates that are not outdated."""
        return [value for index, value in enumerate(values) if index not in self.outdated] if self.outdated else values

    def with_texts(
        self, positions: Iterable[int], refs: Iterable[Ref], texts: Mapping[Ref, Text], usage: Mapping[Ref, Use]
    ) -> "Candidates":
        """Return the candidates at these positions, with their texts; those without a text are dropped."""
        pairs = [(index, texts.get(ref)) for index, ref in zip(positions, refs, strict=True)]
        retained = [(index, text) for index, text in pairs if text is not None]
        return Candidates(
            keys=[self.keys[index] for index, _ in retained],
            outdated=frozenset(position for position, (index, _) in enumerate(retained) if index in self.outdated),
            positions=[index for index, _ in retained],
            texts=[text for _, text in retained],
            usage=usage,
        )


class Ranked(NamedTuple):
    """A ranked candidate and its score. One that already has a fate is never shown, whatever its score."""

    ref: Ref
    score: float
    signals: Mapping[str, Signal] = MappingProxyType({})
    ranks: Mapping[str, int] = MappingProxyType({})
    certainty: float = 1.0
    relevant: bool = True
    fate: Fate | None = None
    because_of: Ref | None = None
