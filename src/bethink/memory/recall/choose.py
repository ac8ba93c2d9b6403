"""Choose what to show from the ranked candidates: no duplicates, nothing irrelevant, nothing over the budget."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from bethink.base.frozen import frozen
from bethink.extend import Tokens
from bethink.memory.recall.candidates import Ranked
from bethink.memory.recall.duplicates import adds_nothing, contains, is_quoted, meaning_of, opening_of
from bethink.memory.recall.excerpts import excerpt
from bethink.memory.recall.question import repeats
from bethink.memory.recall.standing import Truth
from bethink.memory.recall.tuning import TUNING, Tuning
from bethink.model.facts import Fact, SourceMessage
from bethink.model.framing import label_of
from bethink.model.moments import from_micros
from bethink.model.recall import Candidate, Certainty, Excerpt, Fate, Level, Recalled, Ref, RefKind
from bethink.model.rules import confidential
from bethink.store.search import Text


@frozen
class ChoiceRules:
    """How much may be shown."""

    limit: int
    budget: int | None
    longest: int | None = None
    words: frozenset[str]
    tokens: Tokens
    question: str = ""
    asked_in: str | None = None
    least: Level | None = None
    tuning: Tuning = TUNING


class Chooser:
    """Goes through candidates, best first, and records what it decided about each."""

    def __init__(
        self,
        rules: ChoiceRules,
        truth: Truth,
        excerpts: Mapping[str, Sequence[Excerpt]],
        in_confidence: Collection[SourceMessage] = (),
    ) -> None:
        self._rules = rules
        self._truth = truth
        self._texts = truth.texts
        self._excerpts = excerpts
        self._in_confidence = in_confidence
        self._items: list[Recalled] = []
        self._also: dict[Ref, list[Ref]] = {}
        self._shown_as: dict[Ref, Ref] = {}
        self._said: dict[str, list[Text]] = {}
        self._meanings: dict[Ref, str] = {}
        self._behind: dict[SourceMessage, Ref] = {}
        self._whole: dict[SourceMessage, Text] = {}
        self._least = None if rules.least is None else rules.tuning.least(rules.least)
        self._decided: list[tuple[Ranked, Text | None, Fate, Ref | None]] = []
        self.spent = 0

    def choose(self, ranked: Sequence[Ranked]) -> tuple[Recalled, ...]:
        """Return the items to show, best first. Afterwards `candidates` tells what became of each candidate."""
        sessions = {each.ref.id for each in ranked if each.ref.kind is RefKind.MESSAGE}
        later = {index for index, each in enumerate(ranked) if each.ref.id in sessions and self._quotes(each.ref)}
        decided: dict[int, tuple[Ranked, Text | None, Fate, Ref | None]] = {}
        for index in (*(index for index in range(len(ranked)) if index not in later), *sorted(later)):
            each = ranked[index]
            text = self._texts.get(each.ref)
            decided[index] = (each, text, *self._decide(each, text))
        self._decided = [decided[index] for index in range(len(ranked))]
        if later:
            self._items.sort(key=lambda item: -item.score)
        return tuple([self._with_others(item) for item in self._items])

    @property
    def candidates(self) -> list[Candidate]:
        """All candidates with their fates, best first."""
        return [
            Candidate(
                ref=each.ref,
                text="" if text is None else text.text,
                signals=each.signals,
                score=each.score,
                ranks=each.ranks,
                fate=fate,
                because_of=because,
                certainty=self._certain(each),
                confidential=text is not None and self._is_confidential(text.ref, text.as_fact()),
            )
            for each, text, fate, because in self._decided
        ]

    def _decide(self, each: Ranked, text: Text | None) -> tuple[Fate, Ref | None]:
        if each.fate is not None:
            return each.fate, each.because_of
        if text is None:
            return Fate.ERASED, None
        if text.fate is not None:
            return text.fate, text.because_of
        unfit = self._unfit(each, text)
        if unfit is not None:
            return unfit, None
        opening = opening_of(text.text)
        twin = self._twin(text, opening)
        if twin is not None:
            self._also.setdefault(twin, []).append(each.ref)
            self._shown_as[each.ref] = twin
            return Fate.DUPLICATE, twin
        if len(self._items) >= self._rules.limit:
            return Fate.BEYOND_LIMIT, None
        return self._take(each, text, opening)

    def _unfit(self, each: Ranked, text: Text) -> Fate | None:
        rules = self._rules
        if not each.relevant or not text.text.strip():
            return Fate.UNRELATED
        if text.ref.kind is RefKind.MESSAGE and text.ref.id == rules.asked_in:
            return Fate.QUESTION if repeats(text.text, rules.question) else None
        if self._least is not None and self._certain(each) < self._least:
            return Fate.UNCERTAIN
        return None

    def _quotes(self, ref: Ref) -> bool:
        """Return whether a candidate repeats messages. Those are decided first, so that it is their duplicate."""
        if ref.kind is not RefKind.SESSION_MEMORY or ref not in self._texts:
            return False
        return self._texts[ref].quotes or ref in self._truth.superseded or ref in self._truth.evidence

    def _take(self, each: Ranked, text: Text, opening: str) -> tuple[Fate, Ref | None]:
        item = self._item(each, text)
        budget = self._rules.budget
        if budget is not None and self.spent + item.tokens > budget:
            return Fate.OVER_BUDGET, None
        self.spent += item.tokens
        self._items.append(item)
        self._said.setdefault(opening, []).append(text)
        self._shown_as[text.ref] = text.ref
        for quote, shown in zip(self._quotes_of(text.ref), item.excerpts, strict=False):
            if shown.text == quote.text:
                self._behind.setdefault(quote.source, each.ref)
        if text.ref.kind is RefKind.MESSAGE and item.text == text.text:
            self._whole[SourceMessage(text.ref.id, text.ref.number)] = text
        return Fate.SHOWN, item.superseded_by

    def _twin(self, text: Text, opening: str) -> Ref | None:
        """Return the item that already says this: the same words, a fact that stands for it, or what it quotes."""
        if text.ref.kind is RefKind.MESSAGE:
            behind = self._fact_for(text.ref)
        elif text.ref.kind is RefKind.SESSION_MEMORY:
            behind = self._repeated(text)
        else:
            shown = (self._whole[each] for each in self._sources(text.ref) if each in self._whole)
            behind = next((whole.ref for whole in shown if contains(whole.text, text.text)), None)
        if behind is not None or opening not in self._said:
            return behind
        meant, superseded = self._meant(text), self._truth.superseded
        alike = (each.ref for each in self._said[opening] if self._meant(each) == meant)
        # What holds must not disappear behind the same words of someone who has been overtaken since.
        return next((ref for ref in alike if ref not in superseded or text.ref in superseded), None)

    def _fact_for(self, ref: Ref) -> Ref | None:
        """Return the item that stands for a message: a fact that was learnt from it, or that shows all of it."""
        facts = self._truth.evidence.get(ref, ())
        shown = next((self._shown_as[fact] for fact in facts if fact in self._shown_as), None)
        return shown or self._behind.get(SourceMessage(ref.id, ref.number))

    def _repeated(self, memory: Text) -> Ref | None:
        """Return the item from the same session to which a session memory adds nothing."""
        for item in self._items:
            said = list(self._said_in(item, memory.ref.id))
            quoted = memory.quotes and any(is_quoted(each, memory.text) for each in said)
            if quoted or (said and adds_nothing(memory.text, [item.text, *said], self._rules.words)):
                return item.ref
        return None

    def _said_in(self, item: Recalled, session_id: str) -> Iterator[str]:
        """Return the messages of a session that an item shows or stands for."""
        if item.ref.kind is RefKind.MESSAGE and item.ref.id == session_id:
            yield item.text
        yield from [quote.text for quote in item.excerpts if quote.source.session_id == session_id]
        also = [ref for ref in self._also.get(item.ref, ()) if ref.kind is RefKind.MESSAGE and ref.id == session_id]
        yield from [self._texts[ref].text for ref in also]

    def _meant(self, text: Text) -> str:
        meant = self._meanings.get(text.ref)
        if meant is None:
            meant = self._meanings[text.ref] = meaning_of(text.text)
        return meant

    def _sources(self, ref: Ref) -> list[SourceMessage]:
        if ref.kind is RefKind.MESSAGE:
            return [SourceMessage(ref.id, ref.number)]
        return [quote.source for quote in self._quotes_of(ref)]

    def _quotes_of(self, ref: Ref) -> Sequence[Excerpt]:
        """Return the messages behind a fact. What it was before someone corrected it by hand does not prove it."""
        if ref.kind is not RefKind.FACT:
            return ()
        superseded = self._truth.superseded
        return [
            quote
            for quote in self._excerpts.get(ref.id, ())
            if superseded.get(Ref(RefKind.MESSAGE, quote.source.session_id, quote.source.number)) != ref
        ]

    def _certain(self, each: Ranked) -> float:
        """Return how certain an answer is; what was superseded answers less."""
        counts = self._rules.tuning.superseded_counts if each.ref in self._truth.superseded else 1.0
        return each.certainty * counts

    def _item(self, each: Ranked, text: Text) -> Recalled:
        rules, tuning = self._rules, self._rules.tuning
        share = None if rules.budget is None else max(tuning.least_tokens, rules.budget // tuning.budget_share)
        most = min((each for each in (share, rules.longest) if each is not None), default=None)
        quotes = self._quotes_of(text.ref)
        shown = [
            replace(
                quote,
                text=excerpt(quote.text, rules.words, rules.tokens, budget=tuning.least_tokens),
                confidential=quote.source in self._in_confidence,
            )
            for quote in quotes[: tuning.quotes_per_fact]
        ]
        said = text.text if most is None else excerpt(text.text, rules.words, rules.tokens, budget=most)
        fact = text.as_fact()
        return Recalled(
            ref=text.ref,
            text=said,
            origin=text.origin,
            at=from_micros(text.at),
            score=each.score,
            tokens=rules.tokens.count(said) + sum([rules.tokens.count(quote.text) for quote in shown]),
            label=label_of(text.ref),
            certainty=Certainty(tuning.level(self._certain(each)), round(self._certain(each), 3)),
            speaker=text.name if text.ref.kind is RefKind.MESSAGE else None,
            session_id=text.ref.id if text.ref.kind in (RefKind.MESSAGE, RefKind.SESSION_MEMORY) else None,
            fact=fact,
            sources=tuple([quote.source for quote in quotes]),
            excerpts=tuple(shown),
            tags=tuple(json.loads(text.tags)),
            metadata=json.loads(text.metadata),
            superseded_by=self._truth.superseded.get(text.ref),
            confidential=self._is_confidential(text.ref, fact),
        )

    def _is_confidential(self, ref: Ref, fact: Fact | None) -> bool:
        return SourceMessage(ref.id, ref.number) in self._in_confidence if fact is None else confidential(fact)

    def _with_others(self, item: Recalled) -> Recalled:
        also = self._also.get(item.ref)
        if not also:
            return item
        sources = [source for ref in also for source in self._sources(ref)]
        return replace(item, also=tuple(also), sources=tuple(dict.fromkeys([*item.sources, *sources])))
