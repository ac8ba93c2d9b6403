"""Decide what becomes of each claim: by what the gate found, and by what the second reading says."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from bethink.base.frozen import frozen
from bethink.memory.learning.extraction.claims import DraftClaim
from bethink.memory.learning.extraction.gate import Checked, ClaimProblem, ClaimReason, Force, Gate
from bethink.memory.learning.extraction.second import Verdict
from bethink.model.facts import Evidence
from bethink.model.kinds import Kind


@frozen
class Judged:
    """A claim as it is stored: its final wording, how it is known, and why it does not stand, if so."""

    checked: Checked
    statement: str
    evidence: Evidence = Evidence.QUOTED
    problem: ClaimProblem | None = None


def readable(checked: Sequence[Checked]) -> list[Checked]:
    """Return the claims that a second reading decides about: what code refuses or holds is not read."""
    return [each for each in checked if each.problem is None or each.problem.force is Force.DOUBTS]


def judge(
    checked: Sequence[Checked],
    verdicts: Sequence[Verdict] | None,
    gate: Gate,
    *,
    held_flags: Collection[str],
    hold_kinds: Collection[Kind] = (),
) -> list[Judged]:
    """Decide about every claim. `verdicts` are by the claims' places; None if there was no second reading."""
    found: list[Judged] = []
    for each in checked:
        if verdicts is None or (each.problem is not None and each.problem.force is not Force.DOUBTS):
            judged = Judged(checked=each, statement=each.claim.statement, problem=each.problem)
        else:
            judged = _read(each, verdicts[each.claim.place], gate)
        if judged.problem is None:
            judged = replace(judged, problem=_held(each.claim, held_flags, hold_kinds))
        found.append(judged)
    return found


def _held(claim: DraftClaim, flags: Collection[str], kinds: Collection[Kind]) -> ClaimProblem | None:
    """Return why a person wants to see a claim first, whatever it says."""
    if claim.review in flags:
        return ClaimProblem(ClaimReason.FLAGGED, f"marked as {claim.review}", Force.HOLDS)
    if claim.kind in kinds:
        return ClaimProblem(ClaimReason.HELD_KIND, f"each {claim.kind} is approved by hand", Force.HOLDS)
    return None


def _read(checked: Checked, verdict: Verdict, gate: Gate) -> Judged:
    statement = verdict.fixed or checked.claim.statement
    problem = None
    if verdict.reason is not None:
        problem = ClaimProblem(verdict.reason, verdict.because, Force.HOLDS)
    elif verdict.fixed is not None:
        problem = gate.reworded(verdict.fixed, checked.claim)  # a correction may not bring in what was not said
    return Judged(checked=checked, statement=statement, evidence=Evidence.CONFIRMED, problem=problem)
