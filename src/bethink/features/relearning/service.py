"""Relearns a space: copies the log into a shadow database, learns from it there, and compares the facts."""

import math
import tempfile
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Self

from bethink.api.connect import Memory
from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError, InvalidRequestError, ModelResponseError, NotFoundError
from bethink.features.relearning.operations import (
    APPLY_RELEARNING,
    PROPOSE_RELEARNING,
    UNDO_RELEARNING,
    ProposeRelearningRequest,
    RelearningRequest,
)
from bethink.host.backend import LocalBackend
from bethink.jobs.worker import Worker
from bethink.memory.learning.model_use import check_cap
from bethink.memory.registry import handles
from bethink.model.facts import Quote
from bethink.model.ids import new_id
from bethink.model.jobs import JobKind, Usage
from bethink.model.records import Message, Record, SessionEntry
from bethink.model.relearning import ChangedFact, Relearning, RelearningStatus
from bethink.model.reviews import ClaimedFact, ReviewStatus
from bethink.model.steering import LearningRules
from bethink.model.words import gist
from bethink.store import facts, jobs, learning_rules, messages, relearnings, reviews, sessions
from bethink.store.db import Tx
from bethink.store.relearnings import LearnedFact

_PAGE = 500


@frozen(kw_only=False)
class _CopiedSession:
    """The original of a shadow session: its id, and the original numbers of its messages."""

    session_id: str
    numbers: Sequence[int]


@dataclass(slots=True)
class _Shadow:
    """Facts learned in the shadow, mapped to the original sessions."""

    sessions: dict[str, _CopiedSession] = field(default_factory=dict[str, _CopiedSession])
    claims: list[ClaimedFact] = field(default_factory=list[ClaimedFact])
    usage: Usage = field(default_factory=Usage)
    pending: int = 0
    rejected: int = 0
    model: str = ""

    def original(self, quotes: Iterable[Quote]) -> tuple[Quote, ...]:
        """Return quotes with the sessions and numbers of the original."""
        return tuple(
            replace(
                quote,
                session_id=self.sessions[quote.session_id].session_id,
                number=self.sessions[quote.session_id].numbers[quote.number - 1],
            )
            for quote in quotes
        )


@contextmanager
def _as_request_error(request: ProposeRelearningRequest) -> Generator[None]:
    """Report an unusable model as an invalid request if the request names one."""
    try:
        yield
    except ConfigurationError as error:
        if request.model or request.verify_model:
            raise InvalidRequestError(error.args[0], hint=error.hint) from error
        raise


def _worker_with_model(memory: Memory) -> Worker:
    worker = memory.backend.local().worker()
    worker.handler(JobKind.EXTRACT)  # raises the reason if the named model cannot be used
    if not worker.has_model:
        raise InvalidRequestError("No model is configured.", hint="Set `model`, for example 'openai:gpt-5-mini'.")
    return worker


class RelearnService:
    """Relearns spaces of one database."""

    def __init__(self, host: LocalBackend) -> None:
        self._host = host
        self._database = host.database

    @classmethod
    def from_host(cls, host: LocalBackend) -> Self:
        """Build the service from an open memory."""
        return cls(host)

    @handles(PROPOSE_RELEARNING)
    async def relearn(self, space: str, request: ProposeRelearningRequest) -> Relearning:
        """Learn from the whole log in a shadow, and return the proposed changes."""
        if not await self._database.transact(
            lambda tx: jobs.list_jobs(tx, space=space, limit=1), space=space, read_only=True
        ):
            raise NotFoundError(f"No space {space!r}.", hint="List the spaces to see their names.")
        with tempfile.TemporaryDirectory(prefix="bethink-relearn-") as folder:
            outcome = _Shadow()
            with _as_request_error(request):
                shadow = self._open_shadow(Path(folder) / "shadow.db", request)
            async with shadow as memory:
                with _as_request_error(request):
                    worker = _worker_with_model(memory)
                await self._copy_rules(space, memory, request.instructions)
                await self._learn(space, memory, worker, outcome)
        existing = await self._database.transact(
            lambda tx: relearnings.learned_facts(tx, space=space), space=space, read_only=True
        )
        proposal = await self._database.transact(
            lambda tx: _compare(existing, outcome, at=tx.now), space=space, read_only=True
        )  # fmt: skip
        await self._database.transact(lambda tx: relearnings.put(tx, proposal, space=space), space=space)
        return proposal if request.dry_run else await self.apply(space, RelearningRequest(relearning_id=proposal.id))

    def _open_shadow(self, path: Path, request: ProposeRelearningRequest) -> Memory:
        """Return a memory in a separate file that learns with the request's model."""
        changes: dict[str, object] = {"learn_in_background": False, "daily_budget": math.inf, "artifacts_dir": ""}
        if request.model:
            changes["model"] = request.model
        if request.verify_model:
            changes["verify_model"] = request.verify_model
        return Memory(self._host.shadow(path, changes, prompt=request.prompt))

    @handles(APPLY_RELEARNING)
    async def apply(self, space: str, request: RelearningRequest) -> Relearning:
        """Apply a proposal as one change."""
        return await self._database.transact(
            lambda tx: relearnings.apply(tx, space=space, relearning_id=request.relearning_id), space=space
        )

    @handles(UNDO_RELEARNING)
    async def undo(self, space: str, request: RelearningRequest) -> Relearning:
        """Undo an applied relearning."""
        return await self._database.transact(
            lambda tx: relearnings.undo(tx, space=space, relearning_id=request.relearning_id), space=space
        )

    async def _copy_rules(self, space: str, memory: Memory, instructions: str | None) -> None:
        """Copy the learning rules to the shadow, optionally with other instructions."""
        rules = await self._database.transact(
            lambda tx: learning_rules.list_all(tx, space=space), space=space, read_only=True
        )  # fmt: skip
        if instructions is not None:
            rules.setdefault(None, LearningRules())
            rules = {agent: replace(agent_rules, instructions=instructions) for agent, agent_rules in rules.items()}
        for agent, agent_rules in rules.items():
            await memory.space(space).admin.rules.set(agent_rules, agent=agent)

    async def _learn(self, space: str, memory: Memory, worker: Worker, outcome: _Shadow) -> None:
        shadow = memory.backend.local().database
        for entry in await self._sessions(space):
            await check_cap(self._database, self._host.settings.daily_cap, calls=outcome.usage.calls)
            records = await self._database.transact(
                lambda tx, entry=entry: messages.after(tx, space=space, session_id=entry.session.id, number=0),
                space=space,
                read_only=True,
            )
            if not records:
                continue
            session = await memory.space(space).session(entry.conversation, agent=entry.agent)
            for start in range(0, len(records), _PAGE):
                await session.append([_message_copy(record) for record in records[start : start + _PAGE]])
            await session.end()
            outcome.sessions[session.id] = _CopiedSession(entry.session.id, [record.number for record in records])
            try:
                await _learn_all(worker)
            finally:
                await self._charge(await shadow.transact(jobs.spent, read_only=True), outcome)
        for item in await shadow.transact(
            lambda tx: relearnings.learned_facts(tx, space=space), space=space, read_only=True
        ):
            quotes = await shadow.transact(
                lambda tx, item=item: _support(tx, item, space=space), space=space, read_only=True
            )  # fmt: skip
            source = outcome.sessions[item.fact.source].session_id
            fact = replace(item.fact, id=new_id("fct"), source=source)
            outcome.claims.append(ClaimedFact(fact=fact, quotes=outcome.original(quotes)))
            outcome.model = fact.created_by.model if fact.created_by else outcome.model
        counts = await shadow.transact(lambda tx: reviews.counts(tx, space=space), space=space, read_only=True)
        outcome.pending, outcome.rejected = counts.get(ReviewStatus.PENDING, 0), counts.get(ReviewStatus.REFUSED, 0)

    async def _sessions(self, space: str) -> list[SessionEntry]:
        """Return the sessions that are learned from, oldest first."""

        def body(tx: Tx) -> list[SessionEntry]:
            entries: list[SessionEntry] = []
            while page := sessions.list_sessions(
                tx, space=space, limit=_PAGE, before=entries[-1].session.id if entries else ""
            ):
                entries += page
            return [entry for entry in reversed(entries) if entry.session.is_learned_from]

        return await self._database.transact(body, space=space, read_only=True)

    async def _charge(self, spent: Usage, outcome: _Shadow) -> None:
        """Charge the shadow's new spending to the original database."""
        more = Usage(*(now - before for now, before in zip(_figures(spent), _figures(outcome.usage), strict=True)))
        outcome.usage = spent
        await self._database.transact(lambda tx: jobs.spend(tx, more))


async def _learn_all(worker: Worker) -> None:
    """Learn from all queued sessions. A failure must not look like a session without facts."""
    while (report := await worker.run_once(only=[JobKind.EXTRACT])).leased:
        if report.outcomes["failed"]:
            raise ModelResponseError(
                "The model gave no usable answer.", hint="Check the model and the prompt, then run relearn again."
            )


def _figures(usage: Usage) -> tuple[int, int, int, int]:
    return usage.calls, usage.input_tokens, usage.output_tokens, usage.cost


def _message_copy(record: Record) -> Message:
    return replace(record.message, idempotency_key=None, said_at=record.message.said_at or record.recorded_at)


def _support(tx: Tx, learned_fact: LearnedFact, *, space: str) -> tuple[Quote, ...]:
    supports = facts.supports(tx, space=space, fact_id=learned_fact.fact.id)
    return supports[0].quotes if supports else ()


def _compare(existing: Sequence[LearnedFact], outcome: _Shadow, *, at: datetime) -> Relearning:
    """Pair existing facts with relearned ones: by text, then by slot, then by quoted messages."""
    unmatched = list(existing)
    new: list[ClaimedFact] = []
    same = 0
    for claim in outcome.claims:
        match = next((item for item in unmatched if gist(item.fact.text) == gist(claim.fact.text)), None)
        if match is None:
            new.append(claim)
        else:
            unmatched.remove(match)
            same += 1
    changed: list[ChangedFact] = []
    for claim in list(new):
        before = next((item for item in unmatched if _is_same_topic(item, claim)), None)
        if before is not None:
            unmatched.remove(before)
            new.remove(claim)
            changed.append(ChangedFact(before=before.fact, after=claim))
    return Relearning(
        id=new_id("rel"),
        status=RelearningStatus.PROPOSED,
        created_at=at,
        model=outcome.model,
        sessions=len(outcome.sessions),
        same=same,
        usage=outcome.usage,
        new=tuple(new),
        removed=tuple(item.fact for item in unmatched),
        changed=tuple(changed),
        pending=outcome.pending,
        rejected=outcome.rejected,
    )


def _is_same_topic(existing: LearnedFact, claim: ClaimedFact) -> bool:
    fact = claim.fact
    if fact.slot is not None and (fact.subject, fact.slot) == (existing.fact.subject, existing.fact.slot):
        return True
    words = frozenset((quote.session_id, quote.number) for quote in claim.quotes if not quote.context)
    return fact.kind == existing.fact.kind and fact.subject == existing.fact.subject and words == existing.words
