"""Texts of five kinds for the benchmark of appends, short and of 20 kB, all from this repository."""

import json
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from bethink.base.language import is_unspaced

_ROOT = Path(__file__).parents[1]
_LONG = 20_000
_COUNT = 200


class Kind(NamedTuple):
    """A kind of text: its name, the length of a short one, its sources, and the CPU goals of short ones by batch."""

    name: str
    short: int
    source: Callable[[], Iterator[str]]
    goals: dict[int, float]


def _lines(*names: str) -> Iterator[str]:
    for name in names:
        for line in (_ROOT / "benchmarks" / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            text = json.loads(line).get("text")
            if text:
                yield text


def _files(pattern: str) -> Iterator[str]:
    for path in sorted(_ROOT.glob(pattern)):
        yield path.read_text(encoding="utf-8")


def _chat() -> Iterator[str]:
    return _lines("everyday", "everyday2")


def _tool_output() -> Iterator[str]:
    paths = json.loads((_ROOT / "docs" / "reference" / "openapi.json").read_text(encoding="utf-8"))["paths"]
    return (json.dumps({path: value}, indent=2) for path, value in paths.items())


def _unspaced() -> Iterator[str]:
    return (text for text in _lines("tongues") if sum(map(is_unspaced, text)) > len(text) / 2)


KINDS = (
    Kind("chat", 120, _chat, {1: 0.4, 100: 0.6}),
    Kind("prose", 1_000, lambda: _files("docs/howto/*.md"), {}),
    Kind("code", 1_000, lambda: _files("src/bethink/memory/**/*.py"), {1: 0.3, 100: 0.5}),
    Kind("JSON", 1_000, _tool_output, {}),
    Kind("Chinese and Japanese", 120, _unspaced, {}),
)


def texts(kind: Kind, *, is_long: bool) -> list[str]:
    """Return different texts of a kind. All short ones of chat are messages as they were written."""
    if kind.source is _chat and not is_long:
        return [text for text in _chat() if len(text) <= 4 * kind.short][:_COUNT]
    length = _LONG if is_long else kind.short
    joined = "\n".join(chain(kind.source()))
    count = min(_COUNT, max(1, len(joined) // length))
    # A text of which there is too little is repeated from another position, as conversations repeat themselves.
    joined = joined if len(joined) >= 2 * length else joined * (2 * length // len(joined) + 1)
    return [joined[at * length : (at + 1) * length] for at in range(count)]
