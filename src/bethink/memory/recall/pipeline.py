"""Answer a question. Read this file first; each step is one call in `Pipeline`.

    parse     question.py          its words, dates and speaker, and its vector (outside the transaction)
    match     matching.py          texts that share words with it, or are near its vector; if words find little, and
                                   nothing fair, once more with words such as "my", and nothing of it is more than weak
    signals   signals/, counts.py  one value per candidate and signal
    fuse      fuse.py              some signals added, others bounded factors: one score, one order
    exchange  signals/exchange.py  a question lends its score to the reply; an echo never outranks its statement
    resolve   truth.py             current facts rank before the messages that state or contradict them
    newest    newest.py            the newest message about the matter ranks before the earlier ones
    rerank    signals/reranker.py  the best few for a short question, if there is a reranker (outside the transaction)
    choose    choose.py            no duplicates, nothing irrelevant, within the limit and the budget
    merge     merge.py             the order of the results, and one answer for several spaces
    record    context_log.py       the context log: the items that a session saw

Every weight and cut-off is in tuning.py. SQL is in store/queries/search.sql, behind store/search.py.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeVar

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.errors import ConfigurationError, ModelError, ModelResponseError
from bethink.extend import Cosines, Embedder, Reranker, Tokens
from bethink.memory.recall import context_log, fuse, tail
from bethink.memory.recall.asking import is_question_in
from bethink.memory.recall.candidates import MatchResult, Ranked
from bethink.memory.recall.choose import ChoiceRules, Chooser
from bethink.memory.recall.counts import count_words
from bethink.memory.recall.duplicates import Openings
from bethink.memory.recall.excerpts import stems_of
from bethink.memory.recall.matching import QuestionVector, match
from bethink.memory.recall.merge import arrange, no_match_note
from bethink.memory.recall.newest import mark_earlier
from bethink.memory.recall.question import ParsedQuestion, has_fillers, parse_question, to_first_person
from bethink.memory.recall.replies import questions_before
from bethink.memory.recall.signals.base import RecallSignal
from bethink.memory.recall.signals.exchange import with_neighbors
from bethink.memory.recall.signals.reranker import RerankerSignal
from bethink.memory.recall.signals.vector import cosines_of, supports_language
from bethink.memory.recall.truth import Truth, resolve_truth
from bethink.memory.recall.tuning import TUNING, Tuning
from bethink.model.facts import SourceMessage
from bethink.model.operations.memory import RecallRequest
from bethink.model.recall import Candidate, Excerpt, Fate, Purpose, RecallResult, highest
from bethink.model.refs import Ref, RefKind
from bethink.store import ledger, search
from bethink.store.db import Database, Tx
from bethink.store.learned_statements import confidential_sources
from bethink.store.search import Survey, Text
from bethink.store.vectors import Unembedded

T = TypeVar("T")
_log = logger("recall")

_NO_EXCERPTS: Mapping[str, Sequence[Excerpt]] = {}

_NO_VECTORS = "No vectors yet. Ranked by words only. Workers add them, or run `bethink data reindex`."

_EMPTY_SPACE = "This space is empty. Store messages in it, or search another space."

_BATCH = 20
"""Questions per transaction: enough to save overhead, few enough to keep transactions short."""


@frozen
class PreparedQuestion:
    """The question as a vector, if it could be embedded, and the survey of the space, if it was read."""

    vector: QuestionVector | None = None
    survey: Survey | None = None
    note: str | None = None
    parsed: dict[tuple[str, str | None], ParsedQuestion] | None = None
    """A cache of parsed questions, for batches: the same question may be asked for many dates."""


@frozen
class Ranking:
    """The result of one transaction: the ranked candidates and their texts."""

    question: ParsedQuestion
    truth: Truth
    """The ranked candidates, their texts, and the facts that superseded them."""
    excerpts: Mapping[str, Sequence[Excerpt]]
    replies: Mapping[Ref, Text]
    """The questions that the best messages answer, by the messages."""
    has_vectors: bool
    """True if there were vectors to compare with."""
    had_content: bool = True
    """True if the space had any content at `as_of`."""
    openings: Openings = field(default_factory=Openings)
    confidential: Collection[SourceMessage] = ()
    """The messages, and sessions as number 0, that state something confidential."""


@frozen
class Matched:
    """The matches of a parsed question, ranked, and the texts of the best."""

    question: ParsedQuestion
    result: MatchResult
    ranked: Sequence[Ranked]
    texts: Sequence[Text]
    cosines: Cosines | None
    trusts_vectors: bool
    """True if there are vectors of an embedder that was trained on the language of the question."""
    openings: Openings

    def is_thin(self, limit: int, fair: float) -> bool:
        """Return whether words found little, and nothing of it is even fairly certain."""
        question = self.question
        if question.only_about_time or question.only_recent or self.trusts_vectors or not has_fillers(question):
            return False
        current = [candidate for candidate in self.ranked if candidate.fate is None and candidate.relevant]
        if self.result.similarities:  # vectors match every text
            matches = {hit.ref for hit in self.result.matches}
            current = [candidate for candidate in current if candidate.ref in matches]
        return len(current) < limit and all(candidate.certainty < fair for candidate in current)

    def uncertain(self, limit: float) -> "Matched":
        """Return the same, with no certainty above the limit."""
        ranked = [candidate._replace(certainty=min(candidate.certainty, limit)) for candidate in self.ranked]
        return replace(self, ranked=ranked)


@frozen
class Pipeline:
    """Answers questions from one database. Without an embedder, or while it is down, it ranks by words only."""

    database: Database
    tokens: Tokens
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    signals: Sequence[RecallSignal] = ()
    tuning: Tuning = TUNING

    async def recall(self, space: str, request: RecallRequest) -> RecallResult:
        """Search memory. With a session, the context log records the result."""
        answer = await self.answer(space, request)
        if request.session_id is not None and answer.items:
            block = context_log.as_block(answer)
            await context_log.record(
                self.database, block, Purpose.RECALL, space=space, session_id=request.session_id, result=answer
            )
        return answer

    async def answer(self, space: str, request: RecallRequest) -> RecallResult:
        """Search memory, and record nothing."""
        answer, _ = await self.answer_with(space, request, lambda _: None)
        return answer

    async def answer_with(
        self, space: str, request: RecallRequest, read_more: Callable[[Tx], T], *, max_item_tokens: int | None = None
    ) -> tuple[RecallResult, T]:
        """Search memory, and run `read_more` in the same transaction. Nothing is recorded.

        With `max_item_tokens`, the items are for a prompt with the question: each is cut to this size, and what only
        repeats the question or quotes a session's opening is left out.
        """
        prepared = await self._embed(space, request)
        ranking, more = await self.database.read_replica(
            lambda tx: (self._rank(tx, space, request, prepared), read_more(tx)), space=space
        )
        ranked = await self._rerank(request, ranking)
        return self._choose(request, prepared, ranking, ranked, max_item_tokens), more

    async def answer_all(self, space: str, requests: Sequence[RecallRequest]) -> list[RecallResult]:
        """Answer several questions, and record nothing. Without an embedder, batches share a transaction."""
        if self.embedder is not None:
            return [await self.answer(space, request) for request in requests]
        answers: list[RecallResult] = []
        for start in range(0, len(requests), _BATCH):
            batch = requests[start : start + _BATCH]

            def rank(tx: Tx, batch: Sequence[RecallRequest] = batch) -> list[Ranking]:
                prepared = PreparedQuestion(survey=search.survey(tx, space=space), parsed={})
                return [self._rank(tx, space, request, prepared) for request in batch]

            rankings = await self.database.transact(rank, space=space, read_only=True)
            for request, ranking in zip(batch, rankings, strict=True):
                answers.append(
                    self._choose(request, PreparedQuestion(), ranking, await self._rerank(request, ranking), None)
                )
        return answers

    async def _embed(self, space: str, request: RecallRequest) -> PreparedQuestion:
        """Embed the question, before the transaction, because an embedder may be slow."""
        if self.embedder is None:
            return PreparedQuestion()
        embedder = self.embedder

        def read_survey(tx: Tx) -> tuple[Survey, list[Unembedded]]:
            survey = search.survey(tx, space=space)
            return survey, tail.find_unembedded(tx, space=space, embedder=embedder, survey=survey)

        survey, waiting = await self.database.read_replica(read_survey, space=space)
        try:
            text = to_first_person(request.question, survey.speakers)
            vectors = await self.embedder.embed([text], kind="question")
            if (
                len(vectors) != 1
                or len(vectors[0]) != self.embedder.dimension
                or not all(map(math.isfinite, vectors[0]))
            ):
                raise ModelResponseError(f"{self.embedder.name} did not return a usable vector for the question.")
            newest = await tail.compare(embedder, vectors[0], waiting)
        except (ModelError, ConfigurationError, OSError) as error:
            # Words alone find most answers, and the caller must not wait for a service that is down.
            reason = error if isinstance(error, ConfigurationError) else type(error).__name__
            _log.warning("Recall continues without vectors: %s", reason)
            return PreparedQuestion(survey=survey, note="Embedder unavailable. Ranked by words only.")
        vector = QuestionVector(self.embedder.name, vectors[0], newest.near)
        return PreparedQuestion(survey=survey, vector=vector, note=newest.note)

    def _rank(self, tx: Tx, space: str, request: RecallRequest, prepared: PreparedQuestion) -> Ranking:
        """Parse the question, match, and fuse the signals, all in one transaction."""
        context_log.check_session(tx, space, request.session_id)
        tuning, view = self.tuning, request.view
        survey = prepared.survey or search.survey(tx, space=space)
        now = view.at(tx.now)
        question = parse_question(request.question, speakers=survey.speakers, now=now, cache=prepared.parsed)
        matched = self._match(tx, space, request, question, prepared=prepared, survey=survey)
        if question.only_about_time and not matched.result.matches:
            question = question.told_later(tuning.told_later)
            matched = self._match(tx, space, request, question, prepared=prepared, survey=survey).uncertain(
                tuning.certainty_loose
            )
        elif matched.is_thin(request.limit, tuning.fair):
            question = parse_question(request.question, speakers=survey.speakers, now=now, loose=True)
            matched = self._match(tx, space, request, question, prepared=prepared, survey=survey).uncertain(
                tuning.certainty_loose
            )
        result, ranked = matched.result, matched.ranked
        texts = {text.ref: text for text in matched.texts}
        truth = resolve_truth(
            tx, space, request, question,
            ranked=ranked, texts=texts, similarities=result.similarities, facts=RefKind.FACT in survey.kinds,
        )  # fmt: skip
        truth = mark_earlier(question, truth, result.similarities, cosines=matched.cosines, tuning=tuning)
        excerpts = _excerpts(tx, space, request, truth) if RefKind.MESSAGE in survey.kinds else _NO_EXCERPTS
        replies = questions_before(tx, space, request, question=question, truth=truth, tuning=tuning)
        return Ranking(
            question=question,
            truth=truth,
            excerpts=excerpts,
            replies=replies,
            openings=matched.openings,
            has_vectors=bool(result.similarities),
            had_content=bool(survey.kinds)
            and (bool(ranked) or view.moment is None or search.has_content_by(tx, space=space, at=view.moment)),
            confidential=_confidential(tx, space, truth, excerpts, replies) if RefKind.FACT in survey.kinds else (),
        )

    def _match(
        self,
        tx: Tx,
        space: str,
        request: RecallRequest,
        question: ParsedQuestion,
        *,
        prepared: PreparedQuestion,
        survey: Survey,
    ) -> "Matched":
        """Match a parsed question and fuse the signals."""
        tuning, view = self.tuning, request.view
        result = match(tx, space, request, question, vector=prepared.vector, survey=survey, tuning=tuning)
        candidates = count_words(question, result, tuning)
        near = result.similarities
        cosines = cosines_of(self.embedder, near.values(), tuning, language=question.language) if near else None
        trusts_vectors = bool(near) and supports_language(self.embedder, question.language)
        if near and not trusts_vectors:
            tuning = tuning.without_language()
        added = fuse.sum_signals(question, candidates, fuse.added_signals(tuning, cosines), tuning)
        best = fuse.select_best(question, added, self._pool(request), tuning)
        best = with_neighbors(candidates.keys, best, tuning)
        refs = [Ref(*candidates.keys[index]) for index in best]
        pool = candidates.with_texts(
            best,
            refs,
            search.texts(tx, space=space, refs=refs, view=view, only=request.only),
            ledger.usage(tx, space=space, refs=refs) if survey.used else {},
        )
        ranked = fuse.rank_candidates(
            question, added, pool, tuning=tuning, cosines=cosines, extra=self.signals, explain=request.explain
        )
        return Matched(
            question=question,
            result=result,
            ranked=ranked,
            texts=pool.texts,
            cosines=cosines,
            trusts_vectors=trusts_vectors,
            openings=pool.openings,
        )

    def _pool(self, request: RecallRequest) -> int:
        """Return how many candidates to read."""
        count = max(self.tuning.pool, self.tuning.pool_per_result * request.limit)
        return count if request.only is None else count * self.tuning.pool_filtered

    async def _rerank(self, request: RecallRequest, ranking: Ranking) -> Sequence[Ranked]:
        """Rerank the best few after the transaction, because a reranker may be slow.

        Rerankers are trained on short questions: requests and long texts keep their order.
        """
        ranked, texts, question = ranking.truth.ranked, ranking.truth.texts, request.question
        is_short = len(question) <= self.tuning.reranked_characters
        if self.reranker is None or not (is_short and is_question_in(question, ranking.question.language)):
            return ranked
        head = [candidate for candidate in ranked if candidate.fate is None and texts[candidate.ref].fate is None][
            : self.tuning.reranked
        ]
        try:
            scores = await self.reranker.rerank(question, [texts[candidate.ref].text for candidate in head])
        except ModelError as error:
            _log.warning("Recall continues without its reranker: %s", type(error).__name__)
            return ranked
        first = {candidate.ref for candidate in head}
        weight = getattr(self.reranker, "weight", None)
        mixed = fuse.rerank(ranking.question, head, RerankerSignal(scores, self.tuning, weight))
        return [*mixed, *(candidate for candidate in ranked if candidate.ref not in first)]

    def _choose(
        self,
        request: RecallRequest,
        prepared: PreparedQuestion,
        ranking: Ranking,
        ranked: Sequence[Ranked],
        max_item_tokens: int | None,
    ) -> RecallResult:
        """Choose the items to show, and add a note if something limits the answer."""
        cuts = request.budget is not None or max_item_tokens is not None or bool(ranking.excerpts)
        rules = ChoiceRules(
            limit=request.limit,
            budget=request.budget,
            max_item_tokens=max_item_tokens,
            for_prompt=max_item_tokens is not None,
            words=stems_of(ranking.question) if cuts else frozenset(),
            tokens=self.tokens,
            question=request.question,
            session_id=request.session_id,
            min_certainty=request.min_certainty,
            tuning=self.tuning,
            openings=ranking.openings,
        )
        chooser = Chooser(rules, ranking.truth, ranking.excerpts, ranking.replies, ranking.confidential)
        items = arrange(request, chooser.choose(ranking.truth.order(ranked, explain=request.explain)))
        no_vectors = prepared.vector is not None and not ranking.has_vectors
        note = _NO_VECTORS if no_vectors else prepared.note
        return RecallResult(
            question=request.question,
            items=items,
            certainty=highest(items),
            tokens=chooser.spent,
            budget=request.budget,
            as_of=request.as_of,
            known_at=request.known_at,
            note=note if items else self._empty_note(request, ranking, chooser.candidates, note),
            candidates=tuple(chooser.candidates) if request.explain else (),
        )

    def _empty_note(
        self, request: RecallRequest, ranking: Ranking, candidates: Sequence[Candidate], caveat: str | None
    ) -> str:
        """Return why there is no result, and what to do next."""
        fates = {candidate.fate for candidate in candidates}
        if fates - {Fate.UNRELATED}:
            no_longer = "The matches are no longer valid. Pass `as_of` for an earlier time."
            return next((reason for fate, reason in _EMPTY_NOTES.items() if fate in fates), no_longer)
        note = no_match_note(request, by_words=self.embedder is None)
        if ranking.question.only_about_time:
            note = f"No match from that time. Try {'another time' if request.only is None else 'fewer filters'}."
        if not ranking.had_content:
            note = _EMPTY_SPACE if request.view.is_now else "The space was empty at that time. Try a later time."
        return f"{note} {caveat}" if caveat else note


def _excerpts(tx: Tx, space: str, request: RecallRequest, truth: Truth) -> Mapping[str, Sequence[Excerpt]]:
    """Read the messages behind the best facts."""
    ranked = truth.order(truth.ranked, explain=False)
    current = (candidate.ref for candidate in ranked if truth.texts[candidate.ref].fate is None)
    facts = [ref.id for ref in current if ref.kind is RefKind.FACT][: 2 * request.limit]
    return search.excerpts(tx, space=space, fact_ids=facts, view=request.view)


def _confidential(
    tx: Tx, space: str, truth: Truth, excerpts: Mapping[str, Sequence[Excerpt]], replies: Mapping[Ref, Text]
) -> Collection[SourceMessage]:
    """Return the sources of the candidates that state something confidential."""
    refs = {
        candidate.ref for candidate in truth.ranked if candidate.ref.kind in (RefKind.MESSAGE, RefKind.SESSION_SUMMARY)
    }
    refs.update(said.ref for said in replies.values())
    sources = (quote.source for quotes in excerpts.values() for quote in quotes)
    refs.update(Ref(RefKind.MESSAGE, source.session_id, source.number) for source in sources)
    return confidential_sources(tx, space=space, sources=refs)


_EMPTY_NOTES = {
    Fate.OVER_BUDGET: "The budget is too small for any of the matches.",
    Fate.UNCERTAIN: "No match is certain enough. Use `explain` to see the nearest.",
    Fate.QUESTION: "The only match is the same question, asked earlier.",
}
"""Notes for a result without matches. The first reason that applies is used."""
