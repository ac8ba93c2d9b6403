"""What the second pass stores of labeled claims, with readers from honest to careless, through the code of learning."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.evidence_cases import Case
from benchmarks.evidence_gate import draft_of, records_of
from bethink.memory.learning.extraction import second
from bethink.memory.learning.extraction.judge import find_unsettled, judge, readable
from bethink.memory.learning.extraction.request import Scene
from bethink.memory.learning.extraction.validation import CheckedClaim, ClaimValidator, Effect
from bethink.model.records import Record

Reader = Callable[[Case, int], bool]
"""Whether a reader says that a claim is said, the first (0) or second (1) time it reads it."""


def _honest(case: Case, _: int) -> bool:
    return case.true


def _careless_once(case: Case, time: int) -> bool:
    return case.true or time == 0


def _careless(*_: object) -> bool:
    return True


ALL_SAID = "says that all is said"
READERS: Mapping[str, Reader | None] = {
    "none": None,
    "honest": _honest,
    "careless once, then right": _careless_once,
    ALL_SAID: _careless,
}
_WORDS = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Fate:
    """A case, and whether its claim was stored, held for a person, or refused."""

    case: Case
    fate: str


def fates(cases: Sequence[Case], reader: Reader | None, *, proves: bool) -> list[Fate]:
    """Take each claim through the second pass. With `proves`, the reader answers doubts with the quoted words."""
    return [Fate(case, _fate(case, reader, proves=proves)) for case in cases]


def _fate(case: Case, reader: Reader | None, *, proves: bool) -> str:
    records = records_of(case)
    draft = draft_of(case)
    if draft is None:
        return "refused"
    validator = ClaimValidator(records, owner=case.owner)
    checked = validator.check(draft)
    verdicts = None if reader is None else _verdicts(case, reader, checked, validator, records, proves=proves)
    [judged] = judge([checked], verdicts, validator, review_flags=())
    if judged.problem is None:
        return "stored"
    return "refused" if judged.problem.effect is Effect.REJECT else "held"


def _verdicts(
    case: Case,
    reader: Reader,
    checked: CheckedClaim,
    validator: ClaimValidator,
    records: Mapping[int, Record],
    *,
    proves: bool,
) -> list[second.Verdict]:
    claims = readable([checked])
    verdicts: list[second.Verdict] = []
    for time in (0, 1):
        if claims:
            request = second.request(claims, records, Scene(owner=case.owner, conversation="cli:evidence"))
            again = second.parse(_answer(case, checked, request, said=reader(case, time), proves=proves), 1)
            verdicts = again if time == 0 else second.merge_verdicts(verdicts, {0: again[0]})
            claims = find_unsettled(claims, verdicts, validator) if time == 0 else []
    return verdicts


def _answer(case: Case, checked: CheckedClaim, request: str, *, said: bool, proves: bool) -> str:
    if not said:
        verdict = case.verdict if case.verdict in second.VERDICTS else "unclear"
        return json.dumps({"said": [], "others": [{"claim": "c1", "verdict": verdict, "text": ""}]})
    proof = _WORDS.split(checked.quotes[0].text)[0].strip() or checked.quotes[0].text
    others = [{"claim": "c1", "verdict": second.PROOF, "text": proof}] if proves and ", doubt: " in request else []
    return json.dumps({"said": ["c1"], "others": others})


def report(cases: Sequence[Case]) -> bool:
    """Print what becomes of true and false claims with each reader, and return whether the goal is reached.

    A name or number that no message has is stored neither by a reader that errs once, nor by one that confirms all
    without the words it stands for.
    """
    print("| reader | proofs | true stored | held | refused | false stored | held | refused | wrong names | numbers |")
    print(f"|{'---|' * 10}")
    reached = True
    for name, reader in READERS.items():
        for proves in (False, True) if reader is not None else (False,):
            results = fates(cases, reader, proves=proves)
            unsaid = [_unsaid(results, kind) for kind in ("names", "numbers")]
            counts = [
                Counter(each.fate for each in results if each.case.true is true)[fate]
                for true in (True, False)
                for fate in ("stored", "held", "refused")
            ]
            cells = " | ".join([*map(str, counts), *(f"{stored} of {total}" for stored, total in unsaid)])
            print(f"| {name} | {'any words' if proves else 'none'} | {cells} |")
            if reader is not None and not (proves and name == ALL_SAID):
                reached &= not any(stored for stored, _ in unsaid)
    line = "wrong names and numbers stored by a reader that errs once or proves nothing: "
    print(f"{'reached' if reached else 'MISSED'}: {line}{'none' if reached else 'some'}")
    return reached


def _unsaid(results: Sequence[Fate], kind: str) -> tuple[int, int]:
    fates_of_kind = [each.fate for each in results if not each.case.true and each.case.violation == kind]
    return fates_of_kind.count("stored"), len(fates_of_kind)
