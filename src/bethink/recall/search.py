"""Recall: one search over messages, facts, session memories and documents, explained and within a budget."""

import hashlib
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bethink.audit.lineage import trace
from bethink.errors import BadAnswer, Invalid, Misconfigured, ModelError, NotFound
from bethink.extend import Embedder, Reranker, Tokens
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
from bethink.model.words import stem
from bethink.recall.choose import Chooser, Ranked, Rules, of_origin
from bethink.recall.context import BUDGET, LINE, block, shelves
from bethink.recall.question import Asked, in_their_words, read
from bethink.recall.reindex import Vectors, vectors_of
from bethink.recall.repeats import parted
from bethink.recall.score import Found, Scale, Weights, scaled
from bethink.store import ledger, search, vectors
from bethink.store.db import Database, Tx, ask
from bethink.store.search import Match, Survey, Text

_POOL = 100
_NEAREST = 2_000
_OTHERS = 10
_RERANKED = 40
_RERANKER = 0.14
_log = logger("recall")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What is asked for: the question, where, as of when, and how much may come back."""

    question: str
    space: str
    limit: int = 10
    budget: int | None = None
    as_of: datetime | None = None
    kinds: Collection[RefKind] = tuple(RefKind)
    origins: Collection[str] | None = None
    explain: bool = False
    session_id: str | None = None
    """The session that asks: it is shown what is found, and its own question is no answer."""
    longest: int | None = None
    """How many tokens one thing may cost; what is longer is cut to the part that answers."""

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise Invalid("limit is below 1.", hint="Ask for at least one thing.")
        if self.budget is not None and self.budget < 1:
            raise Invalid("budget is below 1 token.", hint="Give a number of tokens, or leave it out.")
        try:
            object.__setattr__(self, "kinds", tuple(dict.fromkeys(RefKind(kind) for kind in self.kinds)))
        except ValueError as error:
            raise Invalid(f"{error}.", hint=f"Use {', '.join(RefKind)}.") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """What one transaction found, ranked, with the texts to choose from."""

    asked: Asked
    ranked: list[Ranked]
    texts: dict[Ref, Text]
    excerpts: dict[str, list[Excerpt]]
    near: bool
    """Whether any vectors were there to compare with."""
    known: bool = True
    """Whether there was anything at all at the time that was asked for."""


class Searcher:
    """Answers questions from one database. Without an embedder, or while it is down, words alone decide."""

    def __init__(
        self,
        database: Database | None,
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

    async def recall(self, asking: Asking) -> Recall:
        """Return what answers a question, the best first; with a session, the ledger records that it was shown it."""
        found = await self._answer(asking)
        if asking.session_id is not None and found.items:
            shown = Block(items=found.items, tokens=found.tokens, digest=_digest(found.items))
            await self._record(shown, Purpose.RECALL, space=asking.space, session_id=asking.session_id)
        return found

    async def _answer(self, asking: Asking) -> Recall:
        survey, vector, missing = await self._vector(asking)
        drawn = await ask(
            self._database,
            lambda tx: self._draw(tx, asking, survey or search.survey(tx, space=asking.space), vector),
            space=asking.space,
            empty=None,
            read=True,
        )
        if drawn is None:
            return Recall(question=asking.question, missing="nothing is stored here")
        if vector is not None and not drawn.near:
            missing = "vectors: none are made yet"
        ranked = await self._reranked(asking, drawn)
        chooser = Chooser(self._rules(asking, drawn), drawn.texts, drawn.excerpts)
        items = chooser.choose(ranked)
        return Recall(
            question=asking.question,
            items=items,
            tokens=chooser.spent,
            budget=asking.budget,
            as_of=asking.as_of,
            missing=missing if items else _why_empty(drawn, chooser.candidates, missing),
            candidates=tuple(chooser.candidates) if asking.explain else (),
        )

    async def context(self, asking: Asking) -> Block:
        """Return a block of memory for a prompt, with what answers the question if there is one; empty for nothing."""
        budget = BUDGET if asking.budget is None else asking.budget
        answers: tuple[Recalled, ...] = ()
        if asking.question.strip():
            answers = (await self._answer(replace(asking, budget=budget, longest=LINE))).items
        held = await ask(
            self._database,
            lambda tx: shelves(tx, space=asking.space, as_of=asking.as_of),
            space=asking.space,
            empty=None,
            read=True,
        )
        made = Block() if held is None else block(held, answers, budget=budget, tokens=self._tokens)
        if made and asking.session_id is not None:
            await self._record(made, Purpose.CONTEXT, space=asking.space, session_id=asking.session_id)
        return made

    def vectors(self) -> Vectors:
        """Return the vectors that are searched. Raises `Misconfigured` where there can be none."""
        return vectors_of(self._database, self._embedder)

    async def explain(self, ref: Ref, *, space: str) -> Lineage:
        """Follow a memory to its messages, and on to where it was shown. Raises `NotFound`."""
        if self._database is None:
            raise NotFound(f"nothing is named {ref}.", hint="Nothing is stored here.")
        return await self._database.transact(lambda tx: trace(tx, space=space, ref=ref), space=space, read=True)

    async def used(self, refs: Sequence[Ref], *, space: str) -> int:
        """Count that things were of use, each once, and what they rest on; say how many there were."""
        return await ask(self._database, lambda tx: ledger.use(tx, space=space, refs=refs), space=space, empty=0)

    async def cited(self, answer: str, *, space: str, session_id: str) -> str:
        """Count what an answer cites of what its session was shown, and return it without the citations."""
        labels = cited(answer).labels

        def body(tx: Tx) -> list[str]:
            known = ledger.labelled(tx, space=space, session_id=session_id, labels=labels)
            if known:
                ledger.use(tx, space=space, refs=list(known.values()))
            return list(known)

        if not labels:
            return answer
        # What this session was never shown under is a footnote of its author's own, and stays.
        return cited(answer, only=await ask(self._database, body, space=space, empty=[])).visible

    async def shown(
        self, *, space: str, session_id: str | None = None, as_of: datetime | None = None, limit: int = 100
    ) -> list[Showing]:
        """Return what was shown, when, and to which session, the newest first."""
        return await ask(
            self._database,
            lambda tx: ledger.showings(tx, space=space, session_id=session_id, as_of=as_of, limit=limit),
            space=space,
            empty=[],
            read=True,
        )

    async def _vector(self, asking: Asking) -> tuple[Survey | None, Sequence[float] | None, str | None]:
        if self._embedder is None or self._database is None:
            return None, None, None
        survey = await self._database.transact(
            lambda tx: search.survey(tx, space=asking.space), space=asking.space, read=True
        )
        try:
            made = await self._embedder.embed([in_their_words(asking.question, survey.speakers)])
            if len(made) != 1 or len(made[0]) != self._embedder.dimension or not all(map(math.isfinite, made[0])):
                raise BadAnswer(f"{self._embedder.name} gave no vector for the question.")
        except (ModelError, Misconfigured, OSError) as error:
            # Words alone still find most of it; who asked must not wait for a service that is down.
            why = error if isinstance(error, Misconfigured) else type(error).__name__
            _log.warning("recall goes on without vectors: %s", why)
            return survey, None, "vectors: the embedder is not to be had"
        return survey, made[0], None

    def _draw(self, tx: Tx, asking: Asking, survey: Survey, vector: Sequence[float] | None) -> _Drawn:
        space, as_of, explain = asking.space, asking.as_of, asking.explain
        asked = read(tx, asking.question, speakers=survey.speakers, now=tx.now if as_of is None else as_of)
        kinds = [kind for kind in asking.kinds if kind in survey.kinds]
        usage: dict[Ref, Use] = {}
        matches = search.matches(tx, space=space, terms=asked.stems, as_of=as_of, kinds=kinds, past=explain)
        if asked.only_when:
            # Whatever else shares a word with it must not take the place of what was said then.
            matches = [match for match in matches if asked.closeness(match.at) == 1]
            said = RefKind.MESSAGE in kinds
            matches += self._said_then(tx, asking, asked, known={match.ref for match in matches}) if said else []
        matches, answers = parted(tx, asked, matches, space=space, session_id=asking.session_id, as_of=as_of)
        found = Found(
            matches=matches if asking.origins is None else _of_origin(matches, asking.origins),
            similarities={} if vector is None else self._near(tx, asking, vector, but=_questions(matches)),
            size=survey.size,
            usage=usage,
            answers=answers,
        )
        scale = Scale(asked, found, self._weights)
        best = scale.best(max(_POOL, 2 * asking.limit) * (1 if asking.origins is None else _OTHERS))
        if survey.used:
            usage |= ledger.usage(tx, space=space, refs=best)  # it counts only in the ranking of these
        texts = search.texts(tx, space=space, refs=best, as_of=as_of)
        # The neighbours of what was found are not always there: the first and the last of a session have fewer.
        there = [ref for ref in best if ref in texts]
        ranked = scale.ranked(texts, among=there, ranks=explain, signals=explain)
        held = [each.ref for each in ranked if texts[each.ref].fate is None]
        facts = [ref.id for ref in held if ref.kind is RefKind.FACT][: 2 * asking.limit]
        rests = facts if RefKind.MESSAGE in survey.kinds else []
        excerpts = search.excerpts(tx, space=space, fact_ids=rests, as_of=as_of)
        known = bool(ranked) or as_of is None or search.anything_by(tx, space=space, at=as_of)
        return _Drawn(
            asked=asked, ranked=ranked, texts=texts, excerpts=excerpts, near=bool(found.similarities), known=known
        )

    def _said_then(self, tx: Tx, asking: Asking, asked: Asked, *, known: set[Ref]) -> list[Match]:
        """Return what was said at the times that a question names, where it names nothing else."""
        found: dict[Ref, Match] = {}
        for span in asked.spans:
            for match in search.said_between(
                tx, space=asking.space, start=span.start, end=span.end, as_of=asking.as_of,
                width=len(asked.stems), limit=_POOL,
            ):  # fmt: skip
                if match.ref not in known:
                    found[match.ref] = match
        return list(found.values())

    def _near(self, tx: Tx, asking: Asking, vector: Sequence[float], *, but: Collection[Ref]) -> dict[Ref, float]:
        assert self._embedder is not None  # noqa: S101 - whoever has none has no vector
        index = vectors.live(tx, embedder=self._embedder.name, dimension=self._embedder.dimension)
        if index is None:
            return {}
        near: dict[Ref, float] = {}
        try:
            found = vectors.similarities(
                tx, space=asking.space, index=index, question=vector, limit=_NEAREST, kinds=asking.kinds
            )
        except Misconfigured as error:
            _log.warning("recall goes on without vectors: %s", error)
            return {}
        # An index knows nothing of time: what did not hold then must neither be found nor push out what did.
        gone = search.gone(tx, space=asking.space, as_of=asking.as_of)
        for each in found:
            if each.ref not in gone and each.ref not in but:
                near[each.ref] = max(each.similarity, near.get(each.ref, -1.0))
        return near

    async def _reranked(self, asking: Asking, drawn: _Drawn) -> list[Ranked]:
        if self._reranker is None:
            return drawn.ranked
        head = [each for each in drawn.ranked if each.fate is None and drawn.texts[each.ref].fate is None][:_RERANKED]
        try:
            scores = await self._reranker.rerank(asking.question, [drawn.texts[each.ref].text for each in head])
        except ModelError as error:
            _log.warning("recall goes on without its reranker: %s", type(error).__name__)
            return drawn.ranked
        mixed = _mixed(head, scores)
        first = {each.ref for each in head}
        return [*mixed, *(each for each in drawn.ranked if each.ref not in first)]

    def _rules(self, asking: Asking, drawn: _Drawn) -> Rules:
        cuts = asking.budget is not None or bool(drawn.excerpts)
        return Rules(
            limit=asking.limit,
            budget=asking.budget,
            longest=asking.longest,
            origins=asking.origins,
            words=_stems(drawn.asked) if cuts else frozenset(),
            tokens=self._tokens,
            question=asking.question,
            asked_in=asking.session_id,
        )

    async def _record(self, shown: Block, purpose: Purpose, *, space: str, session_id: str) -> None:
        assert self._database is not None  # noqa: S101 - something was found in it
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


def _stems(asked: Asked) -> frozenset[str]:
    """Return the words by which a long text is cut to what was asked for."""
    return frozenset(
        stem(form)
        for term in asked.terms
        for form in (term.word.casefold(), *(asked.stems[place] for place in term.stems))
    )


def _of_origin(matches: Sequence[Match], origins: Collection[str]) -> list[Match]:
    """Give what comes from elsewhere its fate, so that it takes no place from what does not."""
    return [
        match if of_origin(match.origin, origins) or match.fate else match._replace(fate=Fate.OTHER_ORIGIN)
        for match in matches
    ]


def _questions(matches: Sequence[Match]) -> set[Ref]:
    return {match.ref for match in matches if match.fate is Fate.QUESTION}


def _digest(items: Sequence[Recalled]) -> str:
    return hashlib.blake2b("\n".join(str(item.ref) for item in items).encode(), digest_size=16).hexdigest()


def _mixed(head: Sequence[Ranked], scores: Sequence[float]) -> list[Ranked]:
    """Order the best few anew: what was found before counts most, what the reranker says is added to it."""
    if not head:
        return []
    spread = _spread(scores)
    mixed = [each.score + _RERANKER * share for each, share in zip(head, spread, strict=True)]
    order = sorted(range(len(head)), key=lambda place: (-mixed[place], place))
    return [
        head[place]._replace(
            score=min(1.0, mixed[place]),
            signals=scaled(
                {
                    **head[place].signals,
                    "reranker": Signal(scores[place], spread[place], _RERANKER * spread[place]),
                },
                min(1.0, 1 / mixed[place]) if mixed[place] else 1.0,
            ),
            ranks={**head[place].ranks, "reranked": rank},
        )
        for rank, place in enumerate(order, 1)
    ]


def _spread(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]


_WHY = {
    Fate.OVER_BUDGET: "the budget is too small for anything that was found",
    Fate.BELOW_FLOOR: "the best that was found is too weak; explain shows it",
    Fate.OTHER_ORIGIN: "what was found comes from other origins than those that were asked for",
    Fate.QUESTION: "only the question itself was found, as it was asked before",
}
"""Why nothing is shown of what was found, the nearest to an answer first."""


def _why_empty(drawn: _Drawn, candidates: Sequence[Candidate], missing: str | None) -> str:
    if not candidates:
        nothing = "nothing was said then" if drawn.asked.only_when else "nothing shares a word with the question"
        return (nothing if drawn.known else "nothing was known by then") + (f"; {missing}" if missing else "")
    fates = {candidate.fate for candidate in candidates}
    return next((why for fate, why in _WHY.items() if fate in fates), "what was found no longer holds")
