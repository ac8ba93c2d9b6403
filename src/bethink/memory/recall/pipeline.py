"""How a question is answered. Read this file first; each step is one call in `Pipeline`.

    read      question.py          its words, dates and speaker, and its vector (outside the transaction)
    match     matching.py          what shares words with it, and what is near its vector
    signals   signals/, counts.py  one value per candidate and signal
    fuse      fuse.py              some signals added, others bounded factors: one score, one order
    stand     standing.py          current facts go before the messages that state or contradict them
    rerank    signals/reranker.py  the best few again, if there is a reranker (outside the transaction)
    choose    choose.py            no duplicates, nothing irrelevant, within the limit and the budget
    merge     merge.py             the order of the results, and one answer where several spaces were asked
    record    shown.py             the context log: what a session was shown

Every weight and cut-off is in tuning.py. SQL is in store/queries/search.sql, behind store/search.py.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.errors import BadAnswer, Misconfigured, ModelError
from bethink.extend import Embedder, Reranker, Tokens
from bethink.memory.recall import fuse, shown, tail
from bethink.memory.recall.candidates import Ranked
from bethink.memory.recall.choose import ChoiceRules, Chooser
from bethink.memory.recall.counts import counted
from bethink.memory.recall.excerpts import stems_of
from bethink.memory.recall.matching import QuestionVector, match
from bethink.memory.recall.merge import NO_MATCH, arrange
from bethink.memory.recall.question import ParsedQuestion, in_their_words, read
from bethink.memory.recall.signals.base import RecallSignal
from bethink.memory.recall.signals.reranker import RerankerSignal
from bethink.memory.recall.signals.vector import cosines_of, knows
from bethink.memory.recall.standing import Truth, truth
from bethink.memory.recall.tuning import TUNING, Tuning
from bethink.model.facts import SourceMessage
from bethink.model.operations.memory import RecallRequest
from bethink.model.recall import Candidate, Excerpt, Fate, Purpose, Recall, Ref, RefKind, most_certain
from bethink.store import ledger, search
from bethink.store.db import Database, Tx
from bethink.store.learnt_statements import confidential_sources
from bethink.store.search import Survey
from bethink.store.vectors import Unembedded

T = TypeVar("T")
_log = logger("recall")

_NO_EXCERPTS: Mapping[str, Sequence[Excerpt]] = {}

_TOGETHER = 20
"""How many questions share a transaction: enough that beginning one costs little, and none lasts long."""


@frozen
class Asked:
    """The question as a vector, if it could be embedded, and what the space holds, if that was looked up."""

    vector: QuestionVector | None = None
    survey: Survey | None = None
    missing: str | None = None
    before: dict[tuple[str, str | None], ParsedQuestion] | None = None
    """What was parsed before, if several questions are answered at once: the same one is asked as of many days."""


@frozen
class Ranking:
    """What one transaction found: the ranked candidates and their texts."""

    question: ParsedQuestion
    truth: Truth
    """The ranked candidates, their texts, and what became of what they say."""
    excerpts: Mapping[str, Sequence[Excerpt]]
    near: bool
    """Whether there were any vectors to compare with."""
    known: bool = True
    """Whether the space contained anything at the time of `as_of`."""
    confidential: Collection[SourceMessage] = ()
    """The messages, and sessions as number 0, that state something confidential."""


@frozen
class Pipeline:
    """Answers questions from one database. Without an embedder, or while it is down, it ranks by words only."""

    database: Database
    tokens: Tokens
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    signals: Sequence[RecallSignal] = ()
    tuning: Tuning = TUNING

    async def recall(self, space: str, request: RecallRequest) -> Recall:
        """Find what answers a question. With a session, the context log records the result."""
        found = await self.answer(space, request)
        if request.session_id is not None and found.items:
            block = shown.as_block(found)
            await shown.record(
                self.database, block, Purpose.RECALL, space=space, session_id=request.session_id, result=found
            )
        return found

    async def answer(self, space: str, request: RecallRequest) -> Recall:
        """Find what answers a question, and record nothing."""
        found, _ = await self.answer_and(space, request, lambda _: None)
        return found

    async def answer_and(
        self, space: str, request: RecallRequest, also: Callable[[Tx], T], *, longest: int | None = None
    ) -> tuple[Recall, T]:
        """Find what answers a question, each item cut to `longest` tokens, and read something else from the same state.

        It records nothing.
        """
        asked = await self._embed(space, request)
        ranking, more = await self.database.read_behind(
            lambda tx: (self._rank(tx, space, request, asked), also(tx)), space=space
        )
        ranked = await self._rerank(request, ranking)
        return self._choose(request, asked, ranking, ranked, longest), more

    async def answer_each(self, space: str, requests: Sequence[RecallRequest]) -> list[Recall]:
        """Answer several questions, and record nothing. Without an embedder, some share a transaction and a survey."""
        if self.embedder is not None:
            return [await self.answer(space, each) for each in requests]
        found: list[Recall] = []
        for at in range(0, len(requests), _TOGETHER):
            some = requests[at : at + _TOGETHER]

            def rank(tx: Tx, some: Sequence[RecallRequest] = some) -> list[Ranking]:
                asked = Asked(survey=search.survey(tx, space=space), before={})
                return [self._rank(tx, space, each, asked) for each in some]

            rankings = await self.database.transact(rank, space=space, read=True)
            for each, ranking in zip(some, rankings, strict=True):
                found.append(self._choose(each, Asked(), ranking, await self._rerank(each, ranking), None))
        return found

    async def _embed(self, space: str, request: RecallRequest) -> Asked:
        """Embed the question, before the transaction: an embedder may take long."""
        if self.embedder is None:
            return Asked()
        embedder = self.embedder

        def look(tx: Tx) -> tuple[Survey, list[Unembedded]]:
            survey = search.survey(tx, space=space)
            return survey, tail.unembedded(tx, space=space, embedder=embedder, survey=survey)

        survey, waiting = await self.database.read_behind(look, space=space)
        try:
            text = in_their_words(request.question, survey.speakers)
            made = await self.embedder.embed([text], kind="question")
            if len(made) != 1 or len(made[0]) != self.embedder.dimension or not all(map(math.isfinite, made[0])):
                raise BadAnswer(f"{self.embedder.name} returned no usable vector for the question.")
            newest = await tail.compare(embedder, made[0], waiting)
        except (ModelError, Misconfigured, OSError) as error:
            # Words alone still find most answers, and the caller must not wait for a service that is down.
            why = error if isinstance(error, Misconfigured) else type(error).__name__
            _log.warning("recall continues without vectors: %s", why)
            return Asked(survey=survey, missing="embedder unavailable; ranked by words only")
        vector = QuestionVector(self.embedder.name, made[0], newest.near)
        return Asked(survey=survey, vector=vector, missing=newest.missing)

    def _rank(self, tx: Tx, space: str, request: RecallRequest, asked: Asked) -> Ranking:
        """Read the question, match, and fuse the signals: all of it from one state of the database."""
        shown.check_session(tx, space, request.session_id)
        tuning, as_of = self.tuning, request.as_of
        survey = asked.survey or search.survey(tx, space=space)
        now = tx.now if as_of is None else as_of
        question = read(request.question, speakers=survey.speakers, now=now, before=asked.before)
        found = match(tx, space, request, question, vector=asked.vector, survey=survey, tuning=tuning)
        candidates = counted(question, found, tuning)
        near = found.similarities
        cosines = cosines_of(self.embedder, near.values(), tuning, language=question.language) if near else None
        if near and not knows(self.embedder, question.language):
            tuning = replace(tuning, vector=tuning.foreign * tuning.vector, window=tuning.foreign * tuning.window)
        added = fuse.add(question, candidates, fuse.added_signals(tuning, cosines))
        best = fuse.best(question, added, self._pool(request), tuning)
        refs = [Ref(*candidates.keys[index]) for index in best]
        pool = candidates.read(
            best,
            refs,
            search.texts(tx, space=space, refs=refs, as_of=as_of, only=request.only),
            ledger.usage(tx, space=space, refs=refs) if survey.used else {},
        )
        ranked = fuse.ranked(
            question, added, pool, tuning=tuning, cosines=cosines, extra=self.signals, explain=request.explain
        )
        texts = {text.ref: text for text in pool.texts}
        stands = truth(
            tx, space, request, question,
            ranked=ranked, texts=texts, similarities=found.similarities, facts=RefKind.FACT in survey.kinds,
        )  # fmt: skip
        excerpts = _excerpts(tx, space, request, stands) if RefKind.MESSAGE in survey.kinds else _NO_EXCERPTS
        return Ranking(
            question=question,
            truth=stands,
            excerpts=excerpts,
            near=bool(found.similarities),
            known=bool(ranked) or as_of is None or search.anything_by(tx, space=space, at=as_of),
            confidential=_confidential(tx, space, stands, excerpts) if RefKind.FACT in survey.kinds else (),
        )

    def _pool(self, request: RecallRequest) -> int:
        """Return how many candidates to read."""
        count = max(self.tuning.pool, self.tuning.pool_per_result * request.limit)
        return count if request.only is None else count * self.tuning.pool_narrowed

    async def _rerank(self, request: RecallRequest, ranking: Ranking) -> Sequence[Ranked]:
        """Let the reranker read the best few, after the transaction: it may take long."""
        ranked, texts = ranking.truth.ranked, ranking.truth.texts
        if self.reranker is None:
            return ranked
        head = [each for each in ranked if each.fate is None and texts[each.ref].fate is None][: self.tuning.reranked]
        try:
            scores = await self.reranker.rerank(request.question, [texts[each.ref].text for each in head])
        except ModelError as error:
            _log.warning("recall continues without its reranker: %s", type(error).__name__)
            return ranked
        first = {each.ref for each in head}
        weight = getattr(self.reranker, "weight", None)
        mixed = fuse.rerank(ranking.question, head, RerankerSignal(scores, self.tuning, weight))
        return [*mixed, *(each for each in ranked if each.ref not in first)]

    def _choose(
        self, request: RecallRequest, asked: Asked, ranking: Ranking, ranked: Sequence[Ranked], longest: int | None
    ) -> Recall:
        """Choose what is shown, and say what is missing."""
        cuts = request.budget is not None or bool(ranking.excerpts)
        rules = ChoiceRules(
            limit=request.limit,
            budget=request.budget,
            longest=longest,
            words=stems_of(ranking.question) if cuts else frozenset(),
            tokens=self.tokens,
            question=request.question,
            asked_in=request.session_id,
            least=request.least,
            tuning=self.tuning,
        )
        chooser = Chooser(rules, ranking.truth, ranking.excerpts, ranking.confidential)
        items = arrange(request, chooser.choose(ranking.truth.order(ranked, explain=request.explain)))
        no_vectors = asked.vector is not None and not ranking.near
        missing = "no vectors yet; ranked by words only" if no_vectors else asked.missing
        return Recall(
            question=request.question,
            items=items,
            certainty=most_certain(items),
            tokens=chooser.spent,
            budget=request.budget,
            as_of=request.as_of,
            missing=missing if items else _why_empty(request, ranking, chooser.candidates, missing),
            candidates=tuple(chooser.candidates) if request.explain else (),
        )


def _excerpts(tx: Tx, space: str, request: RecallRequest, found: Truth) -> Mapping[str, Sequence[Excerpt]]:
    """Read the messages behind the best facts."""
    ranked = found.order(found.ranked, explain=False)
    current = (each.ref for each in ranked if found.texts[each.ref].fate is None)
    facts = [ref.id for ref in current if ref.kind is RefKind.FACT][: 2 * request.limit]
    return search.excerpts(tx, space=space, fact_ids=facts, as_of=request.as_of)


def _confidential(
    tx: Tx, space: str, found: Truth, excerpts: Mapping[str, Sequence[Excerpt]]
) -> Collection[SourceMessage]:
    """Look up which of the texts that may be shown state something confidential."""
    refs = {each.ref for each in found.ranked if each.ref.kind in (RefKind.MESSAGE, RefKind.SESSION_MEMORY)}
    sources = (quote.source for quotes in excerpts.values() for quote in quotes)
    refs.update(Ref(RefKind.MESSAGE, source.session_id, source.number) for source in sources)
    return confidential_sources(tx, space=space, sources=refs)


_WHY = {
    Fate.OVER_BUDGET: "the budget is too small for any of the matches",
    Fate.UNCERTAIN: "nothing was said about this that is certain enough; explain shows the nearest",
    Fate.QUESTION: "the only match is the question itself, asked before",
    Fate.UNRELATED: NO_MATCH,
}
"""Why none of the matches is shown, the reason closest to an answer first."""


def _why_empty(request: RecallRequest, ranking: Ranking, candidates: Sequence[Candidate], missing: str | None) -> str:
    if not candidates:
        nothing = "nothing was said then" if ranking.question.only_when else NO_MATCH
        nothing += "" if request.only is None else ", of what the search was narrowed to"
        return (nothing if ranking.known else "nothing was known by then") + (f"; {missing}" if missing else "")
    fates = {candidate.fate for candidate in candidates}
    return next((why for fate, why in _WHY.items() if fate in fates), "the matches are no longer valid")
