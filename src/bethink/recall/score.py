"""Weighs every signal of every candidate against the question, and puts them in order."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bethink.model.moments import DAY, Micros
from bethink.model.recall import Fate, Ref, RefKind, Signal, Use
from bethink.recall.choose import Ranked
from bethink.recall.question import ParsedQuestion, Term
from bethink.store.search import Match, Size, Text

_MONTH = 30.0
_BYTES_PER_WORD = 5.6
_MESSAGE = RefKind.MESSAGE
_Name = tuple[RefKind, str, int]
_Room = str | int


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
    entity: float = 0.1
    recency: float = 0.02
    recency_now: float = 0.2
    usage: float = 0.05
    gate_covered: float = 0.12
    gate_near: float = 0.4
    covered: float = 0.03
    near: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreInput:
    """Everything that was found for a question."""

    matches: Sequence[Match]
    similarities: Mapping[Ref, float]
    size: Size
    usage: Mapping[Ref, Use] = field(default_factory=dict[Ref, Use])
    answers: Collection[Ref] = ()
    """The messages that are there right after the question, wherever it was asked before."""


class _Sign(NamedTuple):
    """One signal of every candidate: what it weighs, as it was measured, and between 0 and 1."""

    weight: float
    raw: list[float]
    normalised: list[float]


class Ranker:
    """The candidates of one question side by side. Inside, each goes by its place in one list: matches come first."""

    def __init__(self, asked: ParsedQuestion, found: ScoreInput, weights: Weights) -> None:
        self._asked = asked
        self._found = found
        self._weights = weights
        # A tuple costs a tenth of a Ref, and most of what stands beside a match is never shown.
        self._names: list[_Name] = [match.ref.parts for match in found.matches]
        self._places = {name: place for place, name in enumerate(self._names)}
        # What no longer holds is weighed for whoever wants to know why, and must not move what does.
        self._gone = {place for place, match in enumerate(found.matches) if match.fate is not None}
        self._questions = {place for place in self._gone if found.matches[place].fate is Fate.QUESTION}
        even, longer = 1 - weights.length_share, weights.length_share
        usual = weights.usual_length
        self._norms = [even + longer * match.length / _BYTES_PER_WORD / usual for match in found.matches]
        self._around: dict[int, list[tuple[int, float]]] = {}
        self._words = [0.0] * len(self._names)
        self._covered = self._words.copy()
        self._rooms: dict[_Room, float] = {}
        self._worth = 0.0
        self._count_words()
        self._near = {ref.parts: similarity for ref, similarity in found.similarities.items()}
        for name in self._near:
            self._place(name)
        self._signals = self._weighed()
        self._whole = sum(sign.weight for sign in self._signals.values())
        self._totals = self._added()

    def best(self, count: int) -> list[Ref]:
        """Return the most promising candidates, whose texts then decide."""
        asked, promises, known = self._asked, self._totals, len(self._found.matches)
        if asked.spans or asked.speaker is not None or asked.role is not None:
            promises = [*map(self._promise, self._found.matches, promises), *promises[known:]]
        order = sorted(range(len(promises)), key=promises.__getitem__, reverse=True)
        held = [place for place in order if place not in self._gone] if self._gone else order
        gone = [place for place in order if place in self._gone] if self._gone else []
        chosen = [self._names[place] for place in (*held[:count], *gone[:count])]
        return [Ref(*name) for name in chosen]

    def ranked(
        self, texts: Mapping[Ref, Text], *, among: Iterable[Ref], ranks: bool = False, signals: bool = True
    ) -> list[Ranked]:
        """Return candidates, the best first, with their signals; with `ranks` also their place in each signal."""
        w = self._weights
        orders = {name: self._order(sign.raw) for name, sign in self._signals.items()} if ranks else {}
        highest = (1 + w.date * (1 + w.date_alone)) * (1 + w.speaker)
        held = [
            text.at
            for ref, text in texts.items()
            if text.fate is None and self._places.get(ref.parts) not in self._gone
        ]
        newest = max(held, default=Micros(0))
        scored: list[tuple[float, Ref, int, dict[str, Signal]]] = []
        for ref in among:
            place = self._places[ref.parts]
            parts = self._noted(place) if signals else None
            total = self._factored(self._totals[place], texts.get(ref), newest, parts)
            scored.append((-total, ref, place, parts or {}))
        scored.sort(key=_first_two)
        ordered: list[Ranked] = []
        opens = self._opens()
        for rank, (negated, ref, place, parts) in enumerate(scored, 1):
            gone = self._found.matches[place] if place in self._gone else None
            fate, by = (gone.fate, gone.because_of) if gone else (None, None)
            placed = {"fused": rank} | {name: order[place] for name, order in orders.items()}
            score = max(0.0, min(1.0, -negated / highest))
            signs = scaled(parts, score / -negated if negated else 0.0)
            ordered.append(Ranked(ref, score, signs, placed, opens and self._is_relevant(ref, place), fate, by))
        return ordered

    def _place(self, name: _Name) -> int:
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = len(self._names)
            self._names.append(name)
            self._words.append(0.0)
            self._covered.append(0.0)
        return place

    def _count_words(self) -> None:
        """Count every word of the question, in every match and beside it."""
        having: list[list[tuple[int, int]]] = [[] for _ in self._asked.stems]
        for place, match in enumerate(self._found.matches):
            for stem, hits in enumerate(match.hits):
                if hits:
                    having[stem].append((place, hits))
        for term in self._asked.terms:
            self._count(term, having)

    def _count(self, term: Term, having: Sequence[Sequence[tuple[int, int]]]) -> None:
        """Add what one word of the question is worth, here and right beside it, and in whole sessions."""
        w, size = self._weights, self._found.size
        direct: dict[int, float] = defaultdict(int)
        for stem in term.stems:
            for place, hits in having[stem]:
                direct[place] += hits
        own = [place for place in direct if place not in self._gone] if self._gone else direct
        rarity = _rarity(len(own), size.passages)
        worth = term.weight * rarity
        if own or not term.dated:
            self._worth += worth
        known = len({self._room(place) for place in own})
        room_worth = term.weight * _rarity(known, max(size.sessions, known))
        spoken: list[tuple[int, float, float]] = []
        for place, count in self._with_kin(term, direct, having, rarity):
            share = count / self._norms[place]
            if self._names[place][0] is _MESSAGE:
                spoken.append((place, count, share))
                continue
            self._words[place] += worth * share / (share + w.saturation)
            self._covered[place] += worth * (1.0 if share >= 1 else max(share, min(count, 1.0)))
            self._rooms[place] = self._rooms.get(place, 0.0) + room_worth * share / (share + w.session_saturation)
        if spoken:
            self._count_spoken(spoken, worth, room_worth)

    def _count_spoken(self, spoken: Sequence[tuple[int, float, float]], worth: float, room_worth: float) -> None:
        """Count a word in messages, in those around them, and in their sessions."""
        w = self._weights
        here, there = self._spread(spoken)
        for place, count in here.items():
            self._words[place] += worth * count / (count + w.saturation)
            self._covered[place] += worth * min(max(count, there.get(place, 0.0)), 1.0)
        rooms: dict[_Room, float] = defaultdict(float)
        for place, _, share in spoken:
            if place not in self._questions:
                rooms[self._room(place)] += share
        for room, count in rooms.items():
            self._rooms[room] = self._rooms.get(room, 0.0) + room_worth * count / (count + w.session_saturation)

    def _spread(self, spoken: Iterable[tuple[int, float, float]]) -> tuple[dict[int, float], dict[int, float]]:
        """Count a word where it is said and beside it, once by its weight there, and once because it is there."""
        here: dict[int, float] = defaultdict(float)
        there: dict[int, float] = defaultdict(float)
        for place, count, share in spoken:
            around = self._around.get(place)
            if around is None:
                around = self._around[place] = self._beside(place)
            for other, part in around:
                here[other] += share * part
            if share < 1:  # in a long text a word weighs less, but it is there all the same
                least = min(count, 1.0)
                for other, part in around:
                    there[other] += least * part
        return here, there

    def _with_kin(
        self, term: Term, direct: Mapping[int, float], having: Sequence[Sequence[tuple[int, int]]], rarity: float
    ) -> list[tuple[int, float]]:
        """Return how often a word or its kin occurs in each match, in their order; kin count for less."""
        kin: dict[int, float] = defaultdict(float)
        for stem in term.kin:
            known = sum(place not in self._gone for place, _ in having[stem])
            share = self._weights.kin * min(1.0, _rarity(known, self._found.size.passages) / rarity)
            for place, hits in having[stem]:
                kin[place] += hits * share
        if not kin and len(term.stems) == 1:
            return list(direct.items())
        return [(place, direct.get(place, 0) + kin.get(place, 0.0)) for place in sorted({*direct, *kin})]

    def _room(self, place: int) -> _Room:
        """Name the session of a message; anything else is in a room of its own."""
        name = self._names[place]
        return name[1] if name[0] is _MESSAGE else place

    def _beside(self, place: int) -> list[tuple[int, float]]:
        """Say where a word of a match counts: there, and partly around it, for what is meant is seldom named twice."""
        match, w = self._found.matches[place], self._weights
        kind, session, number = match.ref.parts
        after = w.after + (w.answering if match.asks else 0.0)
        if place in self._questions:
            # What stands before the question is no answer to it, and only what is there can be one.
            follows = ((Ref(kind, session, number + 1), after), (Ref(kind, session, number + 2), w.two_away))
            return [
                (place, 1.0),
                *((self._place(ref.parts), part) for ref, part in follows if ref in self._found.answers),
            ]
        parts = [(place, 1.0), (self._place((kind, session, number + 1)), after)]
        parts.append((self._place((kind, session, number + 2)), w.two_away))
        if number > 1:
            parts.append((self._place((kind, session, number - 1)), w.before))
        if number > 2:
            parts.append((self._place((kind, session, number - 2)), w.two_away))
        return parts

    def _weighed(self) -> dict[str, _Sign]:
        w, near, rooms = self._weights, self._near, self._rooms
        sessions = [rooms.get(self._room(place), 0.0) for place in range(len(self._names))]
        signals = {
            "words": _Sign(1.0, self._words, self._of_best(self._words)),
            "session": _Sign(w.session_beside_vectors if near else w.session, sessions, self._of_best(sessions)),
        }
        if near:
            own = [near.get(name, 0.0) for name in self._names]
            signals["vector"] = _Sign(w.vector, own, self._between(own))
            around = [_window(near, name, value) for name, value in zip(self._names, own, strict=True)]
            signals["window"] = _Sign(w.window, around, self._between(around))
        return signals

    def _added(self) -> list[float]:
        first, *others = self._signals.values()
        totals = first.normalised  # which weighs 1
        for weight, _, values in others:
            totals = [total + weight * value for total, value in zip(totals, values, strict=True)]
        return [total / self._whole for total in totals]

    def _promise(self, match: Match, total: float) -> float:
        aimed = self._aimed(match.ref, match.role, match.name)
        return (total + self._dated(self._asked.closeness(match.at), total)) * (1 + self._weights.speaker * aimed)

    def _noted(self, place: int) -> dict[str, Signal]:
        return {
            name: Signal(sign.raw[place], sign.normalised[place], sign.weight / self._whole * sign.normalised[place])
            for name, sign in self._signals.items()
        }

    def _order(self, values: Sequence[float]) -> list[int]:
        """Return the rank of each candidate by one signal."""
        ranks = [0] * len(values)
        for rank, place in enumerate(sorted(range(len(values)), key=lambda at: (-values[at], self._names[at])), 1):
            ranks[place] = rank
        return ranks

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

    def _factored(self, total: float, text: Text | None, newest: Micros, held: dict[str, Signal] | None) -> float:
        """Multiply by what is small and bounded, and note what each factor made of the total."""
        if text is None:
            return total
        w, asked = self._weights, self._asked
        near = asked.closeness(text.at) if asked.spans else 0.0
        if near:
            total += _noting(held, "date", near, near, self._dated(near, total))
        aimed = self._aimed(text.ref, text.role, text.name)
        if aimed:
            total += _noting(held, "speaker", aimed, float(aimed), w.speaker * aimed * total)
        quoted = self._quoted(text.text) if asked.quoted else 0.0
        if quoted:
            total += _noting(held, "quoted", quoted, quoted, w.quoted * quoted * total)
        about = self._about(text) if asked.names and text.row is not None else 0.0
        if about:
            total += _noting(held, "entity", about, about, w.entity * about * total)
        age = max(0.0, (newest - text.at) / DAY)
        recent = 1 / (1 + age / _MONTH)
        total += _noting(held, "recency", age, recent, (w.recency_now if asked.now else w.recency) * recent * total)
        used = self._found.usage.get(text.ref)
        if used is not None and used.times:
            often = used.times / (used.times + 3)
            total += _noting(held, "usage", used.times, often, w.usage * often * total)
        return total

    def _about(self, text: Text) -> float:
        """Say how many of those whom the question names a fact is about."""
        assert text.row is not None  # noqa: S101 - it is a fact
        known = f"{text.name or ''} {text.row['entities']}".casefold()
        return sum(1 for name in self._asked.names if name in known) / len(self._asked.names)

    def _quoted(self, text: str) -> float:
        """Say how much of what the question quotes occurs just so."""
        parts = self._asked.quoted
        folded = text.casefold()
        return sum(1 for part in parts if part in folded) / len(parts)

    def _of_best(self, values: Sequence[float]) -> list[float]:
        best = max(self._unless_gone(values), default=0.0)
        return [min(1.0, value / best) for value in values] if best > 0 else [0.0] * len(values)

    def _between(self, values: Sequence[float]) -> list[float]:
        # A vector knows of what is gone with or without somebody who asks.
        near, names = self._near, self._names
        among = [value for at, value in enumerate(values) if at not in self._gone or names[at] in near]
        low, high = min(among, default=0.0), max(among, default=0.0)
        width = high - low
        return [max(0.0, min(1.0, (value - low) / width)) if width > 0 else 0.0 for value in values]

    def _unless_gone(self, values: Sequence[float]) -> Sequence[float]:
        return [value for at, value in enumerate(values) if at not in self._gone] if self._gone else values

    def _opens(self) -> bool:
        """Say whether anything at all comes near enough to the question; if not, nothing is better than something."""
        w, worth = self._weights, self._worth
        if self._asked.only_when:
            return True
        nearest = max(self._found.similarities.values(), default=0.0)
        covered = max(self._unless_gone(self._covered), default=0.0)
        return nearest >= w.gate_near or (worth > 0 and covered / worth >= w.gate_covered)

    def _is_relevant(self, ref: Ref, place: int) -> bool:
        """Say whether it, or what stands right beside it, has anything to do with the question."""
        w, worth = self._weights, self._worth
        if self._asked.only_when:
            return place < len(self._found.matches) and self._asked.closeness(self._found.matches[place].at) == 1
        if self._found.similarities.get(ref, 0.0) >= w.near:
            return True
        return worth > 0 and self._covered[place] / worth >= w.covered


def _first_two(scored: tuple[float, Ref, int, object]) -> tuple[float, _Name]:
    return scored[0], scored[1].parts


def scaled(held: Mapping[str, Signal], by: float) -> dict[str, Signal]:
    """Bring what each signal added onto the scale of the score, so that the parts add up to it."""
    return {name: Signal(signal.raw, signal.normalised, signal.added * by) for name, signal in held.items()}


def _noting(held: dict[str, Signal] | None, name: str, raw: float, share: float, added: float) -> float:
    if held is not None:
        held[name] = Signal(raw, share, added)
    return added


def _window(near: Mapping[_Name, float], name: _Name, own: float) -> float:
    """Return how near a message is to the question together with those right beside it."""
    kind, session, number = name
    if kind is not _MESSAGE:
        return own
    sides = [near.get((kind, session, number + step)) for step in (-1, 1)]
    there = [own, *(side for side in sides if side is not None)]
    return sum(there) / len(there)


def _rarity(known_in: int, among: int) -> float:
    return math.log(1 + (max(among, known_in) - known_in + 0.5) / (known_in + 0.5))
