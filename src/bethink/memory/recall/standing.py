"""One truth about now: a fact that holds goes before what it was learnt from, and before what it superseded."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.memory.recall.candidates import Ranked
from bethink.memory.recall.duplicates import contains, meaning_of, opening_of
from bethink.memory.recall.question import ParsedQuestion, Term
from bethink.memory.recall.tuning import TUNING
from bethink.model.facts import SourceMessage
from bethink.model.moments import to_micros
from bethink.model.operations.memory import RecallRequest
from bethink.model.recall import Fate, Ref, RefKind, Signal
from bethink.model.words import key_words, stem, words_of
from bethink.store import documents, search
from bethink.store.db import Tx
from bethink.store.learnt_statements import LearntStatement, Standing, learnt_from
from bethink.store.search import Text

_SAYING = (RefKind.MESSAGE, RefKind.SESSION_MEMORY)
_CLAUSE = re.compile(r"[.,;:!?\n\u3001\u3002\uff01\uff0c\uff1b\uff1f]+")

Terms = Sequence[frozenset[str]]
"""For each word of a question the stems it may have."""


@frozen
class Truth:
    """Which facts stand for which messages and session memories, and which of these were superseded."""

    ranked: Sequence[Ranked]
    """The candidates, with the facts that were brought in because what they superseded was found."""
    texts: Mapping[Ref, Text]
    evidence: Mapping[Ref, Sequence[Ref]] = field(default_factory=dict[Ref, Sequence[Ref]])
    """The facts that say what a candidate says, as far as the question asks for it."""
    superseded: Mapping[Ref, Ref] = field(default_factory=dict[Ref, Ref])
    """What superseded something that a candidate says."""
    outdated: Mapping[Ref, Ref] = field(default_factory=dict[Ref, Ref])
    """The same, where that is what the question asks for."""

    def order(self, ranked: Sequence[Ranked], *, explain: bool) -> Sequence[Ranked]:
        """Put each fact before its evidence and before what it superseded, with the better of their scores."""
        if not self.evidence and not self.outdated:
            return ranked
        known = {each.ref: each for each in ranked}
        placed: dict[Ref, Ranked] = {}
        for each in ranked:
            for ref in self.evidence.get(each.ref, ()):
                placed.setdefault(ref, _lifted(known[ref], each, "evidence" if explain else None))
            if each.ref in self.outdated:
                ref = self.outdated[each.ref]
                placed.setdefault(ref, _lifted(known[ref], each, "supersedes" if explain else None))
            placed.setdefault(each.ref, each)
        return [each._replace(ranks={**each.ranks, "standing": rank}) for rank, each in enumerate(placed.values(), 1)]


class _Claim(NamedTuple):
    """Something that a candidate says, and what stands in its place; `holds` if that says the same."""

    text: str
    now: Standing
    holds: bool


def truth(
    tx: Tx,
    space: str,
    request: RecallRequest,
    question: ParsedQuestion,
    *,
    ranked: Sequence[Ranked],
    texts: Mapping[Ref, Text],
    similarities: Mapping[Ref, float],
    facts: bool,
) -> Truth:
    """Look up what was learnt from the candidates, and whether it still holds. Without any facts, nothing was."""
    if request.explain:
        ranked = _followed(tx, space, request, ranked)
    if not facts:
        return Truth(ranked=ranked, texts=texts)
    current = {each.ref: each for each in ranked if each.fate is None and texts[each.ref].fate is None}
    saying = [each.ref for each in current.values() if each.relevant and each.ref.kind in _SAYING]
    stated = learnt_from(tx, space=space, sources=saying, as_of=request.as_of) if saying else []
    now = to_micros(tx.now if request.as_of is None else request.as_of)
    judge = _Judge(question, current, texts, similarities, now=now)
    for ref, claims in _claims(saying, stated, current, texts).items():
        judge.judge(ref, claims)
    # A narrowed question gets nothing that was not asked for.
    whole = RefKind.FACT in request.kinds and request.only is None
    missing = {ref for ref in judge.outdated.values() if ref not in current} if whole else set[Ref]()
    brought = search.texts(tx, space=space, refs=missing, as_of=request.as_of) if missing else {}
    brought = {ref: text for ref, text in brought.items() if text.fate is None}
    outdated = {ref: by for ref, by in judge.outdated.items() if by in current or by in brought}
    return Truth(
        ranked=_with_brought(ranked, {ref: by for ref, by in outdated.items() if by in brought}, request.explain),
        texts={**texts, **brought},
        evidence=judge.evidence,
        superseded=judge.superseded,
        outdated=outdated,
    )


def current_sessions(
    tx: Tx, space: str, memories: Sequence[Text], *, as_of: datetime | None
) -> tuple[list[Text], dict[Ref, Ref]]:  # fmt: skip
    """Return session memories without the lines that were superseded, and what superseded a part of other lines."""
    texts = {memory.ref: memory for memory in memories}
    stated = learnt_from(tx, space=space, sources=list(texts), as_of=as_of) if texts else []
    superseded: dict[Ref, Ref] = {}
    over: dict[str, set[str]] = {}
    for each in stated:
        if not each.now.holds:  # it ended, expired or is disputed, and nothing took its place
            over.setdefault(each.source.session_id, set()).add(meaning_of(each.text))
    for ref, memory in texts.items():
        texts[ref] = _without(memory, over.get(ref.id, set()))
    for ref, claims in _claims(list(texts), stated, {}, texts).items():
        gone = [claim for claim in claims if not (claim.holds and claim.now.holds)]
        texts[ref] = _without(texts[ref], {meaning_of(claim.text) for claim in gone})
        left = [claim for claim in gone if contains(texts[ref].text, claim.text)]
        if left:
            superseded[ref] = left[0].now.ref
    return [memory for memory in texts.values() if memory.text.strip()], superseded


def _without(memory: Text, meant: Collection[str]) -> Text:
    """Return a session memory without the lines that mean one of these."""
    if not meant:
        return memory
    lines = [line for line in memory.text.splitlines() if meaning_of(line.removeprefix("- ")) not in meant]
    return memory._replace(text="\n".join(lines))


def _followed(tx: Tx, space: str, request: RecallRequest, ranked: Sequence[Ranked]) -> Sequence[Ranked]:
    """Name the next version of each document version that is listed only to explain why it is not shown."""
    old = [each.ref for each in ranked if each.ref.kind is RefKind.DOCUMENT and each.fate is Fate.SUPERSEDED]
    after = documents.versions_after(tx, space=space, refs=old, as_of=request.as_of) if old else {}
    return [each._replace(because_of=after.get(each.ref, each.because_of)) for each in ranked] if after else ranked


class _Judge:
    """Decides for one candidate after the other what its claims mean for the question."""

    def __init__(
        self,
        question: ParsedQuestion,
        current: Mapping[Ref, Ranked],
        texts: Mapping[Ref, Text],
        similarities: Mapping[Ref, float],
        *,
        now: int,
    ) -> None:
        self._terms = _terms(question)
        self._wider = _terms(question, related=True)
        self._current = current
        self._texts = texts
        self._near = similarities
        # A question about an earlier time is answered by what held then.
        self._asks_past = bool(question.spans) and all(span.end <= now for span in question.spans)
        self.evidence: dict[Ref, Sequence[Ref]] = {}
        self.superseded: dict[Ref, Ref] = {}
        self.outdated: dict[Ref, Ref] = {}

    def judge(self, ref: Ref, claims: Sequence[_Claim]) -> None:
        text = self._texts[ref].text[: TUNING.longest_compared]
        about = self._about(ref, text, claims)
        gone = [claim for claim in about or claims if not claim.holds]
        if gone:
            self.superseded[ref] = max(gone, key=self._fit).now.ref
        # Of several things that a message says, the question asks for the one that has most of its words.
        most = max(map(self._fit, about), default=0)
        best = [claim for claim in about if self._fit(claim) == most]
        holding = [claim.now for claim in best if claim.holds and claim.now.ref in self._current]
        over = [claim.now for claim in best if not claim.holds and claim.now.holds]
        if holding and over and self._score(over) > self._score(holding):
            holding = []
        if holding:
            # A message that has more words of the question than the fact tells more, and stays as it is.
            said = _matched(text, self._terms)
            facts_of = [now.ref for now in holding if _matched(now.text, self._terms) >= said]
            if facts_of:
                self.evidence[ref] = tuple(dict.fromkeys(facts_of))
        elif over and not self._asks_past:
            self.outdated[ref] = over[0].ref

    def _about(self, ref: Ref, text: str, claims: Sequence[_Claim]) -> list[_Claim]:
        """Return the claims that are in the part of a text that has the words of the question."""
        parts = [{stem(word) for word in words_of(part)} for part in _CLAUSE.split(text)]
        asked = [part for part in parts if any(not part.isdisjoint(forms) for forms in self._wider)]
        if not asked:
            # It was found by its meaning, or only because of the messages around it.
            return list(claims) if self._near.get(ref, 0.0) >= TUNING.means_the_same else []
        claimed = [(claim, {stem(word) for word in key_words(claim.text)}) for claim in claims]
        return [claim for claim, words in claimed if any(not part.isdisjoint(words) for part in asked)]

    def _fit(self, claim: _Claim) -> int:
        return _matched(claim.text, self._terms)

    def _score(self, standing: Sequence[Standing]) -> float:
        return max((self._current[each.ref].score for each in standing if each.ref in self._current), default=0.0)


def _claims(
    saying: Sequence[Ref], stated: Sequence[LearntStatement], current: Mapping[Ref, Ranked], texts: Mapping[Ref, Text]
) -> dict[Ref, list[_Claim]]:
    """Return what the candidates claim: what was learnt from them, or what they say in the same words as a fact."""
    known = [each for each in stated if each.now.holds or each.now.ref != each.ref]
    by_message: dict[SourceMessage, list[LearntStatement]] = {}
    by_session: dict[str, dict[Ref, LearntStatement]] = {}
    for each in known:
        by_message.setdefault(each.source, []).append(each)
        by_session.setdefault(each.source.session_id, {})[each.ref] = each
    in_words = _by_words(known, [texts[ref] for ref in current if ref.kind is RefKind.FACT])
    found: dict[Ref, list[_Claim]] = {}
    for ref in saying:
        text = texts[ref]
        if ref.kind is RefKind.SESSION_MEMORY:
            told = [_claim(each, text.text) for each in by_session.get(ref.id, {}).values()]
            own = [claim for claim in told if contains(text.text, claim.text)]
        else:
            told = [_claim(each, text.text) for each in by_message.get(SourceMessage(ref.id, ref.number), ())]
            own = told or _echoes(text, in_words)
        if own:
            found[ref] = own
    return found


def _claim(stated: LearntStatement, text: str | None = None) -> _Claim:
    """Return what a text claims: what was learnt from it, or that what someone wrote by hand is so."""
    said = stated.text
    if stated.corrected and text is not None and not contains(text, said):
        said = next((each for each in reversed(stated.corrected) if contains(text, each)), said)
    same = stated.now.ref == stated.ref or meaning_of(stated.now.text) == meaning_of(said)
    return _Claim(said, stated.now, same)


def _by_words(stated: Iterable[LearntStatement], known: Iterable[Text]) -> dict[str, list[_Claim]]:
    """Return the facts that hold, then the statements that were superseded, by how they begin."""
    found: dict[str, list[_Claim]] = {}
    for text in known:
        claim = _Claim(text.text, Standing(text.ref, text.text, text.at), holds=True)
        found.setdefault(opening_of(text.text), []).append(claim)
    for claim in map(_claim, stated):
        if not claim.holds:
            found.setdefault(opening_of(claim.text), []).append(claim)
    return found


def _echoes(text: Text, in_words: Mapping[str, Sequence[_Claim]]) -> list[_Claim]:
    """Return what a message says that nothing was learnt from; if it is newer than a fact, it may yet supersede it."""
    likely = in_words.get(opening_of(text.text)) if in_words else None
    if not likely:
        return []
    meant = meaning_of(text.text)
    same = [claim for claim in likely if meaning_of(claim.text) == meant]
    return [claim for claim in same if claim.holds or text.at <= claim.now.at][:1]


def _terms(question: ParsedQuestion, *, related: bool = False) -> Terms:
    def forms(term: Term) -> Iterable[str]:
        indexes = (*term.stems, *term.related) if related else term.stems
        return term.word.casefold(), *(question.stems[index] for index in indexes)

    return [frozenset(map(stem, forms(term))) for term in question.terms if not term.dated]


def _matched(text: str, terms: Terms) -> int:
    """Count the words of the question that a text has."""
    words = {stem(word) for word in words_of(text)}
    return sum(not words.isdisjoint(forms) for forms in terms)


def _with_brought(ranked: Sequence[Ranked], brought: Mapping[Ref, Ref], explain: bool) -> Sequence[Ranked]:  # noqa: FBT001
    """Add the facts that superseded a candidate without being one themselves, with its score."""
    if not brought:
        return ranked
    found: dict[Ref, Ranked] = {}
    for each in ranked:
        by = brought.get(each.ref)
        if by is not None and by not in found:
            signals = {"supersedes": Signal(each.score, each.score, each.score)} if explain else {}
            found[by] = Ranked(by, each.score, signals, certainty=each.certainty)
        found[each.ref] = each
    return list(found.values())


def _lifted(fact: Ranked, by: Ranked, signal: str | None) -> Ranked:
    added = by.score - fact.score
    fact = fact._replace(relevant=True, certainty=max(fact.certainty, by.certainty))
    if added <= 0:
        return fact
    signals = fact.signals
    if signal is not None:
        before = signals[signal].added if signal in signals else 0.0
        signals = {**signals, signal: Signal(by.score, by.score, before + added)}
    return fact._replace(score=by.score, signals=signals)
