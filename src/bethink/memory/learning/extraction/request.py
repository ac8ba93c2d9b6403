"""Write the request of an extraction: speakers and dates, known facts, and the messages, one heading each."""

import re
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError
from bethink.extend import Tokens
from bethink.memory.learning.extraction.answer import fields_of
from bethink.memory.learning.extraction.transcript import fitting, shorten
from bethink.model.facts import Fact
from bethink.model.framing import ENVELOPE, inert, remove_frames
from bethink.model.moments import EPOCH, to_micros
from bethink.model.records import Record, Role, channel_of
from bethink.model.rules import valid_until

HIDDEN = frozenset({"internal", "reasoning"})
_FRAME = re.compile(r"</?(?:about|instructions|known|messages|claims)\b[^<>]{0,50}>", re.IGNORECASE)
_MAX_TOOL_TEXT = 2_000
_MAX_CALL = 300
_MAX_NAME = 60
_MAX_LISTED_TEXT = 300
_PAUSE = timedelta(minutes=5)
"""A message after a pause of this length shows its time again."""
_ROLES = {Role.USER: "", Role.ASSISTANT: " (AI)", Role.TOOL: " (tool)", Role.SYSTEM: " (system)"}


@frozen
class Scene:
    """The setting of a conversation: the owner of the memory, the channel, and the time zone."""

    owner: str | None
    conversation: str
    zone: tzinfo = UTC

    def day(self, at: datetime) -> str:
        """Return the day of a moment, with its weekday."""
        return at.astimezone(self.zone).strftime("%Y-%m-%d, %A")

    def speaker(self, record: Record) -> str:
        """Return the name of the speaker, with the role unless the speaker is a person."""
        message = record.message
        role = Role(message.role)
        raw_name = message.name or (self.owner or "owner" if role is Role.USER else str(role))
        # A name is written outside the text it belongs to, so it must not look like a heading.
        name = " ".join(re.sub(r"[:\[\]()<>]+", " ", inert(raw_name)).split())[:_MAX_NAME] or "unnamed"
        if role is Role.ASSISTANT and not message.name:
            return "AI"
        lowered = role is Role.USER and message.origin != "user"
        return f"{name} (from {message.origin})" if lowered else f"{name}{_ROLES[role]}"


def zone_of(name: str) -> tzinfo:
    """Return a time zone by its name, such as Europe/Berlin. Raises `ConfigurationError` for an unknown one."""
    if name == "UTC":
        return UTC  # available without a time zone database, too
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise ConfigurationError(f"Unknown time zone {name!r}.", hint="Use a name such as Europe/Berlin.") from None


def line(record: Record, scene: Scene, *, timed: bool = True) -> str:
    """Return a message as it is shown to a model; empty if memory should not see it.

    Its further lines are indented, so that no text can look like the beginning of another message.
    """
    message = record.message
    if message.metadata.get("type") in HIDDEN or message.origin == "memory":
        return ""
    text = _FRAME.sub("", _set_apart(remove_frames(message.content))).strip()
    if message.role is Role.TOOL and len(text) > _MAX_TOOL_TEXT:
        text = f"{text[: _MAX_TOOL_TEXT // 2]}\n[…]\n{text[-_MAX_TOOL_TEXT // 2 :]}"
    body = "\n".join(part for part in (text, *map(_call, message.tool_calls)) if part)
    if not body:
        return ""
    at = (message.said_at or record.recorded_at).astimezone(scene.zone)
    indented = "\n  ".join(body.splitlines())
    time = f"{at:%H:%M} " if timed else ""
    return f"[{record.number}] {time}{scene.speaker(record)}: {indented}"


def about(records: Sequence[Record], scene: Scene) -> str:
    """Return the section with the date, owner, speakers and channel."""
    last = max(records, key=lambda record: to_micros(record.message.said_at or record.recorded_at))
    speakers = dict.fromkeys(scene.speaker(record) for record in records)
    lines = [
        f"Said on {scene.day(last.message.said_at or last.recorded_at)}, {scene.zone}.",
        f"Owner: {inert(scene.owner) if scene.owner else 'not named'}. Speakers: {', '.join(speakers)}.",
        f"Channel: {inert(channel_of(scene.conversation))[:_MAX_NAME]}.",
    ]
    return "<about>\n" + _FRAME.sub("", "\n".join(lines)) + "\n</about>"


def instructions(text: str) -> str:
    """Return the section with the owner's learning instructions; empty if there are none."""
    return f"<instructions>\n{_FRAME.sub('', text)}\n</instructions>" if text else ""


def known_facts(facts: Sequence[Fact], zone: tzinfo = UTC, *, requests: Sequence[str] = ()) -> str:
    """Return the section with the known facts, each line with a short id: `f1`, `f2` and so on.

    A line above says who said them and when.

    `requests` are pending requests to forget, which need no id.
    """
    lines: list[str] = []
    last = ""
    for position, fact in enumerate(facts):
        day = _day_said(fact, zone)
        heading = f"{inert(fact.speaker or str(fact.origin))} said{day and f' on {day}'}:"
        lines += [] if heading == last else [heading]
        lines.append(f"{short_id(position)} {_fact_text(fact, day)}")
        last = heading
    lines += [f"to be forgotten: {inert(text, limit=_MAX_LISTED_TEXT)}" for text in requests]
    return "<known>\n" + _FRAME.sub("", "\n".join(lines or ["nothing yet"])) + "\n</known>"


def short_id(position: int) -> str:
    """Return the short id of a known fact in a request."""
    return f"f{position + 1}"


def messages(
    earlier: Sequence[Record], new: Sequence[Record], scene: Scene, *, budget: int, tokens: Tokens
) -> str:  # fmt: skip
    """Return the section with the messages, with as many earlier ones as fit; empty if no new one is visible."""
    recent = dated_lines(new, scene)
    if not recent:
        return ""
    recent = [shorten(text, budget=max(100, budget // 2), tokens=tokens) for text in recent]
    remaining = budget - sum(tokens.count(text) + 1 for text in recent)
    before = dated_lines(earlier, scene)
    context = fitting(before, budget=remaining, tokens=tokens) if before and remaining > 0 else []
    context_lines = ["Read before:", *context] if context else []
    return "\n".join(["<messages>", *context_lines, "New:", *recent, "</messages>"])


def dated_lines(
    records: Sequence[Record], scene: Scene, *, full: Collection[int] | None = None, max_length: int = 0
) -> list[str]:  # fmt: skip
    """Return the lines of messages. The first of each day begins with the day, one after a pause with its time.

    With `full`, only the messages with these numbers are shown in full, the others up to `max_length` characters.
    """
    lines: list[str] = []
    day, last = "", EPOCH
    for record in records:
        at = record.message.said_at or record.recorded_at
        today = scene.day(at)
        timed = today != day or abs(at - last) >= _PAUSE
        text = line(record, scene, timed=timed)
        if not text:
            continue
        if full is not None and record.number not in full:
            text = _both_ends(text, max_length)
        lines.append(text if today == day else f"{today}\n{text}")
        day, last = today, at if timed else last
    return lines


def _both_ends(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length // 2]} […] {text[-length // 2 :]}"


def _day_said(fact: Fact, zone: tzinfo) -> str:
    return "" if fact.created_at is None else fact.created_at.astimezone(zone).date().isoformat()


def _fact_text(fact: Fact, said: str) -> str:
    scope = f", {inert(fact.scope)}" if fact.scope else ""
    return f"{fact.kind}{_period(fact, said)}{scope}: {inert(fact.text, limit=_MAX_LISTED_TEXT)}"


def _period(fact: Fact, said: str) -> str:
    """Return since when a fact is true, unless that is the day it was `said`, and the last day on which it was.

    A claim gives its dates as days in UTC, so they are shown as such.
    """
    since = "" if fact.valid_from is None else fact.valid_from.date().isoformat()
    start = f", from {since}" if since and since != said else ""
    end = valid_until(fact)
    if end is not None:
        return f"{start}, until {(end - timedelta(microseconds=1)).date().isoformat()}"
    return start if fact.replaced_at is None else f"{start}, replaced"


def _call(call: object) -> str:
    """Return a tool call as a program and its input, without the wrapping of model APIs."""
    inner = fields_of(fields_of(call).get("function")) or fields_of(call)
    name, arguments = inner.get("name"), inner.get("arguments", inner.get("input", ""))
    text = remove_frames(_FRAME.sub("", f"(calls {name}: {arguments})"))
    return text if len(text) <= _MAX_CALL else f"{text[:_MAX_CALL]}…)"


def _set_apart(text: str) -> str:
    return ENVELOPE.sub(lambda tag: "\n" if tag[1] else "\n(inserted by a system) ", text)
