"""Changes are sent to a receiver that is slow and killed, by workers that are killed, too (--changes).

Each change arrives, those of a space in order, what a forger sends is told apart, and the log of deliveries agrees.
"""

import os
import random
import signal
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import anyio

import bethink
from benchmarks.server_process import free_port
from bethink.errors import DatabaseError
from bethink.features.webhooks import queries as webhooks
from bethink.features.webhooks.deliver import Deliverer, DeliveryOptions, Reply
from bethink.features.webhooks.records import sign_message
from bethink.model.changes import Change, ChangeKind
from bethink.store import changes
from bethink.store.db import Database, Tx
from bethink.store.sql import compile_query
from faults.command import command
from faults.ledger import Verdict
from faults.places import Place, fork
from faults.webhook_receiver import Receiver, noted, wait_until_up

SPACES = 8
WORKERS = 2
OPTIONS = DeliveryOptions(allow_private=True, timeout=0.5, first_pause=0.02, max_pause=0.3, lease=1.0, give_up_days=1.0)
_STUCK = 120.0
"""Seconds without a delivery after which the campaign gives up."""
_COUNT_DELIVERED = "SELECT count(*) AS count FROM deliveries WHERE delivered_at IS NOT NULL"
_ALONE = "whsec_" + "QUFB" * 8


class Mutant(StrEnum):
    """Bugs on purpose."""

    SKIPS = "skips"
    """What fails is not sent again."""
    REVERSES = "reverses"
    """What waits is sent last first."""


@dataclass(slots=True, kw_only=True)
class Campaign:
    """What one run does to one database."""

    place: Place
    dice: random.Random
    mutant: Mutant | None
    receiver: Receiver
    running: dict[str, int] = field(default_factory=dict[str, int])
    kills: dict[str, int] = field(default_factory=lambda: {"receiver": 0, "worker": 0})
    forged: int = 0
    written: int = 0
    failed: int = 0
    """How many processes ended by themselves."""

    def start(self, name: str) -> None:
        """Start the receiver or a worker."""
        if name == "receiver":
            self.running[name] = fork(self.receiver.run)
            wait_until_up(self.receiver.port)
        else:
            self.running[name] = fork(lambda: anyio.run(_work, self.place.target, self.mutant))

    def kill(self, name: str) -> None:
        """End one as a power cut would."""
        child = self.running.pop(name)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        self.failed += os.WIFEXITED(status)


class Faulty(Deliverer):
    """A deliverer with a bug."""

    def __init__(self, database: Database, mutant: Mutant) -> None:
        super().__init__(database, OPTIONS)
        self._mutant = mutant

    async def _send(self, http: Any, work: Any, change: Change) -> Reply:
        reply = await super()._send(http, work, change)
        return reply._replace(error=None) if self._mutant is Mutant.SKIPS else reply

    def _begin(self, tx: Tx, queue: webhooks.LeasedQueue) -> Any:
        work = super()._begin(tx, queue)
        if work is not None and self._mutant is Mutant.REVERSES:
            return work._replace(changes=work.changes[::-1])
        return work


async def _work(target: str, mutant: Mutant | None) -> None:
    memory = bethink.connect(target, learn=False)
    async with memory:
        database = memory.backend.local().database
        deliverer = Deliverer(database, OPTIONS) if mutant is None else Faulty(database, mutant)
        while True:
            try:
                busy = await deliverer.run_once()
            except DatabaseError:
                busy = 0
            if not busy:
                await anyio.sleep(0.02)


async def _write(campaign: Campaign, memory: bethink.Memory, total: int) -> None:
    """Make changes: some by operations, most as operations record them, a few in one transaction."""
    database, dice = memory.backend.local().database, campaign.dice
    for number in range(SPACES):
        await memory.space(f"space {number}").facts.save(bethink.Fact(id="first", text="First."))
        campaign.written += 1
    while campaign.written < total:
        space = f"space {dice.randrange(SPACES)}"
        if dice.random() < 0.1:
            await memory.space(space).facts.save(
                bethink.Fact(id=f"f{campaign.written}", text=f"Number {campaign.written}.")
            )
            campaign.written += 1
            continue
        count = min(dice.randint(1, 10), total - campaign.written)
        await database.transact(_recording(space, count), space=space)
        campaign.written += count


def _recording(space: str, count: int) -> Callable[[Tx], None]:
    def body(tx: Tx) -> None:
        for _ in range(count):
            changes.record(tx, space=space, kind=ChangeKind.DOCUMENT_CHANGED, ref="document:doc_1:1")

    return body


async def _disturb(campaign: Campaign) -> None:
    """Kill the receiver and the workers in turn, at random moments, for as long as the campaign lasts."""
    while True:
        await anyio.sleep(campaign.dice.uniform(0.5, 2.5))
        name = "receiver" if campaign.dice.random() < 0.75 else f"worker {campaign.dice.randrange(WORKERS)}"
        campaign.kill(name)
        campaign.kills[name.partition(" ")[0]] += 1
        await anyio.sleep(campaign.dice.uniform(0.0, 0.3))
        await anyio.to_thread.run_sync(campaign.start, name)


async def _forge(campaign: Campaign) -> None:
    """Send what was never signed, was signed with another secret, is old, or was changed on its way."""
    while True:
        await anyio.sleep(0.1)
        campaign.forged += 1
        await anyio.to_thread.run_sync(_forgery, campaign)


def _forgery(campaign: Campaign) -> None:
    body = b'{"type":"fact.added","data":{"space":"space 0","number":999999,"ref":"fact:forged:1"}}'
    now = int(time.time())
    kind = campaign.dice.randrange(4)
    made = {
        0: ("", now, body),
        1: (sign_message(_ALONE, "chg_forged", now, body), now, body),
        2: (sign_message(campaign.receiver.secret, "chg_forged", now - 3600, body), now - 3600, body),
        3: (sign_message(campaign.receiver.secret, "chg_forged", now, body), now, body.replace(b"999999", b"999998")),
    }
    signature, at, sent = made[kind]
    headers = {"webhook-id": "chg_forged", "webhook-timestamp": str(at), "webhook-signature": signature}
    request = urllib.request.Request(f"http://127.0.0.1:{campaign.receiver.port}/", sent, headers)
    # Refused, or the receiver is dead just now. If it is taken for ours, the check at the end finds it.
    with suppress(OSError), urllib.request.urlopen(request, timeout=5):
        pass


async def _run(campaign: Campaign, memory: bethink.Memory, total: int) -> None:
    for name in ("receiver", *(f"worker {number}" for number in range(WORKERS))):
        # From a thread: a child of this one would believe that an event loop runs in it already.
        await anyio.to_thread.run_sync(campaign.start, name)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_disturb, campaign)
            tasks.start_soon(_forge, campaign)
            await _write(campaign, memory, total)
            await _until_delivered(campaign, memory, total)
            tasks.cancel_scope.cancel()
    finally:
        for name in list(campaign.running):
            campaign.kill(name)


async def _until_delivered(campaign: Campaign, memory: bethink.Memory, total: int) -> None:
    last, since = -1, time.monotonic()
    while (done := await _delivered(memory)) < total:
        if done != last:
            last, since = done, time.monotonic()
        if time.monotonic() - since > _STUCK:
            return
        await anyio.sleep(0.2)
        print(f"  {campaign.place.database}: {done} of {total}", file=sys.stderr, end="\r", flush=True)


async def _delivered(memory: bethink.Memory) -> int:
    def body(tx: Tx) -> int:
        query = compile_query("count_delivered", _COUNT_DELIVERED, tx.dialect)
        return tx.all(query)[0]["count"]

    return await memory.backend.local().database.transact(body, read_only=True)


def campaign(place: Place, total: int, seed: int, mutant: Mutant | None) -> tuple[str, Verdict]:
    """Make so many changes while everything that sends and receives them is killed, and compare."""
    return anyio.run(_campaign, place, total, seed, mutant)


async def _campaign(place: Place, total: int, seed: int, mutant: Mutant | None) -> tuple[str, Verdict]:
    total, dice, port = max(total, SPACES), random.Random(seed), free_port()
    async with bethink.connect(place.target, learn=False, webhooks_allow_private=True) as memory:
        made = await memory.admin.webhooks.create(f"http://127.0.0.1:{port}/hook")
        receiver = Receiver(
            port=port, secret=made.secret, accepted=place.ledger / "accepted", forged=place.ledger / "forged", seed=seed
        )
        run = Campaign(place=place, dice=dice, mutant=mutant, receiver=receiver)
        began = time.monotonic()
        await _run(run, memory, total)
        seconds = time.monotonic() - began
        verdict = await _check(run, memory, made.info.id, total)
    done = f"{total} changes, {run.kills['receiver']} kills of the receiver, {run.kills['worker']} of workers"
    return f"{done}, {seconds:.0f} s", verdict


async def _check(run: Campaign, memory: bethink.Memory, webhook_id: str, total: int) -> Verdict:
    accepted, forged = noted(run.receiver.accepted), noted(run.receiver.forged)
    violations: list[str] = []
    arrived: dict[str, dict[int, int]] = {}
    for each in accepted:
        seen = arrived.setdefault(each["space"], {})
        seen[each["number"]] = seen.get(each["number"], 0) + 1
    recorded = 0
    for number in range(SPACES):
        name = f"space {number}"
        wanted = await _numbers(memory.space(name))
        recorded += len(wanted)
        first = list(arrived.get(name, {}))
        if first != wanted:
            missing, extra = set(wanted) - set(first), set(first) - set(wanted)
            what = f"{len(missing)} missing, {len(extra)} made up" if missing or extra else "out of order"
            violations.append(f"{name}: {what}")
        violations += await _log(memory, name, webhook_id, arrived.get(name, {}), wanted)
    if run.failed:
        violations.append(f"{run.failed} processes ended by themselves")
    if recorded != total:
        violations.append(f"{recorded} changes are recorded of {total}")
    if any(each["id"] == "chg_forged" for each in accepted):
        violations.append("the receiver took a forgery for ours")
    if any(each["id"] != "chg_forged" for each in forged):
        violations.append("the receiver took something of ours for a forgery")
    once = sum(len(seen) for seen in arrived.values())
    again, refused = len(accepted) - once, len(forged)
    figures = f"{once} arrived, {again} times again, {run.forged} forgeries sent and {refused} told apart"
    return Verdict(figures=figures, violations=violations)


async def _numbers(space: bethink.Space) -> list[int]:
    found: list[int] = []
    while page := await space.admin.changes.list(after=found[-1] if found else 0, limit=1_000):
        found += [each.number for each in page]
    return found


async def _log(
    memory: bethink.Memory, space: str, webhook_id: str, arrived: dict[int, int], wanted: list[int]
) -> list[str]:
    """Hold the log of deliveries against what arrived."""

    def body(tx: Tx) -> dict[int, bool]:
        rows = webhooks.deliveries(tx, webhook_id=webhook_id, space=space, limit=10**6)
        return {each.number: each.delivered_at is not None for each in rows}

    with suppress(DatabaseError):
        told = await memory.backend.local().database.transact(body, read_only=True)
        unsaid = [number for number in wanted if not told.get(number)]
        untrue = [number for number, delivered in told.items() if delivered and number not in arrived]
        return [
            f"{space}: {len(each)} {what}"
            for each, what in ((unsaid, "not in the log"), (untrue, "in the log, and never arrived"))
            if each
        ]
    return [f"{space}: the log cannot be read"]


if __name__ == "__main__":
    sys.exit(command(__doc__, "--changes", Mutant, campaign))
