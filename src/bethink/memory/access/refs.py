"""Which memories a request and its result name: ids and numbers, never a text."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from itertools import groupby
from typing import Any, NamedTuple, cast

from bethink.model.recall import Ref, RefKind

_ASKED = {
    "session_id": "session", "thread_id": "thread", "into": "thread", "fact_id": "fact", "document_id": "document",
    "review_id": "review", "review_ids": "review", "run": "change_set", "test_id": "test", "webhook_id": "webhook",
    "prefix": "key", "relearning_id": "relearning", "ref": "", "refs": "", "without": "", "about": "", "fact": "",
    "key": "job",
}  # fmt: skip
"""The fields of requests that name something, and what; a ref says so itself."""

_PLAIN = (str, int, float, bool, date, datetime)
_WITHOUT = {"metadata", "signals", "ranks", "certainty", "made_by", "usage", "author", "message", "counts", "payload"}
"""Fields that hold no ids of memories, or only such as others gave."""


def _message(each: Any) -> str:
    return f"message:{each.session_id}:{each.number}"


def _version(kind: str) -> Callable[[Any], str]:
    return lambda each: f"{kind}:{each.id}:{each.version}"


def _named(kind: str, field: str = "id") -> Callable[[Any], str]:
    return lambda each: f"{kind}:{getattr(each, field)}"


OWN: dict[str, Callable[[Any], str]] = {
    "Fact": _version("fact"),
    "Document": _version("document"),
    "DocumentEntry": _version("document"),
    "Blame": lambda each: f"document:{each.document_id}:{each.version}",
    "Change": lambda each: "" if each.document_id is None else f"document:{each.document_id}",
    "Record": _message,
    "SourceMessage": _message,
    "Quote": _message,
    "SessionInfo": _named("session"),
    "SessionEntry": lambda each: "" if each.summary is None else f"session_memory:{each.session.id}:0",
    "SessionMemory": lambda each: f"session_memory:{each.session_id}:0",
    "SessionLearnt": _named("session", "session_id"),
    "Review": _named("review"),
    "LineClaim": _named("review", "review_id"),
    "Thread": _named("thread"),
    "StateInfo": _named("thread", "thread_id"),
    "MemoryTest": _named("test"),
    "ChangeSet": _named("change_set", "run"),
    "Relearning": _named("relearning"),
    "Job": lambda each: f"job:{each.kind}:{each.key}",
    "HeldItem": lambda each: f"{'review' if each.kind == 'claim' else 'change_set'}:{each.id}",
    "WebhookInfo": _named("webhook"),
    "KeyInfo": _named("key", "prefix"),
    "DocumentSource": lambda each: f"{each.kind}:{each.id}:{each.number}",
    "PersonItem": lambda each: f"{each.kind}:{each.id}:{each.number}",
    "TimelineEntry": lambda each: each.ref,
    "MemoryChange": lambda each: each.ref,
}
"""What a record names by its own fields, by the name of its class: most processes load few of them."""


class _Plan(NamedTuple):
    own: Callable[[Any], str] | None
    inside: tuple[str, ...]


_plans: dict[type[object], _Plan] = {}


class Refs:
    """Collects what is named, each once, in the order found. Messages of a session are put together in ranges."""

    def __init__(self) -> None:
        self.named: dict[str, None] = {}
        self.messages: dict[str, set[int]] = {}

    def add_request(self, request: object) -> None:
        """Add what a request names."""
        for name in _inside(type(request), _ASKED):
            value, kind = getattr(request, name, None), _ASKED[name]
            if value is None:
                continue
            if kind == "" or not isinstance(value, str | tuple):
                self.add(value)
            elif kind == "job":
                if hasattr(request, "kind"):
                    self.add_text(f"job:{getattr(request, 'kind')}:{value}")  # noqa: B009 - not every request has one
            else:
                for each in (value,) if isinstance(value, str) else cast("tuple[str, ...]", value):
                    self.add_text(f"{kind}:{each}")

    def add(self, value: Any) -> None:
        """Add what a value names, and what stands inside it."""
        kind = cast("type[object]", type(value))
        if kind is Ref:
            self._ref(value)
        elif kind is tuple or kind is list:
            for each in value:
                self.add(each)
        elif kind is dict:
            for each in value.values():
                self.add(each)
        elif kind not in _PLAIN and value is not None:
            own, inside = _plans.get(kind) or _plan(kind)
            if own is not None:
                self.add_text(own(value))
            for name in inside:
                self.add(getattr(value, name))

    def texts(self) -> list[str]:
        """Return what was named, as texts."""
        ranges: list[str] = []
        for session, numbers in self.messages.items():
            for _, run in groupby(enumerate(sorted(numbers)), key=lambda each: each[1] - each[0]):
                first, *rest = (number for _, number in run)
                ranges.append(f"message:{session}:{first}-{rest[-1]}" if rest else f"message:{session}:{first}")
        return [*self.named, *ranges]

    def plus(self, other: "Refs | None") -> "Refs":
        """Return what is named here or there."""
        both = Refs()
        for each in (self,) if other is None else (other, self):
            both.named |= each.named
            for session, numbers in each.messages.items():
                both.messages.setdefault(session, set()).update(numbers)
        return both

    def minus(self, other: "Refs") -> "Refs":
        """Return what is named here and not there."""
        left = Refs()
        left.named = {name: None for name in self.named if name not in other.named}
        for session, numbers in self.messages.items():
            if more := numbers - other.messages.get(session, set()):
                left.messages[session] = more
        return left

    def _ref(self, ref: Ref) -> None:
        if ref.kind is RefKind.MESSAGE:
            self.messages.setdefault(ref.id, set()).add(ref.number)
        else:
            self.named[str(ref)] = None

    def add_text(self, text: str) -> None:
        """Add one name: `kind:id` or `kind:id:number`."""
        kind, _, rest = text.partition(":")
        session, _, number = rest.rpartition(":")
        if kind == "message" and number.isdigit():
            self.messages.setdefault(session, set()).add(int(number))
        elif rest:
            self.named[text] = None


def _plan(kind: type[object]) -> _Plan:
    names: tuple[str, ...] = ()
    if is_dataclass(kind):
        names = tuple(each.name for each in fields(kind) if each.type not in _PLAIN and each.name not in _WITHOUT)
    else:
        names = getattr(kind, "_fields", ())  # of a named tuple
    plan = _plans[kind] = _Plan(OWN.get(kind.__name__), names)
    return plan


_asked: dict[type, tuple[str, ...]] = {}


def _inside(kind: type, known: dict[str, str]) -> tuple[str, ...]:
    found = _asked.get(kind)
    if found is None:
        found = _asked[kind] = tuple(each.name for each in fields(kind) if each.name in known)
    return found
