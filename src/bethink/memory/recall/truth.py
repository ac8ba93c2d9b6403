"""The current truth: a valid fact ranks before the messages it was learned from and the texts it superseded."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.memory.recall.candidates import Ranked
from bethink.memory.recall.duplicates import contains, meaning_of, opening_of
from bethink.memory.recall.echoes import repeated
from bethink.memory.recall.question import ParsedQuestion, Term
from bethink.memory.recall.status import StatusMark, read_marks
from bethink.memory.recall.tuning import TUNING
from bethink.model.facts import FactStatus, SourceMessage
from bethink.model.moments import to_micros
from bethink.model.operations.memory import RecallRequest
from bethink.model.recall import Fate, Signal
from bethink.model.records import Role
from bethink.model.refs import Ref, RefKind
from bethink.model.views import TimeView
from bethink.model.words import key_stems, stem, words_of
from bethink.store import documents, reviews, search
from bethink.store.db import Tx
from bethink.store.learned_statements import CurrentStatement, LearnedStatement, learned_from
from bethink.store.search import Text

_SOURCE_KINDS = (RefKind.MESSAGE, RefKind.SESSION_SUMMARY)
_CLAUSE = re.compile(r"[.,;:!?\n\u3001\u3002\uff01\uff0c\uff1b\uff1f]+")

Terms = Sequence[frozenset[str]]
"""The possible stems of each word of a question."""


@frozen
class Truth:
    """The facts that represent messages and session summaries, and the texts that they superseded."""

    ranked: Sequence[Ranked]
    """The candidates, including facts that were added because they superseded a candidate."""
    texts: Mapping[Ref, Text]
    evidence: Mapping[Ref, Sequence[Ref]] = field(default_factory=dict[Ref, Sequence[Ref]])
    """The facts that state the same as a candidate, as far as the question asks for it."""
    under_review: Collection[Ref] = frozenset[Ref]()
    """The messages that a claim under review quotes. They stay visible next to their facts."""
    superseded: Mapping[Ref, Ref] = field(default_factory=dict[Ref, Ref])
    """The fact that superseded a statement of a candidate."""
    outdated: Mapping[Ref, Ref] = field(default_factory=dict[Ref, Ref])
    """The same, where the question asks for that statement."""
    marks: Mapping[Ref, StatusMark] = field(default_factory=dict[Ref, StatusMark])
    """The statuses of candidates that are not simply current, each with its cause."""

    def order(self, ranked: Sequence[Ranked], *, explain: bool) -> Sequence[Ranked]:
        """Put each fact before its evidence and the texts that it superseded, with the better of their scores."""
        causes = {ref: mark.because_of for ref, mark in self.marks.items() if mark.brings_cause}
        corrections = {ref: causes.pop(ref) for ref, mark in self.marks.items() if mark.is_over and ref in causes}
        if not self.evidence and not self.outdated and not causes and not corrections:
            return ranked
        by_ref = {candidate.ref: candidate for candidate in ranked}
        placed: dict[Ref, Ranked] = {}
        for candidate in ranked:
            for ref in self.evidence.get(candidate.ref, ()):
                placed.setdefault(ref, _raise_score(by_ref[ref], candidate, "evidence" if explain else None))
            ref = self.outdated.get(candidate.ref) or corrections.get(candidate.ref)
            if ref is not None and ref in by_ref:
                placed.setdefault(ref, _raise_score(by_ref[ref], candidate, "supersedes" if explain else None))
            placed.setdefault(candidate.ref, candidate)
            cause = causes.get(candidate.ref)
            if cause is not None and cause in by_ref:
                placed.setdefault(cause, _raise_score(by_ref[cause], candidate, "because" if explain else None))
        return [
            candidate._replace(ranks={**candidate.ranks, "standing": rank})
            for rank, candidate in enumerate(placed.values(), 1)
        ]


class _Claim(NamedTuple):
    """A statement of a candidate, and the current statement in its place; `holds` is true if both say the same."""

    text: str
    now: CurrentStatement
    holds: bool
    status: FactStatus = FactStatus.CURRENT
    doubted_by: Ref | None = None


def resolve_truth(
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
    """Look up the facts that were learned from the candidates, and whether they are still valid."""
    if request.explain:
        ranked = _with_next_versions(tx, space, request, ranked)
    if not facts:
        return _without_facts(tx, space, request, ranked, texts)
    current = {
        candidate.ref: candidate for candidate in ranked if candidate.fate is None and texts[candidate.ref].fate is None
    }
    sources = [
        candidate.ref for candidate in current.values() if candidate.relevant and candidate.ref.kind in _SOURCE_KINDS
    ]
    # An assistant's message may repeat what was said in its session before.
    sessions = {Ref(RefKind.SESSION_SUMMARY, ref.id) for ref in sources if texts[ref].role == Role.ASSISTANT}
    read = [*sources, *sessions.difference(sources)]
    stated = learned_from(tx, space=space, sources=read, view=request.view) if sources else []
    now = to_micros(request.view.at(tx.now))
    judge = _Judge(question, current, texts, similarities, now=now)
    claims_by_ref = _claims(sources, stated, current, texts)
    for ref, claims in claims_by_ref.items():
        judge.judge(ref, claims)
    texts = {**texts, **_without_ended_lines(claims_by_ref, texts)}
    marks = read_marks(tx, space, request, ranked=ranked, texts=texts, marks=judge.marks)
    # A filtered search adds nothing that does not match the filter.
    is_unfiltered = RefKind.FACT in request.kinds and request.only is None
    causes = {
        ref: mark.because_of for ref, mark in marks.items() if mark.brings_cause and mark.because_of is not None
    }  # fmt: skip
    needed = {*judge.outdated.values(), *causes.values()}
    missing = needed.difference(current) if is_unfiltered else set[Ref]()
    added = search.texts(tx, space=space, refs=missing, view=request.view) if missing else {}
    added = {ref: text for ref, text in added.items() if text.fate is None}
    outdated = {
        ref: successor for ref, successor in judge.outdated.items() if successor in current or successor in added
    }
    brought = {ref: cause for ref, cause in (causes | outdated).items() if cause in added}
    return Truth(
        ranked=_with_successors(ranked, brought, request.explain),
        texts={**texts, **added},
        evidence=judge.evidence,
        under_review=reviews.pending_sources(tx, space=space, refs=judge.evidence.keys()),
        superseded=judge.superseded,
        outdated=outdated,
        marks=marks,
    )


def _without_facts(
    tx: Tx, space: str, request: RecallRequest, ranked: Sequence[Ranked], texts: Mapping[Ref, Text]
) -> Truth:
    """Return the candidates of a space without facts: a message may still correct another one of its session."""
    marks = read_marks(tx, space, request, ranked=ranked, texts=texts, marks={})
    causes = {ref: mark.because_of for ref, mark in marks.items() if mark.because_of is not None}
    missing = set(causes.values()).difference(texts) if request.only is None else set[Ref]()
    added = search.texts(tx, space=space, refs=missing, view=request.view) if missing else {}
    brought = {ref: cause for ref, cause in causes.items() if cause in added}
    ranked = _with_successors(ranked, brought, request.explain)
    return Truth(ranked=ranked, texts={**texts, **added}, marks=marks)


def _without_ended_lines(claims_by_ref: Mapping[Ref, Sequence[_Claim]], texts: Mapping[Ref, Text]) -> dict[Ref, Text]:
    """Return the session summaries that state what has ended without a successor, without these lines."""
    shortened: dict[Ref, Text] = {}
    for ref, claims in claims_by_ref.items():
        meanings = {meaning_of(claim.text) for claim in claims if not claim.holds and not claim.now.is_valid}
        if ref.kind is RefKind.SESSION_SUMMARY and meanings:
            shortened[ref] = _without(texts[ref], meanings)
    return shortened


def current_sessions(
    tx: Tx, space: str, summaries: Sequence[Text], *, view: TimeView
) -> tuple[list[Text], dict[Ref, Ref]]:  # fmt: skip
    """Return session summaries without superseded lines, and the facts that superseded parts of other lines."""
    texts = {summary.ref: summary for summary in summaries}
    stated = learned_from(tx, space=space, sources=list(texts), view=view) if texts else []
    superseded: dict[Ref, Ref] = {}
    ended_meanings: dict[str, set[str]] = {}
    for statement in stated:
        if not statement.now.is_valid:  # it ended, expired or is disputed, and nothing replaced it
            ended_meanings.setdefault(statement.source.session_id, set()).add(meaning_of(statement.text))
    for ref, summary in texts.items():
        texts[ref] = _without(summary, ended_meanings.get(ref.id, set()))
    for ref, claims in _claims(list(texts), stated, {}, texts).items():
        ended = [claim for claim in claims if not (claim.holds and claim.now.is_valid)]
        texts[ref] = _without(texts[ref], {meaning_of(claim.text) for claim in ended})
        remaining = [claim for claim in ended if contains(texts[ref].text, claim.text)]
        if remaining:
            superseded[ref] = remaining[0].now.ref
    return [summary for summary in texts.values() if summary.text.strip()], superseded


def _without(summary: Text, meanings: Collection[str]) -> Text:
    """Return a session summary without the lines that have one of these meanings."""
    if not meanings:
        return summary
    lines = [line for line in summary.text.splitlines() if meaning_of(line.removeprefix("- ")) not in meanings]
    return summary._replace(text="\n".join(lines))


def _with_next_versions(tx: Tx, space: str, request: RecallRequest, ranked: Sequence[Ranked]) -> Sequence[Ranked]:
    """Add the next version to each outdated document version, which is listed only to explain why it is hidden."""
    outdated = [
        candidate.ref
        for candidate in ranked
        if candidate.ref.kind is RefKind.DOCUMENT and candidate.fate is Fate.SUPERSEDED
    ]
    after = documents.versions_after(tx, space=space, refs=outdated, as_of=request.view.moment) if outdated else {}
    return (
        [candidate._replace(because_of=after.get(candidate.ref, candidate.because_of)) for candidate in ranked]
        if after
        else ranked
    )


class _Judge:
    """Decides for each candidate what its claims mean for the question."""

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
        # A question about an earlier time is answered by what was valid then.
        self._asks_past = bool(question.spans) and all(span.end <= now for span in question.spans)
        self.evidence: dict[Ref, Sequence[Ref]] = {}
        self.superseded: dict[Ref, Ref] = {}
        self.outdated: dict[Ref, Ref] = {}
        self.marks: dict[Ref, StatusMark] = {}

    def judge(self, ref: Ref, claims: Sequence[_Claim]) -> None:
        text = self._texts[ref].text[: TUNING.max_compared]
        about = self._relevant_claims(ref, text, claims)
        superseded = [claim for claim in about or claims if not claim.holds]
        replaced = [claim for claim in superseded if claim.now.is_valid]
        if replaced:
            self.superseded[ref] = max(replaced, key=self._fit).now.ref
        self._mark(ref, superseded or [claim for claim in about if claim.doubted_by is not None])
        # If a message has several claims, the question asks for the one that has the most of its words.
        best_fit = max(map(self._fit, about), default=0)
        best = [claim for claim in about if self._fit(claim) == best_fit]
        holding = [claim.now for claim in best if claim.holds and claim.now.ref in self._current]
        successors = [claim.now for claim in best if not claim.holds and claim.now.is_valid]
        if holding and successors and self._score(successors) > self._score(holding):
            holding = []
        if holding:
            # A message that has more words of the question than the fact says more, and keeps its rank.
            matched_words = _count_matches(text, self._terms)
            facts_of = [now.ref for now in holding if _count_matches(now.text, self._terms) >= matched_words]
            if facts_of:
                self.evidence[ref] = tuple(dict.fromkeys(facts_of))
        elif successors and not self._asks_past:
            self.outdated[ref] = successors[0].ref

    def _mark(self, ref: Ref, claims: Sequence[_Claim]) -> None:
        """Mark a candidate with the status of the claim that fits the question best."""
        if not claims:
            return
        claim = max(claims, key=self._fit)
        cause = claim.doubted_by or (claim.now.ref if claim.now.is_valid else None)
        self.marks[ref] = StatusMark(claim.status, because_of=cause)

    def _relevant_claims(self, ref: Ref, text: str, claims: Sequence[_Claim]) -> list[_Claim]:
        """Return the claims in the clauses of a text that have words of the question."""
        parts = [{stem(word) for word in words_of(part)} for part in _CLAUSE.split(text)]
        relevant = [part for part in parts if any(not part.isdisjoint(forms) for forms in self._wider)]
        if not relevant:
            # The text matched by its meaning, or only through the messages around it.
            return list(claims) if self._near.get(ref, 0.0) >= TUNING.means_the_same else []
        claimed = [(claim, key_stems(claim.text)) for claim in claims]
        return [claim for claim, words in claimed if any(not part.isdisjoint(words) for part in relevant)]

    def _fit(self, claim: _Claim) -> int:
        return _count_matches(claim.text, self._terms)

    def _score(self, standing: Sequence[CurrentStatement]) -> float:
        return max((self._current[entry.ref].score for entry in standing if entry.ref in self._current), default=0.0)


def _claims(
    sources: Sequence[Ref], stated: Sequence[LearnedStatement], current: Mapping[Ref, Ranked], texts: Mapping[Ref, Text]
) -> dict[Ref, list[_Claim]]:
    """Return the claims of the candidates: learned from them, or in the same words as a fact."""
    by_message: dict[SourceMessage, list[LearnedStatement]] = {}
    by_session: dict[str, dict[Ref, LearnedStatement]] = {}
    for statement in stated:
        by_message.setdefault(statement.source, []).append(statement)
        by_session.setdefault(statement.source.session_id, {})[statement.ref] = statement
    in_words = _claims_by_opening(stated, [texts[ref] for ref in current if ref.kind is RefKind.FACT])
    claims: dict[Ref, list[_Claim]] = {}
    for ref in sources:
        text = texts[ref]
        if ref.kind is RefKind.SESSION_SUMMARY:
            learned = [_claim(statement, text.text) for statement in by_session.get(ref.id, {}).values()]
            own = [claim for claim in learned if contains(text.text, claim.text)]
        else:
            learned = [
                _claim(statement, text.text) for statement in by_message.get(SourceMessage(ref.id, ref.number), ())
            ]
            if not learned and text.role == Role.ASSISTANT:
                echoes = repeated(text.text, ref.number, by_session.get(ref.id, {}).values())
                learned = [_claim(statement) for statement in echoes]
            own = learned or _claims_in_same_words(text, in_words)
        if own:
            claims[ref] = own
    return claims


def _claim(stated: LearnedStatement, text: str | None = None) -> _Claim:
    """Return the claim of a text: the statement that was learned from it, or a manual correction that it contains."""
    content = stated.text
    if stated.corrected and text is not None and not contains(text, content):
        content = next((wording for wording in reversed(stated.corrected) if contains(text, wording)), content)
    same = stated.now.ref == stated.ref or meaning_of(stated.now.text) == meaning_of(content)
    # The same fact in other words: a person corrected them.
    status = FactStatus.CORRECTED if not same and stated.now.ref.id == stated.ref.id else stated.status
    return _Claim(content, stated.now, same and stated.now.is_valid, status, stated.doubted_by)


def _claims_by_opening(stated: Iterable[LearnedStatement], facts: Iterable[Text]) -> dict[str, list[_Claim]]:
    """Return the valid facts, then the superseded statements, by their opening words."""
    claims: dict[str, list[_Claim]] = {}
    for text in facts:
        claim = _Claim(text.text, CurrentStatement(text.ref, text.text, text.at), holds=True)
        claims.setdefault(opening_of(text.text), []).append(claim)
    for claim in map(_claim, stated):
        if not claim.holds:
            claims.setdefault(opening_of(claim.text), []).append(claim)
    return claims


def _claims_in_same_words(text: Text, in_words: Mapping[str, Sequence[_Claim]]) -> list[_Claim]:
    """Return the claim of a message without learned facts. A message newer than a fact may still supersede it."""
    likely = in_words.get(opening_of(text.text)) if in_words else None
    if not likely:
        return []
    meaning = meaning_of(text.text)
    same = [claim for claim in likely if meaning_of(claim.text) == meaning]
    return [claim for claim in same if claim.holds or text.at <= claim.now.at][:1]


def _terms(question: ParsedQuestion, *, related: bool = False) -> Terms:
    def forms(term: Term) -> Iterable[str]:
        indexes = (*term.stems, *term.related) if related else term.stems
        return term.word.casefold(), *(question.stems[index] for index in indexes)

    return [frozenset(map(stem, forms(term))) for term in question.terms if not term.dated]


def _count_matches(text: str, terms: Terms) -> int:
    """Count the words of the question that a text has."""
    words = {stem(word) for word in words_of(text)}
    return sum(not words.isdisjoint(forms) for forms in terms)


def _with_successors(ranked: Sequence[Ranked], successors: Mapping[Ref, Ref], explain: bool) -> Sequence[Ranked]:  # noqa: FBT001
    """Add the facts that superseded a candidate but are not candidates themselves, with its score."""
    if not successors:
        return ranked
    result: dict[Ref, Ranked] = {}
    for candidate in ranked:
        successor = successors.get(candidate.ref)
        if successor is not None and successor not in result:
            signals = {"supersedes": Signal(candidate.score, candidate.score, candidate.score)} if explain else {}
            result[successor] = Ranked(successor, candidate.score, signals, certainty=candidate.certainty)
        result[candidate.ref] = candidate
    return list(result.values())


def _raise_score(fact: Ranked, source: Ranked, signal: str | None) -> Ranked:
    added = source.score - fact.score
    fact = fact._replace(relevant=True, certainty=max(fact.certainty, source.certainty))
    if added <= 0:
        return fact
    signals = fact.signals
    if signal is not None:
        before = signals[signal].added if signal in signals else 0.0
        signals = {**signals, signal: Signal(source.score, source.score, before + added)}
    return fact._replace(score=source.score, signals=signals)
