"""Match: ask the database what shares words with a question, what was said at its time, and what is near its vector."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from bethink.base.logs import logger
from bethink.errors import Misconfigured
from bethink.memory.recall.candidates import Found
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.repeats import parted
from bethink.memory.recall.tuning import Tuning
from bethink.model.operations.memory import RecallRequest
from bethink.model.recall import Fate, Ref, RefKind
from bethink.store import search, vectors
from bethink.store.db import Tx
from bethink.store.search import Match, Survey
from bethink.store.vectors import Near

_log = logger("recall")


class QuestionVector(NamedTuple):
    """A question as a vector, and the embedder that made it: vectors of different embedders are never compared.

    `newest` is how similar those texts are that have no vector in the database yet (tail.py).
    """

    embedder: str
    values: Sequence[float]
    newest: Mapping[Ref, float] = {}


def match(
    tx: Tx,
    space: str,
    request: RecallRequest,
    question: ParsedQuestion,
    *,
    vector: QuestionVector | None,
    survey: Survey,
    tuning: Tuning,
) -> Found:
    """Return what shares words with a question or is near it. What only repeats the question has that fate."""
    as_of, kinds = request.as_of, [kind for kind in request.kinds if kind in survey.kinds]
    shared = search.matches(
        tx,
        space=space,
        terms=_stems(question, tuning),
        as_of=as_of,
        kinds=kinds,
        past=request.explain,
        only=request.only,
        bounds=tuning.bounds,
    )
    matches: list[Match] = shared
    if question.only_when:
        # Other texts that share a word with the question must not displace what was said at that time.
        matches = [each for each in matches if question.closeness(each.at) == 1]
        if RefKind.MESSAGE in kinds:
            known = {each.ref for each in matches}
            matches += _said_then(tx, space, question, known=known, request=request, limit=tuning.said_then)
    matches, answers = parted(tx, question, matches, space=space, session_id=request.session_id, as_of=as_of)
    repeats = {each.ref for each in matches if each.fate is Fate.QUESTION}
    near = {} if vector is None else _near(tx, space, request, vector, limit=tuning.nearest)
    return Found(
        matches=matches,
        similarities={ref: similarity for ref, similarity in near.items() if ref not in repeats} if repeats else near,
        size=survey.size,
        counts=shared.counts,
        answers=answers,
    )


def _stems(question: ParsedQuestion, tuning: Tuning) -> dict[str, float]:
    """Return the stems of a question, each with how much it counts: texts to compare are chosen as they are ranked."""
    weights = [0.0] * len(question.stems)
    for term in (*question.terms, *question.topics):
        for stems, share in ((term.stems, 1.0), (term.related, tuning.related), (term.topics, tuning.topic)):
            for stem in stems:
                weights[stem] = max(weights[stem], share * term.weight)
    return dict(zip(question.stems, weights, strict=True))


def _near(tx: Tx, space: str, request: RecallRequest, vector: QuestionVector, *, limit: int) -> dict[Ref, float]:
    """Return what is near the vector of a question, with the similarity; nothing if there are no vectors yet."""
    index = vectors.live(tx, embedder=vector.embedder, dimension=len(vector.values))
    newest = {ref: similarity for ref, similarity in vector.newest.items() if ref.kind in request.kinds}
    if newest and request.only is not None:
        fitting = search.texts(tx, space=space, refs=newest, as_of=request.as_of, only=request.only)
        newest = {ref: similarity for ref, similarity in newest.items() if ref in fitting}
    found = [Near(ref, 0, similarity) for ref, similarity in newest.items()]
    try:
        if index is not None:
            found += vectors.similarities(
                tx,
                space=space,
                index=index,
                question=vector.values,
                limit=limit,
                kinds=request.kinds,
                only=request.only,
            )
    except Misconfigured as error:
        _log.warning("recall continues without vectors: %s", error)
    if not found:
        return {}
    # The vector index ignores `as_of`: filter out what was not valid then, so that it displaces nothing.
    gone = search.gone(tx, space=space, refs=dict.fromkeys(each.ref for each in found), as_of=request.as_of)
    similarities: dict[Ref, float] = {}
    for each in found:
        if each.ref not in gone:
            similarities[each.ref] = max(each.similarity, similarities.get(each.ref, -1.0))
    return similarities


def _said_then(
    tx: Tx, space: str, question: ParsedQuestion, *, known: Collection[Ref], request: RecallRequest, limit: int
) -> list[Match]:
    """Return what was said at the times in a question that asks about nothing else."""
    found: dict[Ref, Match] = {}
    for span in question.spans:
        for each in search.said_between(
            tx, space=space, start=span.start, end=span.end, as_of=request.as_of, width=len(question.stems),
            limit=limit, only=request.only,
        ):  # fmt: skip
            if each.ref not in known:
                found[each.ref] = each
    return list(found.values())
