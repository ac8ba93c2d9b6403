"""Report which of the 268 statements of the checklist are covered by a passing test."""

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
    """Return the statements of the checklist by number."""
    return dict(_STATEMENT.findall(_CHECKLIST.read_text(encoding="utf-8")))


def run_tests() -> dict[str, bool]:
    """Run every test of a statement, and return which statements passed."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        command = [sys.executable, "-m", "pytest", "-q", "-m", "spec", "-p", "tools.spec_plugin", "--no-header"]
        done = subprocess.run(
            [*command, f"--spec-results={results}"], cwd=_ROOT, stdout=sys.stderr, check=False, stdin=subprocess.DEVNULL
        )
        if done.returncode not in (0, 1):
            raise SystemExit(f"the tests did not run: pytest exited with {done.returncode}")
        return json.loads(results.read_text(encoding="utf-8"))


def merge_results(files: list[Path]) -> dict[str, bool]:
    """Merge the results of several runs. A statement passes if it passed in every run that tests it."""
    results: dict[str, bool] = {}
    for file in files:
        for name, passed in json.loads(file.read_text(encoding="utf-8")).items():
            results[name] = results.get(name, True) and passed
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help='print {"claimed": [...], "unclaimed": [...]}')
    parser.add_argument("--results", type=Path, nargs="+", help="result files written with --spec-results")
    options = parser.parse_args()
    checklist = statements()
    results = merge_results(options.results) if options.results else run_tests()
    unknown = sorted(set(results) - set(checklist))
    claimed = [name for name in checklist if results.get(name)]
    unclaimed = [name for name in checklist if not results.get(name)]
    failed = [name for name in checklist if results.get(name) is False]
    if options.json:
        print(json.dumps({"claimed": claimed, "unclaimed": unclaimed}))
    else:
        for name in unclaimed:
            print(f"{'FAILED' if name in failed else 'unclaimed'} {name} {checklist[name]}")
        for name in unknown:
            print(f"no such statement: {name}")
        print(f"{len(claimed)} of {len(checklist)} statements claimed by a test that passed")
    return 1 if failed or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
