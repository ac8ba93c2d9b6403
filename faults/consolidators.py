"""The children of the campaign of consolidation: one that makes spaces dirty, and workers that settle them."""

import json
import random
import re
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta

import anyio

from bethink.errors import DatabaseBusyError
from bethink.jobs.worker import Worker, WorkerOptions
from bethink.memory.facts.reconcile import reconcile
from bethink.memory.learning.documents.consolidate import ConsolidationInput, Consolidator
from bethink.memory.learning.documents.runs import Runs
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.consolidation import DocumentChange
from bethink.model.facts import Fact, Maker, Quote, SessionSummary, SourceMessage
from bethink.model.ids import new_id
from bethink.model.jobs import JobKind, Lease
from bethink.model.kinds import FactKind
from bethink.model.moments import Micros, from_micros, to_micros
from bethink.model.records import (
    AgentKind,
    Origin,
    SessionInfo,
    conversation_key,
)
from bethink.model.reviews import ClaimedFact
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.providers.scripted_model import ScriptedModel
from bethink.store import facts, jobs, learning, messages, sessions
from bethink.store.db import Database, Tx, system_clock
from bethink.store.messages import Prepared
from faults.consolidate_mutants import ConsolidateMutant, break_down
from faults.learners import database_at
from faults.logs import log_of, log_to
from faults.places import AsItIs, Place
from faults.promises import Promises
from faults.signs import Signs

LEASE = 0.35
WORKERS = 4
SPACES = 20
_CHATS = 3
_THINGS = 3
_TOPICS = 4
_DAY = 86_400_000_000
_AGED = timedelta(days=40)
"""Longer ago than a consolidation looks back."""

_MADE_BY = Maker(model="faults", prompt="faults", extractor="1")
_FACT = re.compile(r"^- (f[0-9]+) detail about [^:]+: (.+)$", re.MULTILINE)


async def feed(place: Place, dice: random.Random, rounds: int = 10**9, signs: Signs | None = None) -> None:
    """Make spaces dirty, each in its turn at random and often again while it is being settled."""
    database = database_at(place.target)
    await database.open()
    promises = Promises(place.ledger)
    for _ in range(rounds):
        space = f"space-{dice.randrange(SPACES):02}"
        for _ in range(dice.choice((1, 2, 2, 3))):
            try:
                with signs.shown(signs.feeder) if signs else nullcontext():
                    await _tell(database, promises, dice, space)
            except DatabaseBusyError:
                pass  # nothing was written; the promise was only meant
            await anyio.sleep(dice.uniform(0.0, 0.03))
    await database.close()


async def _tell(database: Database, promises: Promises, dice: random.Random, space: str) -> None:
    chat, thing = dice.randrange(_CHATS), dice.randrange(_THINGS)
    moment = Micros(to_micros(system_clock()) - dice.choice((0, 0, dice.randrange(20 * _DAY))))
    aged = dice.random() < 0.25

    def body(tx: Tx) -> str:
        session, number = _say(tx, space=space, chat=chat, moment=moment)
        facts.lock(tx, space=space)
        memory = SessionSummary(
            space=space,
            session_id=session.id,
            raw_memory=f"notes of {moment}",
            summary=f"said at {moment}",
            slug=f"talk-{chat}",
            until=number,
            source_updated_at=from_micros(moment),
            generated_at=tx.now - _AGED if aged else tx.now,
            created_by=_MADE_BY,
        )
        learning.put_memory(tx, memory, token=number)
        _learn(tx, SourceMessage(session.id, number), space=space, thing=f"thing-{thing}", moment=moment)
        jobs.queue(tx, space=space, kind=JobKind.CONSOLIDATE, key=jobs.SPACE_KEY, watermark=moment)
        return session.id

    promises.mean(space, moment)
    promises.keep(space, moment, await database.transact(body, space=space))


def _say(tx: Tx, *, space: str, chat: int, moment: Micros) -> tuple[SessionInfo, int]:
    agent = sessions.ensure_agent(tx, space=space, name="assistant", kind=AgentKind.PRIMARY)
    key = conversation_key(channel="faults", chat=str(chat))
    conversation = sessions.ensure_conversation(tx, agent=agent, key=key)
    sessions.lock_conversation(tx, space=space, conversation=conversation)
    session = sessions.newest(tx, space=space, conversation=conversation)
    if session is None:
        session = sessions.open_next(tx, space=space, conversation=conversation, ordinal=1, learns=True)
    reserved = sessions.take_numbers(tx, space=space, session_id=session.id, count=1)
    assert reserved is not None
    row = Prepared("user", f"said at {moment}", None, "[]", None, 0, "{}", "user", None, None, None)
    messages.append(
        tx,
        space=space,
        session_id=session.id,
        first=reserved.last,
        rows=[row],
        index=reserved.indexed,
        link=reserved.link,
    )
    return session, reserved.last


def _learn(tx: Tx, source: SourceMessage, *, space: str, thing: str, moment: Micros) -> None:
    """Learn a fact in place of the one that the session gave before: it is said now, whatever the moment.

    So each run that looks at it has something to write, and leaves a change set by which it is checked.
    """
    fact = Fact(
        id=new_id("fct"),
        text=f"{thing} was seen at {moment}",
        source=source.session_id,
        created_at=tx.now,
        kind=FactKind.DETAIL,
        origin=Origin("user"),
        entities=(thing,),
        subject=source.session_id,
        slot="last",
    )
    effect = f"{source.session_id}:{source.number}:1:0"
    quote = Quote(session_id=source.session_id, number=source.number, text=thing)
    reconcile(tx, ClaimedFact(fact=fact, quotes=(quote,)), space=space, effect=effect, token=source.number)


class Writing(ScriptedModel):
    """Answers like a memory writer that reads first and then writes a document or two, at once or after a while."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__(self._say)
        self._dice = dice

    async def answer(self, call: ModelCall) -> ModelAnswer:
        await anyio.sleep(self._dice.choice((0.002, 0.01, 0.04)) * self._dice.random())
        self.calls.clear()
        return await super().answer(call)

    def _say(self, call: ModelCall) -> str:
        if "You called:" not in call.prompt:
            paths = ["~/memory", *(f"~/memory/topic-{number}" for number in range(_TOPICS))]
            return json.dumps({"calls": [_call("document_read", path) for path in paths], "done": False})
        facts = _FACT.findall(call.prompt)
        calls = [self._write(facts) for _ in range(self._dice.choice((1, 2)) if facts else 0)]
        return json.dumps({"calls": calls, "done": True})

    def _write(self, facts: list[tuple[str, str]]) -> dict[str, object]:
        path = f"~/memory/topic-{self._dice.randrange(_TOPICS)}" + self._dice.choice(("", "", "/detail"))
        told = self._dice.sample(facts, self._dice.randint(1, len(facts)))
        lines = [f"{content} [{label}]" for label, content in told]
        lines.append(f"See [[~/memory/topic-{self._dice.randrange(_TOPICS)}]] [{told[0][0]}]")
        return _call("document_write", path, title="A topic", body="\n\n".join(lines))


def _call(tool: str, path: str, **more: object) -> dict[str, object]:
    return {"tool": tool, "path": path, "title": None, "description": None, "body": None, **more}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown(Consolidator):
    """Shows when it is at work, and takes a while longer at times, as on a busy machine."""

    signs: Signs
    dice: random.Random
    slot: int

    async def _changes(self, lease: Lease, work: ConsolidationInput) -> list[DocumentChange]:
        with self.signs.shown(self.slot):
            # Without arguments super() does not know a class that was made anew for its slots.
            changes = await Consolidator._changes(self, lease, work)
            await anyio.sleep(self.dice.choice((0.0, 0.03, 0.12)) * self.dice.random())
            return changes


def worker(database: Database, dice: random.Random, signs: Signs, slot: int) -> Worker:
    """Build the worker of a slot: every second one has a model."""
    runs = Runs(
        database=database,
        model=Writing(dice) if slot % 2 else None,
        redactor=AsItIs(),
        tokens=EstimatedTokens(),
    )
    options = WorkerOptions(
        interval=0.05,
        batch=3,
        concurrency=3,
        lease=LEASE,
        max_attempts=10**6,
        retry_first=0.05,
        retry_longest=0.2,
        daily_cap=None,
    )
    return Worker(database, {JobKind.CONSOLIDATE: Shown(runs=runs, signs=signs, dice=dice, slot=slot)}, options)


async def consolidate(
    place: Place, dice: random.Random, signs: Signs, slot: int, mutant: ConsolidateMutant | None
) -> None:
    """ConsolidationInput until killed."""
    log_to(log_of(place))
    break_down(mutant)
    database = database_at(place.target)
    await database.open()
    await worker(database, dice, signs, slot).run()
