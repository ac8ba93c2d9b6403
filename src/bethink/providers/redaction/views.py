"""Other readings of a text: without invisible characters, wide letters and escapes, and with its base64 decoded."""

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import NamedTuple
from unicodedata import normalize

from bethink.providers.redaction.spans import MatchSpan

_INVISIBLE = r"\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff"
_WIDE = r"\u24b6-\u24e9\U0001d400-\U0001d7ff"
_MAY_HIDE = re.compile(rf"[{_INVISIBLE}{_WIDE}\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]")
_HIDDEN = re.compile(rf"[{_INVISIBLE}{_WIDE}\uff01-\uff5e\u3000]")
_ESCAPES = {  # a pattern for each sign is quicker than one for all
    "%": re.compile(r"%(?:0[9AaDd]|[2-7][0-9A-Fa-f])"),
    "&": re.compile(r"&(?:quot|apos|amp|lt|gt|#[0-9]{2,3}|#x[0-9A-Fa-f]{2});"),
    "\\x": re.compile(r"\\x[2-7][0-9A-Fa-f]"),
    "\\u00": re.compile(r"\\u00[2-7][0-9A-Fa-f]"),
}
_BROKEN = re.compile(
    r"\\\r?\n[ \t]{0,40}|(?<=[A-Za-z0-9_-])[\"'][ \t]{0,8}(?:[+.][ \t]{0,8}(?:\r?\n[ \t]{0,40})?|\\\r?\n[ \t]{0,40}"
    r"|\r?\n[ \t]{0,40}[+.][ \t]{0,8})[\"']"
)
_BREAKS = ('" +', "' +", '"+', "'+", '" .', "' .", "\\\n", "\\\r")
_SPACED = re.compile(r"(?<![^\W_])(?:[A-Za-z0-9-] ){7,200}[A-Za-z0-9](?![^\W_])")
_ENTITIES = {"&quot;": '"', "&apos;": "'", "&amp;": "&", "&lt;": "<", "&gt;": ">"}
_REACH = 300
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_NOT_BASE64 = re.compile(r"(?:0x)?[0-9a-fA-F]+\Z|[a-z_./-]+\Z|[A-Za-z]+\Z")
_PROBE = 24  # characters of base64 that are enough to recognize text
_MIN_TEXT = 15
_DIGIT = re.compile(r"[0-9]")


class View(NamedTuple):
    """A reading of a part of a text, with the original position of each character."""

    text: str
    positions: list[int]

    def to_original(self, span: MatchSpan) -> MatchSpan:
        """Return the span of a secret in the original text."""
        return MatchSpan(self.positions[span.start], self.positions[span.end - 1] + 1, span.kind)


def other_views(text: str, *, has_letters: bool) -> Iterator[View]:
    """Return the lines around characters that hide words, without these characters."""
    pieces = sorted(_hidden_pieces(text, has_letters=has_letters))
    index, count = 0, len(pieces)
    while index < count:
        low = max(text.rfind("\n", 0, pieces[index][0]), pieces[index][0] - _REACH, 0)
        parts: list[str] = []
        positions: list[int] = []
        last, high = low, pieces[index][1] + _REACH
        while index < count and pieces[index][0] < high:
            start, end, reading = pieces[index]
            if start >= last:
                parts += (text[last:start], reading)
                positions.extend(range(last, start))
                positions.extend([start] * len(reading))
                last = end
            high = end + _REACH
            index += 1
        parts.append(text[last:high])
        positions.extend(range(last, min(high, len(text))))
        yield View("".join(parts), positions)


def _hidden_pieces(text: str, *, has_letters: bool) -> Iterator[tuple[int, int, str]]:
    """Find what hides words: start, end and the characters to read instead."""
    if not text.isascii() and _MAY_HIDE.search(text):
        yield from ((*match.span(), _visible(match.group())) for match in _HIDDEN.finditer(text))
    for sign, pattern in _ESCAPES.items():
        if sign in text:
            yield from ((*match.span(), _decode(match.group())) for match in pattern.finditer(text))
    if any(mark in text for mark in _BREAKS):
        yield from ((*match.span(), "") for match in _BROKEN.finditer(text))
    if has_letters:
        for match in _SPACED.finditer(text):
            yield from ((at, at + 1, "") for at in range(match.start() + 1, match.end(), 2))


def _visible(letter: str) -> str:
    if letter < "\u2400" or letter == "\ufeff":
        return ""
    folded = normalize("NFKC", letter)
    return folded if len(folded) == 1 else letter


def _decode(escape: str) -> str:
    if escape[0] == "%":
        return chr(int(escape[1:], 16))
    if escape[0] == "\\":
        return chr(int(escape[-2:], 16))
    return _ENTITIES.get(escape) or chr(int("0" + escape[2:-1], 0) if escape[2] == "x" else int(escape[2:-1]))


def find_base64(text: str, words: list[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """Find base64-encoded text in long words: start, end and decoded text."""
    for start, end in words:
        for match in _BASE64.finditer(text, start, end) if _DIGIT.search(text, start, end) else ():
            inner = text_of(match.group())
            if inner is not None:
                yield *match.span(), inner


def text_of(encoded: str) -> str | None:
    """Return the text that a value encodes in base64, if it does."""
    body = encoded.rstrip("=")
    if _NOT_BASE64.match(body):
        return None
    body = body.replace("-", "+").replace("_", "/")
    try:
        inner = b64decode(body[:_PROBE], validate=True).decode("utf-8", "ignore")
        if len(inner) < min(_MIN_TEXT, len(body) * 3 // 4 - 3) or not _is_text(inner):
            return None
        inner = b64decode(body + "=" * (-len(body) % 4)).decode()
    except ValueError:
        return None
    return inner if _is_text(inner) else None


def _is_text(text: str) -> bool:
    return all(letter.isprintable() or letter in "\r\n\t" for letter in text)
