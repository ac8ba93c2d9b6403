"""What the gate of code lets through: claims with exact quotes, true and false, in eleven languages.

The gate judges no meaning. It must let nothing through that needs no reader to be seen: quotes that are not there,
names and numbers that nobody said, and wishes that are not a person's word. A true claim may be let through or doubted:
then it stands once a second reading has found it said. It must not be refused. False claims of the other kinds are
counted, for the second reading is there for them.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.evidence_cases import OWN, Answer, Case, read

Check = Callable[[Case], "Answer"]
MAX_TRUE_REFUSED = 0.05
_NEVER = ("names", "numbers", "quotes")
"""What may not get through even once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A case and what the gate said to it."""

    case: Case
    passed: bool
    doubted: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Figures:
    """What some cases came to. A claim that code must refuse counts as false, also where its statement is true."""

    outcomes: Sequence[Outcome]

    def count(self, *, sound: bool, passed: bool) -> int:
        return sum(each.case.sound is sound and each.passed is passed for each in self.outcomes)

    @property
    def true_share(self) -> float:
        through = self.count(sound=True, passed=True)
        return through / max(1, through + self.count(sound=True, passed=False))

    @property
    def true_refused(self) -> float:
        sound = [each for each in self.outcomes if each.case.sound]
        return sum(not each.passed and not each.doubted for each in sound) / max(1, len(sound))

    def refused(self) -> Counter[str]:
        return Counter(each.reason for each in self.outcomes if each.case.sound and not each.passed)

    def violations(self, kind: str) -> tuple[int, int]:
        """Count the cases that code must refuse for this, those let through first."""
        found = [each.passed for each in self.outcomes if each.case.violation == kind]
        return sum(found), len(found)

    @property
    def reached(self) -> bool:
        return self.true_refused <= MAX_TRUE_REFUSED and not any(self.violations(kind)[0] for kind in _NEVER)

    def line(self) -> str:
        wrong = ", ".join(
            f"{kind} {through} of {total}" for kind in (*_NEVER, "wishes") for through, total in [self.violations(kind)]
        )
        unread = [each.passed for each in self.outcomes if not each.case.true and not each.case.code_must_refuse]
        return (
            f"true let through {self.true_share:.3f}, refused {self.true_refused:.3f}, the rest doubted, of "
            f"{sum(each.case.sound for each in self.outcomes)}; let through although code must refuse: "
            f"{wrong}; left to the second reading: {sum(unread)} of {len(unread)} false"
        )


def run(cases: Sequence[Case], check: Check) -> list[Outcome]:
    """Ask the gate about every case."""
    outcomes: list[Outcome] = []
    for case in cases:
        said = check(case)
        outcomes.append(Outcome(case=case, passed=said.passed, doubted=said.doubted, reason=said.reason))
    return outcomes


def report(outcomes: Sequence[Outcome], *, show: bool = False) -> bool:
    """Print the tables and, last, the figures. Return whether the bar is reached."""
    _table("kind", outcomes, lambda case: case.kind)
    _table("language", outcomes, lambda case: case.language)
    _table("half by id", outcomes, lambda case: case.half)
    for half in ("odd", "even"):
        print(f"{half}: {Figures([each for each in outcomes if each.case.half == half]).line()}")
    if show:
        _show(outcomes)
    whole = Figures(outcomes)
    print(f"{'reached' if whole.reached else 'MISSED'}: {whole.line()}")
    return whole.reached


def _table(title: str, outcomes: Sequence[Outcome], part_of: Callable[[Case], str]) -> None:
    headings = ("true let through", "true not", "false let through", "false not", "why true were doubted or refused")
    print(f"\n| {title} | {' | '.join(headings)} |")
    print("|---|---|---|---|---|---|")
    for part in dict.fromkeys(part_of(each.case) for each in outcomes):
        figures = Figures([each for each in outcomes if part_of(each.case) == part])
        counts = [figures.count(sound=sound, passed=passed) for sound in (True, False) for passed in (True, False)]
        reasons = ", ".join(f"{reason} {count}" for reason, count in figures.refused().most_common())
        print(f"| {part} | {' | '.join(map(str, counts))} | {reasons} |")
    print()


def _show(outcomes: Sequence[Outcome]) -> None:
    for each in outcomes:
        case = each.case
        if case.sound and not each.passed:
            what = "doubted" if each.doubted else "refused"
            print(f"{what} ({each.reason}): {case.id} {case.kind}/{case.variant}: {case.claim.statement}")
        elif case.code_must_refuse and each.passed:
            print(f"LET THROUGH ({case.violation}): {case.id} {case.kind}/{case.variant}: {case.claim.statement}")


def main() -> int:
    # The gate is asked for here, so that the tables can be tested with another one.
    from benchmarks.evidence_gate import check  # noqa: PLC0415
    from benchmarks.evidence_readers import report as report_readers  # noqa: PLC0415

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=OWN, help="other cases in the format of benchmarks/data/README.md")
    parser.add_argument(
        "--show", action="store_true", help="print every true claim refused and every forbidden one let in"
    )
    options = parser.parse_args()
    cases = read(options.data)
    print(f"{len(cases)} claims in {len({case.language for case in cases})} languages")
    reached = report(run(cases, check), show=options.show)
    print()
    return 0 if report_readers(cases) and reached else 1


if __name__ == "__main__":
    sys.exit(main())
