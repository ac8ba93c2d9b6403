"""Choose what to show from the ranked candidates: no duplicates, nothing irrelevant, nothing over the budget."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from bethink.extend import Tokens
from bethink.model.framing import label_of
from bethink.model.moments import from_micros
from bethink.model.recall import Candidate, Excerpt, Fate, Recalled, Ref, RefKind, Signal
from bethink.model.records import SourceMessage
from bethink.model.words import gist, key_words, stem, words_of
from bethink.recall.question import repeats
from bethink.store.search import SEARCHED, Text

_SHARE = 4
_LEAST = 60
_QUOTED_PER_FACT = 2
_QUOTED_CHARACTERS = 150
_HEAD = 32
_OPENING = 2
_LONG = 20_000
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+|\n|$)\s*")
_WORD = re.compile(r"\w+")


class Ranked(NamedTuple):
    """A ranked candidate and its score. One that already has a fate is never shown, whatever its score."""

    ref: Ref
    score: float
    signals: Mapping[str, Signal] = MappingProxyType({})
    ranks: Mapping[str, int] = MappingProxyType({})
    relevant: bool = True
    fate: Fate | None = None
    because_of: Ref | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How much may be shown, and from which origins."""

    limit: int
    budget: int | None
    longest: int | None = None
    origins: Collection[str] | None
    words: frozenset[str]
    tokens: Tokens
    question: str = ""
    asked_in: str | None = None


class Chooser:
    """Goes through candidates, best first, and records what it decided about each."""

    def __init__(self, rules: Rules, texts: Mapping[Ref, Text], excerpts: Mapping[str, Sequence[Excerpt]]) -> None:
        self._rules = rules
        self._texts = texts
        self._excerpts = excerpts
        self._items: list[Recalled] = []
        self._also: dict[Ref, list[Ref]] = {}
        self._said: dict[str, list[Text]] = {}
        self._meanings: dict[Ref, str] = {}
        self._behind: dict[SourceMessage, Ref] = {}
        self._whole: dict[SourceMessage, Text] = {}
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
        opening = _opening(text.text)
        twin = self._twin(text, opening)
        if twin is not None:
            self._also.setdefault(twin, []).append(each.ref)
            return Fate.DUPLICATE, twin
        if len(self._items) >= self._rules.limit:
            return Fate.BEYOND_LIMIT, None
        return self._take(each, text, opening)

    def _unfit(self, each: Ranked, text: Text) -> Fate | None:
        rules = self._rules
        if rules.origins is not None and not of_origin(text.origin, rules.origins):
            return Fate.OTHER_ORIGIN
        if not each.relevant or not text.text.strip():
            return Fate.BELOW_FLOOR
        if text.ref.kind is RefKind.MESSAGE and text.ref.id == rules.asked_in:
            return Fate.QUESTION if repeats(text.text, rules.question) else None
        return None

    def _quotes(self, ref: Ref) -> bool:
        """Return whether a candidate only quotes messages. Those are decided first, so that it is their duplicate."""
        return ref.kind is RefKind.SESSION_MEMORY and ref in self._texts and self._texts[ref].quotes

    def _take(self, each: Ranked, text: Text, opening: str) -> tuple[Fate, Ref | None]:
        item = self._item(each, text)
        budget = self._rules.budget
        if budget is not None and self.spent + item.tokens > budget:
            return Fate.OVER_BUDGET, None
        self.spent += item.tokens
        self._items.append(item)
        self._said.setdefault(opening, []).append(text)
        quotes = self._excerpts.get(text.ref.id, ()) if text.ref.kind is RefKind.FACT else ()
        for quote, shown in zip(quotes, item.excerpts, strict=False):
            if shown.text == quote.text:
                self._behind.setdefault(quote.source, each.ref)
        if text.ref.kind is RefKind.MESSAGE and item.text == text.text:
            self._whole[SourceMessage(text.ref.id, text.ref.number)] = text
        return Fate.SHOWN, None

    def _twin(self, text: Text, opening: str) -> Ref | None:
        """Return the item that already says this: the same words, a fact quoting it, or the message it quotes."""
        if text.ref.kind is RefKind.MESSAGE:
            behind = self._behind.get(SourceMessage(text.ref.id, text.ref.number))
        elif text.quotes:
            behind = next((item.ref for item in self._items if _is_quoted(item, text)), None)
        else:
            shown = (self._whole[each] for each in self._sources(text.ref) if each in self._whole)
            behind = next((whole.ref for whole in shown if _contains(whole.text, text.text)), None)
        if behind is not None or opening not in self._said:
            return behind
        meant = self._meant(text)
        return next((each.ref for each in self._said[opening] if self._meant(each) == meant), None)

    def _meant(self, text: Text) -> str:
        meant = self._meanings.get(text.ref)
        if meant is None:
            meant = self._meanings[text.ref] = _said(text.text)
        return meant

    def _sources(self, ref: Ref) -> list[SourceMessage]:
        if ref.kind is RefKind.MESSAGE:
            return [SourceMessage(ref.id, ref.number)]
        return [quote.source for quote in self._excerpts.get(ref.id, ())] if ref.kind is RefKind.FACT else []

    def _item(self, each: Ranked, text: Text) -> Recalled:
        rules = self._rules
        share = None if rules.budget is None else max(_LEAST, rules.budget // _SHARE)
        most = min((each for each in (share, rules.longest) if each is not None), default=None)
        quotes = self._excerpts.get(text.ref.id, ()) if text.ref.kind is RefKind.FACT else ()
        shown = [
            replace(quote, text=excerpt(quote.text, rules.words, rules.tokens, budget=_LEAST))
            for quote in quotes[:_QUOTED_PER_FACT]
        ]
        said = text.text if most is None else excerpt(text.text, rules.words, rules.tokens, budget=most)
        return Recalled(
            ref=text.ref,
            text=said,
            origin=text.origin,
            at=from_micros(text.at),
            score=each.score,
            tokens=rules.tokens.count(said) + sum([rules.tokens.count(quote.text) for quote in shown]),
            label=label_of(text.ref),
            speaker=text.name if text.ref.kind is RefKind.MESSAGE else None,
            session_id=text.ref.id if text.ref.kind in (RefKind.MESSAGE, RefKind.SESSION_MEMORY) else None,
            fact=text.as_fact(),
            sources=tuple([quote.source for quote in quotes]),
            excerpts=tuple(shown),
        )

    def _with_others(self, item: Recalled) -> Recalled:
        also = self._also.get(item.ref)
        if not also:
            return item
        sources = [source for ref in also for source in self._sources(ref)]
        return replace(item, also=tuple(also), sources=tuple(dict.fromkeys([*item.sources, *sources])))


def of_origin(origin: str, wanted: Collection[str]) -> bool:
    """Return whether an origin is among those wanted: `tool` matches every tool, `tool:name` one."""
    return origin in wanted or origin.partition(":")[0] in wanted


def _is_quoted(item: Recalled, memory: Text) -> bool:
    """Return whether an item is a message that the memory of its session quotes."""
    if item.ref.kind is not RefKind.MESSAGE or item.ref.id != memory.ref.id:
        return False
    said = " ".join(item.text.strip("… ").split())[:_QUOTED_CHARACTERS]
    return bool(said) and said in memory.text


def _contains(message: str, fact: str) -> bool:
    """Return whether a message contains every key word of a fact."""
    return {stem(word) for word in key_words(fact)} <= {stem(word) for word in words_of(message)}


def _opening(text: str) -> str:
    """Return the beginnings of the first key words. Texts that say the same share at least these."""
    head = text[:_HEAD].rpartition(" ")[0] if text.isascii() else ""
    words = key_words(head)
    if len(words) < _OPENING:
        whole = text[:_LONG]
        words = key_words(whole) or words_of(whole)
    return " ".join([word[:3].rstrip("e") for word in words[:_OPENING]])


def _said(text: str) -> str:
    """Return the gist of a text. A very long text is compared word for word."""
    return gist(text) if len(text) <= _LONG else text


def excerpt(text: str, words: Collection[str], tokens: Tokens, *, budget: int) -> str:
    """Cut a text that costs more tokens than `budget` to the sentences that contain most of the words."""
    if tokens.count(text) <= budget:
        return text
    # The full-text index covers only this much of a text, so a match cannot be further on.
    sentences = [match[0] for match in _SENTENCE.finditer(text[:SEARCHED])] or [text[:SEARCHED]]
    best = max(range(len(sentences)), key=lambda index: (_shared(sentences[index], words), -index))
    first = last = best
    while True:
        grown = _grown(sentences, first, last)
        if grown is None or tokens.count("".join(sentences[grown[0] : grown[1] + 1])) > budget:
            break
        first, last = grown
    whole = "".join(sentences[first : last + 1]).strip()
    said = _piece(whole, words, tokens, budget=budget)
    before = first > 0 or not whole.startswith(said)
    after = last + 1 < len(sentences) or len(text) > SEARCHED or not whole.endswith(said)
    return f"{'… ' if before else ''}{said}{' …' if after else ''}"


def _piece(text: str, words: Collection[str], tokens: Tokens, *, budget: int) -> str:
    """Cut a single sentence that is too long to the part around the first of the words."""
    asked = (match.start() for match in _WORD.finditer(text) if stem(match[0].casefold()) in words)
    position = next(asked, 0)
    said = text
    while (cost := tokens.count(said)) > budget and len(said) > 1:
        length = max(1, len(said) * budget // (cost + 1))
        start = max(0, min(position - length // 4, len(text) - length))
        said = text[start : start + length]
    return said


def _grown(sentences: Sequence[str], first: int, last: int) -> tuple[int, int] | None:
    if last + 1 < len(sentences):
        return first, last + 1
    return (first - 1, last) if first else None


def _shared(sentence: str, words: Collection[str]) -> int:
    return len({stem(word) for word in _WORD.findall(sentence.casefold())} & set(words))
