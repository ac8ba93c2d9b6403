"""Compares relearned statements with the facts of a space: what is the same, new, changed, removed or settled."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from bethink.memory.facts.decisions import find_decision
from bethink.model.decisions import Decision, SettledClaim
from bethink.model.ids import new_id
from bethink.model.jobs import Usage
from bethink.model.relearning import ChangedFact, Relearning, RelearningStatus
from bethink.model.reviews import ClaimedFact
from bethink.model.words import gist
from bethink.store import relearnings
from bethink.store.db import Tx
from bethink.store.relearnings import LearnedFact, RelearnedClaim, Times
from bethink.store.statements import micros


@dataclass(slots=True)
class Relearned:
    """The statements that a shadow database learned, in the order they were made, and what learning them cost.

    A claim names facts by their ids in the shadow.
    """

    claims: list[RelearnedClaim] = field(default_factory=list[RelearnedClaim])
    sessions: int = 0
    usage: Usage = field(default_factory=Usage)
    pending: int = 0
    rejected: int = 0
    model: str = ""


class Comparison(NamedTuple):
    """A proposal, and the statements that applying it stores."""

    relearning: Relearning
    claims: list[RelearnedClaim]


def compare(tx: Tx, relearned: Relearned, *, space: str) -> Comparison:
    """Pair facts with relearned ones: by text, then by decision, then by quoted messages, then by slot."""
    claims = relearned.claims
    pairing = _Pairing(relearnings.learned_facts(tx, space=space), claims)
    groups: dict[str, list[int]] = {}
    for number, item in enumerate(claims):
        groups.setdefault(item.claim.fact.id, []).append(number)
    for fact_id, numbers in groups.items():
        pairing.match_same(fact_id, numbers)
    new: list[list[int]] = []
    for fact_id, numbers in groups.items():
        if fact_id not in pairing.same_ids:
            undecided = pairing.settle(tx, fact_id, numbers, space=space)
            new += [undecided] if undecided else []
    changed: list[ChangedFact] = []
    for by_words in (True, False):
        for numbers in list(new):
            before = pairing.take_changed(numbers, by_words=by_words)
            if before is not None:
                new.remove(numbers)
                changed.append(ChangedFact(before=before.fact, after=pairing.final(numbers[0]).claim))
    relearning = Relearning(
        id=new_id("rel"),
        status=RelearningStatus.PROPOSED,
        created_at=tx.now,
        model=relearned.model,
        sessions=relearned.sessions,
        same=len(pairing.same_ids),
        usage=relearned.usage,
        new=tuple(pairing.final(numbers[0]).claim for numbers in new),
        removed=tuple(item.fact for item in pairing.unmatched),
        changed=tuple(changed),
        settled=tuple(
            SettledClaim(claim=pairing.final(number).claim, decision=decision)
            for number, decision in sorted(pairing.decisions.items())
        ),
        pending=relearned.pending,
        rejected=relearned.rejected,
    )
    applied = [pairing.final(number) for number in range(len(claims)) if not pairing.is_refused(number)]
    return Comparison(relearning, applied)


class _Pairing:
    """Facts that are not paired yet, and the ids that relearned facts get."""

    def __init__(self, existing: Iterable[LearnedFact], claims: Sequence[RelearnedClaim]) -> None:
        self.unmatched = list(existing)
        self.decisions: dict[int, Decision] = {}
        """The decisions about statements, by their number."""
        self.same_ids: dict[str, str] = {}
        self._new_ids: dict[str, str] = {}
        self._decided_ids: dict[str, list[str]] = {}
        self._claims = claims

    def match_same(self, fact_id: str, numbers: Sequence[int]) -> None:
        """Pair a relearned fact with one that says the same, and names the same times."""
        text, words = gist(self._claims[numbers[0]].claim.fact.text), self._words(numbers)
        times = {_times(self._claims[number].claim) for number in numbers}
        same = [item for item in self.unmatched if gist(item.fact.text) == text and not _differ(item.times, times)]
        match = max(same, key=lambda item: len(item.words & words), default=None)
        if match is not None:
            self.unmatched.remove(match)
            self.same_ids[fact_id] = match.fact.id

    def settle(self, tx: Tx, fact_id: str, numbers: Sequence[int], *, space: str) -> list[int]:
        """Find the decisions about the words of a relearned fact, and return its other statements."""
        undecided: list[int] = []
        for number in numbers:
            decision = find_decision(tx, self._claims[number].claim, space=space)
            if decision is None:
                undecided.append(number)
                continue
            self.decisions[number] = decision
            if decision.fact_id is not None:
                self._decided_ids.setdefault(fact_id, []).append(decision.fact_id)
        if undecided:
            self._new_ids[fact_id] = new_id("fct")
        return undecided

    def take_changed(self, numbers: Sequence[int], *, by_words: bool) -> LearnedFact | None:
        """Return the fact that a relearned one would replace: from the same messages, or else for the same slot."""
        fact, words = self._claims[numbers[0]].claim.fact, self._words(numbers)
        for item in self.unmatched:
            is_slot = fact.slot is not None and (fact.subject, fact.slot) == (item.fact.subject, item.fact.slot)
            is_kind = (fact.kind, fact.subject) == (item.fact.kind, item.fact.subject)
            if (words == item.words and (is_kind or is_slot)) if by_words else is_slot:
                self.unmatched.remove(item)
                return item
        return None

    def final(self, number: int) -> RelearnedClaim:
        """Return a statement with the ids of the space in place of those of the shadow."""
        item, decision = self._claims[number], self.decisions.get(number)
        shadow_id = item.claim.fact.id
        fact_id = self.same_ids.get(shadow_id) or self._new_ids.get(shadow_id) or shadow_id
        if decision is not None:
            fact_id = decision.fact_id or shadow_id
        claim = replace(
            item.claim,
            fact=replace(item.claim.fact, id=fact_id),
            existing_ids=self._final_ids(item.claim.existing_ids),
            rests_on=self._final_ids(item.claim.rests_on),
        )
        return replace(item, claim=claim, is_settled=decision is not None)

    def is_refused(self, number: int) -> bool:
        """Return whether a statement has no fact, because a person rejected or deleted it."""
        decision = self.decisions.get(number)
        return decision is not None and decision.fact_id is None

    def _final_ids(self, shadow_ids: Iterable[str]) -> tuple[str, ...]:
        ids: dict[str, None] = {}
        for shadow_id in shadow_ids:
            final = [self.same_ids.get(shadow_id), *self._decided_ids.get(shadow_id, ()), self._new_ids.get(shadow_id)]
            ids |= {fact_id: None for fact_id in final if fact_id is not None}
        return tuple(ids)

    def _words(self, numbers: Sequence[int]) -> frozenset[tuple[str, int]]:
        quotes = [quote for number in numbers for quote in self._claims[number].claim.quotes if not quote.context]
        return frozenset((quote.session_id, quote.number) for quote in quotes)


def _times(claim: ClaimedFact) -> Times:
    """Return the last message that a statement quotes, and the period that it names."""
    quote = max((quote for quote in claim.quotes if not quote.context), key=lambda quote: quote.number, default=None)
    begins, ends = (None if at is None else micros(at) for at in (claim.fact.valid_from, claim.fact.valid_to))
    return (quote.session_id, quote.number, begins, ends) if quote else ("", 0, begins, ends)


def _differ(existing: Iterable[Times], relearned: Iterable[Times]) -> bool:
    """Return whether the same messages are said to name other periods."""
    periods = {(session_id, number): period for session_id, number, *period in existing}
    return any(
        periods.get((session_id, number), period) != period for session_id, number, *period in relearned
    )  # fmt: skip
