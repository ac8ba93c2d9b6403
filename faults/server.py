"""A server is stopped or killed under load (--rounds): what it acknowledged is there, once, and it ends in order."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio

import bethink
from benchmarks.server_process import SERVE, Server, free_port, make_key, start
from bethink.errors import BethinkError, DatabaseUnavailableError, OutcomeUnknownError
from bethink.host.remote.remote import Remote
from bethink.model.records import conversation_key
from faults import ledger
from faults.command import command
from faults.ledger import Ledger, Verdict
from faults.places import Place
from faults.server_faults import Mutant, held

CLIENTS = 8
SHARED = 2
"""So many sessions are written by every client; each client has one of its own besides."""

GRACE = 30.0
"""Seconds in which a server that is told to stop has ended."""

_LOAD = 40
_PATIENCE = 60.0
_PROBES = 5
_MUTANT = ("-m", "faults.server_faults")


@dataclass(slots=True, kw_only=True)
class Campaign:
    """What one run does to one database."""

    place: Place
    dice: random.Random
    port: int
    key: str
    mutant: Mutant | None
    server: Server | None = None
    over: bool = False
    missing: int = 0
    """Messages that are to be acknowledged before the next fault."""
    loaded: anyio.Event = field(default_factory=anyio.Event)
    rounds: dict[str, int] = field(default_factory=lambda: {"stops": 0, "kills": 0})
    violations: list[str] = field(default_factory=list[str])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, retries: int) -> bethink.Memory:
        remote = Remote(self.url, key=self.key, retries=retries)
        remote._calls._pause = _briefly  # so that the next fault meets load again
        return bethink.Memory(remote)

    async def begin(self) -> Server:
        """Start the server, on the same port as before."""
        more = SERVE if self.mutant is None else (*_MUTANT, self.mutant)
        log = Path(self.place.ledger).parent / "server.log"
        self.server = start(self.place.target, port=self.port, log=log, command=more)
        await anyio.to_thread.run_sync(self.server.wait_until_up)
        return self.server


async def _briefly(seconds: float) -> None:
    await anyio.sleep(min(seconds, 0.2))


async def _sessions(client: bethink.Memory, number: int) -> list[bethink.Session]:
    chats = [*range(SHARED), SHARED + number]
    return [await client.space("faults").session(conversation_key("faults", str(chat))) for chat in chats]


async def _talk(campaign: Campaign, number: int) -> None:
    """Send one message after the other; every second one leaves it to the client to give it a key."""
    notes = Ledger(campaign.place.ledger, number)
    async with campaign.client(retries=400) as client:
        sessions = await _sessions(client, number)
        while not campaign.over:
            key = f"{number}-{notes.acknowledged + 1}"
            session = sessions[notes.acknowledged % len(sessions)]
            notes.acknowledge(session.id, {key: await _send(client, session, key)})
            campaign.missing -= 1
            if campaign.missing <= 0:
                campaign.loaded.set()


async def _send(client: bethink.Memory, session: bethink.Session, key: str) -> int:
    content = f"message {key}"
    if int(key.partition("-")[2]) % 2:
        stored = await client.space(session.space).remember(content, session_id=session.id)
        return stored.refs[0].number if stored.refs else 0
    message = bethink.Message(role="user", content=content, idempotency_key=key)
    [stored_at] = await session.append([message])
    return stored_at


async def _stop(campaign: Campaign, number: int) -> None:
    """Tell the server to stop while requests hang in the database: those are answered, and it ends with 0 in time."""
    notes = Ledger(campaign.place.ledger, CLIENTS + number)
    server = campaign.server
    assert server is not None
    began = time.monotonic()
    async with campaign.client(retries=0) as client:
        [session] = [(await _sessions(client, CLIENTS))[-1]]
        async with anyio.create_task_group() as tasks:
            with held(campaign.place):
                for probe in range(1, _PROBES + 1):
                    tasks.start_soon(_probe, campaign, session, f"{CLIENTS + number}-{probe}", notes)
                await anyio.sleep(0.5)  # by now they are inside
                server.process.send_signal(signal.SIGTERM)
                began = time.monotonic()
                await anyio.sleep(campaign.dice.uniform(0.1, 0.6))
    code = await _ended(server)
    if code != 0 or time.monotonic() - began > GRACE:
        campaign.violations.append(f"told to stop, the server ended with {code} after {time.monotonic() - began:.1f} s")


async def _probe(campaign: Campaign, session: bethink.Session, key: str, notes: Ledger) -> None:
    message = bethink.Message(role="user", content=f"message {key}", idempotency_key=key)
    try:
        [number] = await session.append([message])
        notes.acknowledge(session.id, {key: number})
    except (DatabaseUnavailableError, OutcomeUnknownError) as error:
        campaign.violations.append(f"request {key} was under way and not answered: {type(error).__name__}")


async def _kill(campaign: Campaign, number: int) -> None:
    """Kill the server at a random moment."""
    del number
    server = campaign.server
    assert server is not None
    await anyio.sleep(campaign.dice.uniform(0.0, 0.4))
    server.process.kill()
    await _ended(server)


async def _ended(server: Server) -> int | None:
    try:
        return await anyio.to_thread.run_sync(partial(server.process.wait, GRACE + 10))
    except subprocess.TimeoutExpired:
        server.process.kill()
        return None


async def _run(campaign: Campaign, rounds: int) -> None:
    await campaign.begin()
    try:
        async with anyio.create_task_group() as tasks:
            for number in range(CLIENTS):
                tasks.start_soon(_watched, campaign, partial(_talk, campaign, number))
            for number in range(rounds):
                await _round(campaign, number)
            campaign.over = True
    finally:
        campaign.over = True
        if campaign.server is not None:
            campaign.server.process.terminate()
            await _ended(campaign.server)


async def _round(campaign: Campaign, number: int) -> None:
    campaign.missing, campaign.loaded = _LOAD, anyio.Event()
    with anyio.move_on_after(_PATIENCE) as waiting:
        await campaign.loaded.wait()
    if waiting.cancelled_caught:
        campaign.violations.append(f"nothing was acknowledged for {_PATIENCE:.0f} s before round {number + 1}")
    stops = number % 2 == 0
    await (_stop if stops else _kill)(campaign, number)
    campaign.rounds["stops" if stops else "kills"] += 1
    await campaign.begin()
    if (number + 1) % 10 == 0:
        print(f"  {campaign.place.database}: {number + 1} rounds", file=sys.stderr, flush=True)


async def _watched(campaign: Campaign, work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except BethinkError as error:
        campaign.violations.append(f"a client gave up: {type(error).__name__}: {error}")


def campaign(place: Place, rounds: int, seed: int, mutant: Mutant | None) -> tuple[str, Verdict]:
    """Run so many rounds, stops and kills in turn, and hold the database against what was acknowledged."""
    key = make_key(place.target)
    run = Campaign(place=place, dice=random.Random(seed), port=free_port(), key=key, mutant=mutant)
    anyio.run(_run, run, rounds)
    verdict = _check(place, run)
    return f"{run.rounds['stops']} stops and {run.rounds['kills']} kills under load", verdict


def _check(place: Place, run: Campaign) -> Verdict:
    """As the other campaigns do, but by what messages say: half of the keys were made by the client."""
    raw = ledger._raw_postgres if place.target.startswith("postgresql:") else ledger._raw_sqlite
    rows, sessions, sound = raw(place.target)
    messages: list[ledger.Stored] = [(at, number, said.removeprefix("message "), said) for at, number, _, said in rows]
    acknowledged = [entry for path in sorted(place.ledger.iterdir()) for entry in ledger.read(path)]
    violations = list(run.violations)
    violations += [] if sound == "ok" else [f"the database's own check says: {sound}"]
    violations += ledger._lost_or_doubled(messages, acknowledged)
    violations += ledger._numbers(messages, sessions)
    violations += ledger._marks(sessions)
    figures = f"{len(messages)} messages stored, {len(acknowledged)} acknowledged"
    return Verdict(figures=figures, violations=violations)


if __name__ == "__main__":
    sys.exit(command(__doc__, "--rounds", Mutant, campaign))
