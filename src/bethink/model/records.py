"""Messages, sessions, and the names that identify them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import date, datetime
from enum import StrEnum
from types import NoneType
from typing import Any, cast

from bethink.base.frozen import converted_field, frozen
from bethink.errors import InvalidFieldError, InvalidRequestError
from bethink.model.enums import OpenEnum
from bethink.model.moments import moment_or_none
from bethink.model.parts import normalize_message
from bethink.model.text import JsonObject, clean, text_schema

_MAX_NAME = 200
_SHOWN = 200
"""Maximum number of characters of an invalid value in an error."""
MAX_CONVERSATION = 2_402
"""The maximum in bytes, limited by PostgreSQL's index size: enough for the longest `conversation_key`."""
MAX_TAGS = 50
_SPARE = 12
"""Characters of an idempotency key that are reserved for the index of a message."""


class Role(StrEnum):
    """Role of a message, as in the model APIs."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class AgentKind(StrEnum):
    """Purpose of an agent. `makes_memory` in `rules` says which kinds are learned from."""

    PRIMARY = "primary"
    SUBAGENT = "subagent"
    MEMORY_WRITER = "memory_writer"
    MEMORY_SEARCH = "memory_search"
    CONSOLIDATOR = "consolidator"


class Trigger(StrEnum):
    """The four reasons for marking a session for learning."""

    IDLE = "idle"
    TURN_THRESHOLD = "turn_threshold"
    COMPACTION = "compaction"
    RESET = "reset"


class RestartReason(StrEnum):
    """Why a session was continued in a new one."""

    RESET = "reset"
    COMPACTION = "compaction"
    EMERGENCY = "emergency"


class EndReason(StrEnum):
    """Why a session ended."""

    CLOSED = "closed"
    RESET = "reset"
    EMERGENCY = "emergency"
    COMPACTION = "compaction"
    RESTORED = "restored"
    """The database was restored from a backup, so the session may lack later messages and takes no new ones."""


class Origin(str):
    """Origin of a text: user, assistant, document, import, memory, or `tool:` and the name of the tool.

    Special characters in tool names are replaced, because an origin is shown next to texts, outside their frame.
    """

    __slots__ = ()
    _PLAIN = frozenset({"user", "assistant", "document", "import", "memory"})
    _TOOL = "tool:"
    _LONGEST = 64
    _ODD = re.compile(r"[^\w.:/@-]+")

    def __new__(cls, value: str) -> "Origin":
        """Raise `InvalidRequestError` for an unknown origin."""
        if value in cls._PLAIN:
            return super().__new__(cls, value)
        if not (value.startswith(cls._TOOL) and len(value) > len(cls._TOOL)):
            words = ", ".join(sorted(cls._PLAIN))
            raise InvalidRequestError(
                f"{value[:_SHOWN]!r} is not a valid `origin`.", hint=f"Use {words}, or 'tool:' followed by a name."
            )
        name = cls._ODD.sub("_", value.removeprefix(cls._TOOL))[: cls._LONGEST]
        return super().__new__(cls, f"{cls._TOOL}{name}")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Callable[[type], Any]) -> dict[str, Any]:
        return text_schema(cls, handler)


_MAY_CLAIM = {Origin("user"): (Role.USER,), Origin("assistant"): (Role.USER, Role.ASSISTANT)}
"""Roles that may have each origin: a message is never trusted more than its role."""
_ORIGIN_OF_ROLE = {
    Role.USER: Origin("user"),
    Role.ASSISTANT: Origin("assistant"),
    Role.SYSTEM: Origin("document"),
}


def conversation_key(channel: str, chat: str, thread: str = "") -> str:
    """Join the parts of a conversation name: `channel:chat:thread`. Colons inside a part are escaped.

    Any other text can name a conversation too. Use this function if you have the parts.

    Raises:
        InvalidRequestError: for a part of more than 200 characters, or with characters that a database cannot store.
    """
    for part in (channel, chat, thread):
        if len(checked_text(part, "part of a conversation key")) > _MAX_NAME or clean(part) != part:
            hint = f"Use up to {_MAX_NAME} characters."
            raise InvalidRequestError(f"{part[:20]!r}… cannot be part of a conversation key.", hint=hint)
    return ":".join(part.replace("%", "%25").replace(":", "%3A") for part in (channel, chat, thread))


def channel_of(conversation: str) -> str:
    """Return the channel of a conversation: the text before the first colon, or all of it."""
    return conversation.partition(":")[0].replace("%3A", ":").replace("%25", "%")


@frozen
class Message:
    """A message as the caller passes it. By default, its origin follows from its role.

    `said_at` may also be an ISO 8601 string. Without a time zone it is UTC.
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
    said_at: datetime | None = converted_field(default=None, converter=moment_or_none)
    tags: Sequence[str] = ()

    def __post_init__(self) -> None:
        try:
            role = Role.SYSTEM if self.role == "developer" else Role(self.role)
        except ValueError:
            rule = f"must be one of {', '.join(Role)}, not {self.role!r:.40}."
            raise InvalidFieldError("role", rule, hint="Use 'user' for a person, 'assistant' for the agent.") from None
        object.__setattr__(self, "role", role)
        for name, kinds in _FIELDS.items():
            _check_kind(getattr(self, name), name, kinds)
        for call in self.tool_calls:
            _check_kind(call, "tool call", (Mapping,))
        object.__setattr__(self, "tool_calls", tuple(self.tool_calls))
        object.__setattr__(self, "tags", checked_tags(self.tags))
        origin = _origin_of(role, self.name) if self.origin is None else Origin(self.origin)
        if role not in _MAY_CLAIM.get(origin, Role):
            raise InvalidRequestError(
                f"A message of role {role} cannot have the origin {origin}.", hint="Omit `origin`, or lower it."
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


def _check_kind(value: object, label: str, kinds: tuple[type, ...]) -> None:
    if not isinstance(value, kinds):
        expected = " or ".join(kind.__name__ for kind in kinds if kind is not NoneType)
        raise InvalidRequestError(
            f"The {label} of a message must be {expected}, not {type(value).__name__}.",
            hint="Join the text parts, and put other parts into `metadata`.",
        )


def _origin_of(role: Role, name: str | None) -> Origin:
    return _ORIGIN_OF_ROLE.get(role) or Origin(f"tool:{name or 'unnamed'}")


@frozen
class Record:
    """A stored message: its session, its number there, and when it was stored and retracted."""

    session_id: str
    number: int
    recorded_at: datetime
    message: Message
    retracted_at: datetime | None = None


@frozen
class SessionInfo:
    """A section of a conversation, with its learning progress.

    This is a snapshot: reading the session again may return newer values.
    """

    space: str
    id: str
    conversation_id: str
    agent_id: str
    ordinal: int
    is_learned_from: bool
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
    """Learning state of a session."""

    OPEN = "open"
    """It is empty, or has messages that are not marked for learning yet."""
    QUEUED = "queued"
    """It is queued for learning."""
    LEARNED = "learned"
    FAILED = "failed"
    """The last attempt failed. It is retried, or was abandoned."""
    EPHEMERAL = "ephemeral"
    """It is excluded from learning on request."""


@frozen
class SessionEntry:
    """A session in a list: its conversation, its agent, and the times of its first and last message.

    `summary` is None until learning has finished. `error` says why learning failed, if it did.
    """

    session: SessionInfo
    conversation: str
    agent: str
    started_at: datetime | None = None
    last_at: datetime | None = None
    summary: str | None = None
    state: SessionState = SessionState.OPEN
    error: str | None = None


@frozen
class Deletion:
    """Counts of deleted items, or with `dry_run` of items to delete. `documents` counts versions without their text.

    `tests` counts memory tests created from deleted items. `mentioning_tests` has the ids of handwritten tests that
    quote deleted text: they stay until someone removes them. `others` counts other items that named a person: claims
    under review, conversation summaries, tags and metadata of sessions, and feedback notes.
    """

    messages: int = 0
    facts: int = 0
    session_summaries: int = 0
    documents: int = 0
    threads: int = 0
    others: int = 0
    tests: int = 0
    mentioning_tests: tuple[str, ...] = ()
    dry_run: bool = False
    erasure_id: str = field(default="", compare=False, repr=False)
    """Id of the erasure record, as in `admin.erasures.list()`."""
    refs: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """Refs of the deleted items, at most 1,000. Facts and documents have version 0, which means all versions."""
    document_paths: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """Paths of the documents whose text was removed."""
    exposed_sessions: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """Ids of other sessions whose context contained deleted text and that may repeat it."""
    pending: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """Storage locations that have not confirmed the deletion yet, such as a log in use. Any process finishes them."""
    receipt: str = field(default="", compare=False, repr=False)
    """Receipt as JSON text, signed if the extra `receipts` is installed."""


@frozen
class Agent:
    """An agent of a space."""

    space: str
    id: str
    name: str
    kind: AgentKind


def checked_name(value: str, label: str) -> str:
    """Return `value` if both databases can store it as a name. Raises `InvalidRequestError` otherwise."""
    if not checked_text(value, label) or len(value) > _MAX_NAME or "\0" in value or not value.isprintable():
        hint = f"Use 1 to {_MAX_NAME} printable characters."
        raise InvalidRequestError(f"Invalid {label.partition(' ')[2]}: {value[:_SHOWN]!r}.", hint=hint)
    return value


def checked_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags without repeats. Raises `InvalidRequestError` for more than 50, or for one that is not a name."""
    if isinstance(tags, str) or len(tags) > MAX_TAGS:
        raise InvalidRequestError(
            f"`tags` must be a list of up to {MAX_TAGS}.", hint="Put key-value pairs into `metadata`."
        )
    return tuple(dict.fromkeys(checked_name(tag, "a tag") for tag in tags))


def checked_text(value: object, label: str) -> str:
    """Return `value` if it is text. Raises `InvalidRequestError` otherwise."""
    if not isinstance(value, str):
        raise InvalidRequestError(f"{label} must be text, not {type(value).__name__}.", hint="Pass a str.")
    return value


def add_idempotency_keys(messages: Sequence[Message], key: str) -> list[Message]:
    """Add idempotency keys to messages that have none, made of `key` and the index: `key:0`, `key:1`, …"""
    checked_name(f"{checked_text(key, 'an idempotency key')}{'_' * _SPARE}", "an idempotency key with an index")
    return [
        message if message.idempotency_key else replace(message, idempotency_key=f"{key}:{index}")
        for index, message in enumerate(messages)
    ]


def message_from(value: "Message | Mapping[str, object]") -> Message:
    """Convert a mapping with role and content, as in model APIs, to a message, or return a `Message` unchanged.

    Null content, as in messages with tool calls, becomes an empty string. Text parts of the content are joined.
    """
    if isinstance(value, Message):
        return value
    if not isinstance(cast("object", value), Mapping):
        raise InvalidRequestError(
            f"A message cannot be of type {type(value).__name__}.", hint="Pass a mapping with role and content."
        )
    content = normalize_message(value)
    for name in content:
        if name not in Message.__dataclass_fields__:
            hint = f"Use {', '.join(Message.__dataclass_fields__)}."
            raise InvalidRequestError(f"A message has no field {str(name)[:_SHOWN]!r}.", hint=hint)
    try:
        return Message(**content)  # pyright: ignore[reportArgumentType]
    except TypeError as error:
        raise InvalidRequestError(
            f"Invalid message: {error}.", hint="Pass role and content, or a bethink.Message."
        ) from error
