"""A third corpus for the redactor: secrets as strangers write them, and look-alikes, in two halves."""

import json
from pathlib import Path
from typing import Any, cast

from benchmarks.redaction_corpus import Sample

_FILE = Path(__file__).parent / "data" / "redaction.jsonl"
HALVES = ("tune", "held")
LATE = {
    "late": "code .84 of 50, prose .73 of 30",
    "late2": "code .93 of 74, prose .79 of 52, touched .022 of 228",
    "late3": "code .86 of 65, prose .78 of 40, touched .027 of 113",
    "late4": "code .93 of 72, prose .79 of 61, touched 0 of 132",
    "late5": "code .86 of 51, prose .92 of 48, touched .043 of 115",
    "late6": "code .88 of 50, prose .95 of 42, touched .010 of 105",
    "late7": "code .92 of 51, prose .82 of 51, tokens 1 of 25, split .88 of 25, touched .012 of 434",
    "late8": "code .95 of 60, prose .87 of 54, tokens 1 of 25, split .96 of 25, touched .007 of 458",
    "late9": "code .97 of 35, prose .77 of 30, tokens 1 of 13, split .92 of 13, touched .027 of 300",
    "late10": "code 1 of 35, prose .77 of 30, tokens 1 of 12, split .83 of 12, touched .013 of 300",
    "late11": "code 1 of 30, prose .73 of 40, tokens 1 of 10, split 1 of 10, touched .004 of 250",
    "late12": "code 1 of 30, prose .63 of 40, tokens 1 of 10, split 1 of 10, touched .020 of 250",
}
"""Sets that were each written after the rules of their day were done, and what their first run gave.

That is what to expect of other texts: once run, each set was read and the rules were widened, but for `UNREAD`.
"""
UNREAD = ("late12",)
SECOND = {
    "late8": "code .95 of 60, prose .85 of 54, tokens 1 of 25, split .96 of 25, touched .007 of 458",
    "late10": "code 1 of 35, prose .80 of 30, tokens 1 of 12, split .83 of 12, touched .013 of 300",
    "late12": "code 1 of 30, prose .65 of 40, tokens 1 of 10, split 1 of 10, touched .020 of 250",
}
"""What a set gave before anyone had looked at what went wrong in it, after the rules were changed for other texts."""
WITH_GOALS = ("late12",)
MISSED = frozenset({"late12 prose", "late12 none"})
"""Goals that these do not reach. The benchmark prints them and fails for the others."""


def strangers(half: str) -> dict[str, list[Sample]]:
    """Return one half of the corpus, or a late part, by family; `none` is the family of look-alikes."""
    found: dict[str, list[Sample]] = {}
    for line in _FILE.read_text("utf-8").split("\n")[:-1]:
        row = cast("dict[str, Any]", json.loads(line))
        if row["half"] == half:
            # Secrets are kept in pieces, so that no scanner of this repository takes one for real.
            secret = "".join(row["secret"]) if "secret" in row else None
            text = "".join(row["text"]).replace("{x}", secret) if secret is not None else "".join(row["text"])
            found.setdefault(row["family"], []).append(Sample(kind=row["kind"], text=text, secret=secret))
    return found
