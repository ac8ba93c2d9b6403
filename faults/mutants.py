"""Bugs on purpose, for worker and appender processes: a campaign that does not notice them proves nothing."""

import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

import anyio

from bethink.errors import DuplicateError, LeaseLostError
from bethink.memory.learning.extraction.apply import Extraction, _advance, _finish, claimed_fact
from bethink.memory.learning.extraction.extract import EXTRACTOR, Extractor
from bethink.memory.learning.extraction.reading import ExtractionInput
from bethink.model.jobs import JobResult, Lease, Outcome
from bethink.store import facts, jobs, sessions
from bethink.store.db import Tx
from bethink.store.facts import Support
from bethink.store.sql import Dialect, queries

_LEASE = timedelta(seconds=0.4)
_BETWEEN = 0.01
"""Seconds between two transactions that should be one: as long as a busy machine takes anyway."""

_HELD = ("token = {token}", "status = 'running'")
FENCES = {
    "beat_job": _HELD,
    "charge_job": _HELD,
    "finish_job": _HELD,
    "advance_session": ("COALESCE(processed_until, 0) = {start}",),
}
"""What keeps whoever lost a lease from writing, by the query that it stands in."""


class Mutant(StrEnum):
    """What is broken. `two_transactions` is the control: done in two steps, and saved by the effect key."""

    ACK_FIRST = "ack_first"
    NO_EFFECT_KEY = "no_effect_key"
    NO_FENCE = "no_fence"
    LATE_WATERMARK = "late_watermark"
    ASKS_AGAIN = "asks_again"
    TWO_TRANSACTIONS = "two_transactions"


def mutated(mutant: Mutant | None) -> type[Extractor]:
    """Break this process as told, and return the extractor to work with."""
    if mutant is Mutant.NO_FENCE:
        drop_fences(*FENCES)
    made = {
        Mutant.NO_EFFECT_KEY: RandomKeys,
        Mutant.TWO_TRANSACTIONS: TwoTransactions,
        Mutant.LATE_WATERMARK: LateWatermark,
        Mutant.ASKS_AGAIN: AsksAgain,
    }
    return Extractor if mutant is None else made.get(mutant, Extractor)


def drop_fences(*names: str) -> None:
    """Let every lease count as held, and every watermark as standing where it was read."""
    for dialect in Dialect:
        known = queries(dialect)
        mark = "?" if dialect is Dialect.SQLITE else "$"
        for name in names:
            query = known[name]
            places = {each: f"{mark}{index}" for index, each in enumerate(query.parameters, 1)}
            text = query.text
            for condition in FENCES[name]:
                wanted = f"AND {condition.format(**places)}"
                if wanted not in text:
                    raise ValueError(f"{name} has no fence {wanted!r} to drop")
                text = text.replace(wanted, f"AND ({wanted.removeprefix('AND ')} OR 1 = 1)")
            known[name] = replace(query, text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoTransactions(Extractor):
    """Stores the facts first and ends the lease afterwards: a crash between leaves it all to be done again."""

    async def _apply(self, lease: Lease, work: ExtractionInput, result: Extraction) -> JobResult:
        stands = [
            claimed_fact(each, work, result.made_by, source=lease.key) for each in result.judged if each.problem is None
        ]

        def store(tx: Tx) -> None:
            if not jobs.renew_lease(tx, lease, duration=_LEASE):
                raise LeaseLostError("another worker holds the lease.")
            for index, each in enumerate(stands):
                support = Support(self._effect(lease, work, index), each.fact.text, each.quotes)
                facts.learn(tx, space=lease.space, fact=each.fact, token=lease.token, support=support)

        def end(tx: Tx) -> None:
            _finish(tx, lease, _advance(tx, lease, work, quoted=False), outcome=Outcome.SUCCEEDED, until=work.until)

        with suppress(DuplicateError):  # all of it was stored before a crash
            await self.database.transact(store, space=lease.space)
        await anyio.sleep(_BETWEEN)
        await self.database.transact(end, space=lease.space)
        return JobResult(outcome=Outcome.SUCCEEDED)

    def _effect(self, lease: Lease, work: ExtractionInput, index: int) -> str:
        return f"{lease.key}:{work.until}:{EXTRACTOR}:{index}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomKeys(TwoTransactions):
    """Does the same under a new key each time, so that nothing tells a second time from the first."""

    def _effect(self, lease: Lease, work: ExtractionInput, index: int) -> str:
        del index
        return f"{lease.key}:{work.until}:{EXTRACTOR}:{secrets.token_hex(8)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LateWatermark(Extractor):
    """Asks how far the session goes when the model has answered, not when it was read."""

    async def _apply(self, lease: Lease, work: ExtractionInput, result: Extraction) -> JobResult:
        session = await self.database.transact(
            lambda tx: sessions.find(tx, space=lease.space, session_id=lease.key), space=lease.space, read_only=True
        )
        if session is not None:
            work = replace(work, until=max(work.until, session.last_number))
        # Without arguments super() does not know a class that was made anew for its slots.
        return await Extractor._apply(self, lease, work, result)


@dataclass(frozen=True, slots=True, kw_only=True)
class AsksAgain(Extractor):
    """Does not look for recorded answers: who dies during the second reading pays for the first one again."""

    async def _begin(self, lease: Lease) -> ExtractionInput:
        return replace(await Extractor._begin(self, lease), recorded=())
