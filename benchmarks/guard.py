"""Runs the guard on a set of instructions and hook inputs, and prints precision, recall and time.

    python -m benchmarks.guard tests/guard/data/own.jsonl

`judge` and `read` have the form that scoring programs expect.
"""

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bethink.features.guard.check import statement_from
from bethink.features.guard.judge import judge_case
from bethink.features.guard.read import read_statement


def judge(case: Mapping[str, Any]) -> str:
    """Return the verdict: "breached", "obeyed", "na" or "unknown"."""
    return judge_case(case)[0].result


def read(statement: Mapping[str, Any]) -> dict[str, str]:
    """Return how a statement binds, and the shape of its check."""
    reading = read_statement(statement_from(statement))
    return {"binds": reading.binds, "shape": reading.shape}


def figures(path: Path) -> dict[str, float]:
    """Return precision, recall, alarm rate, and the 95th percentile of the time in ms."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    statements = {row["id"]: row for row in rows if row["kind"] == "say"}
    calls = [row for row in rows if row["kind"] == "call" and not row.get("debatable")]
    hits = alarms = breaches = 0
    times: list[float] = []
    for call in calls:
        case = {**call, "rule": statements[call["rule"]], "said": [statements[name] for name in call["said"]]}
        start = time.perf_counter()
        verdict = judge(case)
        times.append((time.perf_counter() - start) * 1000)
        breaches += call["label"] == "breached"
        hits += verdict == call["label"] == "breached"
        alarms += verdict == "breached" != call["label"]
    times.sort()
    return {
        "precision": hits / max(hits + alarms, 1),
        "recall": hits / max(breaches, 1),
        "alarm_rate": alarms / max(len(calls) - breaches, 1),
        "ms": times[int(len(times) * 0.95)],
    }


def main() -> None:
    for name in sys.argv[1:]:
        print(name, {key: round(value, 4) for key, value in figures(Path(name)).items()})


if __name__ == "__main__":
    main()
