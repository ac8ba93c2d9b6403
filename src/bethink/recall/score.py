"""Weighs every signal of every candidate against the question, and puts them in order."""

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bethink.model.recall import Ref, RefKind, Signal, Use
from bethink.model.records import Micros
from bethink.recall.choose import Ranked
from bethink.recall.question import Asked, Term
from bethink.store.search import Match, Size, Text

_DAY = 86_400_000_000
_MONTH = 30.0
_BYTES_PER_WORD = 5.6
_MESSAGE = RefKind.MESSAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """One set for all data, found on half of four public sets: `python -m benchmarks.recall` shows both halves."""

    saturation: float = 1.2
    length_share: float = 0.45
    usual_length: float = 40.0
    kin: float = 0.5
    after: float = 0.12
    answering: float = 0.2
    before: float = 0.15
    two_away: float = 0.1
    session_saturation: float = 2.0
    session: float = 0.35
    session_beside_vectors: float = 0.5
    vector: float = 0.875
    window: float = 0.875
    date: float = 0.6
    date_alone: float = 0.15
    speaker: float = 0.25
    quoted: float = 0.1
    recency: float = 0.02
    usage: float = 0.05
    gate_covered: float = 0.12
    gate_near: float = 0.4
    covered: float = 0.03
    near: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Everything that was found for a question."""

    matches: Sequence[Match]
    similarities: Mapping[Ref, float]
    size: Size
    usage: Mapping[Ref, Use] = field(default_factory=dict[Ref, Use])


@dataclass(slots=True)
class _Words:
    """How well words fit: each candidate, how much of the question it covers, and whole sessions."""

    scores: dict[Ref, float] = field(default_factory=lambda: defaultdict[Ref, float](float))
    covered: dict[Ref, float] = field(default_factory=lambda: defaultdict[Ref, float](float))
    sessions: dict[str, float] = field(default_factory=lambda: defaultdict[str, float](float))
    whole: float = 0.0


class Scale:
    """The candidates of one question side by side."""

    def __init__(self, asked: Asked, found: Found, weights: Weights) -> None:
        self._asked = asked
        self._found = found
        self._weights = weights
        self._matches = {match.ref: match for match in found.matches}
        # What no longer holds is weighed for whoever wants to know why, and must not move what does.
        self._gone = {match.ref for match in found.matches if match.fate is not None}
        self._held = [match for match in found.matches if match.fate is None]
        self._words = self._counted()
        self._candidates = list(dict.fromkeys([*self._matches, *self._words.scores, *found.similarities]))
        self._signals = self._weighed()
        self._whole = sum(weight for weight, _ in self._signals.values())
        self._totals = {
            ref: sum([weight * values[ref][1] for weight, values in self._signals.values()]) / self._whole
            for ref in self._candidates
        }

    def best(self, count: int) -> list[Ref]:
        """Return the most promising candidates, whose texts then decide."""
        matches = self._matches

        def promise(ref: Ref) -> float:
            match = matches.get(ref)
            aimed = 0 if match is None else self._aimed(ref, match.role, match.name)
            near = 0.0 if match is None else self._asked.closeness(match.at)
            return (self._totals[ref] + self._dated(near, self._totals[ref])) * (1 + self._weights.speaker * aimed)

        held, gone = ([ref for ref in self._candidates if (ref in self._gone) is past] for past in (False, True))
        return [*heapq.nlargest(count, held, key=promise), *heapq.nlargest(count, gone, key=promise)]

    def ranked(self, texts: Mapping[Ref, Text], *, among: Iterable[Ref], ranks: bool = False) -> list[Ranked]:
        """Return candidates with their signals, the best first; with `ranks` also their place in each signal."""
        w = self._weights
        places = {name: _places(values) for name, (_, values) in self._signals.items()} if ranks else {}
        highest = (1 + w.date * (1 + w.date_alone)) * (1 + w.speaker)
        newest = max((text.at for text in texts.values() if text.fate is None), default=Micros(0))
        scored: list[tuple[float, Ref, dict[str, Signal]]] = []
        for ref in among:
            held = {
                name: Signal(*values[ref], weight / self._whole * values[ref][1])
                for name, (weight, values) in self._signals.items()
            }
            scored.append((self._factored(self._totals[ref], texts.get(ref), newest, held), ref, held))
        scored.sort(key=lambda each: (-each[0], each[1]))
        opens = self._opens()
        return [
            Ranked(
                ref=ref,
                score=max(0.0, min(1.0, total / highest)),
                signals=held,
                ranks={"fused": place} | {name: order[ref] for name, order in places.items()},
                relevant=opens and self._is_relevant(ref),
                fate=match.fate if (match := self._matches.get(ref)) else None,
                because_of=match.because_of if match else None,
            )
            for place, (total, ref, held) in enumerate(scored, 1)
        ]

    def _weighed(self) -> dict[str, tuple[float, dict[Ref, tuple[float, float]]]]:
        w, near = self._weights, self._found.similarities
        words, sessions = self._words.scores, self._words.sessions
        signals = {
            "words": (1.0, self._of_best({ref: words.get(ref, 0.0) for ref in self._candidates})),
            "session": (
                w.session_beside_vectors if near else w.session,
                self._of_best({ref: sessions.get(_room(ref), 0.0) for ref in self._candidates}),
            ),
        }
        if near:
            signals["vector"] = (w.vector, self._between({ref: near.get(ref, 0.0) for ref in self._candidates}))
            signals["window"] = (w.window, self._between({ref: self._window(ref) for ref in self._candidates}))
        return signals

    def _counted(self) -> _Words:
        found, w = _Words(), self._weights
        norms = {
            match.ref: 1 - w.length_share + w.length_share * match.length / _BYTES_PER_WORD / w.usual_length
            for match in self._found.matches
        }
        known_in = [0] * len(self._asked.stems)
        for match in self._held:
            for place, hits in enumerate(match.hits):
                known_in[place] += hits > 0
        for term in self._asked.terms:
            self._count(term, found, norms, known_in)
        return found

    def _count(self, term: Term, found: _Words, norms: Mapping[Ref, float], known_in: Sequence[int]) -> None:
        """Add what one word of the question is worth, here and right beside it, and in whole sessions."""
        w, passages = self._weights, self._found.size.passages
        own = [match for match in self._held if any(match.hits[place] for place in term.stems)]
        rarity = _rarity(len(own), passages)
        worth = term.weight * rarity
        if own or not term.dated:
            found.whole += worth
        shares = [(place, w.kin * min(1.0, _rarity(known_in[place], passages) / rarity)) for place in term.kin]
        here: dict[Ref, float] = defaultdict(float)
        there: dict[Ref, float] = defaultdict(float)
        rooms: dict[str, float] = defaultdict(float)
        for match in self._found.matches:
            hits = match.hits
            count = sum([hits[place] for place in term.stems]) + sum([hits[place] * share for place, share in shares])
            if count:
                share = count / norms[match.ref]
                rooms[_room(match.ref)] += share
                self._spread(match, share, here)
                if share < 1:  # in a long text a word weighs less, but it is there all the same
                    self._spread(match, min(count, 1.0), there)
        for ref, count in here.items():
            found.scores[ref] += worth * count / (count + w.saturation)
            found.covered[ref] += worth * min(max(count, there.get(ref, 0.0)), 1.0)
        known = len({_room(match.ref) for match in own})
        room_worth = term.weight * _rarity(known, max(self._found.size.sessions, known))
        for room, count in rooms.items():
            found.sessions[room] += room_worth * count / (count + w.session_saturation)

    def _spread(self, match: Match, share: float, here: dict[Ref, float]) -> None:
        """Count a word where it is said, and partly beside it: what is talked about is seldom named in every line."""
        ref, w = match.ref, self._weights
        here[ref] += share
        if ref.kind is not _MESSAGE:
            return
        session, number = ref.id, ref.number
        here[Ref(_MESSAGE, session, number + 1)] += share * (w.after + (w.answering if match.asks else 0.0))
        here[Ref(_MESSAGE, session, number + 2)] += share * w.two_away
        if number > 1:
            here[Ref(_MESSAGE, session, number - 1)] += share * w.before
        if number > 2:
            here[Ref(_MESSAGE, session, number - 2)] += share * w.two_away

    def _window(self, ref: Ref) -> float:
        near = self._found.similarities
        own = near.get(ref, 0.0)
        if ref.kind is not _MESSAGE:
            return own
        sides = [near.get(Ref(_MESSAGE, ref.id, ref.number + step)) for step in (-1, 1)]
        there = [own, *(side for side in sides if side is not None)]
        return sum(there) / len(there)

    def _aimed(self, ref: Ref, role: str | None, name: str | None) -> int:
        """Say whether the question is about what this speaker said: 1, what another said: -1, or neither: 0."""
        if ref.kind is not _MESSAGE:
            return 0
        asked = self._asked
        if asked.speaker is not None and name is not None:
            return 1 if name == asked.speaker else -1
        if asked.role is not None and role in ("user", "assistant"):
            return 1 if role == asked.role else -1
        return 0

    def _dated(self, closeness: float, total: float) -> float:
        return self._weights.date * closeness * (self._weights.date_alone + total)

    def _factored(self, total: float, text: Text | None, newest: Micros, held: dict[str, Signal]) -> float:
        """Multiply by what is small and bounded, and note what each factor made of the total."""
        if text is None:
            return total
        w = self._weights

        def apply(name: str, raw: float, share: float, added: float) -> float:
            if share:
                held[name] = Signal(raw, share, added)
            return added if share else 0.0

        near = self._asked.closeness(text.at)
        total += apply("date", near, near, self._dated(near, total))
        aimed = self._aimed(text.ref, text.role, text.name)
        total += apply("speaker", aimed, float(aimed), w.speaker * aimed * total)
        quoted = self._quoted(text.text)
        total += apply("quoted", quoted, quoted, w.quoted * quoted * total)
        age = max(0.0, (newest - text.at) / _DAY)
        recent = 1 / (1 + age / _MONTH)
        total += apply("recency", age, recent, w.recency * recent * total)
        used = self._found.usage.get(text.ref)
        often = 0.0 if used is None else used.times / (used.times + 3)
        return total + apply("usage", 0 if used is None else used.times, often, w.usage * often * total)

    def _quoted(self, text: str) -> float:
        """Say how much of what the question quotes occurs just so."""
        parts = self._asked.quoted
        if not parts:
            return 0.0
        folded = text.casefold()
        return sum(1 for part in parts if part in folded) / len(parts)

    def _of_best(self, values: Mapping[Ref, float]) -> dict[Ref, tuple[float, float]]:
        best = max((value for ref, value in values.items() if ref not in self._gone), default=0.0)
        return {ref: (value, min(1.0, value / best) if best > 0 else 0.0) for ref, value in values.items()}

    def _between(self, values: Mapping[Ref, float]) -> dict[Ref, tuple[float, float]]:
        # A vector knows of what is gone with or without somebody who asks.
        among = [value for ref, value in values.items() if ref not in self._gone or ref in self._found.similarities]
        low, high = min(among, default=0.0), max(among, default=0.0)
        width = high - low
        return {
            ref: (value, max(0.0, min(1.0, (value - low) / width)) if width > 0 else 0.0)
            for ref, value in values.items()
        }

    def _opens(self) -> bool:
        """Say whether anything at all comes near enough to the question; if not, nothing is better than something."""
        w, whole = self._weights, self._words.whole
        nearest = max(self._found.similarities.values(), default=0.0)
        covered = max((value for ref, value in self._words.covered.items() if ref not in self._gone), default=0.0)
        return nearest >= w.gate_near or (whole > 0 and covered / whole >= w.gate_covered)

    def _is_relevant(self, ref: Ref) -> bool:
        """Say whether it, or what stands right beside it, has anything to do with the question."""
        w, whole = self._weights, self._words.whole
        if self._found.similarities.get(ref, 0.0) >= w.near:
            return True
        return whole > 0 and self._words.covered.get(ref, 0.0) / whole >= w.covered


def _rarity(known_in: int, among: int) -> float:
    return math.log(1 + (max(among, known_in) - known_in + 0.5) / (known_in + 0.5))


def _room(ref: Ref) -> str:
    """Name the session of a message; anything else is in a room of its own."""
    return ref.id if ref.kind is _MESSAGE else str(ref)


def _places(values: Mapping[Ref, tuple[float, float]]) -> dict[Ref, int]:
    order = sorted(values, key=lambda ref: (-values[ref][0], ref))
    return {ref: place for place, ref in enumerate(order, 1)}
