"""One space: the memory of a user, a project or a team.

Written by tools/make_api.py from the table of operations; change a request there and run it again.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bethink.api.handles import SpaceHandle, tuple_of
from bethink.api.session import Session
from bethink.features.context_log.records import ShownPage
from bethink.features.people.records import ErasedInSpace, PersonInSpace, PersonItems, PersonWay
from bethink.model.answers import MemoryAnswer
from bethink.model.changes import MemoryChange
from bethink.model.erasures import Erasure
from bethink.model.facts import Fact
from bethink.model.files import AddedFile
from bethink.model.jobs import Job, JobDetail, JobKind, JobPage, JobStatus, RunReport, Spending
from bethink.model.messages import Given, messages_from
from bethink.model.moments import When, beginning, moment
from bethink.model.operations.base import Empty
from bethink.model.operations.erasures import ERASURES, ErasuresRequest
from bethink.model.operations.installation import LearnRequest
from bethink.model.operations.memory import (
    ASK,
    CONSOLIDATE,
    CONTEXT,
    CORRECT,
    EXPLAIN,
    FORGET,
    JOBS,
    LEARN_SPACE,
    RECALL,
    REMEMBER,
    SHOWN,
    USED,
    AskRequest,
    ContextRequest,
    CorrectRequest,
    ExplainRequest,
    ForgetRequest,
    JobsRequest,
    RecallRequest,
    RememberRequest,
    ShownRequest,
    UsedRequest,
)
from bethink.model.operations.sessions import (
    FIND_SESSION,
    GET_SESSION,
    LIST_SESSIONS,
    OPEN_SESSION,
    FindSessionRequest,
    ListSessionsRequest,
    OpenSessionRequest,
    SessionRequest,
)
from bethink.model.operations.timeline import TIMELINE, TimelineRequest
from bethink.model.preview import Preview
from bethink.model.recall import (
    Block,
    Corrected,
    FactVerdict,
    Feedback,
    Level,
    Lineage,
    Recall,
    Ref,
    RefKind,
    Remembered,
    Showing,
)
from bethink.model.records import AgentKind, Forgotten, SessionEntry, SessionState
from bethink.model.relearning import Relearning
from bethink.model.steering import LearningRules
from bethink.model.summaries import SpaceSummary
from bethink.model.timeline import TimelineKind, TimelinePage

if TYPE_CHECKING:
    from bethink.api.documents import Documents
    from bethink.api.facts import Facts
    from bethink.api.reviews import Reviews
    from bethink.api.rules import Rules
    from bethink.api.threads import Threads
    from bethink.features.memory_tests.handle import MemoryTests
    from bethink.features.retention.handle import SpaceRetention


class Space(SpaceHandle):
    """One space: the memory of a user, a project or a team."""

    @property
    def facts(self) -> "Facts":
        """The facts of a space."""
        from bethink.api.facts import Facts  # noqa: PLC0415 - most programs never use it

        return Facts(self._backend, self._space)

    @property
    def reviews(self) -> "Reviews":
        """The claims of a space that need review."""
        from bethink.api.reviews import Reviews  # noqa: PLC0415 - most programs never use it

        return Reviews(self._backend, self._space)

    @property
    def rules(self) -> "Rules":
        """The rules by which a space learns."""
        from bethink.api.rules import Rules  # noqa: PLC0415 - most programs never use it

        return Rules(self._backend, self._space)

    @property
    def documents(self) -> "Documents":
        """The documents of a space."""
        from bethink.api.documents import Documents  # noqa: PLC0415 - most programs never use it

        return Documents(self._backend, self._space)

    @property
    def threads(self) -> "Threads":
        """The working memory of a space."""
        from bethink.api.threads import Threads  # noqa: PLC0415 - most programs never use it

        return Threads(self._backend, self._space)

    @property
    def tests(self) -> "MemoryTests":
        """The memory tests of a space."""
        from bethink.features.memory_tests.handle import MemoryTests  # noqa: PLC0415 - most programs never use it

        return MemoryTests(self._backend, self._space)

    @property
    def retention(self) -> "SpaceRetention":
        """How long a space keeps what, and legal holds on it."""
        from bethink.features.retention.handle import SpaceRetention  # noqa: PLC0415 - most programs never use it

        return SpaceRetention(self._backend, self._space)

    async def remember(
        self,
        messages: Given,
        *,
        idempotency_key: str | None = None,
        conversation: str = "notes",
        session_id: str | None = None,
        agent: str = "assistant",
        tags: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> Remembered:
        """Store a text of the user, or messages, for good.

        When it returns, the messages are durable. They are learnt from in the background.

        Args:
            messages: What was said, oldest first. A text stands for one message of the user.
            idempotency_key: Repeating a request with the same key stores nothing twice.
            conversation: The conversation that they belong to: any name that stays the same, such as `telegram-42`.
            session_id: An open session to append to, instead of the conversation's current one.
            agent: The agent that takes part in the conversation.
            tags: Tags for each of the messages, in addition to their own.
            metadata: Metadata for each of the messages. A message's own value under a key takes precedence.

        Raises:
            Conflict: if an idempotency key already belongs to another message.
            ErasedKey: if the message with this key was erased in the last 30 days.
        """
        return await self._run(
            REMEMBER,
            RememberRequest(
                idempotency_key=idempotency_key,
                messages=messages_from(messages),
                conversation=conversation,
                session_id=session_id,
                agent=agent,
                tags=tuple_of(tags),
                metadata=metadata,
            ),
        )

    async def recall(
        self,
        question: str,
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        budget: int | None = None,
        as_of: When | None = None,
        session_id: str | None = None,
        limit: int = 10,
        kinds: Iterable[RefKind] = tuple(RefKind),
        least: Level | None = None,
        explain: bool = False,
    ) -> Recall:
        """Find what answers a question, the best first.

        If nothing answers it, `missing` says why.

        Args:
            question: What to look for, in plain words.
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            budget: How many tokens the result may take.
            as_of: Answer from what had been said, and was believed, at this time. A day means its end.
            session_id: The session that asks. What it is shown goes into the ledger, and its own question is not an
                answer.
            limit: How many results to return at most.
            kinds: Which kinds of memory to search.
            least: Only answers that are at least this certain: high, fair or weak. Without it weak ones are
                returned, too.
            explain: Also return every candidate, with its signals and what became of it.
        """
        return await self._run(
            RECALL,
            RecallRequest(
                origins=None if origins is None else tuple_of(origins),
                tags=tuple_of(tags),
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=None if since is None else beginning(since),
                until=None if until is None else moment(until),
                where=where,
                budget=budget,
                as_of=None if as_of is None else moment(as_of),
                session_id=session_id,
                question=question,
                limit=limit,
                kinds=tuple_of(kinds),
                least=least,
                explain=explain,
            ),
        )

    async def ask(
        self,
        question: str,
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        budget: int | None = None,
        as_of: When | None = None,
        session_id: str | None = None,
        limit: int = 20,
        kinds: Iterable[RefKind] = tuple(RefKind),
        least: Level | None = None,
        without: Iterable[Ref | str] = (),
        deadline: float = 60.0,
    ) -> MemoryAnswer:
        """Answer a question from memory with the model, each sentence with the memories that say so.

        A sentence that no memory proves is dropped, and without one left the answer is `refused`. What is cited
        counts as used. `budget` is for the memories that the model reads: 4,000 tokens, if left out.

        Args:
            question: What to look for, in plain words.
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            budget: How many tokens the result may take.
            as_of: Answer from what had been said, and was believed, at this time. A day means its end.
            session_id: The session that asks. What it is shown goes into the ledger, and its own question is not an
                answer.
            limit: How many memories the model is given at most.
            kinds: Which kinds of memory to search.
            least: Only answers that are at least this certain: high, fair or weak. Without it weak ones are
                returned, too.
            without: Answer as if these memories, and what rests on them alone, were not there. Nothing counts as
                used then.
            deadline: After how many seconds to give up.

        Raises:
            Invalid: if no model is configured.
            ModelUnavailable: if the model is away, or the daily budget is spent.
            ModelTimeout: if the model does not answer by the deadline.
        """
        return await self._run(
            ASK,
            AskRequest(
                origins=None if origins is None else tuple_of(origins),
                tags=tuple_of(tags),
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=None if since is None else beginning(since),
                until=None if until is None else moment(until),
                where=where,
                budget=budget,
                as_of=None if as_of is None else moment(as_of),
                session_id=session_id,
                question=question,
                limit=limit,
                kinds=tuple_of(kinds),
                least=least,
                without=tuple(map(Ref.read, without)),
                deadline=deadline,
            ),
        )

    async def context(
        self,
        question: str = "",
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        budget: int | None = None,
        as_of: When | None = None,
        session_id: str | None = None,
    ) -> Block:
        """Return a block of memory to begin a prompt with.

        It stays the same, byte for byte, until memory changes. Make one when a session starts or was compacted.

        Args:
            question: What the prompt is about, if that is known. What answers it is added to the block.
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            budget: How many tokens the result may take.
            as_of: Answer from what had been said, and was believed, at this time. A day means its end.
            session_id: The session that asks. What it is shown goes into the ledger, and its own question is not an
                answer.
        """
        return await self._run(
            CONTEXT,
            ContextRequest(
                origins=None if origins is None else tuple_of(origins),
                tags=tuple_of(tags),
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=None if since is None else beginning(since),
                until=None if until is None else moment(until),
                where=where,
                budget=budget,
                as_of=None if as_of is None else moment(as_of),
                session_id=session_id,
                question=question,
            ),
        )

    async def explain(self, ref: Ref | str, *, depth: int = 1) -> Lineage:
        """Follow a memory to its messages, job, model and prompt, and on to where it was shown.

        With a `depth`, `walk` has up to 200 memories near it, and counts the others.

        Args:
            ref: The memory, named as in results: `kind:id:number`.
            depth: With more than 1, also what lies up to so many steps before and after it.

        Raises:
            NotFound: if the space has no such memory.
        """
        return await self._run(EXPLAIN, ExplainRequest(ref=Ref.read(ref), depth=depth))

    async def correct(self, ref: Ref | str, text: str, *, expires_at: When | None = None) -> Corrected:
        """Write what a fact or a document shall say from now on, as a new version. A fact is `stated` then.

        It keeps kind, origin and sources, so that forgetting those still reaches it. Earlier versions remain.

        Args:
            ref: A fact or a document, in the version that you read: `kind:id:version`, as in results.
            text: The whole new text.
            expires_at: From when on the fact is no longer recalled. As before, if left out.

        Raises:
            NotFound: if the space has no such memory.
            Stale: if the ref does not name the current version.
        """
        return await self._run(
            CORRECT,
            CorrectRequest(ref=Ref.read(ref), text=text, expires_at=None if expires_at is None else moment(expires_at)),
        )

    async def used(self, refs: Iterable[Ref | str]) -> int:
        """Count memories as used, and with them the session memories they rest on.

        Returns how many of them exist. What is used is kept longer by consolidation.

        Args:
            refs: The memories, named as in results.
        """
        return await self._run(USED, UsedRequest(refs=tuple(map(Ref.read, refs))))

    async def shown(
        self, *, session_id: str | None = None, as_of: When | None = None, limit: int = 100
    ) -> list[Showing]:
        """Read the ledger: what was shown to which session and when, the newest first.

        Args:
            session_id: Only what this session was shown.
            as_of: Only what had been shown by this time. A day means its end.
            limit: How many entries to return at most.
        """
        return await self._run(
            SHOWN, ShownRequest(session_id=session_id, as_of=None if as_of is None else moment(as_of), limit=limit)
        )

    async def forget(
        self,
        ref: Ref | str | None = None,
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        session_id: str | None = None,
        before: When | None = None,
        kinds: Iterable[RefKind] = tuple(RefKind),
        thread_id: str | None = None,
        everything: bool = False,
        version_only: bool = False,
        echoes: bool = False,
        by: str | None = None,
        reason: str = "",
        dry_run: bool = False,
        missing_ok: bool = False,
    ) -> Forgotten:
        """Remove something for good, with everything that was made of it, and count what went.

        It is recorded first, finished by any process if this one dies, and answered with a receipt.

        Args:
            ref: One memory: a message, a fact with all its versions, a session memory, or a document's text in all
                versions.
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: The agent whose conversation it is, `assistant` if left out; with a filter alone, only what comes
                from it.
            conversation: Every message of a conversation; with a filter, only what fits it.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            session_id: Every message of a session.
            before: Everything that was said or written before this time. A day means its beginning.
            kinds: Which kinds of memory to forget of what fits a filter. What was made of them goes, too.
            thread_id: A thread of working memory, with its states and events.
            everything: All that the space holds.
            version_only: Of a document, only the text of the version that `ref` names. It must be a past version.
            echoes: Also forget lines of other sessions that repeat it after they were shown it.
            by: Who asks for it, for the record; the user who runs the program, if left out.
            reason: Why, for the record: a number of a request, say, and nothing of what is forgotten.
            dry_run: Count and name what would go, and remove nothing.
            missing_ok: Count nothing, instead of raising `NotFound`, if there is nothing to forget.

        Raises:
            NotFound: if the space has nothing by that name.
            UnderLegalHold: if the space is under a legal hold.
        """
        return await self._run(
            FORGET,
            ForgetRequest(
                origins=None if origins is None else tuple_of(origins),
                tags=tuple_of(tags),
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=None if since is None else beginning(since),
                until=None if until is None else moment(until),
                where=where,
                ref=None if ref is None else Ref.read(ref),
                session_id=session_id,
                before=None if before is None else beginning(before),
                kinds=tuple_of(kinds),
                thread_id=thread_id,
                everything=everything,
                version_only=version_only,
                echoes=echoes,
                by=by,
                reason=reason,
                dry_run=dry_run,
                missing_ok=missing_ok,
            ),
        )

    async def jobs(self, *, limit: int = 100) -> list[Job]:
        """List the background jobs of the space, the newest first: status, cost, and why one failed.

        Args:
            limit: How many jobs to return at most.
        """
        return await self._run(JOBS, JobsRequest(limit=limit))

    async def consolidate(self) -> bool:
        """Queue a consolidation of the space; a worker carries it out.

        Raises:
            NotFound: if the space does not exist.
        """
        return await self._run(CONSOLIDATE, Empty())

    async def learn(self, *, only: Iterable[JobKind] | None = None) -> RunReport:
        """Learn once from everything that is marked in the space, and report what came of it.

        The report includes what this process learnt in the background since the last call. With a model this
        happens by itself: call it to wait for it.

        Args:
            only: Only these kinds of jobs.
        """
        return await self._run(LEARN_SPACE, LearnRequest(only=None if only is None else tuple_of(only)))

    async def erasures(self, *, limit: int = 100) -> list[Erasure]:
        """List what was forgotten in the space, the newest first: who asked, which places confirmed, and the receipt.

        It holds no text. It stays when the whole space is forgotten. What was interrupted is finished first.

        Args:
            limit: How many erasures to return at most.
        """
        return await self._run(ERASURES, ErasuresRequest(limit=limit))

    async def timeline(
        self,
        *,
        kinds: Iterable[TimelineKind] = tuple(TimelineKind),
        as_of: When | None = None,
        limit: int = 50,
        after: str = "",
    ) -> TimelinePage:
        """List what was said, learnt, retired, written, shown and forgotten in the space, the newest first.

        A page costs the same however much is stored. One with few kinds may be shorter than its limit.

        Args:
            kinds: Only what is of one of these kinds.
            as_of: Only what had happened by this time. A day means its end.
            limit: How many entries to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        return await self._run(
            TIMELINE,
            TimelineRequest(
                kinds=tuple_of(kinds), as_of=None if as_of is None else moment(as_of), limit=limit, after=after
            ),
        )

    async def preview(
        self,
        messages: Given,
        *,
        rules: LearningRules | None = None,
        conversation: str = "preview",
        agent: str = "assistant",
    ) -> Preview:
        """Learn from messages without storing anything, and return what would stand, be held or be refused.

        Only its cost is counted for the day. The model is told what the space knows, as when it learns.

        Args:
            messages: What was said, oldest first. A text stands for one message of the user.
            rules: Rules to try, in place of those that are set.
            conversation: The conversation that they would belong to: its channel is told to the model.
            agent: The agent whose rules apply.

        Raises:
            Invalid: if no model is configured.
            Conflict: if the daily spend cap is reached.
        """
        from bethink.model.operations.steering import PREVIEW, PreviewRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(
            PREVIEW,
            PreviewRequest(messages=messages_from(messages), rules=rules, conversation=conversation, agent=agent),
        )

    async def pin(self, ref: Ref | str) -> Fact:
        """Pin a fact: `context` has it as long as it holds, next to what the user wants.

        A corrected fact stays pinned; one that takes its place is not.

        Args:
            ref: The fact, in any version: `fact:id:version`, as in results.

        Raises:
            NotFound: if the space has no such fact, or it no longer holds.
        """
        from bethink.model.operations.steering import PIN, PinRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(PIN, PinRequest(ref=Ref.read(ref)))

    async def unpin(self, ref: Ref | str) -> Fact:
        """Take the pin of a fact back.

        Args:
            ref: The fact, in any version: `fact:id:version`, as in results.

        Raises:
            NotFound: if the space has no such fact, or it no longer holds.
        """
        from bethink.model.operations.steering import UNPIN, PinRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(UNPIN, PinRequest(ref=Ref.read(ref)))

    async def pins(self, *, as_of: When | None = None, limit: int = 100) -> list[Fact]:
        """List the facts that are pinned and hold, in the order they were pinned.

        Args:
            as_of: What was pinned at this time. A day means its end.
            limit: How many facts to return at most.
        """
        from bethink.model.operations.steering import PINS, PinsRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(PINS, PinsRequest(as_of=None if as_of is None else moment(as_of), limit=limit))

    async def feedback(
        self, ref: Ref | str, verdict: FactVerdict, *, note: str | None = None, by: str = "user"
    ) -> Feedback:
        """Say that a fact was useful, is wrong, or is outdated, and keep who said so.

        `useful` counts it as used. `wrong` puts it under review: it is not recalled until it is approved.
        `outdated` ends it now.

        Args:
            ref: The fact, in the version that was read: `fact:id:version`, as in results.
            verdict: `useful`, `wrong` or `outdated`.
            note: Why, in their words.
            by: Who says so. It is kept, and not checked.

        Raises:
            NotFound: if the space has no such fact.
            Stale: if the ref does not name the current version.
        """
        from bethink.model.operations.steering import FEEDBACK, FeedbackRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(FEEDBACK, FeedbackRequest(ref=Ref.read(ref), verdict=verdict, note=note, by=by))

    async def session(
        self,
        conversation: str,
        *,
        agent: str = "assistant",
        kind: AgentKind = AgentKind.PRIMARY,
        ephemeral: bool = False,
        tags: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Session:
        """Return the active session of a conversation, opening one if there is none.

        The space, the agent and the conversation are created at first use.

        Args:
            conversation: Any name that stays the same, such as `telegram-42`.
            agent: The agent that takes part in it.
            kind: What the agent is for. An agent keeps the kind that it first had.
            ephemeral: Learn nothing from the session. It ends an open one of the other sort.
            tags: Tags for the session, in place of those that it has.
            metadata: Metadata for the session, in place of what it has.
        """
        return Session(
            self._backend,
            await self._run(
                OPEN_SESSION,
                OpenSessionRequest(
                    conversation=conversation,
                    agent=agent,
                    kind=kind,
                    ephemeral=ephemeral,
                    tags=None if tags is None else tuple_of(tags),
                    metadata=metadata,
                ),
            ),
        )

    async def find_session(self, conversation: str, *, agent: str = "assistant") -> Session | None:
        """Return the newest session of a conversation, or None. Nothing is created.

        It may have ended.

        Args:
            conversation: The name of the conversation.
            agent: The agent that takes part in it.
        """
        found = await self._run(FIND_SESSION, FindSessionRequest(conversation=conversation, agent=agent))
        return None if found is None else Session(self._backend, found)

    async def sessions(
        self,
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int = 100,
        before: str = "",
        state: SessionState | None = None,
        conversation_prefix: str | None = None,
    ) -> list[SessionEntry]:
        """List the sessions of the space, the newest first.

        Args:
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            limit: How many sessions to return at most.
            before: Only sessions older than this one: the last id of the previous page.
            state: Only sessions that are open, marked, learnt, failed or ephemeral.
            conversation_prefix: Only sessions of conversations whose names begin with this.
        """
        return await self._run(
            LIST_SESSIONS,
            ListSessionsRequest(
                origins=None if origins is None else tuple_of(origins),
                tags=tuple_of(tags),
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=None if since is None else beginning(since),
                until=None if until is None else moment(until),
                where=where,
                limit=limit,
                before=before,
                state=state,
                conversation_prefix=conversation_prefix,
            ),
        )

    async def get_session(self, session_id: str) -> Session:
        """Return a session as it stands now.

        Args:
            session_id: The session.

        Raises:
            NotFound: if the space has no such session.
        """
        return Session(self._backend, await self._run(GET_SESSION, SessionRequest(session_id=session_id)))

    async def changes(self, *, after: int | None = None, limit: int = 100, wait: float = 0.0) -> list[MemoryChange]:
        """List what changed in the space, in order: kinds and refs, never a text.

        Go on with the number of the last one as `after`. With `wait`, it returns as soon as something changes.

        Args:
            after: Only changes with a higher number; 0 for the oldest that is kept. Without it, the newest ones.
            limit: How many changes to return at most.
            wait: For how many seconds to wait for a change if there is none.

        Raises:
            Stale: if changes after this number are no longer kept.
        """
        from bethink.model.operations.changes import CHANGES, ChangesRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(CHANGES, ChangesRequest(after=after, limit=limit, wait=wait))

    async def page_jobs(
        self, *, status: JobStatus | None = None, kind: JobKind | None = None, limit: int = 50, after: str = ""
    ) -> JobPage:
        """List the jobs of the space by status and kind, the last queued first.

        Args:
            status: Only jobs in this state.
            kind: Only jobs of this kind.
            limit: How many jobs to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        from bethink.model.operations.monitoring import PAGE_SPACE_JOBS, PageSpaceJobsRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(
            PAGE_SPACE_JOBS, PageSpaceJobsRequest(status=status, kind=kind, limit=limit, after=after)
        )

    async def job(self, kind: JobKind, key: str) -> JobDetail:
        """Return a job with its failed attempts and what models answered.

        Args:
            kind: What it does.
            key: What it works on, as lists of jobs name it: a session, an agent, or `space`.

        Raises:
            NotFound: if the space has no such job.
        """
        from bethink.model.operations.monitoring import GET_JOB, JobRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(GET_JOB, JobRequest(kind=kind, key=key))

    async def retry_job(self, kind: JobKind, key: str) -> bool:
        """Let a job of any kind that failed or was given up start over. Returns False if it did neither.

        Args:
            kind: What it does.
            key: What it works on, as lists of jobs name it: a session, an agent, or `space`.

        Raises:
            NotFound: if the space has no such job.
        """
        from bethink.model.operations.monitoring import RETRY_JOB, JobRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(RETRY_JOB, JobRequest(kind=kind, key=key))

    async def summary(self) -> SpaceSummary:
        """Return what failed in the space and what waits for a person."""
        from bethink.model.operations.monitoring import SUMMARY  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(SUMMARY, Empty())

    async def spending(self, *, since: When | None = None, until: When | None = None) -> list[Spending]:
        """List what models cost for the space on each day.

        Args:
            since: The first day; 30 days before the last, if left out.
            until: The last day; today, if left out.

        Raises:
            Invalid: for more than 366 days.
        """
        from bethink.model.operations.monitoring import SPACE_SPENDING, SpaceSpendingRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(
            SPACE_SPENDING,
            SpaceSpendingRequest(
                since=None if since is None else beginning(since), until=None if until is None else moment(until)
            ),
        )

    async def page_shown(
        self,
        *,
        session_id: str | None = None,
        showing_id: str | None = None,
        as_of: When | None = None,
        limit: int = 20,
        after: str = "",
    ) -> ShownPage:
        """List what was shown to whom, the newest first, each memory with its text in the version that was shown.

        Args:
            session_id: Only what this session was shown.
            showing_id: Only this entry.
            as_of: Only what had been shown by this time. A day means its end.
            limit: How many entries to return at most.
            after: Only what follows: the `next` of the previous page.

        Raises:
            NotFound: if the space has no such session.
        """
        from bethink.features.context_log.operations import PAGE_SHOWN, PageShownRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(
            PAGE_SHOWN,
            PageShownRequest(
                session_id=session_id,
                showing_id=showing_id,
                as_of=None if as_of is None else moment(as_of),
                limit=limit,
                after=after,
            ),
        )

    async def add_file(
        self,
        name: str,
        *,
        idempotency_key: str | None = None,
        text: str | None = None,
        data: bytes | None = None,
        media_type: str | None = None,
    ) -> AddedFile:
        """Store a file as passages that can be recalled and followed to their place in it.

        The same bytes again change nothing. Of another version the passages that stayed are kept, new ones added,
        and those that are gone taken back; one that was forgotten by itself stays away. What a file says is data,
        never a wish of the user. It is the conversation `file:NAME:` of the assistant.

        Args:
            name: The name of the file, such as `handbook.md`. Another file by this name is taken as its next
                version.
            idempotency_key: Repeating a request with the same key stores nothing twice.
            text: Its text, if you have that.
            data: Its bytes, instead of the text: UTF-8, UTF-16 with a byte order mark, or PDF. In JSON as base64.
            media_type: `text/plain`, `text/markdown`, `text/html` or `application/pdf`; by the suffix of the name,
                if left out.

        Raises:
            Invalid: if it cannot be read, holds no text, or is too long; for PDF and HTML also without their extra.
            ErasedKey: if what was stored with this key was erased in the last 30 days.
            UnderLegalHold: if a passage is gone on which something rests, and a hold stands.
        """
        from bethink.features.files.operations import ADD_FILE, AddFileRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(
            ADD_FILE,
            AddFileRequest(idempotency_key=idempotency_key, name=name, text=text, data=data, media_type=media_type),
        )

    async def find_person(
        self, name: str, *, aliases: Iterable[str] = (), by: Iterable[PersonWay] = tuple(PersonWay), limit: int = 100
    ) -> PersonInSpace:
        """Count and name what the space holds of a person.

        It reads every text. A name that is part of another word is not matched.

        Args:
            name: The name of the person: whole words, whose case and accents do not count.
            aliases: Other names of the same person: nicknames, initials, an address.
            by: How to look: by speaker, words and entities.
            limit: How many refs to return at most, for each space. Everything is counted.
        """
        from bethink.features.people.operations import FIND_IN_SPACE, FindPersonRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(
            FIND_IN_SPACE, FindPersonRequest(name=name, aliases=tuple_of(aliases), by=tuple_of(by), limit=limit)
        )

    async def export_person(
        self,
        name: str,
        *,
        aliases: Iterable[str] = (),
        by: Iterable[PersonWay] = tuple(PersonWay),
        limit: int = 1000,
        after: str = "",
    ) -> PersonItems:
        """Return the texts that the space holds of a person.

        It reads every text. A name that is part of another word is not matched.

        Args:
            name: The name of the person: whole words, whose case and accents do not count.
            aliases: Other names of the same person: nicknames, initials, an address.
            by: How to look: by speaker, words and entities.
            limit: How many items to return at most.
            after: Only what follows: the `next` of the page before.
        """
        from bethink.features.people.operations import EXPORT_FROM_SPACE, ExportPersonRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(
            EXPORT_FROM_SPACE,
            ExportPersonRequest(name=name, aliases=tuple_of(aliases), by=tuple_of(by), limit=limit, after=after),
        )

    async def forget_person(
        self,
        name: str,
        *,
        aliases: Iterable[str] = (),
        by: Iterable[PersonWay] = tuple(PersonWay),
        reason: str = "",
        dry_run: bool = False,
    ) -> ErasedInSpace:
        """Erase what the space holds of a person, with everything that was made of it, and return a receipt.

        Whole messages and whole documents go, also those in which others speak of the person: look first.

        Args:
            name: The name of the person: whole words, whose case and accents do not count.
            aliases: Other names of the same person: nicknames, initials, an address.
            by: How to look: by speaker, words and entities.
            reason: Why, for the record: a number of a request, say, and not the name.
            dry_run: Count and name what would go, and remove nothing.

        Raises:
            UnderLegalHold: if the space is under a legal hold.
        """
        from bethink.features.people.operations import FORGET_IN_SPACE, ForgetPersonRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(
            FORGET_IN_SPACE,
            ForgetPersonRequest(name=name, aliases=tuple_of(aliases), by=tuple_of(by), reason=reason, dry_run=dry_run),
        )

    async def relearn(
        self,
        *,
        model: str = "",
        second_model: str = "",
        instructions: str | None = None,
        prompt: str = "",
        dry_run: bool = True,
    ) -> Relearning:
        """Learn from the whole log again, beside what is known, and return what would change.

        It follows the rules of the space. Claims are checked as ever, whatever the prompt says.

        Args:
            model: The model, as PROVIDER:NAME. The one that learns here, if left out.
            second_model: The model of the second reading. The same model, if left out.
            instructions: What to learn, in place of the instructions in the rules, of the space and of its agents;
                empty for none.
            prompt: A system prompt for the model, in place of ours. The second reading keeps its own.
            dry_run: Only show what would change. Otherwise it is applied at once.

        Raises:
            Invalid: if no model is configured.
            NotFound: for an unknown space.
            Conflict: if the daily spend cap is reached.
        """
        from bethink.features.relearning.operations import RELEARN, RelearnRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(
            RELEARN,
            RelearnRequest(
                model=model, second_model=second_model, instructions=instructions, prompt=prompt, dry_run=dry_run
            ),
        )

    async def apply_relearning(self, relearning_id: str) -> Relearning:
        """Apply a proposed relearning as one change.

        Args:
            relearning_id: The relearning.

        Raises:
            Stale: if a fact that it would change was changed since.
        """
        from bethink.features.relearning.operations import APPLY_RELEARNING, RelearningRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(APPLY_RELEARNING, RelearningRequest(relearning_id=relearning_id))

    async def undo_relearning(self, relearning_id: str) -> Relearning:
        """Undo an applied relearning: the facts are as they were before it.

        Args:
            relearning_id: The relearning.

        Raises:
            Stale: if a fact that it brought was changed since.
        """
        from bethink.features.relearning.operations import UNDO_RELEARNING, RelearningRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(UNDO_RELEARNING, RelearningRequest(relearning_id=relearning_id))
