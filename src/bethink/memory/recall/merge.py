"""The last stage of recall: the order of the results, and one answer where several spaces were asked.

Each space answers by itself, under its own permissions and in its own transaction, so this stage is a pure function of
a request and the answers. It runs wherever the spaces are asked from: in this process, or in front of a server. A
single space passes through `arrange` as well. An order that is declared anywhere else therefore has no effect at all,
instead of an effect on one space only.
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
from bethink.model.operations.base import RequestT, ResultT, Verb
from bethink.model.operations.memory import CONTEXT, RECALL, ContextRequest, RecallRequest
from bethink.model.recall import Block, Candidate, Fate, Recall, Recalled, Ref, most_certain

NO_MATCH = "nothing was said about this"


def arrange(request: RecallRequest, items: Iterable[Recalled]) -> tuple[Recalled, ...]:
    """Return the chosen results in the order that the request asks for; equal ones keep their order."""
    return tuple(sorted(items, key=lambda item: _position(request, item)))


def _position(request: RecallRequest, item: Recalled) -> float:
    """Return what results are sorted by, the lowest first."""
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
        """Return one answer. Nothing confidential is in it: several spaces may have more readers than each."""


def merge_of(operation: Verb[RequestT, ResultT], request: RequestT, spaces: Sequence[str]) -> Merge[RequestT, ResultT]:
    """Return what merges the answers to an operation."""
    return _MERGES[operation.name](request, spaces)


class RecallMerge(Merge[RecallRequest, Recall]):
    """Merges results: the best of all within one limit and one budget, and no two that say the same.

    Kinds, filters and `least` concern one result each, so the spaces have applied them.
    """

    def result(self) -> Recall:
        """Return the best results. Where two rank the same, the space that was named first comes first."""
        answers = {space: _public(space, answer) for space, answer in self._answers.items()}
        union = (item for answer in answers.values() for item in answer.items)
        choice = _choose(self._request, sorted(union, key=lambda item: -item.score))
        candidates = (
            choice.dropped.get((candidate.space, candidate.ref), _Drop()).mark(candidate)
            for answer in answers.values()
            for candidate in answer.candidates
        )
        return Recall(
            question=self._request.question,
            items=arrange(self._request, choice.items),
            certainty=most_certain(choice.items),
            tokens=sum(item.tokens for item in choice.items),
            budget=self._request.budget,
            as_of=self._request.as_of,
            missing=_missing(answers),
            candidates=tuple(sorted(candidates, key=lambda candidate: -candidate.score)),
        )


class ContextMerge(Merge[ContextRequest, Block]):
    """Merges blocks: each space writes into an equal share of the budget; unused tokens go to the spaces after it."""

    def next_request(self) -> ContextRequest:
        """Return the request with the share of the next space."""
        budget = TUNING.context_budget if self._request.budget is None else self._request.budget
        remaining = budget - sum(block.tokens for block in self._answers.values())
        return replace(self._request, budget=max(1, remaining // (len(self._spaces) - len(self._answers))))

    def result(self) -> Block:
        """Return one block, written anew from the items that all readers may see."""
        texts: list[str] = []
        shown = _Shown()
        tokens = 0
        for space, block in self._answers.items():
            public = [replace(item, space=space) for item in block.items if not item.confidential]
            items = [item for item in public if shown.twin_of(item) is None]
            if not items:
                continue
            for item in items:
                shown.add(item)
            texts.append(write_block(items, space=space))
            tokens += block.tokens - sum(item.tokens for item in block.items) + sum(item.tokens for item in items)
        text = "\n\n".join(texts)
        digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest() if text else ""
        return Block(text=text, tokens=tokens, items=tuple(shown.items), digest=digest)


_MERGES: Mapping[str, type[Merge[Any, Any]]] = {RECALL.name: RecallMerge, CONTEXT.name: ContextMerge}


@frozen(kw_only=False)
class _Drop:
    """Why the merge left out a result that its space had chosen."""

    fate: Fate | None = None
    because_of: Ref | None = None

    def mark(self, candidate: Candidate) -> Candidate:
        """Return the candidate with this fate."""
        if self.fate is None:
            return candidate
        return replace(candidate, fate=self.fate, because_of=self.because_of)


@frozen
class _Choice:
    items: Sequence[Recalled]
    dropped: Mapping[tuple[str, Ref], _Drop]


def _choose(request: RecallRequest, ranked: Iterable[Recalled]) -> _Choice:
    """Go through the results of all spaces, best first, and keep what is new and fits."""
    shown = _Shown()
    dropped: dict[tuple[str, Ref], _Drop] = {}
    tokens = 0
    for item in ranked:
        twin = shown.twin_of(item)
        if twin is not None:
            dropped[item.space, item.ref] = _Drop(Fate.DUPLICATE, twin.ref)
        elif len(shown.items) >= request.limit:
            dropped[item.space, item.ref] = _Drop(Fate.BEYOND_LIMIT)
        elif request.budget is not None and tokens + item.tokens > request.budget:
            dropped[item.space, item.ref] = _Drop(Fate.OVER_BUDGET)
        else:
            shown.add(item)
            tokens += item.tokens
    return _Choice(items=shown.items, dropped=dropped)


class _Shown:
    """The items that are shown, by what they say."""

    def __init__(self) -> None:
        self.items: list[Recalled] = []
        self._alike: dict[tuple[str, str], list[Recalled]] = {}

    def add(self, item: Recalled) -> None:
        self.items.append(item)
        self._alike.setdefault((item.section, opening_of(item.text)), []).append(item)

    def twin_of(self, item: Recalled) -> Recalled | None:
        """Return the item of another space that says the same.

        In a block both must be in the same section: a wish of a user does not disappear behind the words of a tool. As
        in one space, something current does not disappear behind something superseded.
        """
        alike = self._alike.get((item.section, opening_of(item.text)), ())
        twins = (
            other
            for other in alike
            if other.space != item.space and (other.superseded_by is None or item.superseded_by is not None)
        )
        return next((other for other in twins if meaning_of(other.text) == meaning_of(item.text)), None)


def _public(space: str, answer: Recall) -> Recall:
    """Return the answer of a space without confidential results, and without the quotes that state them."""
    items = tuple(
        replace(item, space=space, excerpts=tuple(quote for quote in item.excerpts if not quote.confidential))
        for item in answer.items
        if not item.confidential
    )
    candidates = tuple(replace(candidate, space=space) for candidate in answer.candidates if not candidate.confidential)
    missing = answer.missing if items or not answer.items else NO_MATCH
    return replace(answer, items=items, candidates=candidates, missing=missing)


def _missing(answers: Mapping[str, Recall]) -> str | None:
    """Return what is missing, once if all spaces say the same. Next to results, empty spaces say nothing."""
    has_items = any(answer.items for answer in answers.values())
    notes = {space: answer.missing for space, answer in answers.items() if answer.missing}
    notes = {space: note for space, note in notes.items() if answers[space].items or not has_items}
    if len(notes) == len(answers) and len(set(notes.values())) == 1:
        return next(iter(notes.values()))
    return "; ".join(f"{space}: {note}" for space, note in notes.items()) or None
