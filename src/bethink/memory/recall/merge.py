"""The last stage of recall: sort the results, and merge the answers of several spaces.

Each space answers by itself, under its own permissions and in its own transaction, so this stage is a pure function of
a request and the answers. It runs where the caller is: in this process, or in front of a server. A single space
passes through `arrange` as well, so that one space and several are sorted by the same rule.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic

from bethink.base.frozen import frozen
from bethink.memory.recall.context_lines import write_block
from bethink.memory.recall.duplicates import meaning_of, opening_of
from bethink.memory.recall.tuning import TUNING
from bethink.model.operations.base import Operation, RequestT, ResultT
from bethink.model.operations.memory import CONTEXT, RECALL, ContextRequest, RecallRequest
from bethink.model.recall import Candidate, Certainty, ContextBlock, Fate, Match, RecallResult, highest
from bethink.model.refs import Ref

_NO_MATCH = "No match"
_CLOSE = 0.8
"""The share of a score from which a result of another space is a rival."""


def no_match_note(request: RecallRequest, *, by_words: bool = False) -> str:
    """Return why nothing matches, and what to do next. `by_words` is true if there is no embedder."""
    match = f"{_NO_MATCH} by words." if by_words else f"{_NO_MATCH}."
    if request.only is not None:
        return f"{match} The search was filtered. Try fewer filters or other words."
    return f"{match} Try other words or {'set an embedder' if by_words else 'another space'}."


def arrange(request: RecallRequest, items: Iterable[Match]) -> tuple[Match, ...]:
    """Return the results in the order that the request asks for; equal ones keep their order."""
    return tuple(sorted(items, key=lambda item: _sort_key(request, item)))


def _sort_key(request: RecallRequest, item: Match) -> float:
    """Return the sort key of a result, lowest first."""
    del request  # no field of a request changes the order yet
    return -item.score


class Merge(ABC, Generic[RequestT, ResultT]):
    """Collects the answers of several spaces, in the order in which the spaces were named."""

    def __init__(self, request: RequestT, spaces: Sequence[str]) -> None:
        self._request = request
        self._spaces = spaces
        self._answers: dict[str, ResultT] = {}

    def next_request(self) -> RequestT:
        """Return the request for the next space."""
        return self._request

    def add(self, space: str, answer: ResultT) -> None:
        """Add the answer of a space."""
        self._answers[space] = answer

    @abstractmethod
    def result(self) -> ResultT:
        """Return one answer, without confidential items: several spaces may have more readers than each."""


def merge_for(
    operation: Operation[RequestT, ResultT], request: RequestT, spaces: Sequence[str]
) -> Merge[RequestT, ResultT]:
    """Return the merge for an operation."""
    return _MERGES[operation.name](request, spaces)


class RecallMerge(Merge[RecallRequest, RecallResult]):
    """Merges results: the best of all spaces, within one limit and one budget, without duplicates.

    Kinds, filters and `min_certainty` apply to single results, so each space has applied them.
    """

    def result(self) -> RecallResult:
        """Return the best results. Where two rank the same, the space that was named first comes first."""
        no_match = no_match_note(self._request)
        answers = {space: _public(space, answer, no_match) for space, answer in self._answers.items()}
        union = (item for answer in answers.values() for item in answer.items)
        choice = _choose(self._request, sorted(union, key=lambda item: -item.score))
        items = _without_false_certainty(choice.items)
        candidates = (
            choice.dropped.get((candidate.space, candidate.ref), _Drop()).mark(candidate)
            for answer in answers.values()
            for candidate in answer.candidates
        )
        return RecallResult(
            question=self._request.question,
            items=arrange(self._request, items),
            certainty=highest(items),
            tokens=sum(item.tokens for item in items),
            budget=self._request.budget,
            as_of=self._request.as_of,
            known_at=self._request.known_at,
            note=_merge_notes(answers),
            candidates=tuple(sorted(candidates, key=lambda candidate: -candidate.score)),
        )


class ContextMerge(Merge[ContextRequest, ContextBlock]):
    """Merges blocks: each space writes into an equal share of the budget; unused tokens go to the spaces after it."""

    def next_request(self) -> ContextRequest:
        """Return the request with the share of the next space."""
        budget = TUNING.context_budget if self._request.budget is None else self._request.budget
        remaining = budget - sum(block.tokens for block in self._answers.values())
        return replace(self._request, budget=max(1, remaining // (len(self._spaces) - len(self._answers))))

    def result(self) -> ContextBlock:
        """Return one block, rebuilt from the items that all readers may see."""
        texts: list[str] = []
        chosen = _ChosenItems()
        tokens = 0
        for space, block in self._answers.items():
            public = [_public_item(space, item) for item in block.items if not item.confidential]
            items = [item for item in public if chosen.duplicate_of(item) is None]
            if not items:
                continue
            for item in items:
                chosen.add(item)
            texts.append(write_block(items, space=space, citations=self._request.citations))
            tokens += block.tokens - sum(item.tokens for item in block.items) + sum(item.tokens for item in items)
        text = "\n\n".join(texts)
        digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest() if text else ""
        return ContextBlock(text=text, tokens=tokens, items=tuple(chosen.items), digest=digest)


_MERGES: Mapping[str, type[Merge[Any, Any]]] = {RECALL.name: RecallMerge, CONTEXT.name: ContextMerge}


@frozen(kw_only=False)
class _Drop:
    """The reason why the merge dropped a result that its space had chosen."""

    fate: Fate | None = None
    because_of: Ref | None = None

    def mark(self, candidate: Candidate) -> Candidate:
        """Return the candidate with this fate."""
        if self.fate is None:
            return candidate
        return replace(candidate, fate=self.fate, because_of=self.because_of)


@frozen
class _Choice:
    items: Sequence[Match]
    dropped: Mapping[tuple[str, Ref], _Drop]


def _choose(request: RecallRequest, ranked: Iterable[Match]) -> _Choice:
    """Go through the results of all spaces, best first, and keep those that are new and fit."""
    chosen = _ChosenItems()
    dropped: dict[tuple[str, Ref], _Drop] = {}
    tokens = 0
    for item in ranked:
        duplicate = chosen.duplicate_of(item)
        if duplicate is not None:
            dropped[item.space, item.ref] = _Drop(Fate.DUPLICATE, duplicate.ref)
        elif len(chosen.items) >= request.limit:
            dropped[item.space, item.ref] = _Drop(Fate.BEYOND_LIMIT)
        elif request.budget is not None and tokens + item.tokens > request.budget:
            dropped[item.space, item.ref] = _Drop(Fate.OVER_BUDGET)
        else:
            chosen.add(item)
            tokens += item.tokens
    return _Choice(items=chosen.items, dropped=dropped)


def _without_false_certainty(items: Sequence[Match]) -> list[Match]:
    """Return results with a lower certainty for those that have a rival as certain and nearly as good elsewhere.

    Each space compares its own candidates only. At most one of two different answers is right.
    """
    high = [item for item in items if item.certainty is Certainty.HIGH]
    return [
        replace(item, certainty=Certainty.FAIR, probability=min(item.probability, TUNING.doubtful_until))
        if item.certainty is Certainty.HIGH and any(_is_rival(item, other) for other in high)
        else item
        for item in items
    ]


def _is_rival(item: Match, other: Match) -> bool:
    return other.space != item.space and other.ref.kind is item.ref.kind and other.score >= _CLOSE * item.score


class _ChosenItems:
    """The chosen items, indexed to detect duplicates."""

    def __init__(self) -> None:
        self.items: list[Match] = []
        self._alike: dict[tuple[str, str], list[Match]] = {}

    def add(self, item: Match) -> None:
        self.items.append(item)
        self._alike.setdefault((item.section, opening_of(item.text)), []).append(item)

    def duplicate_of(self, item: Match) -> Match | None:
        """Return the item of another space that says the same.

        In a block both must be in the same section: the words of a tool never hide a preference of the user. As in one
        space, a superseded item never hides a current one.
        """
        alike = self._alike.get((item.section, opening_of(item.text)), ())
        twins = (
            other
            for other in alike
            if other.space != item.space and (other.replaced_by is None or item.replaced_by is not None)
        )
        return next((other for other in twins if meaning_of(other.text) == meaning_of(item.text)), None)


def _public(space: str, answer: RecallResult, no_match: str) -> RecallResult:
    """Return the answer of a space without confidential results and quotes.

    A space with nothing but confidential results has the same note as one without a match.
    """
    items = tuple(_public_item(space, item) for item in answer.items if not item.confidential)
    candidates = tuple(replace(candidate, space=space) for candidate in answer.candidates if not candidate.confidential)
    is_no_match = not items and (bool(answer.items) or (answer.note or "").startswith(_NO_MATCH))
    return replace(answer, items=items, candidates=candidates, note=no_match if is_no_match else answer.note)


def _public_item(space: str, item: Match) -> Match:
    """Return a match of a space without confidential quotes, and without a confidential message that it answers."""
    public = tuple(quote for quote in item.excerpts if not quote.confidential)
    hides_question = item.reply_to is not None and item.reply_to.confidential
    return replace(item, space=space, excerpts=public, reply_to=None if hides_question else item.reply_to)


def _merge_notes(answers: Mapping[str, RecallResult]) -> str | None:
    """Return the notes of all spaces, once if they are the same. Empty spaces are skipped if there are results."""
    has_items = any(answer.items for answer in answers.values())
    notes = {space: answer.note for space, answer in answers.items() if answer.note}
    notes = {space: note for space, note in notes.items() if answers[space].items or not has_items}
    if len(notes) == len(answers) and len(set(notes.values())) == 1:
        return next(iter(notes.values()))
    return " ".join(f"{space}: {note}" for space, note in notes.items()) or None
