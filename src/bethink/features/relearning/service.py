"""Learn a space again beside what is known: the log is copied into a shadow, learnt from there, and compared."""

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
from bethink.errors import BadAnswer, Invalid, Misconfigured, NotFound
from bethink.features.relearning.operations import (
    APPLY_RELEARNING,
    RELEARN,
    UNDO_RELEARNING,
    RelearningRequest,
    RelearnRequest,
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
from bethink.store.relearnings import LearntFact

_PAGE = 500


@frozen(kw_only=False)
class _Copied:
    """A session of the shadow: the session it was copied from, and the numbers that its messages have there."""

    session_id: str
    numbers: Sequence[int]


@dataclass(slots=True)
class _Shadow:
    """What was learnt in the shadow, in terms of the original."""

    sessions: dict[str, _Copied] = field(default_factory=dict[str, _Copied])
    claims: list[ClaimedFact] = field(default_factory=list[ClaimedFact])
    usage: Usage = field(default_factory=Usage)
    held: int = 0
    refused: int = 0
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
def _named_in(request: RelearnRequest) -> Generator[None]:
    """Blame the request for a model that cannot work if it names one, and else the installation."""
    try:
        yield
    except Misconfigured as error:
        if request.model or request.second_model:
            raise Invalid(error.args[0], hint=error.hint) from error
        raise


def _worker_with_model(memory: Memory) -> Worker:
    worker = memory.local().worker()
    worker.handler(JobKind.EXTRACT)  # which says why there is none, if one is named
    if not worker.has_model:
        raise Invalid("no model is configured.", hint="Set model, or pass model='openai:NAME'.")
    return worker


class RelearnService:
    """Learns spaces of one database again."""

    def __init__(self, host: LocalBackend) -> None:
        self._host = host
        self._database = host.database

    @classmethod
    def of(cls, host: LocalBackend) -> Self:
        """Make it from an open memory."""
        return cls(host)

    @handles(RELEARN)
    async def relearn(self, space: str, request: RelearnRequest) -> Relearning:
        """Learn from the whole log again, into a shadow, and return what would change."""
        if not await self._database.transact(lambda tx: jobs.listed(tx, space=space, limit=1), space=space, read=True):
            raise NotFound(f"no space {space!r}.", hint="List the spaces to see their names.")
        with tempfile.TemporaryDirectory(prefix="bethink-relearn-") as folder:
            learnt = _Shadow()
            with _named_in(request):
                shadow = self._shadow(Path(folder) / "shadow.db", request)
            async with shadow as memory:
                with _named_in(request):
                    worker = _worker_with_model(memory)
                await self._copy_rules(space, memory, request.instructions)
                await self._learn(space, memory, worker, learnt)
        known = await self._database.transact(lambda tx: relearnings.learnt(tx, space=space), space=space, read=True)
        found = await self._database.transact(
            lambda tx: _compared(known, learnt, at=tx.now), space=space, read=True
        )  # fmt: skip
        await self._database.transact(lambda tx: relearnings.put(tx, found, space=space), space=space)
        return found if request.dry_run else await self.apply(space, RelearningRequest(relearning_id=found.id))

    def _shadow(self, path: Path, request: RelearnRequest) -> Memory:
        """Return a memory in a file of its own, which learns with the model of a request."""
        changes: dict[str, object] = {"learn_in_background": False, "daily_spend_cap": math.inf, "artefacts_dir": ""}
        if request.model:
            changes["model"] = request.model
        if request.second_model:
            changes["second_model"] = request.second_model
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
        """Let the shadow learn by the same rules, with other instructions if there are some."""
        rules = await self._database.transact(
            lambda tx: learning_rules.everyone(tx, space=space), space=space, read=True
        )  # fmt: skip
        if instructions is not None:
            rules.setdefault(None, LearningRules())
            rules = {agent: replace(each, instructions=instructions) for agent, each in rules.items()}
        for agent, each in rules.items():
            await memory.space(space).rules.set(each, agent=agent)

    async def _learn(self, space: str, memory: Memory, worker: Worker, learnt: _Shadow) -> None:
        shadow = memory.local().database
        for entry in await self._sessions(space):
            await check_cap(self._database, self._host.settings.daily_cap, calls=learnt.usage.calls)
            records = await self._database.transact(
                lambda tx, entry=entry: messages.after(tx, space=space, session_id=entry.session.id, number=0),
                space=space,
                read=True,
            )
            if not records:
                continue
            session = await memory.space(space).session(entry.conversation, agent=entry.agent)
            for place in range(0, len(records), _PAGE):
                await session.append([_again(record) for record in records[place : place + _PAGE]])
            await session.end()
            learnt.sessions[session.id] = _Copied(entry.session.id, [record.number for record in records])
            try:
                await _learn_all(worker)
            finally:
                await self._charge(await shadow.transact(jobs.spent, read=True), learnt)
        for each in await shadow.transact(lambda tx: relearnings.learnt(tx, space=space), space=space, read=True):
            quotes = await shadow.transact(
                lambda tx, each=each: _support(tx, each, space=space), space=space, read=True
            )  # fmt: skip
            source = learnt.sessions[each.fact.source].session_id
            fact = replace(each.fact, id=new_id("fct"), source=source)
            learnt.claims.append(ClaimedFact(fact=fact, quotes=learnt.original(quotes)))
            learnt.model = fact.made_by.model if fact.made_by else learnt.model
        counts = await shadow.transact(lambda tx: reviews.counts(tx, space=space), space=space, read=True)
        learnt.held, learnt.refused = counts.get(ReviewStatus.HELD, 0), counts.get(ReviewStatus.REFUSED, 0)

    async def _sessions(self, space: str) -> list[SessionEntry]:
        """Return the sessions that memory learns from, the oldest first."""

        def body(tx: Tx) -> list[SessionEntry]:
            found: list[SessionEntry] = []
            while page := sessions.listed(tx, space=space, limit=_PAGE, before=found[-1].session.id if found else ""):
                found += page
            return [entry for entry in reversed(found) if entry.session.learns]

        return await self._database.transact(body, space=space, read=True)

    async def _charge(self, spent: Usage, learnt: _Shadow) -> None:
        """Charge the day of the original with what the shadow has spent since."""
        more = Usage(*(now - before for now, before in zip(_figures(spent), _figures(learnt.usage), strict=True)))
        learnt.usage = spent
        await self._database.transact(lambda tx: jobs.spend(tx, more))


async def _learn_all(worker: Worker) -> None:
    """Learn from everything that is marked. What was not learnt from must not look as if nothing were known of it."""
    while (report := await worker.run_once(only=[JobKind.EXTRACT])).claimed:
        if report.outcomes["failed"]:
            raise BadAnswer(
                "the model gave no answer that can be used.", hint="Check the model and the prompt, then relearn again."
            )


def _figures(usage: Usage) -> tuple[int, int, int, int]:
    return usage.calls, usage.input_tokens, usage.output_tokens, usage.cost


def _again(record: Record) -> Message:
    return replace(record.message, idempotency_key=None, said_at=record.message.said_at or record.recorded_at)


def _support(tx: Tx, learnt: LearntFact, *, space: str) -> tuple[Quote, ...]:
    found = facts.supports(tx, space=space, fact_id=learnt.fact.id)
    return found[0].quotes if found else ()


def _compared(known: Sequence[LearntFact], learnt: _Shadow, *, at: datetime) -> Relearning:
    """Pair what is known with what was learnt again: by what they say, then by slot, then by the words they rest on."""
    left = list(known)
    new: list[ClaimedFact] = []
    same = 0
    for claim in learnt.claims:
        alike = next((each for each in left if gist(each.fact.content) == gist(claim.fact.content)), None)
        if alike is None:
            new.append(claim)
        else:
            left.remove(alike)
            same += 1
    changed: list[ChangedFact] = []
    for claim in list(new):
        before = next((each for each in left if _is_about(each, claim)), None)
        if before is not None:
            left.remove(before)
            new.remove(claim)
            changed.append(ChangedFact(before=before.fact, after=claim))
    return Relearning(
        id=new_id("rel"),
        status=RelearningStatus.PROPOSED,
        created_at=at,
        model=learnt.model,
        sessions=len(learnt.sessions),
        same=same,
        usage=learnt.usage,
        new=tuple(new),
        gone=tuple(each.fact for each in left),
        changed=tuple(changed),
        held=learnt.held,
        refused=learnt.refused,
    )


def _is_about(known: LearntFact, claim: ClaimedFact) -> bool:
    fact = claim.fact
    if fact.slot is not None and (fact.subject, fact.slot) == (known.fact.subject, known.fact.slot):
        return True
    words = frozenset((quote.session_id, quote.number) for quote in claim.quotes if not quote.context)
    return fact.kind == known.fact.kind and fact.subject == known.fact.subject and words == known.words
