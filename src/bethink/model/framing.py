"""Frames recalled text as data, cuts frames out again so that none is learnt, and reads the labels an answer cites."""

import base64
import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass

from bethink.model.recall import Ref

_NAME = "bethink-memory"

# A tag as it comes back: plain, in HTML, in JSON within JSON, in an address. Repeats are bounded to stay linear.
_LT = r"(?:<|&(?:amp;){0,4}(?:lt|#0{0,4}60|#x0{0,4}3c);|\\{1,8}(?:u00|x)3c|%3c)"
_GT = r"(?:>|&(?:amp;){0,4}(?:gt|#0{0,4}62|#x0{0,4}3e);|\\{1,8}(?:u00|x)3e|%3e)"
_SLASH = r"(?:\\{0,8}/|&#47;|%2f)"
_SPACE = r"(?:\s|\\{1,8}[nrt])*"
_TAG = re.compile(
    rf"{_LT}(?P<rest>{_SPACE}(?P<close>{_SLASH}{_SPACE})?{_NAME}(?![\w-])(?(close)(?:{_SPACE}{_GT})?))", re.IGNORECASE
)
# A tag that only looks like one: with signs in it that nobody sees, another dash, or wide brackets.
_HIDDEN = r"[\xad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]{0,4}"
_LOOKS = _HIDDEN.join("[-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]" if sign == "-" else sign for sign in _NAME)
_DISGUISED = re.compile(
    rf"[<\ufe64\uff1c](?={_HIDDEN}\s{{0,8}}{_HIDDEN}[/\u2044\u2215\uff0f]?{_HIDDEN}\s{{0,8}}{_HIDDEN}{_LOOKS})",
    re.IGNORECASE,
)
_OPENED = re.compile(rf"{_LT}{_SPACE}{_NAME}[^<>&\\\n]{{0,200}}?{_GT}?[ \t]*(?:\n|\\{{1,8}}[nr]|$)", re.IGNORECASE)
_QUOTED = re.compile(r"[ \t]*(?:>[ \t]?)+")
_PASSES = 8

_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e01ef]"
)
_ROLES = "system|developer|assistant|user|human|tool|function|ai|instructions?"
_TURN = re.compile(rf"<(?=\||<?/?sys>|/? ?(?:{_ROLES}|s|start_of_turn|end_of_turn)\b ?/?>)", re.IGNORECASE)
_INST = re.compile(r"\[(?=/?inst\])", re.IGNORECASE)
_HEAD = re.compile(r"(?:(?:#{2,}|#(?= |$)|`{3,}\w*|~{3,}\w*|>+(?= |$)|[-=*_]{3,}(?= |$)|/(?= |$)) *)*")
_SPEAKER = re.compile(rf"([*_\[(\"']{{0,3}}(?:{_ROLES})[*_\])\"']{{0,3}}) ?[:\uff1a]", re.IGNORECASE)

ENVELOPE = re.compile(r"<(/?)system_message(?:_silent)?\b([^<>]{0,200})>", re.IGNORECASE)
"""What a system put into a text stands between these tags."""

_LABEL = r"\[\^[a-z2-7]{6}(?:(?:[ ,;]{1,4}\^?|\^)[a-z2-7]{6})*\]"
_CITED = re.compile(
    rf"(?P<code>```.*?(?:```|\Z)|`[^`\n]*`)"
    rf"|(?P<before>(?<![ \t])[ \t]{{0,8}})(?P<labels>\((?:{_LABEL}[ ,;]*)+\)|(?:{_LABEL}(?:,?[ \t]*(?=\[\^))?)+)"
    r"(?P<colon>:?)(?P<after>[ \t]*)",
    re.DOTALL | re.IGNORECASE,
)
_LABELLED = re.compile(r"\[(?=\^[a-z2-7]{6}[\] ,;^])", re.IGNORECASE)
_EACH = re.compile(r"[a-z2-7]{6}")


def framed(body: str, *, note: str) -> str:
    """Return a text between the tags that say it was recalled. Tags in the text itself are broken up."""
    inner = _broken(f"{note}\n{body}")  # together: a tag may begin in one and end in the other
    return f"<{_NAME}>\n{inner}\n</{_NAME}>"


def unframed(text: str) -> str:
    """Cut every frame out of a text, however it was quoted or escaped; without one the text is returned as it is.

    A frame without an end is cut to the end of the text: rather lose an echo than learn it. A tag that somebody only
    mentions, with more on its line, is broken up and the text stays.
    """
    # This runs on every message, and four looks for a sign cost less than one for a word in any case of letters.
    if not ("<" in text or "&" in text or "\\" in text or "%" in text):
        return text
    if _NAME not in text.lower() or _TAG.search(text) is None:
        return text
    for _ in range(_PASSES):  # what a cut brings together may be a tag again
        before, text = text, _sewn(_pieces(text))
        if _TAG.search(text) is None:
            return text
        if text == before:
            break
    return _broken(text)


def own_words(text: str) -> str:
    """Return what of a text is its author's own: neither recalled into it nor put there by a system."""
    return _without_envelopes(unframed(text))


def tagged(text: str) -> bool:
    """Say whether a text holds one of the tags that set recalled or system text apart."""
    return unframed(text) is not text or ENVELOPE.search(text) is not None


def inert(text: str, *, limit: int | None = None) -> str:
    """Return a stored text as one line that can neither open nor end a frame, a heading, a fence or another's turn.

    What cannot be seen is dropped, and what looks like a label is none. A text longer than `limit` ends in an ellipsis.
    """
    lines = (" ".join(_INVISIBLE.sub("", line).split()) for line in text.splitlines())
    line = _broken(" / ".join(filter(None, lines)))
    line = _INST.sub("(", _TURN.sub("\u2039", line))
    line = _LABELLED.sub("(", line)
    head = _HEAD.match(line)
    line = line[head.end() :] if head else line
    speaker = _SPEAKER.match(line)
    line = f"{speaker[1]} \u2013{line[speaker.end() :]}" if speaker else line
    if limit is not None and len(line) > limit:
        line = line[: max(0, limit - 1)].rstrip(" /") + "\u2026"
    return line


def label_of(ref: Ref) -> str:
    """Return the six signs by which a prompt names something recalled, as in [^abc234]; always the same."""
    digest = hashlib.blake2b(str(ref).encode(), digest_size=5).digest()
    return base64.b32encode(digest).decode().lower()[:6]


@dataclass(frozen=True, slots=True)
class Cited:
    """An answer without its labels, and the labels that were in it, each once and in order."""

    visible: str
    labels: tuple[str, ...]


def cited(text: str, *, only: Collection[str] | None = None) -> Cited:
    """Take the labels out of an answer, or only those that are known. What looks like one in code is left there."""
    labels: dict[str, None] = {}

    def taken(match: re.Match[str]) -> str:
        if match["code"] is not None:
            return match["code"]
        found = _EACH.findall(match["labels"].lower())
        if only is not None and not set(found) & set(only):
            return match[0]
        labels.update(dict.fromkeys(found))
        return _rest(match)

    visible = _CITED.sub(taken, text)
    return Cited(visible, tuple(labels))


def _without_envelopes(text: str) -> str:
    kept: list[str] = []
    last, inside = 0, False
    for found in ENVELOPE.finditer(text):
        if not inside and not found[1]:
            kept.append(text[last : found.start()])
        inside, last = not found[1], found.end()
    return text if not kept else "".join(kept) + ("" if inside else text[last:])


def _rest(match: re.Match[str]) -> str:
    """Return what is left where labels stood: nothing at either end of a line or before a stop, else a space."""
    text, start, end = match.string, match.start(), match.end()
    if start == 0 or text[start - 1] == "\n":
        return match["before"]  # a colon here belonged to the label, as in a footnote
    if match["colon"]:
        return ":" + match["after"]
    spaced = match["before"] or match["after"]
    return " " if spaced and end < len(text) and text[end] not in "\n.,;:!?)]" else ""


def _broken(text: str) -> str:
    """Leave every tag readable, and none a tag."""
    return _DISGUISED.sub("\u2039", _TAG.sub(lambda tag: f"\u2039{tag['rest']}", text))


def _pieces(text: str) -> list[str]:
    """Return what stands before, between and after the frames and the ends without a beginning."""
    pieces: list[str] = []
    depth = kept = begin = 0
    for tag in _meant(text):
        if depth == 0:
            begin = tag.start()
        depth += -1 if tag["close"] else 1
        if depth <= 0:
            pieces.append(text[kept : _before(text, begin, tag.start())])
            kept, depth = tag.end(), 0
    if depth:
        return [*pieces, text[kept : _before(text, begin, begin)], ""]
    return [*pieces, text[kept:]]


def _meant(text: str) -> list[re.Match[str]]:
    """Return the tags that are meant: one that opens ends its line, or is the last before an end; others are talk."""
    tags = list(_TAG.finditer(text))
    return [
        tag
        for tag, following in zip(tags, [*tags[1:], None], strict=True)
        if tag["close"] or _OPENED.match(text, tag.start()) or (following is not None and following["close"])
    ]


def _before(text: str, begin: int, last: int) -> int:
    """Say where a frame begins: with the signs of quotation before it, if its last line has them too."""
    starts = [text.rfind("\n", 0, place) + 1 for place in (begin, last)]
    quoted = all(_QUOTED.fullmatch(text, start, place) for start, place in zip(starts, (begin, last), strict=True))
    return starts[0] if quoted else begin


def _sewn(pieces: list[str]) -> str:
    """Put together what stays, with no more white space in each seam than stood on one side of it."""
    found: list[str] = []
    gaps: list[str] = []
    for place, piece in enumerate(pieces):
        core = piece.strip()
        if not core:
            gaps.append(piece)
            continue
        lead, _, tail = piece.partition(core)
        if place == 0:
            found.append(lead)
        elif found:
            found.append(_seam([*gaps, lead], core))
        found.append(core)
        gaps = [tail]
    return "".join(found) + (gaps[0] if pieces[-1].strip() else "")


def _seam(gaps: list[str], following: str) -> str:
    lines = max(gap.count("\n") for gap in gaps)
    if lines:
        _, broken, indent = gaps[-1].rpartition("\n")
        return "\n" * min(lines, 2) + (indent if broken else "")
    return "" if following[0] in ".,!?" else " "
