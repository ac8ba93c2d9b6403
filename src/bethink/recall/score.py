"""Score every candidate against the question, signal by signal, and sort them."""

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
_SessionKey = str | int


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """One set for all data, tuned on half of four public sets; `python -m benchmarks.recall` shows both halves."""

    saturation: float = 1.2
    length_share: float = 0.45
    usual_length: float = 40.0
    related: float = 0.5
    after: float = 0.12
    answering: float = 0.2
    before: float = 0.15
    two_away: float = 0.1
    session_saturation: float = 2.0
    session: float = 0.35
    session_with_vectors: float = 0.5
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
    """Everything the search found for a question."""

    matches: Sequence[Match]
    similarities: Mapping[Ref, float]
    size: Size
    usage: Mapping[Ref, Use] = field(default_factory=dict[Ref, Use])
    answers: Collection[Ref] = ()
    """The messages that directly follow the question where someone asked it before."""


class _Column(NamedTuple):
    """One signal for all candidates: its weight, the measured values, and the same values between 0 and 1."""

    weight: float
    raw: list[float]
    normalised: list[float]


class Ranker:
    """Ranks the candidates of one question. Internally a candidate is an index into one list, matches first."""

    def __init__(self, asked: ParsedQuestion, found: ScoreInput, weights: Weights) -> None:
        self._asked = asked
        self._found = found
        self._weights = weights
        # A tuple costs a tenth of a Ref, and most neighbours of a match are never shown.
        self._names: list[_Name] = [match.ref.parts for match in found.matches]
        self._indexes = {name: index for index, name in enumerate(self._names)}
        # Outdated matches are scored only to explain them; they must not change the scores of current ones.
        self._gone = {index for index, match in enumerate(found.matches) if match.fate is not None}
        self._questions = {index for index in self._gone if found.matches[index].fate is Fate.QUESTION}
        even, longer = 1 - weights.length_share, weights.length_share
        usual = weights.usual_length
        self._norms = [even + longer * match.length / _BYTES_PER_WORD / usual for match in found.matches]
        self._around: dict[int, list[tuple[int, float]]] = {}
        self._words = [0.0] * len(self._names)
        self._covered = self._words.copy()
        self._sessions: dict[_SessionKey, float] = defaultdict(float)
        self._worth = 0.0
        self._count_words()
        self._near = {ref.parts: similarity for ref, similarity in found.similarities.items()}
        for name in self._near:
            self._index_of(name)
        self._signals = self._weighed()
        self._total_weight = sum(column.weight for column in self._signals.values())
        self._totals = self._added()

    def best(self, count: int) -> list[Ref]:
        """Return the most promising candidates. Their texts are read for the final ranking."""
        asked, estimates, matched = self._asked, self._totals, len(self._found.matches)
        if asked.spans or asked.speaker is not None or asked.role is not None:
            estimates = [*map(self._estimate, self._found.matches, estimates), *estimates[matched:]]
        order = sorted(range(len(estimates)), key=estimates.__getitem__, reverse=True)
        current = [index for index in order if index not in self._gone] if self._gone else order
        gone = [index for index in order if index in self._gone] if self._gone else []
        chosen = [self._names[index] for index in (*current[:count], *gone[:count])]
        return [Ref(*name) for name in chosen]

    def ranked(
        self, texts: Mapping[Ref, Text], *, among: Iterable[Ref], ranks: bool = False, signals: bool = True
    ) -> list[Ranked]:
        """Return the candidates with their signals, best first; with `ranks`, also their rank in each signal."""
        w = self._weights
        orders = {name: self._order(column.raw) for name, column in self._signals.items()} if ranks else {}
        highest = (1 + w.date * (1 + w.date_alone)) * (1 + w.speaker)
        current = [
            text.at
            for ref, text in texts.items()
            if text.fate is None and self._indexes.get(ref.parts) not in self._gone
        ]
        newest = max(current, default=Micros(0))
        scored: list[tuple[float, Ref, int, dict[str, Signal]]] = []
        for ref in among:
            index = self._indexes[ref.parts]
            parts = self._noted(index) if signals else None
            total = self._factored(self._totals[index], texts.get(ref), newest, parts)
            scored.append((-total, ref, index, parts or {}))
        scored.sort(key=_first_two)
        ordered: list[Ranked] = []
        opens = self._opens()
        for rank, (negated, ref, index, parts) in enumerate(scored, 1):
            gone = self._found.matches[index] if index in self._gone else None
            fate, by = (gone.fate, gone.because_of) if gone else (None, None)
            rank_in = {"fused": rank} | {name: order[index] for name, order in orders.items()}
            score = max(0.0, min(1.0, -negated / highest))
            scaled_parts = scaled(parts, score / -negated if negated else 0.0)
            ordered.append(Ranked(ref, score, scaled_parts, rank_in, opens and self._is_relevant(ref, index), fate, by))
        return ordered

    def _index_of(self, name: _Name) -> int:
        """Return the index of a candidate, adding it if it is new."""
        index = self._indexes.get(name)
        if index is None:
            index = self._indexes[name] = len(self._names)
            self._names.append(name)
            self._words.append(0.0)
            self._covered.append(0.0)
        return index

    def _count_words(self) -> None:
        """Count every word of the question in every match and in its neighbours."""
        having: list[list[tuple[int, int]]] = [[] for _ in self._asked.stems]
        for index, match in enumerate(self._found.matches):
            for stem, hits in enumerate(match.hits):
                if hits:
                    having[stem].append((index, hits))
        for term in self._asked.terms:
            self._count(term, having)

    def _count(self, term: Term, having: Sequence[Sequence[tuple[int, int]]]) -> None:
        """Add the worth of one question word to its matches, their neighbours and their sessions."""
        w, size = self._weights, self._found.size
        direct: dict[int, float] = defaultdict(int)
        for stem in term.stems:
            for index, hits in having[stem]:
                direct[index] += hits
        current = [index for index in direct if index not in self._gone] if self._gone else direct
        rarity = _rarity(len(current), size.passages)
        worth = term.weight * rarity
        if current or not term.dated:
            self._worth += worth
        sessions = len({self._session_of(index) for index in current})
        session_worth = term.weight * _rarity(sessions, max(size.sessions, sessions))
        spoken: list[tuple[int, float, float]] = []
        for index, count in self._with_related(term, direct, having, rarity):
            share = count / self._norms[index]
            if self._names[index][0] is _MESSAGE:
                spoken.append((index, count, share))
                continue
            self._words[index] += worth * share / (share + w.saturation)
            self._covered[index] += worth * (1.0 if share >= 1 else max(share, min(count, 1.0)))
            self._sessions[index] += session_worth * share / (share + w.session_saturation)
        if spoken:
            self._count_spoken(spoken, worth, session_worth)

    def _count_spoken(self, spoken: Sequence[tuple[int, float, float]], worth: float, session_worth: float) -> None:
        """Count a word in messages, in their neighbours and in their sessions."""
        w = self._weights
        weighted, present = self._spread(spoken)
        for index, count in weighted.items():
            self._words[index] += worth * count / (count + w.saturation)
            self._covered[index] += worth * min(max(count, present.get(index, 0.0)), 1.0)
        shares: dict[_SessionKey, float] = defaultdict(float)
        for index, _, share in spoken:
            if index not in self._questions:
                shares[self._session_of(index)] += share
        for session, count in shares.items():
            self._sessions[session] += session_worth * count / (count + w.session_saturation)

    def _spread(self, spoken: Iterable[tuple[int, float, float]]) -> tuple[dict[int, float], dict[int, float]]:
        """Count a word in messages and their neighbours: weighted by text length, and by mere presence."""
        weighted: dict[int, float] = defaultdict(float)
        present: dict[int, float] = defaultdict(float)
        for index, count, share in spoken:
            around = self._around.get(index)
            if around is None:
                around = self._around[index] = self._neighbours(index)
            for other, part in around:
                weighted[other] += share * part
            if share < 1:  # a word weighs less in a long text, but it is still present
                least = min(count, 1.0)
                for other, part in around:
                    present[other] += least * part
        return weighted, present

    def _with_related(
        self, term: Term, direct: Mapping[int, float], having: Sequence[Sequence[tuple[int, int]]], rarity: float
    ) -> list[tuple[int, float]]:
        """Return how often a word or a related one occurs in each match, in order; related words count less."""
        related: dict[int, float] = defaultdict(float)
        for stem in term.related:
            current = sum(index not in self._gone for index, _ in having[stem])
            share = self._weights.related * min(1.0, _rarity(current, self._found.size.passages) / rarity)
            for index, hits in having[stem]:
                related[index] += hits * share
        if not related and len(term.stems) == 1:
            return list(direct.items())
        return [(index, direct.get(index, 0) + related.get(index, 0.0)) for index in sorted({*direct, *related})]

    def _session_of(self, index: int) -> _SessionKey:
        """Return the session of a message; any other candidate forms a session of its own."""
        name = self._names[index]
        return name[1] if name[0] is _MESSAGE else index

    def _neighbours(self, index: int) -> list[tuple[int, float]]:
        """Return where a word counts: in its match, and partly in the neighbours, which rarely repeat it."""
        match, w = self._found.matches[index], self._weights
        kind, session, number = match.ref.parts
        after = w.after + (w.answering if match.asks else 0.0)
        if index in self._questions:
            # Messages before the question do not answer it, and only existing ones after it can.
            follows = ((Ref(kind, session, number + 1), after), (Ref(kind, session, number + 2), w.two_away))
            return [
                (index, 1.0),
                *((self._index_of(ref.parts), part) for ref, part in follows if ref in self._found.answers),
            ]
        parts = [(index, 1.0), (self._index_of((kind, session, number + 1)), after)]
        parts.append((self._index_of((kind, session, number + 2)), w.two_away))
        if number > 1:
            parts.append((self._index_of((kind, session, number - 1)), w.before))
        if number > 2:
            parts.append((self._index_of((kind, session, number - 2)), w.two_away))
        return parts

    def _weighed(self) -> dict[str, _Column]:
        w, near = self._weights, self._near
        sessions = [self._sessions.get(self._session_of(index), 0.0) for index in range(len(self._names))]
        signals = {
            "words": _Column(1.0, self._words, self._of_best(self._words)),
            "session": _Column(w.session_with_vectors if near else w.session, sessions, self._of_best(sessions)),
        }
        if near:
            nearness = [near.get(name, 0.0) for name in self._names]
            signals["vector"] = _Column(w.vector, nearness, self._between(nearness))
            around = [_window(near, name, value) for name, value in zip(self._names, nearness, strict=True)]
            signals["window"] = _Column(w.window, around, self._between(around))
        return signals

    def _added(self) -> list[float]:
        first, *others = self._signals.values()
        totals = first.normalised  # its weight is 1
        for weight, _, values in others:
            totals = [total + weight * value for total, value in zip(totals, values, strict=True)]
        return [total / self._total_weight for total in totals]

    def _estimate(self, match: Match, total: float) -> float:
        aimed = self._aimed(match.ref, match.role, match.name)
        return (total + self._dated(self._asked.closeness(match.at), total)) * (1 + self._weights.speaker * aimed)

    def _noted(self, index: int) -> dict[str, Signal]:
        return {
            name: Signal(
                column.raw[index],
                column.normalised[index],
                column.weight / self._total_weight * column.normalised[index],
            )
            for name, column in self._signals.items()
        }

    def _order(self, values: Sequence[float]) -> list[int]:
        """Return the rank of each candidate by one signal."""
        ranks = [0] * len(values)
        for rank, index in enumerate(
            sorted(range(len(values)), key=lambda index: (-values[index], self._names[index])), 1
        ):
            ranks[index] = rank
        return ranks

    def _aimed(self, ref: Ref, role: str | None, name: str | None) -> int:
        """Return 1 if the question asks what this speaker said, -1 if it asks about another speaker, else 0."""
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

    def _factored(self, total: float, text: Text | None, newest: Micros, noted: dict[str, Signal] | None) -> float:
        """Apply the small, bounded factors, and record in `noted` what each one added."""
        if text is None:
            return total
        w, asked = self._weights, self._asked
        near = asked.closeness(text.at) if asked.spans else 0.0
        if near:
            total += _noting(noted, "date", near, near, self._dated(near, total))
        aimed = self._aimed(text.ref, text.role, text.name)
        if aimed:
            total += _noting(noted, "speaker", aimed, float(aimed), w.speaker * aimed * total)
        quoted = self._quoted(text.text) if asked.quoted else 0.0
        if quoted:
            total += _noting(noted, "quoted", quoted, quoted, w.quoted * quoted * total)
        about = self._about(text) if asked.names and text.row is not None else 0.0
        if about:
            total += _noting(noted, "entity", about, about, w.entity * about * total)
        age = max(0.0, (newest - text.at) / DAY)
        recent = 1 / (1 + age / _MONTH)
        total += _noting(noted, "recency", age, recent, (w.recency_now if asked.now else w.recency) * recent * total)
        used = self._found.usage.get(text.ref)
        if used is not None and used.times:
            often = used.times / (used.times + 3)
            total += _noting(noted, "usage", used.times, often, w.usage * often * total)
        return total

    def _about(self, text: Text) -> float:
        """Return the share of the names in the question that a fact is about."""
        assert text.row is not None  # noqa: S101 - it is a fact
        names = f"{text.name or ''} {text.row['entities']}".casefold()
        return sum(1 for name in self._asked.names if name in names) / len(self._asked.names)

    def _quoted(self, text: str) -> float:
        """Return the share of the quotes in the question that occur verbatim."""
        parts = self._asked.quoted
        folded = text.casefold()
        return sum(1 for part in parts if part in folded) / len(parts)

    def _of_best(self, values: Sequence[float]) -> list[float]:
        best = max(self._unless_gone(values), default=0.0)
        return [min(1.0, value / best) for value in values] if best > 0 else [0.0] * len(values)

    def _between(self, values: Sequence[float]) -> list[float]:
        # Similarities include outdated candidates whether or not the caller asked for an explanation.
        near, names = self._near, self._names
        among = [value for index, value in enumerate(values) if index not in self._gone or names[index] in near]
        low, high = min(among, default=0.0), max(among, default=0.0)
        width = high - low
        return [max(0.0, min(1.0, (value - low) / width)) if width > 0 else 0.0 for value in values]

    def _unless_gone(self, values: Sequence[float]) -> Sequence[float]:
        return [value for index, value in enumerate(values) if index not in self._gone] if self._gone else values

    def _opens(self) -> bool:
        """Return whether anything comes near enough to the question. If not, showing nothing is better."""
        w, worth = self._weights, self._worth
        if self._asked.only_when:
            return True
        nearest = max(self._found.similarities.values(), default=0.0)
        covered = max(self._unless_gone(self._covered), default=0.0)
        return nearest >= w.gate_near or (worth > 0 and covered / worth >= w.gate_covered)

    def _is_relevant(self, ref: Ref, index: int) -> bool:
        """Return whether a candidate or its neighbours have anything to do with the question."""
        w, worth = self._weights, self._worth
        if self._asked.only_when:
            return index < len(self._found.matches) and self._asked.closeness(self._found.matches[index].at) == 1
        if self._found.similarities.get(ref, 0.0) >= w.near:
            return True
        return worth > 0 and self._covered[index] / worth >= w.covered


def _first_two(scored: tuple[float, Ref, int, object]) -> tuple[float, _Name]:
    return scored[0], scored[1].parts


def scaled(signals: Mapping[str, Signal], by: float) -> dict[str, Signal]:
    """Scale what each signal added, so that the parts add up to the score."""
    return {name: Signal(signal.raw, signal.normalised, signal.added * by) for name, signal in signals.items()}


def _noting(noted: dict[str, Signal] | None, name: str, raw: float, share: float, added: float) -> float:
    if noted is not None:
        noted[name] = Signal(raw, share, added)
    return added


def _window(near: Mapping[_Name, float], name: _Name, nearness: float) -> float:
    """Return the mean similarity of a message and its direct neighbours."""
    kind, session, number = name
    if kind is not _MESSAGE:
        return nearness
    sides = [near.get((kind, session, number + step)) for step in (-1, 1)]
    known = [nearness, *(side for side in sides if side is not None)]
    return sum(known) / len(known)


def _rarity(known_in: int, among: int) -> float:
    return math.log(1 + (max(among, known_in) - known_in + 0.5) / (known_in + 0.5))
