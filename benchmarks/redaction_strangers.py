"""A third corpus for the redactor: secrets as strangers write them, and look-alikes, in two halves."""

import json
from pathlib import Path
from typing import Any, cast

from benchmarks.redaction_corpus import Sample

_FILE = Path(__file__).parent / "data" / "redaction.jsonl"
HALVES = ("tune", "held")
LATE = ("late", "late2", "late3", "late4", "late5")
"""Each written after the rules of its day were done: what its first run gave is what to expect of other texts.

Once run, each was read and the rules were widened, so that only the first run of each tells anything.
"""


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
