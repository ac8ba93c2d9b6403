"""Secrets with a recognizable shape: keys with the prefix of a provider, private key blocks, signed tokens."""

import re
from collections.abc import Iterable, Iterator
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from bethink.providers.redaction.spans import MatchSpan
from bethink.providers.redaction.stems import Mark

_FACTS = Path(__file__).with_name("tokens.txt").read_text("utf-8")
_PREFIX_LINES, _SHAPE_LINES = (
    [line.split() for line in part.splitlines() if not line.startswith("#")] for part in _FACTS.split("\n\n")
)
_KINDS = {prefix: kind for kind, *prefixes in _PREFIX_LINES for prefix in prefixes}
_MIN_WORD = 19


class Hint(NamedTuple):
    """Text that occurs in tokens of a kind. Without a shape it is a prefix."""

    text: str
    kind: str
    shape: re.Pattern[str] | None = None


def _alternation(words: Iterable[str]) -> str:
    """Return an alternation that branches on the first character, longest word first, so that it fails fast."""
    groups: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        groups.setdefault(word[0], []).append(re.escape(word[1:]))
    return "|".join(f"{re.escape(first)}(?:{'|'.join(endings)})" for first, endings in groups.items())


_PREFIXED = re.compile(
    rf"(?<![A-Za-z0-9])({_alternation(_KINDS)})[A-Za-z0-9_-]{{16,}}+"
    r"(?:\.[A-Za-z0-9_-]{16,}+|\.[0-9]{2}\.[a-z0-9]{7,9}|=[0-9A-F]{8}|={1,2}_[A-Za-z0-9+/]{16,100}+|==?)?"
)
_JWT = re.compile(r"(?<![\w.-])eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+){0,3}", re.ASCII)
_SHAPES = [
    (kind, hints.split("|"), re.compile(rf"(?<![A-Za-z0-9])(?:{shape})", re.ASCII))
    for kind, hints, shape in _SHAPE_LINES
]
HINTS = [
    *(Hint(prefix, kind) for prefix, kind in _KINDS.items()),
    *(Hint(prefix, "aws_key") for prefix in ("AKIA", "ASIA")),
    *(Hint(hint, kind, shape) for kind, hints, shape in _SHAPES for hint in hints if len(hint) > 1),
    Hint("eyJ", "jwt", _JWT),
]
_WITHOUT_HINT = [(kind, shape) for kind, hints, shape in _SHAPES if min(map(len, hints)) == 1]
_MIN_WITHOUT_HINT = 48
_ALWAYS = frozenset(
    ("aws_key", "new_relic_key", "age_key", "webhook", "telegram_token", "amazon_key", "launch_key", "jwt")
)
"""Kinds whose shape is enough. The others must also look random."""
_BETWEEN = r"(?![A-Za-z0-9])[^\n]{0,60}?(?:\n[^\n]{0,40}?)?(?<![A-Za-z0-9/+=])"
_ACCOUNTS = {
    "AC": ("twilio_key", re.compile(rf"AC[0-9a-f]{{32}}{_BETWEEN}([0-9a-f]{{32}})(?![A-Za-z0-9])")),
    **dict.fromkeys(
        ("AKIA", "ASIA"),
        ("aws_key", re.compile(rf"A[KS]IA[A-Z2-7]{{16}}{_BETWEEN}([A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])")),
    ),
}
"""Beginnings of the names of accounts: the kind of the secret that follows, and its pattern."""
_CHUNK = re.compile(r"[A-Za-z0-9]{3,}+")
_MAX_CHUNKS = 12  # a token has few gaps; a value with many gaps is text
_RUN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_LONG = re.compile(rf"[A-Za-z0-9_+/.~%$=@:-]{{{_MIN_WORD},}}")
_LETTERS = b"\1\1\1"
_DIGIT = re.compile(r"[0-9]")
_BREAK = re.compile(r"[A-Za-z0-9_-]{0,200}+(?:=?\r?\n|[ ])[ \t>|]{0,8}[A-Za-z0-9]")
_HEAD = re.compile(
    rf"(?<![A-Za-z0-9_-])((?:{_alternation(_KINDS)})|AKIA|ASIA)([A-Za-z0-9_-]{{0,200}}+)"
    r"(?==?\r?\n[ \t>|]{0,8}[A-Za-z0-9]|[ ][A-Za-z0-9])"
)
_NEXT = re.compile(r"(=?\r?\n[ \t>|]{0,8}|[ ])([A-Za-z0-9_-]{4,}+)(?![^\s\"'`,;.)\]}=])")
_MAX_PIECES = 20
_MIN_BODY = 16
_MARKER = re.compile(r"-----(BEGIN|END) ([A-Z0-9 ]{0,60}+)-----")
_BODY = re.compile(r"[A-Za-z0-9+/]{16}")
_LINES = re.compile(
    r"(?:(?:\r?\n|\\r|\\n|[ \t]){1,8}+"
    r"(?:[A-Za-z0-9+/]{16,}+={0,2}|(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\n\\]{1,100}))*+"
    r"(?:(?:\r?\n|\\r|\\n){1,2}[A-Za-z0-9+/]{1,15}={0,2}(?=\r?\n|\\r|\\n|[\"']|\Z))?"
)
_PUTTY = re.compile(r"Private-Lines: [0-9]{1,3}((?:\r?\n[A-Za-z0-9+/=]{1,64}(?![^\r\n]))+)")


class LongWords(NamedTuple):
    """Long and spelled words of a text. Most texts have no word that is long enough for a token."""

    long: list[tuple[int, int]]
    has_letters: bool
    """Whether three words in a row have one character: a word may be spelled."""


def words_of(text: str) -> LongWords:
    """Measure the words of a text."""
    words = text.split()
    if not words:
        return LongWords([], has_letters=False)
    lengths = list(map(len, words))
    longest = max(lengths)
    sizes = bytes(lengths if longest < 256 else map(min, lengths, repeat(255)))
    long: list[tuple[int, int]] = []
    position = 0
    for word in [word for word in words if len(word) >= _MIN_WORD] if longest >= _MIN_WORD else ():
        position = text.index(word, position)
        long += (match.span() for match in _LONG.finditer(text, position, position + len(word)))
        position += len(word)
    return LongWords(long, _LETTERS in sizes)


def find_tokens(text: str, words: list[tuple[int, int]], hints: list[Mark]) -> Iterator[MatchSpan]:
    """Find secrets that are recognizable by themselves, in long words or at hints."""
    if "-----BEGIN " in text:
        yield from _private_keys(text)
    if "Private-Lines:" in text:
        yield from (MatchSpan(*match.span(1), "private_key") for match in _PUTTY.finditer(text))
    yield from _find_at_hints(text, words, hints)
    for start, end in words:
        yield from _find_after_account(text, start, end)
        if end - start >= _MIN_WITHOUT_HINT and _DIGIT.search(text, start, end):
            for kind, shape in _WITHOUT_HINT:
                yield from _find_shapes(text, (start, end), kind, shape)


def _find_at_hints(text: str, words: list[tuple[int, int]], hints: list[Mark]) -> Iterator[MatchSpan]:
    """Find tokens where hints stand: in long words, or broken."""
    position = index = 0
    tried: set[tuple[int, str]] = set()
    for number, start, end in hints:
        hint = HINTS[number]
        if start < position or not text.startswith(hint.text, start):
            continue
        if hint.shape is None and _BREAK.match(text, end):
            yield from _broken_token(text, start)
        while index < len(words) and words[index][1] <= start:
            index += 1
        if index == len(words) or words[index][0] > start:
            continue
        word = words[index]
        if hint.shape is not None:
            if (word[0], hint.kind) not in tried:
                tried.add((word[0], hint.kind))
                yield from _find_shapes(text, word, hint.kind, hint.shape)
        elif match := _PREFIXED.match(text, start):
            position = match.end()  # no second try inside it, so that the time is linear
            if is_scrambled(match.group()[len(match[1]) :], min_length=9):
                yield MatchSpan(*match.span(), _KINDS[match[1]])


def _find_after_account(text: str, start: int, end: int) -> Iterator[MatchSpan]:
    """Find the secret that follows the name of its account."""
    for beginning, (kind, pattern) in _ACCOUNTS.items():
        account = text.find(beginning, start, end)
        if account >= 0 and (match := pattern.match(text, account)):
            yield MatchSpan(*match.span(1), kind)


def is_scrambled(value: str, *, min_length: int = 10, run: int = 6) -> bool:
    """Return whether letters and digits alternate as in a random token."""
    count = 0
    for number, match in enumerate(_CHUNK.finditer(value)):
        if number >= _MAX_CHUNKS:
            break
        chunk = match.group()
        runs = len(_RUN.findall(chunk))
        if runs > 1 and runs * run >= len(chunk):
            count += len(chunk)
            if count >= min_length:
                return True
    return False


def _find_shapes(text: str, word: tuple[int, int], kind: str, shape: re.Pattern[str]) -> Iterator[MatchSpan]:
    for match in shape.finditer(text, *word):
        if kind in _ALWAYS or is_scrambled(match.group()):
            yield MatchSpan(*match.span(), kind)


def _broken_token(text: str, start: int) -> Iterator[MatchSpan]:
    """Find a token that is split by a line break, or by a space after a short beginning."""
    head = _HEAD.match(text, start)
    if head is None:
        return
    body, end = head[2], head.end()
    for _ in range(_MAX_PIECES):
        piece = _NEXT.match(text, end)
        if piece is None or (piece[1] == " " and len(body) >= _MIN_BODY):
            break
        if not is_scrambled(piece[2], min_length=min(5, len(piece[2])), run=4):
            break
        body, end = body + piece[2], piece.end()
    if end > head.end() and len(body) >= _MIN_BODY and is_scrambled(body, min_length=9):
        yield MatchSpan(start, end, _KINDS.get(head[1], "aws_key"))


def _private_keys(text: str) -> Iterator[MatchSpan]:
    markers = list(_MARKER.finditer(text))
    for index, begin in enumerate(markers):
        if begin[1] == "END" or "PRIVATE KEY" not in begin[2]:
            continue
        after = markers[index + 1] if index + 1 < len(markers) else None
        if after is not None and after[1] == "END":
            end = after.end()
        else:
            lines = _LINES.match(text, begin.end())
            end = lines.end() if lines else begin.end()
        if _BODY.search(text, begin.end(), end):
            yield MatchSpan(begin.start(), end, "private_key")
