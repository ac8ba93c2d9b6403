"""Frames recalled text as data, removes frames so that nothing is learned from them, and parses cited labels."""

import base64
import hashlib
import re
from collections.abc import Callable, Collection

from bethink.base.frozen import frozen
from bethink.model.refs import Ref
from bethink.model.text import clean

_NAME = "bethink-memory"

# A tag as it may come back: plain, in HTML, in JSON within JSON, in a URL. Repeats are bounded to stay linear.
_LT = r"(?:<|&(?:amp;){0,4}(?:lt|#0{0,4}60|#x0{0,4}3c);|\\{1,8}(?:u00|x)3c|%3c)"
_GT = r"(?:>|&(?:amp;){0,4}(?:gt|#0{0,4}62|#x0{0,4}3e);|\\{1,8}(?:u00|x)3e|%3e)"
_SLASH = r"(?:\\{0,8}/|&#47;|%2f)"
_SPACE = r"(?:\s|\\{1,8}[nrt])*"
_TAG = re.compile(
    rf"{_LT}(?P<rest>{_SPACE}(?P<close>{_SLASH}{_SPACE})?{_NAME}(?![\w-])(?(close)(?:{_SPACE}{_GT})?))", re.IGNORECASE
)
# Imitations of a tag: with invisible characters in it, another dash, or wide brackets.
_HIDDEN = r"[\xad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]{0,4}"
_LOOKALIKE = _HIDDEN.join("[-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]" if sign == "-" else sign for sign in _NAME)
_DISGUISED = re.compile(
    rf"[<\ufe64\uff1c](?={_HIDDEN}\s{{0,8}}{_HIDDEN}[/\u2044\u2215\uff0f]?{_HIDDEN}\s{{0,8}}{_HIDDEN}{_LOOKALIKE})",
    re.IGNORECASE,
)
_TAG_STARTS = "<&\\%\ufe64\uff1c"
"""Characters that can start a tag or an imitation of one."""
_OPENING_LINE = re.compile(
    rf"{_LT}{_SPACE}{_NAME}[^<>&\\\n]{{0,200}}?{_GT}?[ \t]*(?:\n|\\{{1,8}}[nr]|$)", re.IGNORECASE
)
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
"""The tags around text that a system inserted."""

_LABEL = r"\[\^[a-z2-7]{6}(?:(?:[ ,;]{1,4}\^?|\^)[a-z2-7]{6})*\]"
_ROUNDS = 8
_CITATION = re.compile(
    rf"(?P<code>```.*?(?:```|\Z)|`[^`\n]*`)"
    rf"|(?P<before>(?<![ \t])[ \t]{{0,8}})(?P<labels>\((?:{_LABEL}[ ,;]*)+\)|(?:{_LABEL}(?:,?[ \t]*(?=\[\^))?)+)"
    r"(?P<colon>:?)(?P<after>[ \t]*)",
    re.DOTALL | re.IGNORECASE,
)
_LABEL_START = re.compile(r"\[(?=\^[a-z2-7]{6}[\] ,;^])", re.IGNORECASE)
_LABEL_ID = re.compile(r"[a-z2-7]{6}")


def text_cleaner(redact: Callable[[str], str]) -> Callable[[str], str]:
    """Return a function that prepares text for storage: it removes frames, unsupported characters and secrets."""
    return lambda text: redact(clean(remove_frames(text)))


def add_frame(body: str, *, note: str) -> str:
    """Wrap text in the tags that mark it as recalled. Tags inside the text are defused."""
    inner = _defuse_tags(f"{note}\n{body}")  # together, because a tag may start in one and end in the other
    return f"<{_NAME}>\n{inner}\n</{_NAME}>"


def remove_frames(text: str) -> str:
    """Remove all frames from a text, including quoted and escaped ones. A text without frames is returned unchanged.

    A frame without an end tag is cut to the end of the text: losing an echo is better than learning from it. A tag that
    is only mentioned, with more text on its line, is defused and the text stays.
    """
    if not has_frames(text) or _TAG.search(text) is None:
        return text
    for _ in range(_PASSES):  # removing a frame may join the text around it into a new tag
        before, text = text, _join_pieces(_pieces(text))
        if _TAG.search(text) is None:
            return text
        if text == before:
            break
    return _defuse_tags(text)


def has_frames(text: str) -> bool:
    """Return whether a text may contain frames. This is quick, and True for text that only mentions them."""
    # This runs on every message: four searches for a character are faster than one case-insensitive search for a word.
    return ("<" in text or "&" in text or "\\" in text or "%" in text) and _NAME in text.lower()


def own_words(text: str) -> str:
    """Return only the author's own words, without text that was recalled or that a system inserted."""
    return _without_envelopes(remove_frames(text))


def has_frame_tags(text: str) -> bool:
    """Return whether a text contains tags that mark recalled or system text."""
    return remove_frames(text) is not text or ENVELOPE.search(text) is not None


def inert(text: str, *, limit: int | None = None) -> str:
    """Return stored text as one line that cannot start or end a frame, heading, code fence or another speaker's turn.

    Invisible characters are dropped, and text that looks like a label is defused. Text longer than `limit` is cut after
    a word and ends in an ellipsis.
    """
    lines = (" ".join(_INVISIBLE.sub("", line).split()) for line in text.splitlines())
    line = _defuse_tags(" / ".join(filter(None, lines)))
    line = _INST.sub("(", _TURN.sub("\u2039", line))
    line = _LABEL_START.sub("(", line)
    head = _HEAD.match(line)
    line = line[head.end() :] if head else line
    speaker = _SPEAKER.match(line)
    line = f"{speaker[1]} \u2013{line[speaker.end() :]}" if speaker else line
    return line if limit is None or len(line) <= limit else _cut(line, limit)


def _cut(line: str, limit: int) -> str:
    """Cut a line between two words, or inside a word that takes up more than half of the limit."""
    head = line[: max(0, limit - 1)]
    if head and not line[len(head)].isspace():
        words = head.rpartition(" ")[0]
        head = words if len(words) >= limit // 2 else head
    return head.rstrip(" /") + "\u2026"


def label_of(ref: Ref) -> str:
    """Return the six-character label that cites a memory, as in [^abc234]. A ref always has the same label."""
    digest = hashlib.blake2b(str(ref).encode(), digest_size=5).digest()
    return base64.b32encode(digest).decode().lower()[:6]


@frozen(kw_only=False)
class ParsedReply:
    """A reply without its labels, and its distinct labels in order."""

    visible: str
    labels: tuple[str, ...]


def parse_citations(text: str, *, only: Collection[str] | None = None) -> ParsedReply:
    """Remove all labels from a reply, or those in `only`. Text in code that looks like a label stays."""
    labels: dict[str, None] = {}

    def remove_labels(match: re.Match[str]) -> str:
        if match["code"] is not None:
            return match["code"]
        cited_labels = _LABEL_ID.findall(match["labels"].lower())
        if only is not None and not set(cited_labels) & set(only):
            return match[0]
        labels.update(dict.fromkeys(cited_labels))
        return _label_replacement(match)

    visible, before = _CITATION.sub(remove_labels, text), text
    # Adjacent labels share the space between them, so some may remain for another round.
    for _ in range(_ROUNDS):
        if visible == before:
            break
        visible, before = _CITATION.sub(remove_labels, visible), visible
    return ParsedReply(visible, tuple(labels))


def _without_envelopes(text: str) -> str:
    pieces: list[str] = []
    last, inside = 0, False
    for tag in ENVELOPE.finditer(text):
        if not inside and not tag[1]:
            pieces.append(text[last : tag.start()])
        inside, last = not tag[1], tag.end()
    return text if not pieces else "".join(pieces) + ("" if inside else text[last:])


def _label_replacement(match: re.Match[str]) -> str:
    """Return the replacement for labels: empty at either end of a line and before punctuation, else a space."""
    text, start, end = match.string, match.start(), match.end()
    if start == 0 or text[start - 1] == "\n":
        return match["before"]  # a colon here belonged to the label, as in a footnote
    if match["colon"]:
        return ":" + match["after"]
    spaced = match["before"] or match["after"]
    return " " if spaced and end < len(text) and text[end] not in "\n.,;:!?)]" else ""


def _defuse_tags(text: str) -> str:
    """Change every tag so that it stays readable but no longer works as a tag."""
    if not any(sign in text for sign in _TAG_STARTS):  # as in `remove_frames`: most texts have none of them
        return text
    return _DISGUISED.sub("\u2039", _TAG.sub(lambda tag: f"\u2039{tag['rest']}", text))


def _pieces(text: str) -> list[str]:
    """Return the text before, between and after the frames and unmatched end tags."""
    pieces: list[str] = []
    depth = resume = begin = 0
    for tag in _real_tags(text):
        if depth == 0:
            begin = tag.start()
        depth += -1 if tag["close"] else 1
        if depth <= 0:
            pieces.append(text[resume : _frame_start(text, begin, tag.start())])
            resume, depth = tag.end(), 0
    if depth:
        return [*pieces, text[resume : _frame_start(text, begin, begin)], ""]
    return [*pieces, text[resume:]]


def _real_tags(text: str) -> list[re.Match[str]]:
    """Return the tags that are real: an opening tag must end its line, or be the last before an end tag."""
    tags = list(_TAG.finditer(text))
    return [
        tag
        for tag, following in zip(tags, [*tags[1:], None], strict=True)
        if tag["close"] or _OPENING_LINE.match(text, tag.start()) or (following is not None and following["close"])
    ]


def _frame_start(text: str, begin: int, last: int) -> int:
    """Return the start of a frame, including the quotation marks before it if its last line has them too."""
    starts = [text.rfind("\n", 0, position) + 1 for position in (begin, last)]
    quoted = all(
        _QUOTED.fullmatch(text, start, position) for start, position in zip(starts, (begin, last), strict=True)
    )
    return starts[0] if quoted else begin


def _join_pieces(pieces: list[str]) -> str:
    """Join the pieces. Each seam gets at most the white space of one of its sides."""
    parts: list[str] = []
    gaps: list[str] = []
    for index, piece in enumerate(pieces):
        core = piece.strip()
        if not core:
            gaps.append(piece)
            continue
        lead, _, tail = piece.partition(core)
        if index == 0:
            parts.append(lead)
        elif parts:
            parts.append(_seam([*gaps, lead], core))
        parts.append(core)
        gaps = [tail]
    return "".join(parts) + (gaps[0] if pieces[-1].strip() else "")


def _seam(gaps: list[str], following: str) -> str:
    lines = max(gap.count("\n") for gap in gaps)
    if lines:
        _, broken, indent = gaps[-1].rpartition("\n")
        return "\n" * min(lines, 2) + (indent if broken else "")
    return "" if following[0] in ".,!?" else " "
