"""Relearns a space: copies the log into a shadow database, learns from it there, and compares the facts."""

import math
import tempfile
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from bethink.api.connect import Memory
from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError, InvalidRequestError, ModelResponseError, NotFoundError
from bethink.features.relearning.applying import apply, undo
from bethink.features.relearning.compare import Relearned, compare
from bethink.features.relearning.operations import (
    APPLY_RELEARNING,
    PROPOSE_RELEARNING,
    UNDO_RELEARNING,
    ProposeRelearningRequest,
    RelearningRequest,
)
from bethink.features.relearning.shadow import read_statements
from bethink.host.backend import LocalBackend
from bethink.jobs.worker import Worker
from bethink.memory.learning.model_use import check_cap
from bethink.memory.registry import handles
from bethink.model.facts import Quote
from bethink.model.jobs import JobKind, Usage
from bethink.model.records import Message, Record, SessionEntry
from bethink.model.relearning import Relearning
from bethink.model.reviews import ReviewStatus
from bethink.model.steering import LearningRules
from bethink.store import jobs, learning_rules, messages, relearnings, reviews, sessions
from bethink.store.db import Tx

_PAGE = 500


@frozen(kw_only=False)
class _CopiedSession:
    """The original of a shadow session: its id, and the original numbers of its messages."""

    session_id: str
    numbers: Sequence[int]


@dataclass(slots=True)
class _Shadow(Relearned):
    """Statements learned in the shadow, mapped to the original sessions."""

    copies: dict[str, _CopiedSession] = field(default_factory=dict[str, _CopiedSession])

    def original(self, quotes: Iterable[Quote]) -> tuple[Quote, ...]:
        """Return quotes with the sessions and numbers of the original."""
        return tuple(
            replace(
                quote,
                session_id=self.copies[quote.session_id].session_id,
                number=self.copies[quote.session_id].numbers[quote.number - 1],
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
        proposal, claims = await self._database.transact(
            lambda tx: compare(tx, outcome, space=space), space=space, read_only=True
        )
        await self._database.transact(lambda tx: relearnings.put(tx, proposal, claims, space=space), space=space)
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
            lambda tx: apply(tx, space=space, relearning_id=request.relearning_id), space=space
        )

    @handles(UNDO_RELEARNING)
    async def undo(self, space: str, request: RelearningRequest) -> Relearning:
        """Undo an applied relearning."""
        return await self._database.transact(
            lambda tx: undo(tx, space=space, relearning_id=request.relearning_id), space=space
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
            outcome.copies[session.id] = _CopiedSession(entry.session.id, [record.number for record in records])
            try:
                await _learn_all(worker)
            finally:
                await self._charge(await shadow.transact(jobs.spent, read_only=True), outcome)
        outcome.claims = [
            replace(item, claim=replace(item.claim, quotes=outcome.original(item.claim.quotes)))
            for item in await shadow.transact(
                lambda tx: read_statements(tx, space=space), space=space, read_only=True
            )
        ]  # fmt: skip
        outcome.sessions = len(outcome.copies)
        outcome.model = next((maker.model for item in outcome.claims if (maker := item.claim.fact.created_by)), "")
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
