"""The searches for one question: up to three, in one space or several, and what the model reads of them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import zip_longest

from bethink.memory.answering.orders import is_order
from bethink.memory.recall.asking import is_repeat
from bethink.memory.recall.merge import merge_for
from bethink.model.answers import Answer
from bethink.model.operations.memory import RECALL, AskRequest, RecallRequest
from bethink.model.recall import Match, RecallResult, highest
from bethink.model.refs import Ref, RefKind

RecallIn = Callable[[str, RecallRequest], Awaitable[RecallResult]]
"""Searches a space."""
_MAX_SEARCHES = 3
_MAX_WORDS = 500
_BUDGET = 4_000


class Searches:
    """The searches for a question, each with the filters of the request, and together within its limit and budget."""

    def __init__(
        self, recall: RecallIn, recall_elsewhere: RecallIn, *, space: str, request: AskRequest, window: int
    ) -> None:
        self.question = request.question
        self.spaces = tuple(dict.fromkeys((space, *request.spaces)))
        self.items: Sequence[Match] = ()
        """What the model reads."""
        self.has_matches = False
        """Whether a search had any matches, even if they are excluded."""
        self._recall = recall
        self._recall_elsewhere = recall_elsewhere
        self._request = request
        self._budget = min(_BUDGET if request.budget is None else request.budget, window // 2)
        self._questions: list[str] = []
        self._results: list[list[Match]] = []
        self._withheld: dict[Ref, None] = {}
        self._note: str | None = None

    @property
    def may_run(self) -> bool:
        """Return whether another search is allowed."""
        return len(self._questions) < _MAX_SEARCHES

    async def run(self, questions: Sequence[str]) -> bool:
        """Search for what was not searched for yet, and return whether the model has something new to read."""
        earlier = {item.ref for item in self.items}
        for question in questions:
            words = question if not self._questions else " ".join(question.split())[:_MAX_WORDS]
            if self.may_run and words.casefold() not in map(str.casefold, self._questions):
                await self._search(words)
        self.items = self._select()
        return any(item.ref not in earlier for item in self.items)

    async def _search(self, question: str) -> None:
        self._questions.append(question)
        result = await self._recall_all(question)
        if len(self._questions) == 1 or (result.items and not self.has_matches):
            self._note = result.note
        self.has_matches = self.has_matches or bool(result.items)
        items = drop_excluded(result, self._request.exclude)[: self._request.limit]
        orders = [item.ref for item in items if is_order(item.text)]
        self._withheld |= dict.fromkeys(orders)
        self._results.append([item for item in items if item.ref not in orders and not self._is_question(item)])

    async def _recall_all(self, question: str) -> RecallResult:
        request = self._request_for(question)
        own, *others = self.spaces
        if not others:
            return await self._recall(own, request)
        merge = merge_for(RECALL, request, self.spaces)
        merge.add(own, await self._recall(own, merge.next_request()))
        for space in others:
            merge.add(space, await self._recall_elsewhere(space, replace(merge.next_request(), session_id=None)))
        return merge.result()

    def _request_for(self, question: str) -> RecallRequest:
        request, more = self._request, len(self._request.exclude)
        return RecallRequest.from_request(
            request,
            question=question,
            limit=min(1_000, request.limit + more),
            budget=self._budget,
            session_id=None if more else request.session_id,  # a hypothetical answer is not in the context log
            explain=bool(more),
        )

    def _is_question(self, item: Match) -> bool:
        """Return whether a message is the question itself, which another search may find in its session."""
        session_id = self._request.session_id
        is_own = item.ref.kind is RefKind.MESSAGE and item.ref.id == session_id
        return is_own and is_repeat(item.text, self.question)

    def _select(self) -> list[Match]:
        """Return the best matches of all searches by turns, within the limit and the budget."""
        chosen: dict[Ref, Match] = {}
        tokens = 0
        for rank in zip_longest(*self._results):
            for item in rank:
                fits = item is not None and tokens + item.tokens <= self._budget
                if item is not None and fits and item.ref not in chosen and len(chosen) < self._request.limit:
                    chosen[item.ref] = item
                    tokens += item.tokens
        return list(chosen.values())

    def answer(self) -> Answer:
        """Return an answer with the searches, and without sentences."""
        request = self._request
        return Answer(
            question=self.question,
            sources=tuple(item.ref for item in self.items),
            searches=tuple(self._questions),
            excluded=tuple(self._withheld),
            ignored=request.exclude,
            certainty=highest(self.items),
            as_of=request.as_of,
            known_at=request.known_at,
            note=self._note,
        )


def drop_excluded(result: RecallResult, without: Sequence[Ref]) -> list[Match]:
    """Return the items without the excluded memories, and without those that only excluded messages support.

    An excluded item is replaced by its first duplicate that is not excluded.
    """
    excluded = set(without)
    if not excluded:
        return list(result.items)
    texts = {candidate.ref: candidate.text for candidate in result.candidates}
    retained: list[Match] = []
    for item in result.items:
        messages = {Ref(RefKind.MESSAGE, source.session_id, source.number) for source in item.sources}
        if item.ref not in excluded and not (messages and messages <= excluded):
            retained.append(item)
            continue
        other = next((ref for ref in item.duplicates if ref not in excluded and ref in texts), None)
        if other is not None:
            retained.append(
                replace(item, ref=other, text=texts[other], fact=None, sources=(), excerpts=(), duplicates=())
            )
    return retained
