"""Write the request of an extraction: who speaks and when, what is known, and the messages, one heading each."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bethink.base.frozen import frozen
from bethink.errors import Misconfigured
from bethink.extend import Tokens
from bethink.memory.learning.extraction.answer import fields_of
from bethink.memory.learning.extraction.transcript import fitting, shortened
from bethink.model.facts import Fact
from bethink.model.framing import ENVELOPE, inert, unframed
from bethink.model.moments import EPOCH, to_micros
from bethink.model.records import Record, Role, channel_of

HIDDEN = frozenset({"internal", "reasoning"})
_FRAME = re.compile(r"</?(?:about|instructions|known|messages|claims)\b[^<>]{0,50}>", re.IGNORECASE)
_LONGEST_TOOL = 2_000
_LONGEST_CALL = 300
_LONGEST_NAME = 60
_PAUSE = timedelta(minutes=5)
"""After how long a message shows its time again."""
_ROLES = {Role.USER: "", Role.ASSISTANT: " (AI)", Role.TOOL: " (tool)", Role.SYSTEM: " (system)"}


@frozen
class Scene:
    """Where a conversation took place: whose memory it goes to, on which channel, and in which time zone."""

    owner: str | None
    conversation: str
    zone: tzinfo = UTC

    def day(self, at: datetime) -> str:
        """Return the day of a moment, with its weekday."""
        return at.astimezone(self.zone).strftime("%Y-%m-%d, %A")

    def speaker(self, record: Record) -> str:
        """Return who speaks: a name, and what they are unless they are a person."""
        message = record.message
        role = Role(message.role)
        named = message.name or (self.owner or "owner" if role is Role.USER else str(role))
        # A name is written outside the text it belongs to, so it must not look like a heading.
        name = " ".join(re.sub(r"[:\[\]()<>]+", " ", inert(named)).split())[:_LONGEST_NAME] or "unnamed"
        if role is Role.ASSISTANT and not message.name:
            return "AI"
        lowered = role is Role.USER and message.origin != "user"
        return f"{name} (from {message.origin})" if lowered else f"{name}{_ROLES[role]}"


def zone_of(name: str) -> tzinfo:
    """Return a time zone by its name, such as Europe/Berlin. Raises `Misconfigured` for an unknown one."""
    if name == "UTC":
        return UTC  # a system without a database of time zones has this one, too
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise Misconfigured(f"unknown time zone {name!r}.", hint="Use a name such as Europe/Berlin.") from None


def line(record: Record, scene: Scene, *, timed: bool = True) -> str:
    """Return a message as it is shown to a model; empty if memory should not see it.

    Its further lines are indented, so that no text can look like the beginning of another message.
    """
    message = record.message
    if message.metadata.get("type") in HIDDEN or message.origin == "memory":
        return ""
    text = _FRAME.sub("", _set_apart(unframed(message.content))).strip()
    if message.role is Role.TOOL and len(text) > _LONGEST_TOOL:
        text = f"{text[: _LONGEST_TOOL // 2]}\n[…]\n{text[-_LONGEST_TOOL // 2 :]}"
    body = "\n".join(part for part in (text, *map(_call, message.tool_calls)) if part)
    if not body:
        return ""
    at = (message.said_at or record.recorded_at).astimezone(scene.zone)
    indented = "\n  ".join(body.splitlines())
    time = f"{at:%H:%M} " if timed else ""
    return f"[{record.number}] {time}{scene.speaker(record)}: {indented}"


def about(records: Sequence[Record], scene: Scene) -> str:
    """Return the part that says whose conversation it is."""
    last = max(records, key=lambda record: to_micros(record.message.said_at or record.recorded_at))
    speakers = dict.fromkeys(scene.speaker(record) for record in records)
    lines = [
        f"Said on {scene.day(last.message.said_at or last.recorded_at)}, {scene.zone}.",
        f"Owner: {inert(scene.owner) if scene.owner else 'not named'}. Speakers: {', '.join(speakers)}.",
        f"Channel: {inert(channel_of(scene.conversation))[:_LONGEST_NAME]}.",
    ]
    return "<about>\n" + _FRAME.sub("", "\n".join(lines)) + "\n</about>"


def instructions(text: str) -> str:
    """Return the part with what the owner wants learnt; empty for nothing."""
    return f"<instructions>\n{_FRAME.sub('', text)}\n</instructions>" if text else ""


def known(facts: Sequence[Fact]) -> str:
    """Return the part with what memory holds already, each line with a short id: `f1`, `f2` and so on."""
    lines = [f"{short_id(place)} {_known(fact)}" for place, fact in enumerate(facts)]
    return "<known>\n" + _FRAME.sub("", "\n".join(lines or ["nothing yet"])) + "\n</known>"


def short_id(place: int) -> str:
    """Return the id by which a request names a known fact."""
    return f"f{place + 1}"


def messages(
    earlier: Sequence[Record], new: Sequence[Record], scene: Scene, *, budget: int, tokens: Tokens
) -> str:  # fmt: skip
    """Return the part with the messages; of the earlier ones as many as fit. Empty if memory should see no new one."""
    recent = _dated(new, scene)
    if not recent:
        return ""
    recent = [shortened(text, budget=max(100, budget // 2), tokens=tokens) for text in recent]
    left = budget - sum(tokens.count(text) + 1 for text in recent)
    before = _dated(earlier, scene)
    kept = fitting(before, budget=left, tokens=tokens) if before and left > 0 else []
    read = ["Read before:", *kept] if kept else []
    return "\n".join(["<messages>", *read, "New:", *recent, "</messages>"])


def _dated(records: Sequence[Record], scene: Scene) -> list[str]:
    """Return the lines of messages; the first of each day begins with that day, and one after a pause with its time."""
    found: list[str] = []
    day, last = "", EPOCH
    for record in records:
        at = record.message.said_at or record.recorded_at
        today = scene.day(at)
        timed = today != day or abs(at - last) >= _PAUSE
        text = line(record, scene, timed=timed)
        if not text:
            continue
        found.append(text if today == day else f"{today}\n{text}")
        day, last = today, at if timed else last
    return found


def _known(fact: Fact) -> str:
    said = fact.created_at
    who = fact.speaker or str(fact.origin)
    when = "" if said is None else f" {said.date().isoformat()}"
    scope = f", {inert(fact.scope)}" if fact.scope else ""
    return f"{fact.kind}, {inert(who)} said{when}{scope}: {inert(fact.content, limit=300)}"


def _call(call: object) -> str:
    """Return a tool call as a program and its input, without the wrapping of model APIs."""
    inner = fields_of(fields_of(call).get("function")) or fields_of(call)
    name, given = inner.get("name"), inner.get("arguments", inner.get("input", ""))
    text = unframed(_FRAME.sub("", f"(calls {name}: {given})"))
    return text if len(text) <= _LONGEST_CALL else f"{text[:_LONGEST_CALL]}…)"


def _set_apart(text: str) -> str:
    return ENVELOPE.sub(lambda tag: "\n" if tag[1] else "\n(inserted by a system) ", text)
