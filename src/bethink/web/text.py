"""Formats text and times for pages. Stored text may be hostile, so it is always shown as plain text."""

import re
import unicodedata
from datetime import UTC, datetime
from functools import partial

from markupsafe import Markup, escape

from bethink.model.plural import plural as _plural
from bethink.model.refs import Ref, RefKind

# Characters that hide, reorder or fake text. Line ends and tabs are not among them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_MARKS = re.compile(r"^[ \t]*(?:(#{1,6})|[-*])[ \t]+", re.MULTILINE)
_JOINERS = "\u200c\u200d"
_KINDS = {"succeeded_no_output": "succeeded without output", "quoted_or_supposed": "quoted or hypothetical"}


def visible_text(text: str | None, max_length: int = 0) -> Markup:
    """Escape a stored text and make hidden or reordering characters visible. `max_length` truncates it."""
    full = text or ""
    cut = full[:max_length].rstrip() if 0 < max_length < len(full) else full
    parts: list[Markup] = []
    begin = 0
    for match in _HIDDEN.finditer(cut):
        if match[0] in _JOINERS and _joins(cut, match.start()):
            continue
        parts += [escape(cut[begin : match.start()]), _mark(match[0])]
        begin = match.end()
    parts.append(escape(cut[begin:]))
    if len(cut) < len(full):
        parts.append(Markup("…"))
    return Markup("").join(parts)


def _joins(text: str, at: int) -> bool:
    # Between letters of scripts that need it, and within emoji, a joiner hides nothing.
    return 0 < at < len(text) - 1 and ord(text[at - 1]) > 0x2FF and ord(text[at + 1]) > 0x2FF


def _mark(character: str) -> Markup:
    name = unicodedata.name(character, "control character").lower()
    return Markup('<span class="odd" title="hidden: {}">{}</span>').format(name, f"U+{ord(character):04X}")


def _replace_mark(match: re.Match[str]) -> str:
    return "" if match[1] else "· "


def lead(text: str | None, max_length: int = 240) -> Markup:
    """Return the beginning of a text on one line, without heading marks. List items are separated by dots."""
    beginning = (text or "")[: 4 * max_length]  # enough, even if much of it is whitespace
    return visible_text(" ".join(_MARKS.sub(_replace_mark, beginning).split()).removeprefix("· "), max_length)


def when(at: datetime | None) -> str:
    """Return a time to the minute, in UTC; empty for None."""
    return "" if at is None else f"{day(at)}, {at.astimezone(UTC):%H:%M}"


def exactly(at: datetime | None) -> str:
    """Return a time to the second, in UTC."""
    return "" if at is None else f"{day(at)}, {at.astimezone(UTC):%H:%M:%S}"


def day(at: datetime | None) -> str:
    """Return a day, in UTC; empty for None."""
    if at is None:
        return ""
    utc = at.astimezone(UTC)
    return f"{utc.day} {utc:%b} {utc.year}"


def iso(at: datetime | None) -> str:
    """Return a time in ISO 8601, in UTC; empty for None."""
    return "" if at is None else at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def ago(at: datetime | None) -> str:
    """Return how long ago a time was, in words. Used for tooltips."""
    if at is None:
        return ""
    seconds = (datetime.now(UTC) - at).total_seconds()
    form = "in {}" if seconds < 0 else "{} ago"
    for size, word in (
        (86_400 * 365, "year"),
        (86_400 * 30, "month"),
        (86_400, "day"),
        (3_600, "hour"),
        (60, "minute"),
    ):
        count = int(abs(seconds) // size)
        if count:
            return form.format(_plural(count, word))
    return "just now"


def duration(begin: datetime | None, end: datetime | None = None) -> str:
    """Return how long something took, or has taken until now: `340 ms`, `12 s`, `3 min`, `5 h`, `2 days`."""
    if begin is None:
        return ""
    seconds = max(((end or datetime.now(UTC)) - begin).total_seconds(), 0.0)
    if seconds < 1:
        return f"{seconds * 1_000:.0f} ms"
    for size, word in ((86_400 * 2, "days"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / (86_400 if word == 'days' else size):.0f} {word}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def money(cost: int) -> str:
    """Return millionths of a dollar as dollars: `$0`, `$0.0042`, `$0.58`, `$12.30`."""
    dollars = cost / 1_000_000
    return "$0" if not cost else f"${dollars:,.2f}" if dollars >= 0.1 else f"${dollars:.4f}"


def short(ref: object) -> str:
    """Return a shortened ref: `fct_…zk28nc:1`. IDs begin with their kind."""
    parsed = Ref.coerce(str(ref))
    name = parsed.id if len(parsed.id) < 16 else f"{parsed.id[:4]}…{parsed.id[-6:]}"
    return name + (f":{parsed.number}" if parsed.number else "")


def short_id(name: str | None) -> str:
    """Return a shortened ID."""
    full = name or ""
    return full if len(full) < 24 else f"{full[:4]}…{full[-6:]}"


def kind_name(kind: object) -> str:
    """Return the name of a kind in words."""
    return _KINDS.get(str(kind), str(kind).replace("_", " "))


plural = partial(_plural, form=",")
"""Returns a number with its noun: `1 fact`, `2,000 facts`."""


def origin_class(origin: object) -> str:
    """Return the class of an origin: user, assistant, tool, document, import or memory."""
    return str(origin).partition(":")[0]


def title_of(ref: Ref) -> str:
    """Return the heading for a memory: `This fact`."""
    return f"This {kind_name(ref.kind)}" if ref.kind is not RefKind.DOCUMENT else f"This document, version {ref.number}"
