"""The children of the campaign on Temporal: one that appends sessions, and workers that are told of them or look."""

import logging
import random
from enum import StrEnum
from typing import Any
from zlib import crc32

import bethink
from bethink.config.settings import load_settings
from bethink.jobs.worker import Worker, WorkerOptions
from bethink.model.jobs import JobKind
from bethink.model.records import conversation_key
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.store.db import Database
from bethink_temporal import activities, fleet
from bethink_temporal.names import TemporalOptions
from bethink_temporal.relay import Relay
from faults.learners import Thinking, database_at, noting, said
from faults.ledger import Ledger
from faults.logs import log_of, log_to
from faults.mutants import Mutant as LearningMutant
from faults.mutants import mutated
from faults.places import AsItIs, Place
from faults.signs import Signs

LEASE = 8.0
WORKERS = 3
_SPACES = 50
_LONGER = 0.2
"""How many sessions have two messages."""


class Mutant(StrEnum):
    """A bug on purpose."""

    FORGETFUL = "forgetful"
    """A relay takes some jobs for told that it told nobody of."""
    LEAKS = "leaks"
    """What was said is in what an activity returns."""
    NO_EFFECT_KEY = "no_effect_key"
    """Nothing tells that a job was half done by whoever was killed."""


async def append(place: Place, first: int, last: int) -> None:
    """Append messages to sessions of their own, one or two to each, and mark every session."""
    ledger = Ledger(place.ledger, 0)
    dice = random.Random(last)
    async with bethink.connect(place.target, redactor=AsItIs(), postgres_pool_size=2, learn=False) as memory:
        for chat in range(first, last):
            key = conversation_key(channel="faults", chat=str(chat))
            session = await memory.space(f"space-{chat % _SPACES}").session(key)
            start = ledger.acknowledged + 1
            keys = {f"0-{number}": said(number) for number in range(start, start + 1 + (dice.random() < _LONGER))}
            messages = [{"role": "user", "content": text, "idempotency_key": key} for key, text in keys.items()]
            numbers = await session.append(messages)
            ledger.acknowledge(session.id, dict(zip(keys, numbers, strict=True)))
            await session.checkpoint(force=True)


def _worker(
    place: Place, dice: random.Random, signs: Signs, slot: int, mutant: Mutant | None
) -> tuple[Worker, Database]:
    log_to(log_of(place))
    logging.getLogger("temporalio").setLevel(logging.ERROR)  # it tells of every activity that was taken from a worker
    database = database_at(place.target)
    model = Thinking(dice, signs, slot, place)
    extractor = noting(mutated(LearningMutant.NO_EFFECT_KEY if mutant is Mutant.NO_EFFECT_KEY else None))
    handler = extractor(database=database, model=model, reader=model, redactor=AsItIs(), tokens=EstimatedTokens())
    options = WorkerOptions(
        interval=1.0, lease=LEASE, max_attempts=10**6, retry_first=0.05, retry_longest=0.2, daily_cap=None
    )
    return Worker(database, {JobKind.EXTRACT: handler}, options), database


async def work_alone(place: Place, dice: random.Random, signs: Signs, slot: int) -> None:
    """Claim from the database until killed."""
    worker, database = _worker(place, dice, signs, slot, None)
    await database.open()
    await worker.run()


async def work_in_fleet(
    place: Place, dice: random.Random, signs: Signs, slot: int, *, address: str, mutant: Mutant | None
) -> None:
    """Run what Temporal hands out until killed."""
    worker, database = _worker(place, dice, signs, slot, mutant)
    await database.open()
    options = TemporalOptions(address=address)
    if mutant is Mutant.FORGETFUL:
        Relay._start_workflow = _forget_some(Relay._start_workflow)
    if mutant is Mutant.LEAKS:
        activities._outcome = lambda report: f"{report.leased} {said(1)}"
    client = await fleet.connect_client(options)
    await worker.run(fleet.Fleet(client, database, worker, settings=load_settings(environ={}), options=options).run)


def _forget_some(tell: Any) -> Any:
    async def forgetful(self: Relay, kind: JobKind, space: str, key: str, token: int) -> None:
        name = self._queues.job(kind, space, key)
        if crc32(name.encode()) % 10 == 0:
            self._relayed[name] = (token, float("inf"))
        else:
            await tell(self, kind, space, key, token)

    return forgetful
