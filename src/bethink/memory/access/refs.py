"""Collect the refs in a request and its result: ids and numbers, never a text."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from itertools import groupby
from typing import Any, NamedTuple, cast

from bethink.model.facts import SourceMessage
from bethink.model.refs import Ref, RefKind

_REQUEST_FIELDS = {
    "session_id": "session", "thread_id": "thread", "into": "thread", "fact_id": "fact", "document_id": "document",
    "review_id": "review", "review_ids": "review", "run": "change_set", "test_id": "test", "webhook_id": "webhook",
    "prefix": "key", "relearning_id": "relearning", "ref": "", "refs": "", "exclude": "", "about": "", "fact": "",
    "key": "job",
}  # fmt: skip
"""The request fields that have an id, and its kind; empty for a ref, which has its kind itself."""

_PLAIN = (str, int, float, bool, date, datetime)
_SKIPPED_FIELDS = {
    "metadata",
    "signals",
    "ranks",
    "certainty",
    "created_by",
    "usage",
    "author",
    "message",
    "counts",
    "payload",
}
"""Fields that have no ids of memories, or only foreign ones."""


def _message(record: Any) -> str:
    return f"message:{record.session_id}:{record.number}"


def _version(kind: str) -> Callable[[Any], str]:
    return lambda record: f"{kind}:{record.id}:{record.version}"


def _by_id(kind: str, field: str = "id") -> Callable[[Any], str]:
    return lambda record: f"{kind}:{getattr(record, field)}"


RECORD_REFS: dict[str, Callable[[Any], str]] = {
    "Fact": _version("fact"),
    "Document": _version("document"),
    "DocumentEntry": _version("document"),
    "TreeEntry": _version("document"),
    "Blame": lambda record: f"document:{record.document_id}:{record.version}",
    "DocumentChange": lambda record: "" if record.document_id is None else f"document:{record.document_id}",
    "Record": _message,
    "SourceMessage": _message,
    "Quote": _message,
    "SessionInfo": _by_id("session"),
    "SessionEntry": lambda record: "" if record.summary is None else f"session_summary:{record.session.id}:0",
    "SessionSummary": lambda record: f"session_summary:{record.session_id}:0",
    "LearnedSession": _by_id("session", "session_id"),
    "Review": _by_id("review"),
    "LineClaim": _by_id("review", "review_id"),
    "Thread": _by_id("thread"),
    "StateInfo": _by_id("thread", "thread_id"),
    "MemoryTest": _by_id("test"),
    "ChangeSet": _by_id("change_set", "run"),
    "Relearning": _by_id("relearning"),
    "Job": lambda record: f"job:{record.kind}:{record.key}",
    "Decision": lambda record: "" if record.fact_id is None else f"fact:{record.fact_id}",
    "PendingItem": lambda record: f"{'review' if record.kind == 'claim' else 'change_set'}:{record.id}",
    "WebhookInfo": _by_id("webhook"),
    "KeyInfo": _by_id("key", "prefix"),
    "DocumentSource": lambda record: f"{record.kind}:{record.id}:{record.number}",
    "PersonItem": lambda record: f"{record.kind}:{record.id}:{record.number}",
    "TimelineEntry": lambda record: record.ref,
    "Change": lambda record: record.ref,
}
"""The ref of a record, by the name of its class: most processes import few of the classes."""


class _Plan(NamedTuple):
    own: Callable[[Any], str] | None
    inside: tuple[str, ...]


_plans: dict[type[object], _Plan] = {}


class Refs:
    """Collects refs, each once, in order. Messages of a session are combined into ranges."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self.messages: dict[str, set[int]] = {}

    def add_request(self, request: object) -> None:
        """Add the refs of a request."""
        for name in _inside(type(request), _REQUEST_FIELDS):
            value, kind = getattr(request, name, None), _REQUEST_FIELDS[name]
            if value is None:
                continue
            if kind == "" or not isinstance(value, str | tuple):
                self.add(value)
            elif kind == "job":
                if hasattr(request, "kind"):
                    self.add_text(f"job:{getattr(request, 'kind')}:{value}")  # noqa: B009 - not every request has one
            else:
                for identifier in (value,) if isinstance(value, str) else cast("tuple[str, ...]", value):
                    self.add_text(f"{kind}:{identifier}")

    def add(self, value: Any) -> None:
        """Add the refs of a value and of its fields."""
        kind = cast("type[object]", type(value))
        if kind in _PLAIN or value is None:
            return
        if kind is Ref:
            self._ref(value)
        elif kind is SourceMessage:  # one for each stored message
            self.messages.setdefault(value.session_id, set()).add(value.number)
        elif kind is tuple or kind is list:
            for item in value:
                self.add(item)
        elif kind is dict:
            for item in value.values():
                self.add(item)
        else:
            own, inside = _plans.get(kind) or _plan(kind)
            if own is not None:
                self.add_text(own(value))
            for name in inside:
                self.add(getattr(value, name))

    def texts(self) -> list[str]:
        """Return the refs as texts."""
        ranges: list[str] = []
        for session, numbers in self.messages.items():
            for _, run in groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0]):
                first, *others = (number for _, number in run)
                ranges.append(f"message:{session}:{first}-{others[-1]}" if others else f"message:{session}:{first}")
        return [*self.names, *ranges]

    def copy(self) -> "Refs":
        """Return the same refs, to which others can be added."""
        copied = Refs()
        copied.names = dict(self.names)
        copied.messages = {session: set(numbers) for session, numbers in self.messages.items()}
        return copied

    def union(self, other: "Refs | None") -> "Refs":
        """Return the union with other refs."""
        union = Refs()
        for refs in (self,) if other is None else (other, self):
            union.names |= refs.names
            for session, numbers in refs.messages.items():
                union.messages.setdefault(session, set()).update(numbers)
        return union

    def is_within(self, other: "Refs") -> bool:
        """Return whether other refs include all of these."""
        return self.names.keys() <= other.names.keys() and all(
            numbers <= other.messages.get(session, set()) for session, numbers in self.messages.items()
        )

    def difference(self, other: "Refs") -> "Refs":
        """Return the refs that are not in `other`."""
        remaining = Refs()
        remaining.names = {name: None for name in self.names if name not in other.names}
        for session, numbers in self.messages.items():
            if more := numbers - other.messages.get(session, set()):
                remaining.messages[session] = more
        return remaining

    def _ref(self, ref: Ref) -> None:
        if ref.kind is RefKind.MESSAGE:
            self.messages.setdefault(ref.id, set()).add(ref.number)
        else:
            self.names[str(ref)] = None

    def add_text(self, text: str) -> None:
        """Add one ref: `kind:id` or `kind:id:number`."""
        kind, _, identifier = text.partition(":")
        session, _, number = identifier.rpartition(":")
        if kind == "message" and number.isdigit():
            self.messages.setdefault(session, set()).add(int(number))
        elif identifier:
            self.names[text] = None


def _plan(kind: type[object]) -> _Plan:
    names: tuple[str, ...] = ()
    if is_dataclass(kind):
        names = tuple(
            field.name for field in fields(kind) if field.type not in _PLAIN and field.name not in _SKIPPED_FIELDS
        )
    else:
        names = getattr(kind, "_fields", ())  # of a named tuple
    plan = _plans[kind] = _Plan(RECORD_REFS.get(kind.__name__), names)
    return plan


_request_fields: dict[type, tuple[str, ...]] = {}


def _inside(kind: type, field_names: dict[str, str]) -> tuple[str, ...]:
    names = _request_fields.get(kind)
    if names is None:
        names = _request_fields[kind] = tuple(field.name for field in fields(kind) if field.name in field_names)
    return names
