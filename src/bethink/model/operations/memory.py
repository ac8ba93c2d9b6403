"""The operations of a space: remember, recall, ask, context, explain, correct, forget, and its jobs."""

from dataclasses import fields, replace
from datetime import timedelta
from typing import Annotated, Any, Self

from bethink.base.frozen import frozen
from bethink.errors import Invalid
from bethink.model.access import Scope
from bethink.model.answers import MemoryAnswer
from bethink.model.checks import Between, Cleaned, Length, any_of
from bethink.model.filters import Filter
from bethink.model.jobs import Job, RunReport
from bethink.model.messages import Messages
from bethink.model.moments import FIRST, Moment, Since
from bethink.model.operations.base import (
    Budget,
    Conversation,
    Empty,
    KeyedRequest,
    Limit,
    MemoryOperation,
    Name,
    Question,
    Request,
    Retry,
    Verb,
    served_by,
)
from bethink.model.operations.installation import LearnRequest
from bethink.model.operations.narrowing import Narrowed, Tags
from bethink.model.recall import Block, Corrected, Level, Lineage, Recall, Ref, RefKind, Remembered, Showing
from bethink.model.records import Forgotten
from bethink.model.text import JsonObject

READ, WRITE, STEER, ERASE = Scope.READ, Scope.WRITE, Scope.STEER, Scope.ERASE
ASSISTANT = "assistant"
"""The agent of a conversation where none is named."""
_INSTANT = timedelta(microseconds=1)


@frozen
class RememberRequest(KeyedRequest):
    """Messages to store for good."""

    messages: Messages
    """What was said, oldest first. A text stands for one message of the user."""
    conversation: Conversation = "notes"
    """The conversation that they belong to: any name that stays the same, such as `telegram-42`."""
    session_id: Name | None = None
    """An open session to append to, instead of the conversation's current one."""
    agent: Name = "assistant"
    """The agent that takes part in the conversation."""
    tags: Tags = ()
    """Tags for each of the messages, in addition to their own."""
    metadata: JsonObject | None = None
    """Metadata for each of the messages. A message's own value under a key takes precedence."""


@frozen
class _Shown(Narrowed):
    """A request whose result goes into the context log (the table `ledger`) if a session asks."""

    budget: Budget | None = None
    """How many tokens the result may take."""
    as_of: Moment | None = None
    """Answer from what had been said, and was believed, at this time. A day means its end."""
    session_id: Name | None = None
    """The session that asks. What it is shown goes into the ledger, and its own question is not an answer."""

    def retry(self, declared: Retry) -> Retry:
        """Return ONCE where the context log records the result: a second call would be recorded, too."""
        return declared if self.session_id is None else Retry.ONCE


@frozen
class _Search(_Shown):
    """A request that searches memory for the answer to a question."""

    question: Question
    """What to look for, in plain words."""
    limit: Limit = 10
    """How many results to return at most."""
    kinds: tuple[RefKind, ...] = tuple(RefKind)
    """Which kinds of memory to search."""
    least: Level | None = None
    """Only answers that are at least this certain: high, fair or weak. Without it weak ones are returned, too."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", any_of("kinds", self.kinds, RefKind))
        if self.least is not None:
            object.__setattr__(self, "least", any_of("least", (self.least,), Level)[0])
        Narrowed.__post_init__(self)


@frozen
class RecallRequest(_Search):
    """A question to a space."""

    explain: bool = False
    """Also return every candidate, with its signals and what became of it."""

    @classmethod
    def of(cls, request: _Shown, **changes: Any) -> Self:
        """Return the search that another request needs: all fields that both have, except those that change."""
        shared = {field.name for field in fields(cls)} & {field.name for field in fields(request)}
        return cls(**{**{name: getattr(request, name) for name in shared}, **changes})


@frozen
class AskRequest(_Search):
    """A question for the model to answer from memory."""

    limit: Limit = 20
    """How many memories the model is given at most."""
    without: Annotated[tuple[Ref, ...], Length(0, 100)] = ()
    """Answer as if these memories, and what rests on them alone, were not there. Nothing counts as used then."""
    deadline: Annotated[float, Between(0, 600)] = 60.0
    """After how many seconds to give up."""

    def __post_init__(self) -> None:
        _Search.__post_init__(self)
        if not self.question.strip():
            raise Invalid("the question is empty.", hint="Ask something.")


@frozen
class ContextRequest(_Shown):
    """A block of memory to begin a prompt with."""

    question: Question = ""
    """What the prompt is about, if that is known. What answers it is added to the block."""


@frozen
class ExplainRequest(Request):
    """A memory to follow."""

    ref: Ref
    """The memory, named as in results: `kind:id:number`."""
    depth: Annotated[int, Between(1, 10)] = 1
    """With more than 1, also what lies up to so many steps before and after it."""


@frozen
class CorrectRequest(Request):
    """What a memory shall say from now on."""

    ref: Ref
    """A fact or a document, in the version that you read: `kind:id:version`, as in results."""
    text: Annotated[str, Length(1, 1_000_000), Cleaned()]
    """The whole new text."""
    expires_at: Moment | None = None
    """From when on the fact is no longer recalled. As before, if left out."""

    def __post_init__(self) -> None:
        Request.__post_init__(self)
        if self.expires_at is not None and self.ref.kind is not RefKind.FACT:
            raise Invalid("only a fact expires.", hint="Leave out expires_at.")
        if self.ref.kind not in (RefKind.FACT, RefKind.DOCUMENT):
            hint = "Correct the fact or the document that was made of it, or forget it."
            raise Invalid(f"a {self.ref.kind.replace('_', ' ')} cannot be corrected.", hint=hint)
        if not self.text.strip():
            raise Invalid("the new text is empty.", hint="To remove a memory, use forget.")


@frozen
class UsedRequest(Request):
    """Memories that were of use."""

    refs: tuple[Ref, ...]
    """The memories, named as in results."""


@frozen
class ShownRequest(Request):
    """A page of the ledger."""

    session_id: Name | None = None
    """Only what this session was shown."""
    as_of: Moment | None = None
    """Only what had been shown by this time. A day means its end."""
    limit: Limit = 100
    """How many entries to return at most."""


@frozen
class ForgetRequest(Narrowed):
    """What to forget: exactly one of ref, session, conversation, thread, everything, and what fits a filter.

    `before` is such a filter.
    """

    ref: Ref | None = None
    """One memory: a message, a fact with all its versions, a session memory, or a document's text in all versions."""
    session_id: Name | None = None
    """Every message of a session."""
    conversation: Conversation | None = None
    """Every message of a conversation; with a filter, only what fits it."""
    agent: Name | None = None
    """The agent whose conversation it is, `assistant` if left out; with a filter alone, only what comes from it."""
    before: Since | None = None
    """Everything that was said or written before this time. A day means its beginning."""
    kinds: tuple[RefKind, ...] = tuple(RefKind)
    """Which kinds of memory to forget of what fits a filter. What was made of them goes, too."""
    thread_id: Name | None = None
    """A thread of working memory, with its states and events."""
    everything: bool = False
    """All that the space holds."""
    version_only: bool = False
    """Of a document, only the text of the version that `ref` names. It must be a past version."""
    echoes: bool = False
    """Also forget lines of other sessions that repeat it after they were shown it."""
    by: Name | None = None
    """Who asks for it, for the record; the user who runs the program, if left out."""
    reason: Annotated[str, Length(0, 500), Cleaned()] = ""
    """Why, for the record: a number of a request, say, and nothing of what is forgotten."""
    dry_run: bool = False
    """Count and name what would go, and remove nothing."""
    missing_ok: bool = False
    """Count nothing, instead of raising `NotFound`, if there is nothing to forget."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", any_of("kinds", self.kinds, RefKind))
        Narrowed.__post_init__(self)
        within = self.conversation or self.only
        named = (self.ref, self.session_id, within, self.thread_id, self.everything or None)
        if sum(each is not None for each in named) != 1:
            hint = "Pass exactly one of ref, session_id, conversation, thread_id, everything, before, and a filter."
            raise Invalid("forget needs exactly one target.", hint=hint)
        if self.only is None and self.kinds != tuple(RefKind):
            raise Invalid("kinds narrow a filter, and there is none.", hint="Pass tags, where, since or another.")
        if self.echoes and (self.only is not None or self.everything):
            raise Invalid("echoes go with one memory, session or conversation.", hint="Leave out echoes.")
        if self.version_only and (self.ref is None or self.ref.kind is not RefKind.DOCUMENT):
            raise Invalid("version_only is for documents.", hint="Pass ref='document:ID:VERSION'.")

    @property
    def only(self) -> Filter | None:
        """The filter; None if the target is not one. A conversation by itself is forgotten as a whole."""
        found = replace(Narrowed.as_filter(self), agent=None, conversation=None)
        if self.before is not None:
            last = max(self.before, FIRST + _INSTANT) - _INSTANT
            found = replace(found, until=last if found.until is None else min(found.until, last))
        if found == Filter():
            return None
        within = self.conversation
        agent = self.agent if within is None else self.agent or ASSISTANT
        return replace(found, agent=agent, conversation=within)

    def retry(self, declared: Retry) -> Retry:
        """Return SAFE for a dry run."""
        return Retry.SAFE if self.dry_run else declared


@frozen
class JobsRequest(Request):
    """A page of jobs."""

    limit: Limit = 100
    """How many jobs to return at most."""


_SPACE = "/spaces/{space}"

REMEMBER: Verb[RememberRequest, Remembered] = Verb(
    "space.remember", RememberRequest, Remembered, f"POST {_SPACE}/remember", WRITE, Retry.IDEMPOTENT,
    "Store a text of the user, or messages, for good.",
    status=201, operation=MemoryOperation.UPSERT,
    raises=(
        "Conflict: if an idempotency key already belongs to another message. "
        "ErasedKey: if the message with this key was erased in the last 30 days."
    ),
    details="When it returns, the messages are durable. They are learnt from in the background.",
)  # fmt: skip
RECALL: Verb[RecallRequest, Recall] = Verb(
    "space.recall", RecallRequest, Recall, f"POST {_SPACE}/recall", READ, Retry.SAFE,
    "Find what answers a question, the best first.",
    operation=MemoryOperation.SEARCH,
    details="If nothing answers it, `missing` says why.",
)  # fmt: skip
ASK: Verb[AskRequest, MemoryAnswer] = Verb(
    "space.ask", AskRequest, MemoryAnswer, f"POST {_SPACE}/ask", READ, Retry.ONCE,
    "Answer a question from memory with the model, each sentence with the memories that say so.",
    operation=MemoryOperation.SEARCH, timed=False,
    raises=(
        "Invalid: if no model is configured. ModelUnavailable: if the model is away, or the daily budget is spent. "
        "ModelTimeout: if the model does not answer by the deadline."
    ),
    details=(
        "A sentence that no memory proves is dropped, and without one left the answer is `refused`. What is cited "
        "counts as used. `budget` is for the memories that the model reads: 4,000 tokens, if left out."
    ),
)  # fmt: skip
CONTEXT: Verb[ContextRequest, Block] = Verb(
    "space.context", ContextRequest, Block, f"POST {_SPACE}/context", READ, Retry.SAFE,
    "Return a block of memory to begin a prompt with.",
    operation=MemoryOperation.SEARCH, positional=("question",),
    details="It stays the same, byte for byte, until memory changes. Make one when a session starts or was compacted.",
)  # fmt: skip
EXPLAIN: Verb[ExplainRequest, Lineage] = Verb(
    "space.explain", ExplainRequest, Lineage, f"GET {_SPACE}/memories/{{ref}}", READ, Retry.SAFE,
    "Follow a memory to its messages, job, model and prompt, and on to where it was shown.",
    raises="NotFound: if the space has no such memory.",
    details="With a `depth`, `walk` has up to 200 memories near it, and counts the others.",
)  # fmt: skip
CORRECT: Verb[CorrectRequest, Corrected] = Verb(
    "space.correct", CorrectRequest, Corrected, f"POST {_SPACE}/correct", STEER, Retry.ONCE,
    "Write what a fact or a document shall say from now on, as a new version. A fact is `stated` then.",
    operation=MemoryOperation.UPDATE,
    raises="NotFound: if the space has no such memory. Stale: if the ref does not name the current version.",
    details="It keeps kind, origin and sources, so that forgetting those still reaches it. Earlier versions remain.",
)  # fmt: skip
USED: Verb[UsedRequest, int] = Verb(
    "space.used", UsedRequest, int, f"POST {_SPACE}/used", WRITE, Retry.ONCE,
    "Count memories as used, and with them the session memories they rest on.",
    details="Returns how many of them exist. What is used is kept longer by consolidation.",
)  # fmt: skip
SHOWN: Verb[ShownRequest, list[Showing]] = Verb(
    "space.shown", ShownRequest, list[Showing], f"GET {_SPACE}/shown", READ, Retry.SAFE,
    "Read the ledger: what was shown to which session and when, the newest first.",
)  # fmt: skip
FORGET: Verb[ForgetRequest, Forgotten] = Verb(
    "space.forget", ForgetRequest, Forgotten, f"POST {_SPACE}/forget", ERASE, Retry.ONCE,
    "Remove something for good, with everything that was made of it, and count what went.",
    operation=MemoryOperation.DELETE, positional=("ref",),
    raises="NotFound: if the space has nothing by that name. UnderLegalHold: if the space is under a legal hold.",
    details="It is recorded first, finished by any process if this one dies, and answered with a receipt.",
)  # fmt: skip
JOBS: Verb[JobsRequest, list[Job]] = Verb(
    "space.jobs", JobsRequest, list[Job], f"GET {_SPACE}/jobs", READ, Retry.SAFE,
    "List the background jobs of the space, the newest first: status, cost, and why one failed.",
)  # fmt: skip
CONSOLIDATE: Verb[Empty, bool] = Verb(
    "space.consolidate", Empty, bool, f"POST {_SPACE}/consolidate", WRITE, Retry.IDEMPOTENT,
    "Queue a consolidation of the space; a worker carries it out.",
    raises="NotFound: if the space does not exist.",
)  # fmt: skip
LEARN_SPACE: Verb[LearnRequest, RunReport] = Verb(
    "space.learn", LearnRequest, RunReport, f"POST {_SPACE}/learn", WRITE, Retry.ONCE,
    "Learn once from everything that is marked in the space, and report what came of it.",
    timed=False,
    details=(
        "The report includes what this process learnt in the background since the last call. With a model this "
        "happens by itself: call it to wait for it."
    ),
)  # fmt: skip

VERBS = (REMEMBER, RECALL, ASK, CONTEXT, EXPLAIN, CORRECT, USED, SHOWN, FORGET, JOBS, CONSOLIDATE, LEARN_SPACE)
served_by("bethink.memory.log.service", REMEMBER)
served_by("bethink.memory.recall.service", RECALL, CONTEXT, EXPLAIN, USED, SHOWN)
served_by("bethink.memory.answering.service", ASK)
served_by("bethink.memory.recall.correcting", CORRECT)
served_by("bethink.memory.deletion.forget", FORGET)
served_by("bethink.jobs.service", JOBS, CONSOLIDATE, LEARN_SPACE)
