"""Finds the decision of a person that settles the words of a claim."""

from collections.abc import Iterable

from bethink.model.decisions import Decision, DecisionKind
from bethink.model.facts import Evidence, Fact, Quote
from bethink.model.reviews import ClaimedFact
from bethink.model.words import gist, has_digit, key_stems, key_words, stem
from bethink.store import decisions, facts, messages
from bethink.store.db import Tx
from bethink.store.decisions import DecidedWords

_SHARED = 2 / 3
"""Share of the significant words that two statements about the same words have in common if they say the same."""


def find_decision(tx: Tx, claimed: ClaimedFact, *, space: str) -> Decision | None:
    """Return the decision that settles a claim: about the same words, for a statement that says the same.

    Claims that a person approved decide themselves. Another statement from the same message is not settled.
    """
    words = [quote for quote in claimed.quotes if not quote.context]
    if claimed.fact.evidence is Evidence.STATED or not words:
        return None
    overlapping = [
        decided
        for decided in decisions.about(tx, words, space=space)
        if any(_overlap(tx, ours, theirs, space=space) for ours in words for theirs in decided.quotes)
    ]
    decision = _best(tx, claimed.fact, overlapping, space=space) or _corrected_twin(tx, claimed.fact, space=space)
    return decision or decisions.find_deleted(tx, claimed.fact, words, space=space)


def _best(tx: Tx, fact: Fact, overlapping: list[DecidedWords], *, space: str) -> Decision | None:
    """Return the decision whose text is the nearest to that of a claim."""
    same_text = [decided for decided in overlapping if gist(fact.text) in map(gist, decided.texts)]
    if same_text:
        return same_text[-1].decision
    decided_ids = {decided.fact.id for decided in overlapping}
    undecided = [
        other for other in facts.with_same_text(tx, space=space, content=fact.text) if other.id not in decided_ids
    ]  # fmt: skip
    if undecided or not overlapping:  # another statement of the message, which nobody decided
        return None
    same_slot = [decided for decided in overlapping if _is_same_slot(fact, decided.fact)]
    similar = same_slot or [decided for decided in overlapping if _is_similar(fact, decided)]
    return similar[-1].decision if similar else None


def _corrected_twin(tx: Tx, fact: Fact, *, space: str) -> Decision | None:
    """Return the correction of a fact that said the same before, if this was said before it was corrected."""
    for decided in decisions.of_facts(tx, decisions.corrected_from(tx, fact.text, space=space), space=space):
        is_same_topic = (fact.subject, fact.slot) == (decided.fact.subject, decided.fact.slot)
        was_said_before = fact.created_at is not None and fact.created_at < decided.decision.decided_at
        if is_same_topic and was_said_before and decided.decision.kind is DecisionKind.CORRECTED:
            return decided.decision
    return None


def _is_same_slot(fact: Fact, other: Fact) -> bool:
    return fact.slot is not None and (fact.subject, fact.slot) == (other.subject, other.slot)


def _is_similar(fact: Fact, decided: DecidedWords) -> bool:
    """Return whether a text shares most of its significant words with a decided one, or has what a person removed."""
    about = [*(fact.subject, decided.fact.subject), *fact.entities, *decided.fact.entities]
    names = {stem(word) for name in about if name for word in key_words(name)}
    ours = _stems([fact.text]) - names
    current = _stems([decided.decision.text]) if decided.decision.text else set[str]()
    for text in decided.texts:
        theirs = _stems([text]) - names
        removed = theirs - current if current and text != decided.decision.text else set[str]()
        if removed and removed <= ours:
            return True
        shared = ours & theirs
        if shared and len(shared) / min(len(ours), len(theirs)) >= _SHARED and not _have_other_numbers(ours, theirs):
            return True
    return False


def _stems(texts: Iterable[str]) -> set[str]:
    return set[str]().union(*map(key_stems, texts))


def _have_other_numbers(ours: set[str], theirs: set[str]) -> bool:
    numbers = [{word for word in words if has_digit(word)} for words in (ours, theirs)]
    return all(numbers) and numbers[0].isdisjoint(numbers[1])


def _overlap(tx: Tx, ours: Quote, theirs: Quote, *, space: str) -> bool:
    """Return whether two quotes have words of a message in common."""
    if (ours.session_id, ours.number) != (theirs.session_id, theirs.number):
        return False
    first, second = _plain(ours.text), _plain(theirs.text)
    if first in second or second in first:
        return True
    records = messages.after(
        tx, space=space, session_id=ours.session_id, number=ours.number - 1, limit=1, retracted=True
    )  # fmt: skip
    content = _plain(records[0].message.content) if records else ""
    starts = content.find(first), content.find(second)
    if min(starts) < 0:
        return False
    return starts[0] < starts[1] + len(second) and starts[1] < starts[0] + len(first)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
