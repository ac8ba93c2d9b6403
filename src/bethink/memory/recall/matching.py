"""Match: find texts that share words with a question, are from its time, or are near its vector."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from bethink.base.logs import logger
from bethink.errors import ConfigurationError
from bethink.memory.recall.candidates import MatchResult
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.repeats import mark_repeats
from bethink.memory.recall.tuning import Tuning
from bethink.model.moments import FIRST, to_micros
from bethink.model.operations.memory import RecallRequest
from bethink.model.recall import Fate
from bethink.model.refs import Ref, RefKind
from bethink.store import search, vectors
from bethink.store.db import Tx
from bethink.store.search import Survey, TermMatch
from bethink.store.vectors import Near

_log = logger("recall")


class QuestionVector(NamedTuple):
    """A question as a vector, with its embedder: vectors of different embedders are never compared.

    `newest` has the similarities of texts that have no vector in the database yet (tail.py).
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
) -> MatchResult:
    """Return the texts that share words with a question or are near it. Repeats of the question get that fate."""
    view, kinds = request.view, [kind for kind in request.kinds if kind in survey.kinds]
    shared = search.matches(
        tx,
        space=space,
        terms=_stems(question, tuning),
        view=view,
        kinds=kinds,
        past=request.explain,
        only=request.only,
        bounds=tuning.bounds,
    )
    matches: list[TermMatch] = shared
    if question.only_about_time:
        # Other texts that share a word with the question must not displace messages from that time.
        matches = [hit for hit in matches if question.closeness(hit.at) == 1]
        if RefKind.MESSAGE in kinds:
            existing = {hit.ref for hit in matches}
            matches += _messages_at_times(
                tx, space, question, exclude=existing, request=request, limit=tuning.messages_at_time
            )
    elif question.only_recent and RefKind.MESSAGE in kinds:
        existing = {hit.ref for hit in matches}
        matches = [
            *matches,
            *_newest_messages(tx, space, question, exclude=existing, request=request, limit=tuning.messages_at_time),
        ]
    matches, answers = mark_repeats(tx, question, matches, space=space, session_id=request.session_id, view=view)
    repeats = {hit.ref for hit in matches if hit.fate is Fate.QUESTION}
    near = {} if vector is None else _nearest(tx, space, request, vector, limit=tuning.nearest)
    return MatchResult(
        matches=matches,
        similarities={ref: similarity for ref, similarity in near.items() if ref not in repeats} if repeats else near,
        size=survey.size,
        counts=shared.counts,
        answers=answers,
    )


def _stems(question: ParsedQuestion, tuning: Tuning) -> dict[str, float]:
    """Return the stems of a question with their weights: texts are preselected by the same weights that rank them."""
    weights = [0.0] * len(question.stems)
    for term in (*question.terms, *question.topics):
        for stems, share in ((term.stems, 1.0), (term.related, tuning.related), (term.topics, tuning.topic)):
            for stem in stems:
                weights[stem] = max(weights[stem], share * term.weight)
    return dict(zip(question.stems, weights, strict=True))


def _nearest(tx: Tx, space: str, request: RecallRequest, vector: QuestionVector, *, limit: int) -> dict[Ref, float]:
    """Return the texts near the vector of a question, with their similarities; empty if there are no vectors yet."""
    index = vectors.live(tx, embedder=vector.embedder, dimension=len(vector.values))
    newest = {ref: similarity for ref, similarity in vector.newest.items() if ref.kind in request.kinds}
    if newest and request.only is not None:
        fitting = search.texts(tx, space=space, refs=newest, view=request.view, only=request.only)
        newest = {ref: similarity for ref, similarity in newest.items() if ref in fitting}
    neighbors = [Near(ref, 0, similarity) for ref, similarity in newest.items()]
    try:
        if index is not None:
            neighbors += vectors.similarities(
                tx,
                space=space,
                index=index,
                question=vector.values,
                limit=limit,
                kinds=request.kinds,
                only=request.only,
            )
    except ConfigurationError as error:
        _log.warning("Recall continues without vectors: %s", error)
    if not neighbors:
        return {}
    # The vector index ignores `as_of`: filter out texts that were not valid then, so that they displace nothing.
    outdated = search.outdated_refs(
        tx, space=space, refs=dict.fromkeys(neighbor.ref for neighbor in neighbors), view=request.view
    )
    similarities: dict[Ref, float] = {}
    for neighbor in neighbors:
        if neighbor.ref not in outdated:
            similarities[neighbor.ref] = max(neighbor.similarity, similarities.get(neighbor.ref, -1.0))
    return similarities


def _newest_messages(
    tx: Tx, space: str, question: ParsedQuestion, *, exclude: Collection[Ref], request: RecallRequest, limit: int
) -> list[TermMatch]:
    """Return the newest messages: a time such as "lately" has no beginning."""
    hits = search.said_between(
        tx, space=space, start=to_micros(FIRST), end=max(span.end for span in question.spans), view=request.view,
        width=len(question.stems), limit=limit, only=request.only,
    )  # fmt: skip
    return [hit for hit in hits if hit.ref not in exclude]


def _messages_at_times(
    tx: Tx, space: str, question: ParsedQuestion, *, exclude: Collection[Ref], request: RecallRequest, limit: int
) -> list[TermMatch]:
    """Return the messages from the times in a question that asks about nothing else."""
    by_ref: dict[Ref, TermMatch] = {}
    for span in question.spans:
        for hit in search.said_between(
            tx, space=space, start=span.start, end=span.end, view=request.view, width=len(question.stems),
            limit=limit, only=request.only,
        ):  # fmt: skip
            if hit.ref not in exclude:
                by_ref[hit.ref] = hit
    return list(by_ref.values())
