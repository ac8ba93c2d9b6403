"""Choose the items to show from the ranked candidates: no duplicates, nothing irrelevant, within the budget."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace

from bethink.base.frozen import frozen
from bethink.extend import Tokens
from bethink.memory.recall.asking import is_repeat, repeats_question
from bethink.memory.recall.candidates import Ranked
from bethink.memory.recall.duplicates import Openings, adds_nothing, contains, is_quoted, meaning_of
from bethink.memory.recall.excerpts import excerpt
from bethink.memory.recall.status import StatusMark
from bethink.memory.recall.truth import Truth
from bethink.memory.recall.tuning import TUNING, Tuning
from bethink.model.facts import Fact, FactStatus, SourceMessage
from bethink.model.framing import label_of
from bethink.model.moments import from_micros
from bethink.model.recall import Candidate, Certainty, Excerpt, Fate, Match
from bethink.model.refs import Ref, RefKind
from bethink.model.rules import is_private
from bethink.store.search import Text


@frozen
class ChoiceRules:
    """The limits for the items to show."""

    limit: int
    budget: int | None
    max_item_tokens: int | None = None
    for_prompt: bool = False
    """Whether the items go next to the question into a prompt: what repeats it, or a session's opening, is left out."""
    words: frozenset[str]
    tokens: Tokens
    question: str = ""
    session_id: str | None = None
    min_certainty: Certainty | None = None
    tuning: Tuning = TUNING
    openings: Openings = field(default_factory=Openings)
    """Computed while the candidates were ranked."""


class Chooser:
    """Goes through the candidates, best first, and records a decision for each."""

    def __init__(
        self,
        rules: ChoiceRules,
        truth: Truth,
        excerpts: Mapping[str, Sequence[Excerpt]],
        replies: Mapping[Ref, Text],
        in_confidence: Collection[SourceMessage] = (),
    ) -> None:
        self._rules = rules
        self._truth = truth
        self._texts = truth.texts
        self._newest = {mark.because_of for mark in truth.marks.values() if mark.status is FactStatus.EARLIER}
        self._excerpts = excerpts
        self._replies = replies
        self._in_confidence = in_confidence
        self._items: list[Match] = []
        self._duplicates: dict[Ref, list[Ref]] = {}
        self._shown_as: dict[Ref, Ref] = {}
        self._shown_texts: dict[str, list[Text]] = {}
        self._meanings: dict[Ref, str] = {}
        self._facts_by_source: dict[SourceMessage, Ref] = {}
        self._full_messages: dict[SourceMessage, Text] = {}
        self._min_probability = (
            None if rules.min_certainty is None else rules.tuning.min_certainty_of(rules.min_certainty)
        )
        self._decided: list[tuple[Ranked, Text | None, Fate, Ref | None]] = []
        self.spent = 0

    def choose(self, ranked: Sequence[Ranked]) -> tuple[Match, ...]:
        """Return the items to show, best first. Afterwards `candidates` has the fate of each candidate."""
        sessions = {candidate.ref.id for candidate in ranked if candidate.ref.kind is RefKind.MESSAGE}
        later = {
            index
            for index, candidate in enumerate(ranked)
            if candidate.ref.id in sessions and self._quotes(candidate.ref)
        }
        decided: dict[int, tuple[Ranked, Text | None, Fate, Ref | None]] = {}
        for index in (*(index for index in range(len(ranked)) if index not in later), *sorted(later)):
            candidate = ranked[index]
            text = self._texts.get(candidate.ref)
            decided[index] = (candidate, text, *self._decide(candidate, text))
        self._decided = [decided[index] for index in range(len(ranked))]
        if later:
            self._items.sort(key=lambda item: -item.score)
        return tuple([self._with_duplicates(item) for item in self._items])

    @property
    def candidates(self) -> list[Candidate]:
        """All candidates with their fates, best first."""
        return [
            Candidate(
                ref=candidate.ref,
                text="" if text is None else text.text,
                signals=candidate.signals,
                score=candidate.score,
                ranks=candidate.ranks,
                fate=fate,
                because_of=because,
                certainty=self._certainty(candidate),
                confidential=text is not None and self._is_confidential(text.ref, text.as_fact()),
            )
            for candidate, text, fate, because in self._decided
        ]

    def _decide(self, candidate: Ranked, text: Text | None) -> tuple[Fate, Ref | None]:
        if candidate.fate is not None:
            return candidate.fate, candidate.because_of
        if text is None:
            return Fate.ERASED, None
        if text.fate is not None:
            return text.fate, text.because_of
        drop_fate = self._drop_fate(candidate, text)
        if drop_fate is not None:
            return drop_fate, None
        opening = self._rules.openings[text.text]
        duplicate = self._duplicate_of(text, opening)
        if duplicate is not None:
            self._duplicates.setdefault(duplicate, []).append(candidate.ref)
            self._shown_as[candidate.ref] = duplicate
            return Fate.DUPLICATE, duplicate
        if len(self._items) >= self._rules.limit:
            return Fate.BEYOND_LIMIT, None
        return self._take(candidate, text, opening)

    def _drop_fate(self, candidate: Ranked, text: Text) -> Fate | None:
        rules = self._rules
        if not candidate.relevant or not text.text.strip():
            return Fate.UNRELATED
        if rules.for_prompt and (text.quotes or (text.role == "user" and repeats_question(text.text, rules.question))):
            return Fate.UNRELATED if text.quotes else Fate.QUESTION
        if text.ref.kind is RefKind.MESSAGE and text.ref.id == rules.session_id:
            return Fate.QUESTION if is_repeat(text.text, rules.question) else None
        if self._min_probability is not None and self._certainty(candidate) < self._min_probability:
            return Fate.UNCERTAIN
        return None

    def _quotes(self, ref: Ref) -> bool:
        """Return whether a session summary repeats messages. These are decided first, so that it is their duplicate."""
        if ref.kind is not RefKind.SESSION_SUMMARY or ref not in self._texts:
            return False
        return self._texts[ref].quotes or ref in self._truth.superseded or ref in self._truth.evidence

    def _take(self, candidate: Ranked, text: Text, opening: str) -> tuple[Fate, Ref | None]:
        item = self._item(candidate, text)
        budget = self._rules.budget
        if budget is not None and self.spent + item.tokens > budget:
            return Fate.OVER_BUDGET, None
        self.spent += item.tokens
        self._items.append(item)
        self._shown_texts.setdefault(opening, []).append(text)
        self._shown_as[text.ref] = text.ref
        for quote, item_excerpt in zip(self._quotes_of(text.ref), item.excerpts, strict=False):
            if item_excerpt.text == quote.text:
                self._facts_by_source.setdefault(quote.source, candidate.ref)
        if text.ref.kind is RefKind.MESSAGE and item.text == text.text:
            self._full_messages[SourceMessage(text.ref.id, text.ref.number)] = text
        return Fate.SHOWN, item.replaced_by

    def _duplicate_of(self, text: Text, opening: str) -> Ref | None:
        """Return the item that already says the same: in the same words, as a fact, or as a quote."""
        if text.ref.kind is RefKind.MESSAGE:
            existing = self._fact_for(text.ref)
        elif text.ref.kind is RefKind.SESSION_SUMMARY:
            existing = self._item_covering(text)
        else:
            messages = (self._full_messages[other] for other in self._sources(text.ref) if other in self._full_messages)
            existing = next((message.ref for message in messages if contains(message.text, text.text)), None)
        if existing is not None or opening not in self._shown_texts:
            return existing
        meant, superseded = self._meaning(text), self._truth.superseded
        alike = (other.ref for other in self._shown_texts[opening] if self._meaning(other) == meant)
        # A current text must not be hidden behind the same words in a superseded one.
        return next((ref for ref in alike if ref not in superseded or text.ref in superseded), None)

    def _fact_for(self, ref: Ref) -> Ref | None:
        """Return the item that covers a message: a fact that was learned from it, or that quotes all of it."""
        facts = () if ref in self._truth.under_review else self._truth.evidence.get(ref, ())
        item_ref = next((self._shown_as[fact] for fact in facts if fact in self._shown_as), None)
        return item_ref or self._facts_by_source.get(SourceMessage(ref.id, ref.number))

    def _item_covering(self, summary: Text) -> Ref | None:
        """Return the item of the same session that covers a session summary."""
        for item in self._items:
            messages = list(self._messages_in(item, summary.ref.id))
            quoted = summary.quotes and any(is_quoted(message, summary.text) for message in messages)
            if quoted or (messages and adds_nothing(summary.text, [item.text, *messages], self._rules.words)):
                return item.ref
        return None

    def _messages_in(self, item: Match, session_id: str) -> Iterator[str]:
        """Yield the messages of a session that an item shows or covers."""
        if item.ref.kind is RefKind.MESSAGE and item.ref.id == session_id:
            yield item.text
        yield from [quote.text for quote in item.excerpts if quote.source.session_id == session_id]
        also = [
            ref for ref in self._duplicates.get(item.ref, ()) if ref.kind is RefKind.MESSAGE and ref.id == session_id
        ]
        yield from [self._texts[ref].text for ref in also]

    def _meaning(self, text: Text) -> str:
        meaning = self._meanings.get(text.ref)
        if meaning is None:
            meaning = self._meanings[text.ref] = meaning_of(text.text)
        return meaning

    def _sources(self, ref: Ref) -> list[SourceMessage]:
        if ref.kind is RefKind.MESSAGE:
            return [SourceMessage(ref.id, ref.number)]
        return [quote.source for quote in self._quotes_of(ref)]

    def _quotes_of(self, ref: Ref) -> Sequence[Excerpt]:
        """Return the quotes of a fact, without those that a manual correction has superseded."""
        if ref.kind is not RefKind.FACT:
            return ()
        superseded = self._truth.superseded
        return [
            quote
            for quote in self._excerpts.get(ref.id, ())
            if superseded.get(Ref(RefKind.MESSAGE, quote.source.session_id, quote.source.number)) != ref
        ]

    def _certainty(self, candidate: Ranked) -> float:
        """Return the certainty of a candidate; it is lower for superseded ones."""
        tuning, mark = self._rules.tuning, self._truth.marks.get(candidate.ref)
        if candidate.ref in self._truth.superseded or (mark is not None and mark.is_over):
            return candidate.certainty * tuning.superseded_counts
        # What is in doubt is never of high certainty, nor what takes the place of another without a model.
        if (mark is not None and mark.brings_cause) or candidate.ref in self._newest:
            return min(candidate.certainty, tuning.doubtful_until)
        return candidate.certainty

    def _item(self, candidate: Ranked, text: Text) -> Match:
        rules, tuning = self._rules, self._rules.tuning
        share = None if rules.budget is None else tuning.max_item_tokens(rules.budget)
        max_tokens = min(
            (candidate for candidate in (share, rules.max_item_tokens) if candidate is not None), default=None
        )
        quotes = self._quotes_of(text.ref)
        excerpts = [
            replace(
                quote,
                text=excerpt(quote.text, rules.words, rules.tokens, budget=tuning.min_item_tokens),
                confidential=quote.source in self._in_confidence,
            )
            for quote in quotes[: tuning.quotes_per_fact]
        ]
        reply_to = self._reply_to(text.ref)
        content = text.text if max_tokens is None else excerpt(text.text, rules.words, rules.tokens, budget=max_tokens)
        fact, mark = text.as_fact(), self._truth.marks.get(text.ref)
        return Match(
            ref=text.ref,
            text=content,
            origin=text.origin,
            said_at=from_micros(text.at),
            score=candidate.score,
            tokens=sum(map(rules.tokens.count, [content, *(quote.text for quote in (*excerpts, *reply_to))])),
            label=label_of(text.ref),
            certainty=tuning.level(self._certainty(candidate)),
            probability=round(self._certainty(candidate), 3),
            speaker=text.name if text.ref.kind is RefKind.MESSAGE else None,
            session_id=text.ref.id if text.ref.kind in (RefKind.MESSAGE, RefKind.SESSION_SUMMARY) else None,
            fact=fact,
            sources=tuple([quote.source for quote in quotes]),
            excerpts=tuple(excerpts),
            tags=tuple(json.loads(text.tags)),
            metadata=json.loads(text.metadata),
            replaced_by=self._truth.superseded.get(text.ref),
            status=mark.status if mark is not None else None if fact is None else fact.status,
            because_of=None if mark is None else mark.because_of,
            because_text=self._cause_of(mark),
            confidential=self._is_confidential(text.ref, fact),
            reply_to=next(iter(reply_to), None),
        )

    def _reply_to(self, ref: Ref) -> tuple[Excerpt, ...]:
        """Return the question that a message answers, if there is one."""
        question = self._replies.get(ref)
        if question is None:
            return ()
        rules, source = self._rules, SourceMessage(question.ref.id, question.ref.number)
        short = excerpt(question.text, rules.words, rules.tokens, budget=rules.tuning.reply_to_tokens)
        confidential = source in self._in_confidence
        return (
            Excerpt(
                source=source,
                text=short,
                origin=question.origin,
                said_at=from_micros(question.at),
                confidential=confidential,
            ),
        )

    def _cause_of(self, mark: StatusMark | None) -> str | None:
        """Return the text of a cause, unless it is confidential: this item may be shown to more readers than that."""
        if mark is None or mark.because_of is None:
            return None
        cause = mark.because_of
        if cause.kind is RefKind.MESSAGE and SourceMessage(cause.id, cause.number) in self._in_confidence:
            return None
        return mark.because_text

    def _is_confidential(self, ref: Ref, fact: Fact | None) -> bool:
        return SourceMessage(ref.id, ref.number) in self._in_confidence if fact is None else is_private(fact)

    def _with_duplicates(self, item: Match) -> Match:
        duplicates = self._duplicates.get(item.ref)
        if not duplicates:
            return item
        sources = [source for ref in duplicates for source in self._sources(ref)]
        return replace(item, duplicates=tuple(duplicates), sources=tuple(dict.fromkeys([*item.sources, *sources])))
