"""Decide on each claim, based on the validator and the second reading."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from bethink.base.frozen import frozen
from bethink.memory.learning.extraction.claims import DraftClaim
from bethink.memory.learning.extraction.second import Verdict
from bethink.memory.learning.extraction.validation import (
    UNSAID,
    CheckedClaim,
    ClaimProblem,
    ClaimReason,
    ClaimValidator,
    Effect,
)
from bethink.model.facts import Evidence
from bethink.model.kinds import Kind
from bethink.model.reviews import ClaimChange


@frozen
class JudgedClaim:
    """A claim as it is stored: its final wording, its evidence, and its problem if it is not accepted."""

    checked: CheckedClaim
    statement: str
    evidence: Evidence = Evidence.QUOTED
    problem: ClaimProblem | None = None


def readable(checked: Sequence[CheckedClaim]) -> list[CheckedClaim]:
    """Return the claims that need a second reading: those that code neither rejects nor sends to review."""
    return [item for item in checked if item.problem is None or item.problem.effect is Effect.DOUBT]


def find_unsettled(
    checked: Sequence[CheckedClaim], verdicts: Sequence[Verdict], validator: ClaimValidator
) -> list[CheckedClaim]:  # fmt: skip
    """Return the confirmed claims that need another reading.

    A name or number that no message has needs two confirmations. Any other doubt is settled by words of a message, and
    a corrected sentence is checked on its own.
    """
    return [
        item
        for item in checked
        if item.doubt
        and (verdict := verdicts[item.claim.position]).reason is None
        and verdict.fixed is None
        and (_is_unsaid(item) or not validator.is_settled(item, verdict.proof))
    ]


def judge(
    checked: Sequence[CheckedClaim],
    verdicts: Sequence[Verdict] | None,
    validator: ClaimValidator,
    *,
    review_flags: Collection[str],
    review_kinds: Collection[Kind] = (),
) -> list[JudgedClaim]:
    """Decide on every claim. `verdicts` are indexed by the claims' positions; None without a second reading."""
    results: list[JudgedClaim] = []
    for item in checked:
        if verdicts is None or (item.problem is not None and item.problem.effect is not Effect.DOUBT):
            judged = JudgedClaim(checked=item, statement=item.claim.statement, problem=item.problem)
        else:
            judged = _apply_verdict(item, verdicts[item.claim.position], validator)
        if judged.problem is None and item.claim.change is not ClaimChange.FORGET:
            judged = replace(judged, problem=_review_problem(item.claim, review_flags, review_kinds))
        results.append(judged)
    return results


def _review_problem(claim: DraftClaim, flags: Collection[str], kinds: Collection[Kind]) -> ClaimProblem | None:
    """Return why the rules require review of a claim, or None."""
    if claim.review in flags:
        return ClaimProblem(ClaimReason.FLAGGED, f"marked as {claim.review}", Effect.REVIEW)
    if claim.kind in kinds:
        return ClaimProblem(ClaimReason.REVIEW_KIND, f"every {claim.kind} needs approval", Effect.REVIEW)
    return None


def _apply_verdict(checked: CheckedClaim, verdict: Verdict, validator: ClaimValidator) -> JudgedClaim:
    statement = verdict.fixed or checked.claim.statement
    problem = None
    if verdict.reason is not None:
        problem = ClaimProblem(verdict.reason, verdict.because, Effect.REVIEW)
    elif verdict.fixed is not None:
        problem = validator.check_rewording(
            verdict.fixed, checked.claim
        )  # a correction must not add unsupported content
    elif _is_unsaid(checked):
        problem = None if validator.is_settled(checked, verdict.proof) else checked.problem
    return JudgedClaim(checked=checked, statement=statement, evidence=Evidence.CONFIRMED, problem=problem)


def _is_unsaid(checked: CheckedClaim) -> bool:
    return checked.problem is not None and checked.problem.reason in UNSAID
