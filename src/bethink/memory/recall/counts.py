"""Count the words of a question: in the matches, in the messages around them, and in their sessions."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from bethink.memory.recall.candidates import Candidates, Key, MatchResult, SessionKey, WordCount
from bethink.memory.recall.question import ParsedQuestion, Term
from bethink.memory.recall.tuning import Tuning
from bethink.model.recall import Fate
from bethink.model.refs import Ref, RefKind

_MESSAGE = RefKind.MESSAGE


def count_words(question: ParsedQuestion, result: MatchResult, tuning: Tuning) -> Candidates:
    """Return every candidate: the matches with their word counts, the messages around them, and the vector matches."""
    counting = _WordCounter(question, result, tuning)
    counts = [counting.count(term) for term in (*question.terms, *question.topics)]
    similarities = {ref.parts: similarity for ref, similarity in result.similarities.items()}
    for key in similarities:
        counting.position(key)
    return Candidates(
        keys=counting.keys,
        matches=result.matches,
        counts=counts,
        worth=counting.worth,
        unmatched=counting.unmatched,
        covered=_coverage(counts, counting.worth, len(counting.keys)),
        matched=max(
            (weight for index, weight in counting.matched.items() if index not in counting.outdated), default=0
        ),
        replies=counting.replies,
        similarities=similarities,
        outdated=counting.outdated,
    )


def _coverage(counts: Sequence[WordCount], worth: float, size: int) -> list[float]:
    """Return for each candidate the share of the question's words that it has, by their worth."""
    covered = [0.0] * size
    if worth <= 0:
        return covered
    for word in counts:
        part, floor_of = word.worth / worth, word.present.get
        for index, share in word.shares.items():
            if share < 1 and (floor := floor_of(index, 0.0)) > share:
                share = floor  # noqa: PLW2901 - this loop runs thousands of times
            covered[index] += part * share if share < 1 else part
    return [share if share < 1 else 1.0 for share in covered]


class _WordCounter:
    """Counts one word after the other, and collects the candidates along the way."""

    def __init__(self, question: ParsedQuestion, result: MatchResult, tuning: Tuning) -> None:
        matches = result.matches
        self._result = result
        self._tuning = tuning
        self.keys: list[Key] = [match.ref.parts for match in matches]
        self.outdated = {index for index, match in enumerate(matches) if match.fate is not None}
        self.worth = self.unmatched = 0.0
        self.replies: set[int] = set()
        self.matched: dict[int, float] = defaultdict(float)
        self._positions = {key: index for index, key in enumerate(self.keys)}
        self._repeats = {index for index in self.outdated if matches[index].fate is Fate.QUESTION}
        self._sessions: list[SessionKey] = [
            key[1] if key[0] is _MESSAGE else index for index, key in enumerate(self.keys)
        ]
        even, longer = 1 - tuning.length_share, tuning.length_share
        usual, size = tuning.usual_length, tuning.bytes_per_word
        self._norms = [even + longer * match.length / size / usual for match in matches]
        after = ((1, tuning.after), (2, tuning.two_away))
        replies = ((1, tuning.after + tuning.answering), (2, tuning.two_away))
        before = ((-1, tuning.before), (-2, tuning.two_away))
        self._steps = {False: (*after, *before), True: (*replies, *before)}
        self._around: dict[int, Sequence[tuple[int, float]]] = {}
        columns = zip(*(match.hits for match in matches), strict=True) if matches else [()] * len(question.stems)
        self._having = [[(index, hits) for index, hits in enumerate(column) if hits] for column in columns]

    def position(self, key: Key) -> int:
        """Return the position of a candidate, adding it if it is new."""
        index = self._positions.get(key)
        if index is None:
            index = self._positions[key] = len(self.keys)
            self.keys.append(key)
        return index

    def count(self, term: Term) -> WordCount:
        """Count one word of the question."""
        size = self._result.size
        direct: dict[int, float] = defaultdict(int)
        for stem in term.stems:
            for index, hits in self._having[stem]:
                direct[index] += hits
        if not (term.dated or term.topic):
            for index in direct:
                self.matched[index] += term.weight
        current = [index for index in direct if index not in self.outdated] if self.outdated else direct
        rarity = _rarity(max(len(current), self._count_texts(term.stems)), size.passages)
        worth = term.weight * rarity
        if current or not (term.dated or term.piece or term.topic):
            self.worth += worth
        elif term.piece:
            self.unmatched += worth
        session_count = len({self._sessions[index] for index in current})
        session_worth = term.weight * _rarity(session_count, max(size.sessions, session_count))
        return self._spread(self._with_related(term, direct, rarity), worth, session_worth)

    def _spread(self, counts: Sequence[tuple[int, float]], worth: float, session_worth: float) -> WordCount:
        shares: dict[int, float] = defaultdict(float)
        present: dict[int, float] = defaultdict(float)
        sessions: dict[SessionKey, float] = defaultdict(float)
        for index, count in counts:
            share = count / self._norms[index]
            around = self._around.get(index)
            if around is None:
                around = self._around[index] = self._neighbors(index)
            if share < 1:
                floor = min(count, 1.0)
                for other, part in around:
                    shares[other] += share * part
                    present[other] += floor * part
            else:
                for other, part in around:
                    shares[other] += share * part
            if index not in self._repeats:
                sessions[self._sessions[index]] += share
        return WordCount(worth, shares, present, session_worth, sessions)

    def _with_related(self, term: Term, direct: Mapping[int, float], rarity: float) -> Sequence[tuple[int, float]]:
        """Return how often a word or a related one occurs in each match, in order; related words count less."""
        related: dict[int, float] = defaultdict(float)
        for stem in term.related:
            having = self._having[stem]
            current = sum(index not in self.outdated for index, _ in having)
            text_count = max(current, self._count_texts((stem,)))
            share = self._tuning.related * min(1.0, _rarity(text_count, self._result.size.passages) / rarity)
            for index, hits in having:
                related[index] += hits * share
        for topic in term.topics:
            share = self._tuning.topic * min(
                1.0, _rarity(len(self._having[topic]), self._result.size.passages) / rarity
            )
            for index, _ in self._having[topic]:
                if index not in direct:  # a fact that has the word itself ranks like a message that has it
                    related[index] = max(related[index], share)
        if not related and len(term.stems) == 1:
            return list(direct.items())
        return [(index, direct.get(index, 0) + related.get(index, 0.0)) for index in sorted({*direct, *related})]

    def _count_texts(self, stems: Iterable[int]) -> int:
        """Return the minimum number of texts with one of the stems; in a large space, few of them are matches."""
        counts = self._result.counts
        return max((counts[stem] for stem in stems), default=0) if counts else 0

    def _neighbors(self, index: int) -> Sequence[tuple[int, float]]:
        """Return the positions where a word counts: its match, and in part the messages around it."""
        kind, session, number = self.keys[index]
        if kind is not _MESSAGE:
            return ((index, 1.0),)
        asks = self._result.matches[index].asks
        steps = self._steps[asks]
        if index in self._repeats:
            # Messages before the question do not answer it, and only existing ones after it can.
            answers = self._result.answers
            steps = [step for step in steps if step[0] > 0 and Ref(kind, session, number + step[0]) in answers]
        around = [(index, 1.0)]
        for step, part in steps:
            if number + step > 0:
                position = self.position((kind, session, number + step))
                around.append((position, part))
                if step == 1 and (asks or index in self._repeats):
                    self.replies.add(position)
        return around


def _rarity(having: int, among: int) -> float:
    return math.log(1 + (max(among, having) - having + 0.5) / (having + 0.5))
