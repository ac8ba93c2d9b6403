"""The candidates of a question, as columns: entry `i` of each, and of what a signal returns, is candidate `i`."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.model.recall import Fate, Ref, RefKind, Signal, Use
from bethink.store.search import Match, Size, Text

Key = tuple[RefKind, str, int]
"""The parts of a ref: a tuple costs a tenth of a `Ref`, and most candidates are never shown."""
SessionKey = str | int
"""The id of a message's session. Any other candidate counts as a session of its own, named by its position."""


@frozen
class Found:
    """What the database found for a question."""

    matches: Sequence[Match]
    similarities: Mapping[Ref, float]
    size: Size
    counts: Sequence[int] = ()
    """How many texts of the space have each stem of the question, if that is more than the matches show."""
    answers: Collection[Ref] = ()
    """The messages that directly follow the question where someone asked it before."""


class WordCount(NamedTuple):
    """One word of the question, counted in the candidates that contain it and in the messages around these."""

    worth: float
    """What the word tells: the rarer, the more."""
    shares: Mapping[int, float]
    """How often it occurs in each candidate, relative to the length of the text."""
    present: Mapping[int, float]
    """Whether it occurs at all: in a long text a word weighs less, but it is still there."""
    session_worth: float
    sessions: Mapping[SessionKey, float]
    """How often it occurs in each session."""


@frozen
class Candidates:
    """Everything that may answer a question: matches first, then the messages around them, then what a vector found.

    The best of them become `Candidates` of their own once their texts are read: these have `texts`, and `positions`
    says where each was before.
    """

    keys: Sequence[Key]
    matches: Sequence[Match] = ()
    counts: Sequence[WordCount] = ()
    worth: float = 0.0
    """What all words of the question are worth together."""
    unmatched: float = 0.0
    """What the pairs of characters are worth that no text has. Some are in no answer; so they do not lower a score."""
    covered: Sequence[float] = ()
    """How much of that each candidate has, with the messages around it: between 0 and 1."""
    replies: Collection[int] = frozenset()
    """Messages that directly follow a match which asks something."""
    similarities: Mapping[Key, float] = field(default_factory=dict[Key, float])
    gone: Collection[int] = frozenset()
    """Outdated candidates are scored only to explain them; they must not change the scores of current ones."""
    positions: Sequence[int] = ()
    texts: Sequence[Text] = ()
    usage: Mapping[Ref, Use] = field(default_factory=dict[Ref, Use])

    def each(self, value: Callable[[Match | Text], float]) -> list[float]:
        """Compute a value from each text, or from each match while there are no texts; the rest is 0."""
        known = self.texts or self.matches
        return [*map(value, known), *[0.0] * (len(self.keys) - len(known))]

    def current(self, values: Sequence[float]) -> Sequence[float]:
        """Return the values of those that are not outdated."""
        return [value for index, value in enumerate(values) if index not in self.gone] if self.gone else values

    def read(
        self, positions: Iterable[int], refs: Iterable[Ref], texts: Mapping[Ref, Text], usage: Mapping[Ref, Use]
    ) -> "Candidates":
        """Return the candidates at these positions, which have these refs, as far as they have a text, with it."""
        found = [(index, texts.get(ref)) for index, ref in zip(positions, refs, strict=True)]
        kept = [(index, text) for index, text in found if text is not None]
        return Candidates(
            keys=[self.keys[index] for index, _ in kept],
            gone=frozenset(place for place, (index, _) in enumerate(kept) if index in self.gone),
            positions=[index for index, _ in kept],
            texts=[text for _, text in kept],
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
