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
    "late13": "code .97 of 60, prose .46 of 100, tokens .88 of 60, split .60 of 20, touched .010 of 500",
    "late14": "code .95 of 40, prose .61 of 80, tokens 1 of 40, touched .017 of 300",
}
"""Sets that were each written after the rules or the model of their day, and what their first run gave.

That is what to expect of other texts. The model of today was trained on `late` to `late10`. Up to `late12` these are
figures of rules that the model has replaced; on `late13` the rules had code .93, prose .52, tokens .98, split .55 and
touched .002, on `late14` code 1, prose .40, tokens 1 and touched 0.
"""
UNREAD = ("late12", "late13", "late14")
SECOND = {
    "late8": "code .95 of 60, prose .85 of 54, tokens 1 of 25, split .96 of 25, touched .007 of 458",
    "late10": "code 1 of 35, prose .80 of 30, tokens 1 of 12, split .83 of 12, touched .013 of 300",
    "late12": "code 1 of 30, prose .65 of 40, tokens 1 of 10, split 1 of 10, touched .020 of 250",
    "late13": "code .97 of 60, prose .58 of 100, tokens .97 of 60, split .65 of 20, touched .016 of 500",
}
"""What a set gave before anyone had read it, after a change for other texts.
For `late13` the kinds were known, and it was run several times.
"""
WITH_GOALS = ("late13", "late14")
MISSED = frozenset({"late13 prose", "late13 tokens", "late13 split", "late13 none", "late14 prose", "late14 none"})
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
