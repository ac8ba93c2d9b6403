"""Decide what becomes of each claim: by what the gate found, and by what the second reading says."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bethink.learning.extraction.gate import Checked, ClaimProblem, ClaimReason, Force, Gate
from bethink.learning.extraction.second import Verdict
from bethink.model.records import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
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
    checked: Sequence[Checked], verdicts: Sequence[Verdict] | None, gate: Gate, *, held_flags: Collection[str]
) -> list[Judged]:
    """Decide about every claim. `verdicts` belong to the readable ones; None if there was no second reading."""
    read = iter(verdicts or ())
    found: list[Judged] = []
    for each in checked:
        if verdicts is None or (each.problem is not None and each.problem.force is not Force.DOUBTS):
            judged = Judged(checked=each, statement=each.claim.statement, problem=each.problem)
        else:
            judged = _read(each, next(read), gate)
        flag = each.claim.review
        if judged.problem is None and flag in held_flags:
            problem = ClaimProblem(ClaimReason.FLAGGED, f"marked as {flag}", Force.HOLDS)
            judged = Judged(checked=each, statement=judged.statement, evidence=judged.evidence, problem=problem)
        found.append(judged)
    return found


def _read(checked: Checked, verdict: Verdict, gate: Gate) -> Judged:
    statement = verdict.fixed or checked.claim.statement
    problem = None
    if verdict.reason is not None:
        problem = ClaimProblem(verdict.reason, verdict.because, Force.HOLDS)
    elif verdict.fixed is not None:
        problem = gate.foreign(verdict.fixed, checked.claim)  # a correction may not bring in what was not said
    return Judged(checked=checked, statement=statement, evidence=Evidence.CONFIRMED, problem=problem)
