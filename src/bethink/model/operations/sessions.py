"""The verbs of sessions: open one, append to it, read it, end it."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.checks import Cleaned, KnownWord, any_of
from bethink.model.facts import SessionMemory
from bethink.model.messages import AnyMessages
from bethink.model.operations.base import (
    Conversation,
    KeyedRequest,
    Limit,
    MemoryOperation,
    Name,
    Number,
    Request,
    Retry,
    Verb,
    served_by,
)
from bethink.model.operations.narrowing import Narrowed, Tags
from bethink.model.records import AgentKind, Record, SessionEntry, SessionInfo, SessionState
from bethink.model.text import JsonObject
from bethink.model.transcripts import Transcript

READ, WRITE = Scope.READ, Scope.WRITE


@frozen
class OpenSessionRequest(Request):
    """A conversation to go on with."""

    conversation: Conversation
    """Any name that stays the same, such as `telegram-42`."""
    agent: Name = "assistant"
    """The agent that takes part in it."""
    kind: AgentKind = AgentKind.PRIMARY
    """What the agent is for. An agent keeps the kind that it first had."""
    ephemeral: bool = False
    """Learn nothing from the session. It ends an open one of the other sort."""
    tags: Tags | None = None
    """Tags for the session, in place of those that it has."""
    metadata: JsonObject | None = None
    """Metadata for the session, in place of what it has."""


@frozen
class FindSessionRequest(Request):
    """A conversation to look for."""

    conversation: Conversation
    """The name of the conversation."""
    agent: Name = "assistant"
    """The agent that takes part in it."""


@frozen
class ListSessionsRequest(Narrowed):
    """A page of sessions."""

    limit: Limit = 100
    """How many sessions to return at most."""
    before: str = ""
    """Only sessions older than this one: the last id of the previous page."""
    state: Annotated[SessionState, KnownWord()] | None = None
    """Only sessions that are open, marked, learnt, failed or ephemeral."""
    conversation_prefix: Conversation | None = None
    """Only sessions of conversations whose names begin with this."""

    def __post_init__(self) -> None:
        if self.state is not None:
            object.__setattr__(self, "state", any_of("state", (self.state,), SessionState)[0])
        Narrowed.__post_init__(self)


@frozen
class SessionRequest(Request):
    """One session."""

    session_id: Name
    """The session."""


@frozen
class AppendRequest(KeyedRequest):
    """Messages to append."""

    session_id: Name
    """The session."""
    messages: AnyMessages
    """What was said, oldest first; there may be none. A text stands for one message of the user."""


@frozen
class ReadRequest(Narrowed):
    """Messages to read."""

    session_id: Name
    """The session."""
    after: Number = 0
    """Only messages with a higher number."""
    limit: Limit = 1_000
    """How many messages to return at most."""
    last: Limit | None = None
    """Only the last so many of them, in order."""


@frozen
class RetractRequest(SessionRequest):
    """A message to take back."""

    number: Number
    """Its number in the session."""


@frozen
class TranscriptRequest(SessionRequest):
    """Which part of a session to read."""

    around: Number | None = None
    """The number of the message in the middle; the last ones, if left out."""
    limit: Limit = 50
    """How many messages to return at most."""


@frozen
class ResetRequest(SessionRequest):
    """A session to end and to follow by another."""

    emergency: bool = False
    """Record that the context had grown too long to go on."""


@frozen
class CitedRequest(SessionRequest):
    """An answer that cites what its session was shown."""

    answer: Annotated[str, Cleaned()]
    """The text of the answer, with its citations."""


_SESSIONS = "/spaces/{space}/sessions"
_SESSION = f"{_SESSIONS}/{{session_id}}"
_MISSING = "NotFound: if the space has no such session."

OPEN_SESSION: Verb[OpenSessionRequest, SessionInfo] = Verb(
    "space.session", OpenSessionRequest, SessionInfo, f"POST {_SESSIONS}", WRITE, Retry.IDEMPOTENT,
    "Return the active session of a conversation, opening one if there is none.",
    status=201,
    details="The space, the agent and the conversation are created at first use.",
)  # fmt: skip
FIND_SESSION: Verb[FindSessionRequest, SessionInfo | None] = Verb(
    "space.find_session", FindSessionRequest, SessionInfo | None, f"POST {_SESSIONS}/find", READ, Retry.SAFE,
    "Return the newest session of a conversation, or None. Nothing is created.",
    details="It may have ended.",
)  # fmt: skip
LIST_SESSIONS: Verb[ListSessionsRequest, list[SessionEntry]] = Verb(
    "space.sessions", ListSessionsRequest, list[SessionEntry], f"GET {_SESSIONS}", READ, Retry.SAFE,
    "List the sessions of the space, the newest first.",
)  # fmt: skip
GET_SESSION: Verb[SessionRequest, SessionInfo] = Verb(
    "space.get_session", SessionRequest, SessionInfo, f"GET {_SESSION}", READ, Retry.SAFE,
    "Return a session as it stands now.",
    raises=_MISSING,
)  # fmt: skip
APPEND: Verb[AppendRequest, list[int]] = Verb(
    "session.append", AppendRequest, list[int], f"POST {_SESSION}/messages", WRITE, Retry.IDEMPOTENT,
    "Store messages in one transaction and return their numbers.",
    status=201, operation=MemoryOperation.UPSERT,
    raises=(
        "SessionEnded: if the session has ended. Conflict: if a key already belongs to another message. "
        "ErasedKey: if the message with this key was erased in the last 30 days."
    ),
    details="When it returns, they are durable. A message whose idempotency key is known keeps its number.",
)  # fmt: skip
READ_MESSAGES: Verb[ReadRequest, list[Record]] = Verb(
    "session.read", ReadRequest, list[Record], f"GET {_SESSION}/messages", READ, Retry.SAFE,
    "Return the messages of the session, in order.",
    raises=_MISSING,
)  # fmt: skip
RETRACT: Verb[RetractRequest, bool] = Verb(
    "session.retract", RetractRequest, bool, f"POST {_SESSION}/retract", WRITE, Retry.IDEMPOTENT,
    "Take a message back. Returns False if it was taken back before.",
    raises="NotFound: if the message does not exist. UnderLegalHold: if something rests on it and a hold stands.",
    details=(
        "It stays in the log, in `transcript` and in archives. Recall, context, timeline and read show it no more, "
        "except as of a time before. Nothing is learnt from it, and what rests on it goes. A thread keeps what it has "
        "taken in. `forget` erases."
    ),
)  # fmt: skip
TRANSCRIPT: Verb[TranscriptRequest, Transcript] = Verb(
    "session.transcript", TranscriptRequest, Transcript, f"GET {_SESSION}/transcript", READ, Retry.SAFE,
    "Return the messages around one, each with the facts, documents and claims made of it.",
    raises=_MISSING,
    details="It takes the same few queries however long the session is.",
)  # fmt: skip
END_TURN: Verb[SessionRequest, bool] = Verb(
    "session.end_turn", SessionRequest, bool, f"POST {_SESSION}/end_turn", WRITE, Retry.IDEMPOTENT,
    "Signal the end of a turn. Returns whether the session was marked to be learnt from.",
    raises=_MISSING,
    details="A session is marked when more than five messages have not been learnt from.",
)  # fmt: skip
IDLE: Verb[SessionRequest, bool] = Verb(
    "session.idle", SessionRequest, bool, f"POST {_SESSION}/idle", WRITE, Retry.IDEMPOTENT,
    "Signal that the agent is idle. Returns whether the session was marked to be learnt from.",
    raises=_MISSING,
)  # fmt: skip
RESET: Verb[ResetRequest, SessionInfo] = Verb(
    "session.reset", ResetRequest, SessionInfo, f"POST {_SESSION}/reset", WRITE, Retry.IDEMPOTENT,
    "End the session and return the next one of its conversation.",
    raises=_MISSING,
)  # fmt: skip
COMPACTED: Verb[SessionRequest, SessionInfo] = Verb(
    "session.compacted", SessionRequest, SessionInfo, f"POST {_SESSION}/compacted", WRITE, Retry.IDEMPOTENT,
    "Signal that the context was compacted: end the session and return the next one.",
    raises=_MISSING,
)  # fmt: skip
END: Verb[SessionRequest, SessionInfo] = Verb(
    "session.end", SessionRequest, SessionInfo, f"POST {_SESSION}/end", WRITE, Retry.IDEMPOTENT,
    "End the session, with none to follow.",
    raises=_MISSING,
)  # fmt: skip
RETRY: Verb[SessionRequest, bool] = Verb(
    "session.retry", SessionRequest, bool, f"POST {_SESSION}/retry", WRITE, Retry.IDEMPOTENT,
    "Learn from the session again after learning failed. Returns False if it had not failed.",
    raises=_MISSING,
    details="With a model, also learns again from a session that was only quoted because there was none.",
)  # fmt: skip
SESSION_MEMORY: Verb[SessionRequest, SessionMemory | None] = Verb(
    "session.summary", SessionRequest, SessionMemory | None, f"GET {_SESSION}/memory", READ, Retry.SAFE,
    "Return what was learnt of the session as a whole, or None.",
    raises=_MISSING,
)  # fmt: skip
CITED: Verb[CitedRequest, str] = Verb(
    "session.cited", CitedRequest, str, f"POST {_SESSION}/cited", WRITE, Retry.ONCE,
    "Count what an answer cites of what its session was shown, and return the answer without the citations.",
)  # fmt: skip

VERBS = (
    OPEN_SESSION, FIND_SESSION, LIST_SESSIONS, GET_SESSION, APPEND, READ_MESSAGES, RETRACT, TRANSCRIPT, END_TURN,
    IDLE, RESET, COMPACTED, END, RETRY, SESSION_MEMORY, CITED,
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
    END_TURN,
    IDLE,
    RESET,
    COMPACTED,
    END,
    RETRY,
    SESSION_MEMORY,
)
served_by("bethink.memory.deletion.retract", RETRACT)
served_by("bethink.memory.recall.service", CITED)
