"""Operations on sessions: open, append, read, retract, restart and end."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.checks import Cleaned, KnownWord, any_of
from bethink.model.facts import SessionSummary
from bethink.model.messages import AnyMessages
from bethink.model.operations.base import (
    Conversation,
    Cursor,
    KeyedRequest,
    Limit,
    Name,
    Number,
    Operation,
    Request,
    Retry,
    SpanName,
    served_by,
)
from bethink.model.operations.narrowing import FilteredRequest, Tags
from bethink.model.paging import Page
from bethink.model.records import AgentKind, Record, RestartReason, SessionEntry, SessionInfo, SessionState
from bethink.model.text import JsonObject
from bethink.model.transcripts import Transcript

READ, WRITE = Scope.READ, Scope.WRITE


@frozen
class OpenSessionRequest(Request):
    """A conversation to continue."""

    conversation: Conversation
    """Name of the conversation, such as `telegram-42`."""
    agent: Name = "assistant"
    """Agent in the conversation (default `assistant`)."""
    kind: AgentKind = AgentKind.PRIMARY
    """Kind of the agent, set at its first session (default `primary`)."""
    ephemeral: bool = False
    """Whether to exclude the session from learning (default False). A change ends the open session."""
    tags: Tags | None = None
    """Tags that replace those of the session (default: unchanged)."""
    metadata: JsonObject | None = None
    """Metadata that replaces that of the session (default: unchanged)."""


@frozen
class FindSessionRequest(Request):
    """A conversation to find."""

    conversation: Conversation
    """Name of the conversation."""
    agent: Name = "assistant"
    """Agent in the conversation (default `assistant`)."""


@frozen
class ListSessionsRequest(FilteredRequest):
    """A page of sessions."""

    limit: Limit = 100
    """Maximum number of sessions (default 100)."""
    after: Cursor = ""
    """Cursor of the next page: the `next` of the previous page."""
    state: Annotated[SessionState, KnownWord()] | None = None
    """State: `open`, `queued`, `learned`, `failed` or `ephemeral` (default: any)."""
    conversation_prefix: Conversation | None = None
    """Start of the conversation name (default: all conversations)."""

    def __post_init__(self) -> None:
        if self.state is not None:
            object.__setattr__(self, "state", any_of("state", (self.state,), SessionState)[0])
        FilteredRequest.__post_init__(self)


@frozen
class SessionRequest(Request):
    """One session."""

    session_id: Name
    """Id of the session."""


@frozen
class AppendRequest(KeyedRequest):
    """Messages to append."""

    session_id: Name
    """Id of the session."""
    messages: AnyMessages
    """Messages, oldest first; can be empty. A string is one user message."""


@frozen
class ReadMessagesRequest(FilteredRequest):
    """Messages to read."""

    session_id: Name
    """Id of the session."""
    after: Number | None = None
    """Number of the last message before the page (default: start at the first message)."""
    limit: Limit = 1_000
    """Maximum number of messages (default 1,000)."""
    last: Limit | None = None
    """Number of messages to return from the end of the session, in order (default: from the start)."""
    visible: bool = False
    """Whether to leave out the words that a person asked to forget, and messages without any others."""


@frozen
class RetractRequest(SessionRequest):
    """A message to retract."""

    number: Number
    """Number of the message in the session."""


@frozen
class TranscriptRequest(SessionRequest):
    """A part of a session to read."""

    around: Number | None = None
    """Number of the message in the middle (default: the end of the session)."""
    limit: Limit = 50
    """Maximum number of messages (default 50)."""


@frozen
class CheckpointRequest(SessionRequest):
    """A session to queue for learning."""

    force: bool = False
    """Whether to queue the session with fewer than six new messages (default False)."""


@frozen
class RestartRequest(SessionRequest):
    """A session to end and to continue in a new one."""

    reason: RestartReason = RestartReason.RESET
    """Reason: `reset` (default), `compaction`, or `emergency` if the context grew too long."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", any_of("reason", (self.reason,), RestartReason)[0])
        Request.__post_init__(self)


@frozen
class StripCitationsRequest(SessionRequest):
    """An answer with citations of memories that its session was shown."""

    reply: Annotated[str, Cleaned()]
    """Text of the answer, with citations."""


_SESSIONS = "/spaces/{space}/sessions"
_SESSION = f"{_SESSIONS}/{{session_id}}"
_NOT_FOUND = "NotFoundError: if the space has no such session."

OPEN_SESSION: Operation[OpenSessionRequest, SessionInfo] = Operation(
    "space.session", OpenSessionRequest, SessionInfo, f"POST {_SESSIONS}", WRITE, Retry.IDEMPOTENT,
    "Return the active session of a conversation, or open one.",
    status=201,
    details="The first call creates the space, the agent and the conversation.",
)  # fmt: skip
FIND_SESSION: Operation[FindSessionRequest, SessionInfo | None] = Operation(
    "space.sessions.find", FindSessionRequest, SessionInfo | None, f"POST {_SESSIONS}/find", READ, Retry.SAFE,
    "Return the newest session of a conversation, or None, without opening one.",
    details="The session may have ended.",
)  # fmt: skip
LIST_SESSIONS: Operation[ListSessionsRequest, Page[SessionEntry]] = Operation(
    "space.sessions.list", ListSessionsRequest, Page[SessionEntry], f"GET {_SESSIONS}", READ, Retry.SAFE,
    "List the sessions of the space. Newest first.",
)  # fmt: skip
GET_SESSION: Operation[SessionRequest, SessionInfo] = Operation(
    "space.sessions.get", SessionRequest, SessionInfo, f"GET {_SESSION}", READ, Retry.SAFE,
    "Return a session.",
    raises=_NOT_FOUND,
)  # fmt: skip
APPEND: Operation[AppendRequest, list[int]] = Operation(
    "session.append", AppendRequest, list[int], f"POST {_SESSION}/messages", WRITE, Retry.IDEMPOTENT,
    "Store messages in one transaction and return their numbers.",
    status=201, span_name=SpanName.UPSERT,
    raises=(
        "SessionEndedError: if the session has ended. ConflictError: if another message used the idempotency key. "
        "ErasedKeyError: if the message with this key was deleted in the last 30 days."
    ),
    details="The messages are durable when the call returns. A repeated idempotency key returns the existing number.",
)  # fmt: skip
READ_MESSAGES: Operation[ReadMessagesRequest, Page[Record]] = Operation(
    "session.messages", ReadMessagesRequest, Page[Record], f"GET {_SESSION}/messages", READ, Retry.SAFE,
    "Return the messages of the session, in order.",
    raises=_NOT_FOUND,
)  # fmt: skip
RETRACT: Operation[RetractRequest, bool] = Operation(
    "session.retract", RetractRequest, bool, f"POST {_SESSION}/retract", WRITE, Retry.IDEMPOTENT,
    "Retract a message. Return False if it was already retracted.",
    raises=(
        "NotFoundError: if the message does not exist. "
        "LegalHoldError: if the message has derived data and the space is under a legal hold."
    ),
    details=(
        "Recall, context, timeline and `messages` omit the message, except with an earlier `as_of`. Derived data is "
        "deleted, and nothing more is learned from the message. It stays in `transcript`, archives and threads; "
        "`forget` deletes it permanently."
    ),
)  # fmt: skip
TRANSCRIPT: Operation[TranscriptRequest, Transcript] = Operation(
    "session.transcript", TranscriptRequest, Transcript, f"GET {_SESSION}/transcript", READ, Retry.SAFE,
    "Return messages of the session, each with the facts, documents and claims derived from it.",
    raises=_NOT_FOUND,
    details="The cost does not depend on the length of the session.",
)  # fmt: skip
CHECKPOINT: Operation[CheckpointRequest, bool] = Operation(
    "session.checkpoint", CheckpointRequest, bool, f"POST {_SESSION}/checkpoint", WRITE, Retry.IDEMPOTENT,
    "Queue the session for learning if it has at least six new messages. Return whether it was queued.",
    raises=_NOT_FOUND,
    details="Call it after each turn, and with `force` when the agent becomes idle: then one new message is enough.",
)  # fmt: skip
RESTART_SESSION: Operation[RestartRequest, SessionInfo] = Operation(
    "session.restart", RestartRequest, SessionInfo, f"POST {_SESSION}/restart", WRITE, Retry.IDEMPOTENT,
    "End the session and return the next session of its conversation.",
    positional=("reason",),
    raises=_NOT_FOUND,
    details="Call it after the context was reset or compacted.",
)  # fmt: skip
END_SESSION: Operation[SessionRequest, SessionInfo] = Operation(
    "session.end", SessionRequest, SessionInfo, f"POST {_SESSION}/end", WRITE, Retry.IDEMPOTENT,
    "End the session without opening another.",
    raises=_NOT_FOUND,
)  # fmt: skip
RELEARN_SESSION: Operation[SessionRequest, bool] = Operation(
    "space.sessions.relearn", SessionRequest, bool, f"POST {_SESSION}/relearn", WRITE, Retry.IDEMPOTENT,
    "Retry learning from a session. Return False if learning had not failed.",
    raises=_NOT_FOUND,
    details="After a model was set, this also learns from sessions that were processed without a model.",
)  # fmt: skip
SESSION_SUMMARY: Operation[SessionRequest, SessionSummary | None] = Operation(
    "session.summary", SessionRequest, SessionSummary | None, f"GET {_SESSION}/summary", READ, Retry.SAFE,
    "Return the summary learned from the session, or None.",
    raises=_NOT_FOUND,
)  # fmt: skip
STRIP_CITATIONS: Operation[StripCitationsRequest, str] = Operation(
    "session.strip_citations", StripCitationsRequest, str, f"POST {_SESSION}/strip-citations", WRITE, Retry.ONCE,
    "Mark the memories that an answer cites as used, and return the answer without citations.",
)  # fmt: skip

OPERATIONS = (
    OPEN_SESSION, FIND_SESSION, LIST_SESSIONS, GET_SESSION, APPEND, READ_MESSAGES, RETRACT, TRANSCRIPT, CHECKPOINT,
    RESTART_SESSION, END_SESSION, RELEARN_SESSION, SESSION_SUMMARY, STRIP_CITATIONS,
)  # fmt: skip
served_by(
    "bethink.memory.log.service",
    OPEN_SESSION,
    FIND_SESSION,
    LIST_SESSIONS,
    GET_SESSION,
    APPEND,
    READ_MESSAGES,
    TRANSCRIPT,
    CHECKPOINT,
    RESTART_SESSION,
    END_SESSION,
    RELEARN_SESSION,
    SESSION_SUMMARY,
)
served_by("bethink.memory.deletion.retract", RETRACT)
served_by("bethink.memory.recall.service", STRIP_CITATIONS)
