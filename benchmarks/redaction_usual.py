"""Usual texts of five kinds, short and of 20,000 characters, to measure what redaction costs."""

import json
from pathlib import Path
from typing import Any, cast

_ROOT = Path(__file__).parent.parent
_DATA = _ROOT / "benchmarks" / "data"
_LONG = 20_000
_PIECES = 40
_ASIAN = "\u3040"


def usual_texts() -> dict[str, list[str]]:
    """Return texts by kind: short ones, and long ones of 20,000 characters."""
    chat = [text for name in ("everyday", "connected", "evidence") for text in _messages(name)]
    asian = [text for text in _messages("tongues") if text > _ASIAN]
    prose = "\n\n".join(_messages("longtexts"))
    code = "\n\n".join(path.read_text("utf-8") for path in sorted((_ROOT / "src" / "bethink" / "memory").rglob("*.py")))
    data = (_ROOT / "docs" / "reference" / "openapi.json").read_text("utf-8")
    kinds = {
        "chat": (_cut("\n".join(chat), 200), "\n".join(chat)),
        "long prose": (_cut(prose, 1000), prose),
        "code": (_cut(code, 1000), code),
        "JSON": (_cut(data, 1000), data),
        "Chinese and Japanese": (_cut("\n".join(asian), 200), "\n".join(asian * 3)),
    }
    return {
        f"{name}, {length}": texts
        for name, (short, long) in kinds.items()
        for length, texts in (("short", short), ("20 kB", _cut(long, _LONG)[:4]))
    }


def _cut(text: str, size: int) -> list[str]:
    pieces = [text[start : start + size] for start in range(0, max(1, len(text) - size), size)]
    return pieces[:: max(1, len(pieces) // _PIECES)]


def _messages(name: str) -> list[str]:
    lines = (_DATA / f"{name}.jsonl").read_text("utf-8").splitlines()
    rows = cast("list[dict[str, Any]]", [json.loads(line) for line in lines])
    return [row["text"] for row in rows if "text" in row]
