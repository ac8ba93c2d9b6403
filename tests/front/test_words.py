"""The prose of the project: turns of phrase that a reader stumbles over stay out of it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_BANNED = re.compile(
    r"\b(?:whoever|nobody|for want of|of late|not to be had|just so|say whether|signs"
    r"|(?<!there )is no(?! longer\b) [a-z]+)\b",
    re.IGNORECASE,
)
_LEFT_AS_THEY_ARE = (
    "docs/adr/",  # a record stays as it was decided
    "docs/reference/conformance.md",  # the words of the specification
    "src/bethink/providers/redaction_values.py",  # values, not prose
)


def _prose() -> Iterator[str]:
    yield "README.md"
    for folder, endings in (("src/bethink", (".py", ".sql")), ("docs", (".md", ".txt"))):
        for path in sorted((_ROOT / folder).rglob("*")):
            if path.suffix in endings:
                yield path.relative_to(_ROOT).as_posix()


def _found(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if _BANNED.search(line)]


@pytest.mark.parametrize("path", [each for each in _prose() if not each.startswith(_LEFT_AS_THEY_ARE)])
def test_a_file_is_written_in_plain_words(path: str) -> None:
    assert _found((_ROOT / path).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "Tell whoever asks.",
        "what nobody promised",
        "'tokens' is no setting.",
        "refused for want of a key",
        "It has been slow of late.",
        "the database is not to be had",
        "It must occur just so.",
        "Say whether a table exists.",
        "the name has 300 signs.",
    ],
)
def test_a_turn_of_phrase_that_readers_stumble_over_is_found(line: str) -> None:
    assert _found(line) == [line]


@pytest.mark.parametrize("line", ["The key is no longer valid.", "There is no such session.", "It is just something."])
def test_ordinary_english_is_left_alone(line: str) -> None:
    assert _found(line) == []
