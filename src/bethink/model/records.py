"""Messages, sessions, and the names that identify them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import date, datetime
from enum import StrEnum
from types import NoneType
from typing import Any, cast

from bethink.base.frozen import frozen
from bethink.errors import Invalid
from bethink.model.checks import InvalidField
from bethink.model.enums import OpenEnum
from bethink.model.moments import moment_or_none
from bethink.model.parts import whole
from bethink.model.text import JsonObject, clean, text_schema

_MAX_NAME = 200
_SHOWN = 200
"""How many characters of a bad value an error repeats."""
MAX_CONVERSATION = 2_402
"""The maximum in bytes, limited by PostgreSQL's index size: enough for the longest `conversation_key`."""
MAX_TAGS = 50
_SPARE = 12
"""Characters that an idempotency key must leave free for the index of a message."""


class Role(StrEnum):
    """Who a message speaks as, in the terms of the model APIs."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class AgentKind(StrEnum):
    """What an agent is for; `makes_memory` in `rules` says which kinds are learnt from."""

    PRIMARY = "primary"
    SUBAGENT = "subagent"
    MEMORY_WRITER = "memory_writer"
    MEMORY_SEARCH = "memory_search"
    CONSOLIDATOR = "consolidator"


class Trigger(StrEnum):
    """The four reasons why a session is marked."""

    IDLE = "idle"
    TURN_THRESHOLD = "turn_threshold"
    COMPACTION = "compaction"
    RESET = "reset"


class EndReason(StrEnum):
    """Why a session ended."""

    CLOSED = "closed"
    RESET = "reset"
    EMERGENCY = "emergency"
    COMPACTION = "compaction"
    RESTORED = "restored"
    """The memory was restored from a backup: what it was told since then is gone, so nothing is added to it."""


class Origin(str):
    """Where a text came from: user, assistant, document, import, memory, or `tool:` and its name.

    The name of a tool is reduced to plain characters, because an origin is shown next to texts, outside their frame.
    """

    __slots__ = ()
    _PLAIN = frozenset({"user", "assistant", "document", "import", "memory"})
    _TOOL = "tool:"
    _LONGEST = 64
    _ODD = re.compile(r"[^\w.:/@-]+")

    def __new__(cls, value: str) -> "Origin":
        """Raise `Invalid` for an unknown origin."""
        if value in cls._PLAIN:
            return super().__new__(cls, value)
        if not (value.startswith(cls._TOOL) and len(value) > len(cls._TOOL)):
            words = ", ".join(sorted(cls._PLAIN))
            raise Invalid(f"{value[:_SHOWN]!r} is not an origin.", hint=f"Use {words}, or tool: and a name.")
        name = cls._ODD.sub("_", value.removeprefix(cls._TOOL))[: cls._LONGEST]
        return super().__new__(cls, f"{cls._TOOL}{name}")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Callable[[type], Any]) -> dict[str, Any]:
        return text_schema(cls, handler)


_MAY_CLAIM = {Origin("user"): (Role.USER,), Origin("assistant"): (Role.USER, Role.ASSISTANT)}
"""The origin that each role may claim: a message is never trusted more than its role."""
_ORIGIN_OF_ROLE = {
    Role.USER: Origin("user"),
    Role.ASSISTANT: Origin("assistant"),
    Role.SYSTEM: Origin("document"),
}


def conversation_key(channel: str, chat: str, thread: str = "") -> str:
    """Join the parts that identify a conversation to one name: `channel:chat:thread`. Colons inside a part are escaped.

    Any other text can name a conversation, too; use this if you have the parts.

    Raises:
        Invalid: for a part of more than 200 characters, or with characters that a database cannot store.
    """
    for part in (channel, chat, thread):
        if len(checked_text(part, "part of a conversation key")) > _MAX_NAME or clean(part) != part:
            hint = f"Use up to {_MAX_NAME} characters."
            raise Invalid(f"{part[:20]!r}… cannot be part of a conversation key.", hint=hint)
    return ":".join(part.replace("%", "%25").replace(":", "%3A") for part in (channel, chat, thread))


def channel_of(conversation: str) -> str:
    """Return the channel of a conversation: the text before the first colon, or all of it."""
    return conversation.partition(":")[0].replace("%3A", ":").replace("%25", "%")


@frozen
class Message:
    """A message as the caller passes it. Unless given, its origin follows from its role.

    `said_at` may also be an ISO 8601 text; without a time zone it is taken as UTC.
    """

    role: Role | str
    content: str
    name: str | None = None
    tool_calls: Sequence[JsonObject] = ()
    tool_call_id: str | None = None
    is_error: bool = False
    metadata: JsonObject = field(default_factory=dict[str, object])
    origin: Origin | str | None = None
    idempotency_key: str | None = None
    trace_parent: str | None = None
    said_at: datetime | None = None
    tags: Sequence[str] = ()

    def __post_init__(self) -> None:
        try:
            role = Role.SYSTEM if self.role == "developer" else Role(self.role)
        except ValueError:
            raise InvalidField("role", f"must be one of {', '.join(Role)}.", hint=f"It was {self.role!r}.") from None
        object.__setattr__(self, "role", role)
        for what, kinds in _FIELDS.items():
            _check_kind(getattr(self, what), what, kinds)
        for call in self.tool_calls:
            _check_kind(call, "tool call", (Mapping,))
        object.__setattr__(self, "tool_calls", tuple(self.tool_calls))
        object.__setattr__(self, "tags", checked_tags(self.tags))
        origin = _origin_of(role, self.name) if self.origin is None else Origin(self.origin)
        if role not in _MAY_CLAIM.get(origin, Role):
            raise Invalid(
                f"a message of role {role} cannot have the origin {origin}.", hint="Omit the origin, or lower it."
            )
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "said_at", moment_or_none(self.said_at))
        if self.idempotency_key is not None:
            checked_name(self.idempotency_key, "an idempotency key")


_FIELDS: Mapping[str, tuple[type, ...]] = {
    "content": (str,),
    "origin": (str, NoneType),
    "name": (str, NoneType),
    "tool_calls": (list, tuple),
    "tool_call_id": (str, NoneType),
    "is_error": (bool,),
    "metadata": (Mapping,),
    "trace_parent": (str, NoneType),
    "said_at": (datetime, date, str, NoneType),
    "tags": (list, tuple),
}


def _check_kind(value: object, what: str, kinds: tuple[type, ...]) -> None:
    if not isinstance(value, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds if kind is not NoneType)
        raise Invalid(
            f"the {what} of a message must be {wanted}, not {type(value).__name__}.",
            hint="Join the parts that are text, and put the others into metadata.",
        )


def _origin_of(role: Role, name: str | None) -> Origin:
    return _ORIGIN_OF_ROLE.get(role) or Origin(f"tool:{name or 'unnamed'}")


@frozen
class Record:
    """A message in the log: its session, its number there, when it was stored, and when it was taken back."""

    session_id: str
    number: int
    recorded_at: datetime
    message: Message
    retracted_at: datetime | None = None


@frozen
class SessionInfo:
    """A bounded section of a conversation, with its mark and how far it has been learnt from.

    It is a snapshot: reading the session again may return other numbers.
    """

    space: str
    id: str
    conversation_id: str
    agent_id: str
    ordinal: int
    learns: bool
    created_at: datetime
    ended_at: datetime | None = None
    end_reason: EndReason | None = None
    last_number: int = 0
    invalidated_at: int | None = None
    marked_at: datetime | None = None
    marked_by: Trigger | None = None
    processed_until: int | None = None
    tags: tuple[str, ...] = ()
    metadata: JsonObject = field(default_factory=dict[str, object])


class SessionState(OpenEnum):
    """How far learning from a session has come."""

    OPEN = "open"
    """Something was said that is not marked to be learnt from yet, or nothing at all."""
    MARKED = "marked"
    """It waits to be learnt from."""
    LEARNT = "learnt"
    FAILED = "failed"
    """The last attempt failed; it is tried again, or was given up."""
    EPHEMERAL = "ephemeral"
    """Nothing is learnt from it on purpose."""


@frozen
class SessionEntry:
    """A session in a list: the name of its conversation, its agent, and when its first and last message were said.

    `summary` is None for a session that has not been learnt from yet; `error` says why learning failed, if it did.
    """

    session: SessionInfo
    conversation: str
    agent: str
    begun_at: datetime | None = None
    last_at: datetime | None = None
    summary: str | None = None
    state: SessionState = SessionState.OPEN
    error: str | None = None


@frozen
class Forgotten:
    """Counts of what was forgotten, or with `dry_run` would be. `documents` counts versions that lost their text.

    `tests` counts memory tests that were made from it. `tests_naming` are the ids of others that hold words of it: they
    were written by hand, so they stay until someone removes them. `others` counts what else named a person: claims
    under review, summaries of conversations, the tags and metadata of sessions, and notes of feedback.
    """

    messages: int = 0
    facts: int = 0
    session_memories: int = 0
    documents: int = 0
    threads: int = 0
    others: int = 0
    tests: int = 0
    tests_naming: tuple[str, ...] = ()
    dry_run: bool = False
    erasure_id: str = field(default="", compare=False, repr=False)
    """The record of it, as `erasures` lists it."""
    refs: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """What goes, by name; at most 1,000."""
    pages: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The paths of the documents that lose a text."""
    shown_to: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The ids of other sessions that were shown some of it, and may repeat it."""
    open_sinks: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The places that have not confirmed yet, such as the log while somebody reads. Any process finishes them."""
    receipt: str = field(default="", compare=False, repr=False)
    """The receipt as JSON text, signed if the extra `receipts` is installed."""


@frozen
class Agent:
    """An agent of a space."""

    space: str
    id: str
    name: str
    kind: AgentKind


def checked_name(value: str, what: str) -> str:
    """Return `value` if it can be a name in both databases. Raises `Invalid` otherwise."""
    if not checked_text(value, what) or len(value) > _MAX_NAME or "\0" in value or not value.isprintable():
        hint = f"Use 1 to {_MAX_NAME} printable characters."
        raise Invalid(f"{value[:_SHOWN]!r} cannot be used as {what}.", hint=hint)
    return value


def checked_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags without repeats. Raises `Invalid` for more than 50, or for one that is not a name."""
    if isinstance(tags, str) or len(tags) > MAX_TAGS:
        raise Invalid(f"tags must be a list of up to {MAX_TAGS}.", hint="Put what has a value into metadata.")
    return tuple(dict.fromkeys(checked_name(tag, "a tag") for tag in tags))


def checked_text(value: object, what: str) -> str:
    """Return `value` if it is text. Raises `Invalid` otherwise."""
    if not isinstance(value, str):
        raise Invalid(f"{what} must be text, not {type(value).__name__}.", hint="Pass a str.")
    return value


def keyed(messages: Sequence[Message], key: str) -> list[Message]:
    """Give every message without an idempotency key one made of `key` and its index: `key:0`, `key:1`, …"""
    checked_name(f"{checked_text(key, 'an idempotency key')}{'_' * _SPARE}", "an idempotency key with an index")
    return [
        message if message.idempotency_key else replace(message, idempotency_key=f"{key}:{place}")
        for place, message in enumerate(messages)
    ]


def message_from(value: "Message | Mapping[str, object]") -> Message:
    """Convert a mapping with role and content, as model APIs write it, to a message, or return a `Message` unchanged.

    Null content, as next to tool calls, becomes an empty text; of content in parts, the texts are joined.
    """
    if isinstance(value, Message):
        return value
    if not isinstance(cast("object", value), Mapping):
        raise Invalid(f"a {type(value).__name__} is not a message.", hint="Pass a mapping with role and content.")
    try:
        return Message(**whole(value))  # pyright: ignore[reportArgumentType]
    except TypeError as error:
        raise Invalid(f"not a message: {error}.", hint="Pass role and content, or a bethink.Message.") from error
