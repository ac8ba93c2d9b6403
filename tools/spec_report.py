"""Says which of the 268 statements of the checklist are claimed by a test that ran and passed."""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_CHECKLIST = _ROOT / "docs" / "reference" / "conformance.md"
_STATEMENT = re.compile(r"^- (S\d\.\d+) (.*)$", re.MULTILINE)


def statements() -> dict[str, str]:
    """Read the checklist: every statement by its number."""
    return dict(_STATEMENT.findall(_CHECKLIST.read_text(encoding="utf-8")))


def run_tests() -> dict[str, bool]:
    """Run every test that claims a statement and return which statements held."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        command = [sys.executable, "-m", "pytest", "-q", "-m", "spec", "-p", "tools.spec_plugin", "--no-header"]
        done = subprocess.run(
            [*command, f"--spec-results={results}"], cwd=_ROOT, stdout=sys.stderr, check=False, stdin=subprocess.DEVNULL
        )
        if done.returncode not in (0, 1):
            raise SystemExit(f"the tests did not run: pytest ended with {done.returncode}")
        return json.loads(results.read_text(encoding="utf-8"))


def merged(files: list[Path]) -> dict[str, bool]:
    """Join the results of several runs: a statement holds if it held in each run that claims it."""
    held: dict[str, bool] = {}
    for file in files:
        for name, passed in json.loads(file.read_text(encoding="utf-8")).items():
            held[name] = held.get(name, True) and passed
    return held


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help='print {"claimed": [...], "unclaimed": [...]}')
    parser.add_argument("--results", type=Path, nargs="+", help="use what test runs wrote with --spec-results")
    options = parser.parse_args()
    known = statements()
    held = merged(options.results) if options.results else run_tests()
    unknown = sorted(set(held) - set(known))
    claimed = [name for name in known if held.get(name)]
    unclaimed = [name for name in known if not held.get(name)]
    failed = [name for name in known if held.get(name) is False]
    if options.json:
        print(json.dumps({"claimed": claimed, "unclaimed": unclaimed}))
    else:
        for name in unclaimed:
            print(f"{'FAILED' if name in failed else 'unclaimed'} {name} {known[name]}")
        for name in unknown:
            print(f"no such statement: {name}")
        print(f"{len(claimed)} of {len(known)} statements claimed by a test that passed")
    return 1 if failed or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
