"""Recall: search messages, facts, session memories and documents together, within a token budget."""

import hashlib
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bethink.audit.lineage import trace
from bethink.errors import BadAnswer, Misconfigured, ModelError
from bethink.extend import Embedder, Reranker, Tokens
from bethink.log.succession import get_session
from bethink.logs import logger
from bethink.model.framing import cited
from bethink.model.recall import (
    Block,
    Candidate,
    Excerpt,
    Fate,
    Lineage,
    Purpose,
    Recall,
    Recalled,
    Ref,
    RefKind,
    Showing,
    Signal,
    Use,
)
from bethink.model.verbs.memory import ContextRequest, ExplainRequest, RecallRequest, ShownRequest, UsedRequest
from bethink.model.verbs.sessions import CitedRequest
from bethink.model.words import stem
from bethink.recall.choose import Chooser, Ranked, Rules, of_origin
from bethink.recall.context import BUDGET, LINE, ContextSources, block, context_sources
from bethink.recall.question import ParsedQuestion, in_their_words, read
from bethink.recall.reindex import Vectors, vectors_of
from bethink.recall.repeats import parted
from bethink.recall.score import Ranker, ScoreInput, Weights, scaled
from bethink.store import ledger, search, vectors
from bethink.store.db import Database, Tx
from bethink.store.search import Match, Survey, Text

_POOL = 100
_NEAREST = 2_000
_OTHERS = 10
_RERANKED = 40
_RERANKER = 0.14
_log = logger("recall")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """What one transaction found: the ranked candidates and their texts."""

    asked: ParsedQuestion
    ranked: list[Ranked]
    texts: dict[Ref, Text]
    excerpts: dict[str, list[Excerpt]]
    near: bool
    """Whether there were any vectors to compare with."""
    known: bool = True
    """Whether the space contained anything at the time of `as_of`."""


class Searcher:
    """Answers questions from one database. Without an embedder, or while it is down, it ranks by words only."""

    def __init__(
        self,
        database: Database,
        *,
        tokens: Tokens,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        weights: Weights | None = None,
    ) -> None:
        self._database = database
        self._tokens = tokens
        self._embedder = embedder
        self._reranker = reranker
        self._weights = weights or Weights()

    async def recall(self, space: str, request: RecallRequest) -> Recall:
        """Find what answers a question. With a session, the ledger records what it was shown."""
        found = await self._answer(space, request)
        if request.session_id is not None and found.items:
            shown = Block(items=found.items, tokens=found.tokens, digest=_digest(found.items))
            await self._record(shown, Purpose.RECALL, space=space, session_id=request.session_id)
        return found

    async def _answer(self, space: str, request: RecallRequest, *, longest: int | None = None) -> Recall:
        survey, vector, missing = await self._vector(space, request)
        drawn = await self._database.transact(
            lambda tx: self._draw(tx, space, request, survey or search.survey(tx, space=space), vector),
            space=space,
            read=True,
        )
        if vector is not None and not drawn.near:
            missing = "no vectors yet; ranked by words only"
        ranked = await self._reranked(request, drawn)
        chooser = Chooser(self._rules(request, drawn, longest), drawn.texts, drawn.excerpts)
        items = chooser.choose(ranked)
        return Recall(
            question=request.question,
            items=items,
            tokens=chooser.spent,
            budget=request.budget,
            as_of=request.as_of,
            missing=missing if items else _why_empty(drawn, chooser.candidates, missing),
            candidates=tuple(chooser.candidates) if request.explain else (),
        )

    async def context(self, space: str, request: ContextRequest) -> Block:
        """Return a block of memory for a prompt, including answers to the question if one is given."""
        budget = BUDGET if request.budget is None else request.budget
        answers: tuple[Recalled, ...] = ()
        if request.question.strip():
            asked = RecallRequest(
                question=request.question, budget=budget, as_of=request.as_of, session_id=request.session_id
            )
            answers = (await self._answer(space, asked, longest=LINE)).items

        def body(tx: Tx) -> ContextSources:
            _check_session(tx, space, request.session_id)
            return context_sources(tx, space=space, as_of=request.as_of)

        sources = await self._database.transact(body, space=space, read=True)
        made = block(sources, answers, budget=budget, tokens=self._tokens)
        if made and request.session_id is not None:
            await self._record(made, Purpose.CONTEXT, space=space, session_id=request.session_id)
        return made

    def vectors(self) -> Vectors:
        """Return the vectors of the embedder. Raises `Misconfigured` if there is no embedder."""
        return vectors_of(self._database, self._embedder)

    async def explain(self, space: str, request: ExplainRequest) -> Lineage:
        """Trace a memory back to its messages, and forward to where it was shown."""
        return await self._database.transact(lambda tx: trace(tx, space=space, ref=request.ref), space=space, read=True)

    async def used(self, space: str, request: UsedRequest) -> int:
        """Count each of these memories, and what it was derived from, as used once."""
        return await self._database.transact(lambda tx: ledger.use(tx, space=space, refs=request.refs), space=space)

    async def cited(self, space: str, request: CitedRequest) -> str:
        """Count the memories that an answer cites as used, and return the answer without these citations."""
        labels = cited(request.answer).labels

        def body(tx: Tx) -> list[str]:
            _check_session(tx, space, request.session_id)
            known = ledger.labelled(tx, space=space, session_id=request.session_id, labels=labels)
            if known:
                ledger.use(tx, space=space, refs=list(known.values()))
            return list(known)

        if not labels:
            return request.answer
        # A label that the session was never shown is an ordinary footnote, and stays.
        return cited(request.answer, only=await self._database.transact(body, space=space)).visible

    async def shown(self, space: str, request: ShownRequest) -> list[Showing]:
        """Return what was shown, newest first."""

        def body(tx: Tx) -> list[Showing]:
            _check_session(tx, space, request.session_id)
            return ledger.showings(
                tx, space=space, session_id=request.session_id, as_of=request.as_of, limit=request.limit
            )

        return await self._database.transact(body, space=space, read=True)

    async def _vector(
        self, space: str, request: RecallRequest
    ) -> tuple[Survey | None, Sequence[float] | None, str | None]:
        if self._embedder is None:
            return None, None, None
        survey = await self._database.transact(lambda tx: search.survey(tx, space=space), space=space, read=True)
        try:
            made = await self._embedder.embed([in_their_words(request.question, survey.speakers)])
            if len(made) != 1 or len(made[0]) != self._embedder.dimension or not all(map(math.isfinite, made[0])):
                raise BadAnswer(f"{self._embedder.name} returned no usable vector for the question.")
        except (ModelError, Misconfigured, OSError) as error:
            # Words alone still find most answers, and the caller must not wait for a service that is down.
            why = error if isinstance(error, Misconfigured) else type(error).__name__
            _log.warning("recall continues without vectors: %s", why)
            return survey, None, "embedder unavailable; ranked by words only"
        return survey, made[0], None

    def _draw(
        self, tx: Tx, space: str, request: RecallRequest, survey: Survey, vector: Sequence[float] | None
    ) -> _Drawn:
        _check_session(tx, space, request.session_id)
        as_of, explain = request.as_of, request.explain
        asked = read(tx, request.question, speakers=survey.speakers, now=tx.now if as_of is None else as_of)
        kinds = [kind for kind in request.kinds if kind in survey.kinds]
        usage: dict[Ref, Use] = {}
        matches = search.matches(tx, space=space, terms=asked.stems, as_of=as_of, kinds=kinds, past=explain)
        if asked.only_when:
            # Other texts that share a word with the question must not displace what was said at that time.
            matches = [match for match in matches if asked.closeness(match.at) == 1]
            said = RefKind.MESSAGE in kinds
            matches += (
                self._said_then(tx, space, request, asked, known={match.ref for match in matches}) if said else []
            )
        matches, answers = parted(tx, asked, matches, space=space, session_id=request.session_id, as_of=as_of)
        found = ScoreInput(
            matches=matches if request.origins is None else _of_origin(matches, request.origins),
            similarities={} if vector is None else self._near(tx, space, request, vector, but=_questions(matches)),
            size=survey.size,
            usage=usage,
            answers=answers,
        )
        ranker = Ranker(asked, found, self._weights)
        best = ranker.best(max(_POOL, 2 * request.limit) * (1 if request.origins is None else _OTHERS))
        if survey.used:
            usage |= ledger.usage(tx, space=space, refs=best)  # only the final ranking uses it
        texts = search.texts(tx, space=space, refs=best, as_of=as_of)
        # Neighbours of a match may not exist: the first and the last message of a session have fewer.
        existing = [ref for ref in best if ref in texts]
        ranked = ranker.ranked(texts, among=existing, ranks=explain, signals=explain)
        current = [each.ref for each in ranked if texts[each.ref].fate is None]
        facts = [ref.id for ref in current if ref.kind is RefKind.FACT][: 2 * request.limit]
        quoted = facts if RefKind.MESSAGE in survey.kinds else []
        excerpts = search.excerpts(tx, space=space, fact_ids=quoted, as_of=as_of)
        known = bool(ranked) or as_of is None or search.anything_by(tx, space=space, at=as_of)
        return _Drawn(
            asked=asked, ranked=ranked, texts=texts, excerpts=excerpts, near=bool(found.similarities), known=known
        )

    def _said_then(
        self, tx: Tx, space: str, request: RecallRequest, asked: ParsedQuestion, *, known: set[Ref]
    ) -> list[Match]:
        """Return what was said at the times in a question that asks about nothing else."""
        found: dict[Ref, Match] = {}
        for span in asked.spans:
            for match in search.said_between(
                tx, space=space, start=span.start, end=span.end, as_of=request.as_of,
                width=len(asked.stems), limit=_POOL,
            ):  # fmt: skip
                if match.ref not in known:
                    found[match.ref] = match
        return list(found.values())

    def _near(
        self, tx: Tx, space: str, request: RecallRequest, vector: Sequence[float], *, but: Collection[Ref]
    ) -> dict[Ref, float]:
        assert self._embedder is not None  # noqa: S101 - without an embedder there is no vector
        index = vectors.live(tx, embedder=self._embedder.name, dimension=self._embedder.dimension)
        if index is None:
            return {}
        near: dict[Ref, float] = {}
        try:
            found = vectors.similarities(
                tx, space=space, index=index, question=vector, limit=_NEAREST, kinds=request.kinds
            )
        except Misconfigured as error:
            _log.warning("recall continues without vectors: %s", error)
            return {}
        # The vector index ignores `as_of`: filter out what was not valid then, so that it displaces nothing.
        gone = search.gone(tx, space=space, as_of=request.as_of)
        for each in found:
            if each.ref not in gone and each.ref not in but:
                near[each.ref] = max(each.similarity, near.get(each.ref, -1.0))
        return near

    async def _reranked(self, request: RecallRequest, drawn: _Drawn) -> list[Ranked]:
        if self._reranker is None:
            return drawn.ranked
        head = [each for each in drawn.ranked if each.fate is None and drawn.texts[each.ref].fate is None][:_RERANKED]
        try:
            scores = await self._reranker.rerank(request.question, [drawn.texts[each.ref].text for each in head])
        except ModelError as error:
            _log.warning("recall continues without its reranker: %s", type(error).__name__)
            return drawn.ranked
        mixed = _mixed(head, scores)
        first = {each.ref for each in head}
        return [*mixed, *(each for each in drawn.ranked if each.ref not in first)]

    def _rules(self, request: RecallRequest, drawn: _Drawn, longest: int | None) -> Rules:
        cuts = request.budget is not None or bool(drawn.excerpts)
        return Rules(
            limit=request.limit,
            budget=request.budget,
            longest=longest,
            origins=request.origins,
            words=_stems(drawn.asked) if cuts else frozenset(),
            tokens=self._tokens,
            question=request.question,
            asked_in=request.session_id,
        )

    async def _record(self, shown: Block, purpose: Purpose, *, space: str, session_id: str) -> None:
        await self._database.transact(
            lambda tx: ledger.record(
                tx,
                space=space,
                purpose=purpose,
                session_id=session_id,
                items=[(item.ref, item.label) for item in shown.items],
                tokens=shown.tokens,
                digest=shown.digest,
            ),
            space=space,
        )


def _check_session(tx: Tx, space: str, session_id: str | None) -> None:
    """Raise `NotFound` for a session that is not in the space: the ledger must never name another space's."""
    if session_id is not None:
        get_session(tx, space=space, session_id=session_id)


def _stems(asked: ParsedQuestion) -> frozenset[str]:
    """Return the stems by which a long text is cut to the relevant sentences."""
    return frozenset(
        stem(form)
        for term in asked.terms
        for form in (term.word.casefold(), *(asked.stems[index] for index in term.stems))
    )


def _of_origin(matches: Sequence[Match], origins: Collection[str]) -> list[Match]:
    """Mark the matches of other origins, so that they do not influence the ranking of the rest."""
    return [
        match if of_origin(match.origin, origins) or match.fate else match._replace(fate=Fate.OTHER_ORIGIN)
        for match in matches
    ]


def _questions(matches: Sequence[Match]) -> set[Ref]:
    return {match.ref for match in matches if match.fate is Fate.QUESTION}


def _digest(items: Sequence[Recalled]) -> str:
    return hashlib.blake2b("\n".join(str(item.ref) for item in items).encode(), digest_size=16).hexdigest()


def _mixed(head: Sequence[Ranked], scores: Sequence[float]) -> list[Ranked]:
    """Sort the best few again: the first score counts most, and the score of the reranker is added to it."""
    if not head:
        return []
    spread = _spread(scores)
    mixed = [each.score + _RERANKER * share for each, share in zip(head, spread, strict=True)]
    order = sorted(range(len(head)), key=lambda index: (-mixed[index], index))
    return [
        head[index]._replace(
            score=min(1.0, mixed[index]),
            signals=scaled(
                {
                    **head[index].signals,
                    "reranker": Signal(scores[index], spread[index], _RERANKER * spread[index]),
                },
                min(1.0, 1 / mixed[index]) if mixed[index] else 1.0,
            ),
            ranks={**head[index].ranks, "reranked": rank},
        )
        for rank, index in enumerate(order, 1)
    ]


def _spread(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]


_WHY = {
    Fate.OVER_BUDGET: "the budget is too small for any of the matches",
    Fate.BELOW_FLOOR: "the best match is too weak; explain shows it",
    Fate.OTHER_ORIGIN: "all matches come from other origins than those requested",
    Fate.QUESTION: "the only match is the question itself, asked before",
}
"""Why none of the matches is shown, the reason closest to an answer first."""


def _why_empty(drawn: _Drawn, candidates: Sequence[Candidate], missing: str | None) -> str:
    if not candidates:
        nothing = "nothing was said then" if drawn.asked.only_when else "nothing shares a word with the question"
        return (nothing if drawn.known else "nothing was known by then") + (f"; {missing}" if missing else "")
    fates = {candidate.fate for candidate in candidates}
    return next((why for fate, why in _WHY.items() if fate in fates), "the matches are no longer valid")
