"""The command line that campaigns with mutants share: violations first, figures and the seed last."""

import argparse
import secrets
from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

from faults.ledger import Verdict
from faults.places import Place, chosen, place

M = TypeVar("M", bound=StrEnum)
_MOST_PRINTED = 20


def command(
    about: str | None,
    count: str,
    mutants: type[M],
    campaign: Callable[[Place, int, int, M | None], tuple[str, Verdict]],
) -> int:
    """Run a campaign as the command line says, and return what to exit with: 1 if any promise was broken."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument(count, dest="faults", type=int, required=True, help="how many faults, kills and stops together")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--seed", type=int, default=None, help="repeat the random choices of an earlier run")
    parser.add_argument("--mutant", choices=list(mutants), default=None, help="a bug on purpose: this run must fail")
    options = parser.parse_args()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    mutant = None if options.mutant is None else mutants(options.mutant)
    ended: list[tuple[str, str, Verdict]] = []
    for database in chosen(options.database):
        with place(database) as where:
            ended.append((database, *campaign(where, options.faults, seed, mutant)))
    for database, _, verdict in ended:
        for violation in verdict.violations[:_MOST_PRINTED]:
            print(f"{database}: {violation}")
    for database, done, verdict in ended:
        print(f"{database}: {done}, {verdict.figures}, {len(verdict.violations)} violations (seed {seed})")
    return 1 if any(verdict.violations for _, _, verdict in ended) else 0
