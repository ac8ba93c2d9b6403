"""The order in which the claims of one answer are stored: a claim follows those that it names."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bethink.memory.learning.extraction.claims import DraftClaim, claim_position
from bethink.memory.learning.extraction.judge import JudgedClaim
from bethink.model.reviews import ClaimedFact


def in_order(judged: Sequence[JudgedClaim]) -> list[JudgedClaim]:
    """Return claims in the order of their messages, not that of the model: facts of one call share one time.

    A claim that names others of its answer comes after them, unless they name it as well.
    """
    ordered = sorted(judged, key=_last_message)
    by_position = {item.checked.claim.position: item for item in ordered}
    result: dict[int, JudgedClaim] = {}
    for item in ordered:
        _visit(item, by_position, result, set())
    return list(result.values())


def with_stored_ids(claimed: ClaimedFact, fact_ids: Mapping[int, str]) -> ClaimedFact:
    """Return a claim that names facts where it named claims, by their position; without those that are no facts."""
    return replace(
        claimed,
        existing_ids=_fact_ids_of(claimed.existing_ids, fact_ids),
        later_ids=_fact_ids_of(claimed.later_ids, fact_ids),
        rests_on=_fact_ids_of(claimed.rests_on, fact_ids),
    )


def _visit(
    item: JudgedClaim, by_position: Mapping[int, JudgedClaim], result: dict[int, JudgedClaim], path: set[int]
) -> None:  # fmt: skip
    position = item.checked.claim.position
    if position in result or position in path:
        return
    path.add(position)
    for name in _names(item.checked.claim):
        other = claim_position(name)
        if other is not None and other in by_position:
            _visit(by_position[other], by_position, result, path)
    result.setdefault(position, item)


def _names(claim: DraftClaim) -> tuple[str, ...]:
    return (*claim.fact_ids, *claim.later_ids, *claim.base_ids)


def _last_message(item: JudgedClaim) -> int:
    return max((quote.number for quote in item.checked.quotes), default=0)


def _fact_ids_of(ids: Sequence[str], fact_ids: Mapping[int, str]) -> tuple[str, ...]:
    stored = (name if (at := claim_position(name)) is None else fact_ids.get(at) for name in ids)
    return tuple(dict.fromkeys(fact_id for fact_id in stored if fact_id is not None))
