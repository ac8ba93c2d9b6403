"""Operations on a space: remember, recall, ask, context, explain, correct, forget and learn."""

from dataclasses import fields, replace
from datetime import timedelta
from typing import Annotated, Any, Self

from bethink.base.frozen import frozen
from bethink.errors import InvalidRequestError
from bethink.model.access import Scope
from bethink.model.answers import Answer
from bethink.model.checks import Between, Cleaned, Length, any_of
from bethink.model.filters import Filter
from bethink.model.jobs import LearnReport
from bethink.model.messages import Messages
from bethink.model.moments import FIRST, Moment, Since
from bethink.model.operations.base import (
    Budget,
    Conversation,
    Empty,
    KeyedRequest,
    Limit,
    Name,
    Operation,
    Question,
    Request,
    Retry,
    SpanName,
    served_by,
)
from bethink.model.operations.installation import LearnRequest
from bethink.model.operations.narrowing import FilteredRequest, Tags
from bethink.model.operations.viewing import FilteredViewRequest, ViewRequest
from bethink.model.recall import Certainty, ContextBlock, Correction, Lineage, RecallResult, Remembered
from bethink.model.records import Deletion
from bethink.model.refs import Ref, RefKind
from bethink.model.text import JsonObject

READ, WRITE, STEER, ERASE = Scope.READ, Scope.WRITE, Scope.STEER, Scope.ERASE
ASSISTANT = "assistant"
"""Default agent of a conversation."""
_INSTANT = timedelta(microseconds=1)


@frozen
class RememberRequest(KeyedRequest):
    """Messages to store."""

    messages: Messages
    """Messages, oldest first. A string is one user message."""
    conversation: Conversation = "notes"
    """Name of the conversation, such as `telegram-42` (default `notes`)."""
    session_id: Name | None = None
    """Id of an open session to append to (default: the active session of the conversation)."""
    agent: Name = "assistant"
    """Agent in the conversation (default `assistant`)."""
    tags: Tags = ()
    """Tags to add to each message."""
    metadata: JsonObject | None = None
    """Metadata to add to each message. Values of the message itself take precedence."""


@frozen
class _LoggedRequest(FilteredViewRequest):
    """Base class of requests whose result is recorded in the context log if `session_id` is set."""

    budget: Budget | None = None
    """Maximum number of tokens in the result (default: no limit in `recall`, 2,000 in `context`)."""
    session_id: Name | None = None
    """Id of the requesting session. The context log records the result, and the question itself is excluded."""
    kinds: tuple[RefKind, ...] = tuple(RefKind)
    """Kinds of memory to use (default: all)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", any_of("kinds", self.kinds, RefKind))
        FilteredViewRequest.__post_init__(self)

    def retry(self, declared: Retry) -> Retry:
        """Return ONCE if the context log records the result, because a second call adds a second entry."""
        return declared if self.session_id is None else Retry.ONCE


@frozen
class _SearchRequest(_LoggedRequest):
    """Base class of requests that search memory."""

    question: Question
    """Question or words to search for."""
    limit: Limit = 10
    """Maximum number of results (default 10)."""
    min_certainty: Certainty | None = None
    """Minimum certainty of matches: `high`, `fair` or `weak` (default `weak`)."""

    def __post_init__(self) -> None:
        if self.min_certainty is not None:
            object.__setattr__(self, "min_certainty", any_of("min_certainty", (self.min_certainty,), Certainty)[0])
        _LoggedRequest.__post_init__(self)


@frozen
class RecallRequest(_SearchRequest):
    """A search in a space."""

    explain: bool = False
    """Whether to also return all candidates with their signals and outcome (default False)."""

    @classmethod
    def from_request(cls, request: _LoggedRequest, **changes: Any) -> Self:
        """Return a search with the fields of another request. `changes` take precedence."""
        shared = {field.name for field in fields(cls)} & {field.name for field in fields(request)}
        return cls(**{**{name: getattr(request, name) for name in shared}, **changes})


@frozen
class AskRequest(_SearchRequest):
    """A question for the model to answer from memory."""

    limit: Limit = 20
    """Maximum number of memories that the model reads (default 20)."""
    spaces: Annotated[tuple[Name, ...], Length(0, 19)] = ()
    """Names of other spaces to answer from as well, without their confidential memories."""
    exclude: Annotated[tuple[Ref, ...], Length(0, 100)] = ()
    """Refs of memories to ignore, with data based only on them. Cited memories are then not marked as used."""
    timeout: Annotated[float, Between(0, 600)] = 60.0
    """Maximum number of seconds to wait for the model (default 60)."""

    def __post_init__(self) -> None:
        _SearchRequest.__post_init__(self)
        if not self.question.strip():
            raise InvalidRequestError("The question is empty.", hint="Pass text as `question`.")

    def other_spaces(self) -> tuple[str, ...]:
        """Return the names of the other spaces."""
        return self.spaces


@frozen
class ContextRequest(_LoggedRequest):
    """A memory block to build for a prompt."""

    question: Question = ""
    """Topic of the prompt, such as the user's message. Matches are added to the block."""
    citations: bool = True
    """Whether the lines have labels for the model to cite (default True). Pass False if nothing strips them from
    replies."""


@frozen
class ExplainRequest(ViewRequest):
    """A memory to trace to its sources and uses."""

    ref: Ref
    """Ref of the memory, as in results: `kind:id:number`. Version 0 of a fact or document is its newest version."""
    depth: Annotated[int, Between(1, 10)] = 1
    """Maximum number of steps to sources and derived data (default 1)."""


@frozen
class CorrectRequest(Request):
    """New text for a fact or document."""

    ref: Ref
    """Ref of the fact or document in its current version: `kind:id:version`, as in results."""
    text: Annotated[str, Length(1, 1_000_000), Cleaned()]
    """Complete new text."""
    expires_at: Moment | None = None
    """Time after which the fact is not recalled (default: unchanged)."""

    def __post_init__(self) -> None:
        Request.__post_init__(self)
        if self.expires_at is not None and self.ref.kind is not RefKind.FACT:
            raise InvalidRequestError(
                f"`expires_at` works only with facts, not with {self.ref}.", hint="Omit `expires_at`."
            )
        if self.ref.kind not in (RefKind.FACT, RefKind.DOCUMENT):
            hint = "Correct a fact or document derived from it, or delete it with `forget`."
            raise InvalidRequestError(f"A {self.ref.kind.replace('_', ' ')} cannot be corrected.", hint=hint)
        if not self.text.strip():
            raise InvalidRequestError("The new text is empty.", hint="To delete a memory, use `forget`.")


@frozen
class MarkUsedRequest(Request):
    """Memories to mark as used."""

    refs: tuple[Ref, ...]
    """Refs of the memories, as in results."""


@frozen
class ForgetRequest(FilteredRequest):
    """A deletion with one target: a ref, session, conversation, thread, everything, or a filter such as `before`."""

    ref: Ref | None = None
    """Ref of a message, fact, session summary or document. Facts and documents are deleted in all versions."""
    session_id: Name | None = None
    """Id of a session whose messages to delete."""
    conversation: Conversation | None = None
    """Name of a conversation whose messages to delete. Combines with filters."""
    agent: Name | None = None
    """Agent of the conversation (default `assistant`). Without `conversation`, it narrows another filter."""
    before: Since | None = None
    """Time before which to delete everything. A date means the start of that day."""
    kinds: tuple[RefKind, ...] = tuple(RefKind)
    """Kinds of memory that the filter deletes, with derived data (default: all)."""
    thread_id: Name | None = None
    """Id of a thread of working memory to delete, with its states and events."""
    everything: bool = False
    """Whether to delete all data of the space (default False)."""
    version_only: bool = False
    """Whether to delete only the text of the document version in `ref`, a past version (default False)."""
    include_repeats: bool = False
    """Whether to also delete messages of other sessions that repeat the text after it was shown (default False)."""
    actor: Name | None = None
    """Name of the requester, for the record (default: the user who runs the program)."""
    reason: Annotated[str, Length(0, 500), Cleaned()] = ""
    """Reason for the record, such as a request number. Do not include deleted content."""
    dry_run: bool = False
    """Whether to count the items without deleting them (default False)."""
    missing_ok: bool = False
    """Whether to return zero counts instead of raising `NotFoundError` for a missing target (default False)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", any_of("kinds", self.kinds, RefKind))
        FilteredRequest.__post_init__(self)
        filtered = self.conversation or self.only
        targets = (self.ref, self.session_id, filtered, self.thread_id, self.everything or None)
        if (count := sum(target is not None for target in targets)) != 1:
            hint = "Pass a ref, `session_id`, `conversation`, `thread_id`, `before`, `everything` or a filter."
            if count == 0 and self.agent is not None:
                hint = "`agent` alone is not a target: add `conversation`, or a filter such as `before` or `tags`."
            raise InvalidRequestError(f"`forget` takes one target, got {count}.", hint=hint)
        if self.only is None and self.kinds != tuple(RefKind):
            raise InvalidRequestError(
                "`kinds` needs a filter.", hint="Add `tags`, `where`, `since`, `before` or `speaker`."
            )
        if self.include_repeats and (self.only is not None or self.everything):
            raise InvalidRequestError(
                "`include_repeats` works only with a ref, `session_id` or `conversation`.",
                hint="Omit `include_repeats`.",
            )
        if self.version_only and (self.ref is None or self.ref.kind is not RefKind.DOCUMENT):
            raise InvalidRequestError(
                "`version_only` works only with documents.", hint="Pass ref='document:ID:VERSION'."
            )

    @property
    def only(self) -> Filter | None:
        """The filter, or None for another target. A conversation without filter fields is not a filter."""
        conditions = replace(FilteredRequest.as_filter(self), agent=None, conversation=None)
        if self.before is not None:
            last = max(self.before, FIRST + _INSTANT) - _INSTANT
            conditions = replace(conditions, until=last if conditions.until is None else min(conditions.until, last))
        conversation = self.conversation
        if conditions == Filter() and (conversation is None or self.kinds == tuple(RefKind)):
            return None
        agent = self.agent if conversation is None else self.agent or ASSISTANT
        return replace(conditions, agent=agent, conversation=conversation)

    def retry(self, declared: Retry) -> Retry:
        """Return SAFE for a dry run."""
        return Retry.SAFE if self.dry_run else declared


_SPACE = "/spaces/{space}"

REMEMBER: Operation[RememberRequest, Remembered] = Operation(
    "space.remember", RememberRequest, Remembered, f"POST {_SPACE}/remember", WRITE, Retry.IDEMPOTENT,
    "Store a user message, or a list of messages.",
    status=201, span_name=SpanName.UPSERT,
    raises=(
        "ConflictError: if another message used the idempotency key. "
        "ErasedKeyError: if the message with this key was deleted in the last 30 days."
    ),
    details="The messages are durable when the call returns. Bethink learns from them in the background.",
)  # fmt: skip
RECALL: Operation[RecallRequest, RecallResult] = Operation(
    "space.recall", RecallRequest, RecallResult, f"POST {_SPACE}/recall", READ, Retry.SAFE,
    "Search memory. Best match first.",
    span_name=SpanName.SEARCH,
    details="If there is no match, `note` says why.",
)  # fmt: skip
ASK: Operation[AskRequest, Answer] = Operation(
    "space.ask", AskRequest, Answer, f"POST {_SPACE}/ask", READ, Retry.ONCE,
    "Answer a question from memory, with sources for each sentence.",
    span_name=SpanName.SEARCH, timed=False,
    raises=(
        "InvalidRequestError: if no model is configured. "
        "ModelUnavailableError: if the model is unavailable or the daily budget is spent. "
        "ModelTimeoutError: if the model does not answer within `timeout`."
    ),
    details=(
        "Calls the model, which may ask for two more searches. Sentences without a supporting memory are removed; if "
        "none remains, `refusal` is the reason. Cited memories are marked as used. `budget` limits the memories that "
        "the model reads (default 4,000 tokens)."
    ),
)  # fmt: skip
CONTEXT: Operation[ContextRequest, ContextBlock] = Operation(
    "space.context", ContextRequest, ContextBlock, f"POST {_SPACE}/context", READ, Retry.SAFE,
    "Build the memory block for a prompt.",
    span_name=SpanName.SEARCH, positional=("question",),
    details="The block is byte-identical until memory changes. Build one when a session starts or is compacted.",
)  # fmt: skip
EXPLAIN: Operation[ExplainRequest, Lineage] = Operation(
    "space.explain", ExplainRequest, Lineage, f"GET {_SPACE}/memories/{{ref}}", READ, Retry.SAFE,
    "Return the sources, history and uses of a memory.",
    raises="NotFoundError: if the space has no such memory.",
    details="With a `depth` above 1, `walk` lists up to 200 related memories and counts the others.",
)  # fmt: skip
CORRECT: Operation[CorrectRequest, Correction] = Operation(
    "space.correct", CorrectRequest, Correction, f"POST {_SPACE}/correct", STEER, Retry.ONCE,
    "Replace the text of a fact or document with a new version.",
    span_name=SpanName.UPDATE,
    raises=(
        "NotFoundError: if the space has no such memory. "
        "VersionConflictError: if the ref does not name the current version."
    ),
    details=(
        "Kind, origin and sources stay the same, so deleting a source still deletes the corrected memory. A corrected "
        "fact has the evidence `stated`. Earlier versions remain."
    ),
)  # fmt: skip
MARK_USED: Operation[MarkUsedRequest, int] = Operation(
    "space.admin.context_log.mark_used", MarkUsedRequest, int, f"POST {_SPACE}/context-log/used", WRITE, Retry.ONCE,
    "Mark memories as used, with the session summaries they are based on.",
    details="Returns the number of existing memories. Consolidation retains used memories longer.",
)  # fmt: skip
FORGET: Operation[ForgetRequest, Deletion] = Operation(
    "space.forget", ForgetRequest, Deletion, f"POST {_SPACE}/forget", ERASE, Retry.ONCE,
    "Permanently delete a memory and everything derived from it.",
    span_name=SpanName.DELETE, positional=("ref",),
    raises="NotFoundError: if the target does not exist. LegalHoldError: if the space is under a legal hold.",
    details="Returns counts and a receipt. If this process stops, another one finishes the deletion.",
)  # fmt: skip
REFRESH_DOCUMENTS: Operation[Empty, bool] = Operation(
    "space.documents.refresh", Empty, bool, f"POST {_SPACE}/documents/refresh", WRITE, Retry.IDEMPOTENT,
    "Queue an update of the documents from learned data. A worker runs it.",
    raises="NotFoundError: if the space does not exist.",
)  # fmt: skip
LEARN_SPACE: Operation[LearnRequest, LearnReport] = Operation(
    "space.admin.learn", LearnRequest, LearnReport, f"POST {_SPACE}/learn", WRITE, Retry.ONCE,
    "Run all queued learning jobs of the space once, and return a report.",
    timed=False,
    details=(
        "The report includes background jobs of this process since the last call. With a model, learning runs "
        "automatically: call this to wait for it."
    ),
)  # fmt: skip

OPERATIONS = (REMEMBER, RECALL, ASK, CONTEXT, EXPLAIN, CORRECT, MARK_USED, FORGET, REFRESH_DOCUMENTS, LEARN_SPACE)
served_by("bethink.memory.log.service", REMEMBER)
served_by("bethink.memory.recall.service", RECALL, CONTEXT, EXPLAIN, MARK_USED)
served_by("bethink.memory.answering.service", ASK)
served_by("bethink.memory.recall.correcting", CORRECT)
served_by("bethink.memory.deletion.forget", FORGET)
served_by("bethink.jobs.service", REFRESH_DOCUMENTS, LEARN_SPACE)
