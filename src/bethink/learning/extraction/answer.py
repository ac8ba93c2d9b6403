"""Parse the answer of a model without trusting it: the shape is checked here, the content later."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from bethink.errors import BadAnswer
from bethink.model.framing import tagged
from bethink.model.records import FactKind
from bethink.model.text import JsonObject
from bethink.model.words import WORD

MAX_FACTS = 200
_MAX_ANSWER = 1_000_000
_MAX_STATEMENT = 1_000
_MAX_NAME = 100
_MAX_KEY = 40
_MAX_KEY_WORDS = 4
_MAX_ENTITIES = 20
_MAX_SOURCES = 20
_KINDS = frozenset(str(kind) for kind in FactKind)
_MAX_RAW = 30_000
_MAX_SUMMARY = 4_000
_SLUG = re.compile(r"[^a-z0-9]+")
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")

_NULLABLE: JsonObject = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_FACT: JsonObject = {
    "type": "object",
    "properties": {
        "statement": {"type": "string"},
        "kind": {"type": "string", "enum": sorted(_KINDS)},
        "sources": {"type": "array", "items": {"type": "integer"}},
        "entities": {"type": "array", "items": {"type": "string"}},
        "subject": {"type": "string"},
        "slot": _NULLABLE,
        "valid_from": _NULLABLE,
        "valid_to": _NULLABLE,
    },
    "required": ["statement", "kind", "sources", "entities", "subject", "slot", "valid_from", "valid_to"],
    "additionalProperties": False,
}
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "raw_memory": {"type": "string"},
        "summary": {"type": "string"},
        "slug": _NULLABLE,
        "facts": {"type": "array", "items": _FACT},
    },
    "required": ["raw_memory", "summary", "slug", "facts"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftFact:
    """A fact as a model stated it: the shape is checked, the content is not proven yet."""

    statement: str
    kind: FactKind
    sources: tuple[int, ...]
    entities: tuple[str, ...] = ()
    subject: str | None = None
    slot: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What a model extracted from a session. `malformed` counts facts that did not have the right shape."""

    raw_memory: str
    summary: str
    slug: str
    drafts: tuple[DraftFact, ...] = ()
    malformed: int = 0

    @property
    def remembers(self) -> bool:
        """Whether it contains a session memory."""
        return bool(self.raw_memory and self.summary)


def parse(text: str) -> Extraction:
    """Parse an answer that is already redacted. Raises `BadAnswer`, which says what is wrong."""
    tree = loads(text)
    if set(tree) != set(SCHEMA["required"]):
        raise BadAnswer("the keys must be raw_memory, summary, slug and facts.")
    raw, summary, slug, facts = (tree[key] for key in ("raw_memory", "summary", "slug", "facts"))
    if not (isinstance(raw, str) and isinstance(summary, str) and isinstance(slug, str | None)):
        raise BadAnswer("raw_memory and summary must be strings, slug a string or null.")
    if not isinstance(facts, list):
        raise BadAnswer("facts must be a list.")
    entries = cast("list[object]", facts)
    drafts = [_draft(entry) for entry in entries[:MAX_FACTS]]
    return Extraction(
        raw_memory=raw.strip()[:_MAX_RAW],
        summary=summary.strip()[:_MAX_SUMMARY],
        slug=slugged(slug or ""),
        drafts=tuple(draft for draft in drafts if draft is not None),
        malformed=drafts.count(None) + max(0, len(entries) - MAX_FACTS),
    )


def loads(text: str) -> dict[str, Any]:
    """Parse one JSON object, with or without a code fence. Raises `BadAnswer` for anything else."""
    if len(text) > _MAX_ANSWER:
        raise BadAnswer("the answer is longer than a million characters.")
    try:
        tree = json.loads(_unfenced(text), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise BadAnswer("the answer is not valid JSON.") from None
    if not isinstance(tree, dict):
        raise BadAnswer("the answer is not a JSON object.")
    return cast("dict[str, Any]", tree)


def _unfenced(text: str) -> str:
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```"):
        return stripped[3:-3].removeprefix("json")
    return stripped


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not valid JSON")


def _draft(entry: object) -> DraftFact | None:
    if not isinstance(entry, Mapping):
        return None
    fields = cast("Mapping[str, object]", entry)
    statement, kind, sources = fields.get("statement"), fields.get("kind"), fields.get("sources")
    if not (isinstance(statement, str) and isinstance(sources, list) and isinstance(kind, str)) or kind not in _KINDS:
        return None
    numbers = cast("list[object]", sources)
    said = " ".join(statement.split())
    if not said or len(said) > _MAX_STATEMENT or len(numbers) > _MAX_SOURCES or tagged(said):
        return None
    if not all(type(number) is int for number in numbers):
        return None
    since, till = moment(fields.get("valid_from")), moment(fields.get("valid_to"), end=True)
    if since is not None and till is not None and till < since:
        since = till = None  # one of them is wrong, and it is unknown which
    return DraftFact(
        statement=said,
        kind=FactKind(kind),
        sources=tuple(sorted(set(cast("list[int]", numbers)))),
        entities=_names(fields.get("entities")),
        subject=_key(fields.get("subject")),
        slot=_key(fields.get("slot")),
        valid_from=since,
        valid_to=till,
    )


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    names = [" ".join(name.split()) for name in cast("list[object]", value) if isinstance(name, str)]
    return tuple(dict.fromkeys(name for name in names if 0 < len(name) <= _MAX_NAME))[:_MAX_ENTITIES]


def _key(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    key = "_".join(WORD.findall(value.casefold().replace("_", " "))[:_MAX_KEY_WORDS])
    return key if 0 < len(key) <= _MAX_KEY else None


def slugged(text: str) -> str:
    """Turn a few words into a name for a file: at most 60 characters of a-z, 0-9 and hyphens."""
    return _SLUG.sub("-", text.lower()).strip("-")[:60].strip("-")


def moment(value: object, *, end: bool = False) -> datetime | None:
    """Parse a date or time in ISO format, or only a month or year; return None for anything else.

    With `end`, a day, month or year stands for its end, which is the beginning of the next.
    """
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        if found := _DATE.fullmatch(text):
            return _period(*found.groups(), end=end)
        parsed = datetime.fromisoformat(text)
        return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _period(year: str, month: str | None, day: str | None, *, end: bool) -> datetime:
    first = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
    if not end:
        return first
    if day is not None:
        return first + timedelta(days=1)
    if month is not None:
        return (first.replace(day=28) + timedelta(days=4)).replace(day=1)
    return first.replace(year=first.year + 1)
