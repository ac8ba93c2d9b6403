"""Other readings of a text: without invisible characters, wide letters and escapes, and with its base64 decoded."""

import re
import unicodedata
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator
from typing import NamedTuple

from bethink.providers.redaction_tokens import MatchSpan, longest_word

_ODD = re.compile(
    r"(?P<gone>[\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]|\\\r?\n[ \t]{0,40}"
    r"|\"[ \t]{0,8}[+.]?[ \t]{0,8}(?:\\?\r?\n[ \t]{0,40}(?:[+.][ \t]{0,8})?|(?<=[+.])|(?<=[+.] ))\""
    r"|'[ \t]{0,8}[+.]?[ \t]{0,8}(?:\\?\r?\n[ \t]{0,40}(?:[+.][ \t]{0,8})?|(?<=[+.])|(?<=[+.] ))')"
    r"|(?P<wide>[\uff01-\uff5e\u3000\u24b6-\u24e9\U0001d400-\U0001d7ff])"
    r"|%(?P<percent>0[9AaDd]|[2-7][0-9A-Fa-f])"
    r"|&(?P<entity>quot|apos|amp|lt|gt|#[0-9]{2,3}|#x[0-9A-Fa-f]{2});"
    r"|\\u00(?P<escape>[2-7][0-9A-Fa-f])"
    r"|(?<![^\W_])(?P<spaced>(?:[A-Za-z] ){5,20}[A-Za-z])(?![^\W_])"
)
_MAY_BE_ODD = re.compile(r"[\\%&\"'\u00ad\u034f-\U0010ffff]| [A-Za-z] [A-Za-z] [A-Za-z] ")
"""A quick test that matches every text with another reading."""
_ENTITIES = {"quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">"}
_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/_=.-])(?:[A-Za-z0-9+/]{60,76}\r?\n[ \t]{0,12}){0,2000}[A-Za-z0-9+/_-]{16,}+={0,2}"
)
"""The lines are not possessive: if a short line follows, the match ends at the last full line."""
_LINE_BREAKS = re.compile(r"\s+")
_MIN_LENGTH = 16
_PROBE = 24  # characters of base64 that are enough to recognize text


class View(NamedTuple):
    """A reading of a text, with the original position of each character."""

    text: str
    starts: list[int]
    ends: list[int]

    def to_original(self, span: MatchSpan) -> MatchSpan:
        """Return the span of a secret in the original text."""
        return MatchSpan(self.starts[span.start], self.ends[span.end - 1], span.kind)


def plain_view(text: str) -> View | None:
    """Return the text without characters that hide words, or `None` if there are none."""
    if _MAY_BE_ODD.search(text) is None or _ODD.search(text) is None:
        return None
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    last = 0
    for match in _ODD.finditer(text):
        start, end = match.span()
        parts.append(text[last:start])
        starts.extend(range(last, start))
        ends.extend(range(last + 1, start + 1))
        last = end
        if match.lastgroup == "spaced":
            parts.append(match.group().replace(" ", ""))
            starts.extend(range(start, end, 2))
            ends.extend(range(start + 1, end + 1, 2))
        elif match.lastgroup != "gone":
            parts.append(_decode_character(match.lastgroup or "", match[match.lastgroup or 0]))
            starts.append(start)
            ends.append(end)
    parts.append(text[last:])
    starts.extend(range(last, len(text)))
    ends.extend(range(last + 1, len(text) + 1))
    return View("".join(parts), starts, ends)


def _decode_character(encoding: str, value: str) -> str:
    """Return the character that an escape or wide letter stands for."""
    if encoding == "wide":
        folded = unicodedata.normalize("NFKC", value)
        return folded if len(folded) == 1 else value
    if encoding == "entity":
        if value in _ENTITIES:
            return _ENTITIES[value]
        value = value[2:] if value[1] == "x" else f"{int(value[1:]):x}"
    return chr(int(value, 16))


def find_base64(text: str) -> Iterator[tuple[int, int, str]]:
    """Find base64-encoded text: start, end and decoded text."""
    if longest_word(text) < _MIN_LENGTH:
        return
    for match in _BASE64.finditer(text):
        if _text_of(match.group()[:_PROBE], cut=True) is not None:
            inner = _text_of(_LINE_BREAKS.sub("", match.group()))
            if inner is not None:
                yield *match.span(), inner


def _text_of(encoded: str, *, cut: bool = False) -> str | None:
    body = encoded.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        data = b64decode(body + "=" * (-len(body) % 4))
        inner = data.decode("utf-8", "ignore" if cut else "strict")
    except (Error, UnicodeDecodeError):
        return None
    if cut and len(inner) < len(data) - 3:
        return None
    return inner if all(letter.isprintable() or letter in "\r\n\t" for letter in inner) else None


def is_basic(value: str) -> bool:
    """Return whether a value is base64 of a name and a password."""
    inner = _text_of(value)
    return inner is not None and ":" in inner.strip(":")
