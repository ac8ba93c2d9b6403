"""What may be sent in the body of a request."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from bethink.errors import Invalid
from bethink.model.access import Scope
from bethink.model.documents import MAX_BODY, Draft
from bethink.model.moments import moment_or_none
from bethink.model.recall import RefKind
from bethink.model.records import AgentKind, Fact, FactKind, Message, Role
from bethink.model.working import Event, Mode, Strategy
from bethink.server.limits import too_large
from bethink.server.options import ServerOptions
from bethink.server.wire import MAX_LIMIT

_BIGGEST = 2**53 - 1

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
Whole = Annotated[int, Field(ge=0, le=_BIGGEST)]
Moment = Annotated[str, Field(max_length=40, description="ISO 8601; a bare day means its end, UTC")]
Tokens = Annotated[int, Field(ge=1, le=10_000_000)]
Conversation = Annotated[
    str, Field(min_length=1, max_length=2_402, description="any text, such as channel:chat:thread")
]
Json = dict[str, Any]


class Body(BaseModel):
    """Something sent. A member nobody knows is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class MessageBody(Body):
    """A message as model APIs write it; content that is null, as beside tool calls, is empty text."""

    role: Role
    content: str | None
    name: str | None = None
    tool_calls: list[Json] = []
    tool_call_id: str | None = None
    is_error: StrictBool = False
    metadata: Json = {}
    origin: str | None = None
    idempotency_key: Name | None = None
    trace_parent: str | None = None
    said_at: Moment | None = None

    def message(self, key: str | None) -> Message:
        """Make the message, with a key of its own if it has none."""
        return Message(
            role=self.role,
            content=self.content or "",
            name=self.name,
            tool_calls=self.tool_calls,
            tool_call_id=self.tool_call_id,
            is_error=self.is_error,
            metadata=self.metadata,
            origin=self.origin,
            idempotency_key=self.idempotency_key or key,
            trace_parent=self.trace_parent,
            said_at=moment_or_none(self.said_at),
        )


class MessagesBody(Body):
    """Messages for a session."""

    messages: list[MessageBody]


class RememberBody(Body):
    """Something to remember: a text, or messages."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["text"], "properties": {"text": {"type": "string"}, "messages": {"type": "null"}}},
                {"required": ["messages"], "properties": {"messages": {"type": "array"}, "text": {"type": "null"}}},
            ]
        }
    )

    text: str | None = None
    messages: list[MessageBody] | None = None
    conversation: Conversation | None = None
    session_id: Name | None = None
    agent: Name = "assistant"


class RecallBody(Body):
    """A question, and how narrow it is."""

    question: str
    limit: int = Field(default=10, ge=1, le=MAX_LIMIT)
    budget: Tokens | None = None
    as_of: Moment | None = None
    kinds: list[RefKind] | None = None
    origins: list[str] | None = None
    session_id: Name | None = None
    explain: StrictBool = False


class ContextBody(Body):
    """What a block of memory is wanted for."""

    question: str = ""
    budget: Tokens | None = None
    as_of: Moment | None = None
    session_id: Name | None = None


class UsedBody(Body):
    """Memories that were of use."""

    refs: list[str] = Field(max_length=MAX_LIMIT)


class ForgetBody(Body):
    """What to forget: exactly one of ref, session_id, conversation and everything."""

    ref: str | None = None
    session_id: Name | None = None
    conversation: Conversation | None = None
    agent: Name = "assistant"
    everything: StrictBool = False
    dry_run: StrictBool = False


class OpenBody(Body):
    """A session to open."""

    conversation: Conversation
    agent: Name = "assistant"
    kind: AgentKind = AgentKind.PRIMARY
    ephemeral: StrictBool = False


class ResetBody(Body):
    """How a session is reset."""

    emergency: StrictBool = False


class CitedBody(Body):
    """An answer with citations in it."""

    answer: str


class FactBody(Body):
    """A fact. One that was there under its id is retired."""

    content: str
    tags: list[str] = []
    metadata: dict[str, str] = {}
    source: str = ""
    kind: FactKind = FactKind.KNOWLEDGE
    entities: list[str] = []
    subject: str | None = None
    slot: str | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    created_at: Moment | None = None
    expected: Whole | None = None

    def fact(self, fact_id: str) -> Fact:
        """Make the fact. What is sent through this door is an import: only messages make a fact the user's."""
        return Fact(
            id=fact_id,
            content=self.content,
            tags=tuple(self.tags),
            metadata=self.metadata,
            source=self.source,
            kind=self.kind,
            entities=tuple(self.entities),
            subject=self.subject,
            slot=self.slot,
            valid_from=moment_or_none(self.valid_from),
            valid_to=moment_or_none(self.valid_to),
            created_at=moment_or_none(self.created_at),
        )


class DraftBody(Body):
    """A document as it is to be."""

    slug: Name
    title: Name
    description: str = Field(default="", max_length=2_000)
    body: str = Field(default="", max_length=MAX_BODY)
    parent: Name | None = None
    links: list[str] = Field(default=[], max_length=200)

    def draft(self) -> Draft:
        """Make the draft."""
        return Draft(
            slug=self.slug,
            title=self.title,
            description=self.description,
            body=self.body,
            parent=self.parent,
            links=tuple(self.links),
        )


class NewDocumentBody(DraftBody):
    """A new document."""

    document_id: Name | None = None


class DocumentBody(DraftBody):
    """The next version of a document; `expected` is the one it was made from."""

    expected: Whole


class RestoreBody(Body):
    """A version to write again; `expected` null for a document that was deleted."""

    version: Whole
    expected: Whole | None


class VersionBody(Body):
    """A version."""

    version: Whole


class ThreadBody(Body):
    """A thread to open."""

    thread_id: Name | None = None
    session_id: Name | None = None
    mode: Mode | None = None


class EventInBody(Body):
    """What happened to an agent. Events that shorten a memory are the engine's own, and not taken from outside."""

    type: Name
    payload: Json = {}
    strategy: Strategy | None = None

    def to_event(self) -> Event:
        """Make the event."""
        if self.type.startswith("MEMORY_"):
            raise Invalid(f"{self.type} is an event of the engine's own.", hint="Send what happened to the agent.")
        return Event(type=self.type, payload=self.payload, strategy=self.strategy)


class EventBody(Body):
    """An event for a thread."""

    event: EventInBody


class ModeBody(Body):
    """How a thread takes its events."""

    mode: Mode


class ForkBody(Body):
    """Where a thread forks, and into what."""

    at: Whole
    into: Name | None = None
    mode: Mode | None = None


class KeyBody(Body):
    """A key to make. `spaces` null means all."""

    name: Name
    scopes: list[Scope] = Field(min_length=1)
    spaces: list[Name] | None = None
    expires_at: Moment | None = None


class RotateBody(Body):
    """For how many seconds the old key stays good."""

    overlap: float = Field(default=86_400, ge=0, le=366 * 86_400)


def messages_in(bodies: list[MessageBody], key: str | None, options: ServerOptions) -> list[Message]:
    """Make the messages, each with a key made of the request's, as far as they keep to the limits."""
    if len(bodies) > options.max_messages:
        raise too_large("Messages of a request", options.max_messages)
    for body in bodies:
        check_size(body.content or "", options)
    return [body.message(None if key is None else f"{key}:{index}") for index, body in enumerate(bodies)]


def check_size(text: str, options: ServerOptions) -> None:
    """Refuse a message that is too large."""
    if len(text) * 4 > options.max_message and len(text.encode()) > options.max_message:
        raise too_large("Bytes of a message", options.max_message)


def one_of(body: RememberBody, options: ServerOptions) -> str | list[Message]:
    """Return the text or the messages to remember."""
    if (body.text is None) == (body.messages is None):
        raise Invalid("give either a text or messages.", hint='Send {"text": …} or {"messages": […]}.')
    if body.messages is not None:
        return messages_in(body.messages, None, options)
    text = body.text or ""
    check_size(text, options)
    return text
