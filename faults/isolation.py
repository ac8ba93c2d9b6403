"""Random requests with random keys, spaces, ids and filters: nobody ever reads or changes a row of another's."""

import argparse
import json
import re
import secrets
import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

import anyio

import bethink
from bethink.api.group import SpaceGroup
from bethink.errors import BethinkError
from bethink.host import codec
from bethink.host.backend import Backend
from bethink.host.remote.calls import path_of
from bethink.host.remote.problems import error_for
from bethink.http import ServerOptions, create_app
from bethink.model.access import Scope
from bethink.model.documents import DocumentDraft
from bethink.model.operations.base import Operation
from bethink.model.records import conversation_key
from bethink.model.working import Event
from faults.asgi import Answer, ask
from faults.isolation_requests import SPACES, Key, Requests, World
from faults.places import AsItIs, Place, chosen, place
from faults.walls import Wall, standing, walls_of

_CONTENT = (Scope.READ, Scope.WRITE, Scope.ERASE)
_TASKS = 6
_SEVERAL = 0.1
"""How many of the requests ask several spaces."""
_SECRET = re.compile(rb"leak([0-9])x[0-9a-f]{8}")
_ID = re.compile(rb"\b(?:ses|doc|thread|shw|state|cnv|agt)_[0-9a-z]{26}")
_MOST_PRINTED = 20


@dataclass(kw_only=True)
class Found:
    """What a campaign came to."""

    requests: int = 0
    answered: int = 0
    statuses: Counter[int] = field(default_factory=Counter[int])
    foreign: list[str] = field(default_factory=list[str])
    failures: list[str] = field(default_factory=list[str])


def _secret(space: str, random: Random) -> str:
    return f"leak{space[-1]}x{random.getrandbits(32):08x}"


async def furnish(memory: bethink.Memory, random: Random) -> World:
    """Fill the spaces alike: conversations, facts, documents and threads of the same names, with other secrets."""
    world = World()
    for space in SPACES:
        session_ids: list[str] = []
        for chat in ("desk", "phone"):
            session = await memory.space(space).session(conversation_key("cli", chat))
            session_ids.append(session.id)
            for number in range(3):
                said = f"The parrot likes figs in the garden, said Anna at lunch {number}: {_secret(space, random)}"
                key = f"{chat}:{number}"
                labels: dict[str, Any] = {
                    "tags": ["lunch"],
                    "metadata": {"word": "figs", "rank": number},
                    "name": "Anna",
                }
                await session.append([bethink.Message(role="user", content=said, idempotency_key=key, **labels)])
            await session.checkpoint(force=True)
        world.sessions[space] = session_ids
        shelf = memory.space(space).facts
        for name in ("fact-1", "fact-2", f"only-{space}"):
            fact = bethink.Fact(id=name, text=f"Anna lives in Oslo {_secret(space, random)}", metadata={"word": "figs"})
            await shelf.save(fact)
        tree = memory.space(space).documents
        for name in ("doc-1", f"only-{space}"):
            body = f"The train to Oslo {_secret(space, random)}"
            await tree.create(DocumentDraft(slug=name, title=f"Train {name}", body=body), document_id=name)
        desk = memory.backend.local().working(space)
        for name in ("thread-1", f"only-{space}"):
            await desk.open_thread(name)
            text = f"Feed the parrot {_secret(space, random)}"
            await desk.dispatch(name, Event(type="USER_MESSAGE", payload={"text": text}))
    await memory.learn()
    for space in SPACES:
        for session_id in world.sessions[space]:
            world.owners[session_id.encode()] = space
        world.before[space] = await _standing_of(memory, space, world)
    return world


async def _standing_of(memory: bethink.Memory, space: str, world: World) -> object:
    """Return what must not change whatever others do: the secrets of a space, and how its own sessions stand."""
    kept: list[object] = []
    for session_id in world.sessions[space]:
        session = await memory.space(space).sessions.get(session_id)
        records = await session.messages()
        kept.append([record.message.content for record in records if b"leak" in record.message.content.encode()])
    kept.append(await memory.space(space).facts.get(f"only-{space}"))
    kept.append(await memory.space(space).documents.get(f"only-{space}"))
    kept.append((await memory.backend.local().working(space).get_thread(f"only-{space}")).state_number)
    return kept


async def make_keys(memory: bethink.Memory, world: World) -> None:
    """Make keys for one space, for two, for all, for reading only, and for none; some are no keys at all."""
    access = memory.admin.keys
    wanted: list[tuple[tuple[Scope, ...], list[str] | None]] = [(_CONTENT, [space]) for space in SPACES]
    wanted += [(_CONTENT, [one, other]) for one, other in pairwise(SPACES)]
    wanted += [
        ((Scope.READ,), [SPACES[0]]),
        ((Scope.KEYS, Scope.OPERATE), None),
        ((Scope.READ,), None),
        (_CONTENT, ["nowhere"]),
    ]
    for scopes, spaces in wanted:
        made = await access.create(name="isolation", scopes=scopes, spaces=spaces)
        info = made.info
        world.keys.append(Key(text=made.key, scopes=info.scopes, spaces=info.spaces))
    world.keys += [Key(text=""), Key(text="bt_000000000000." + "A" * 43), Key(text=world.keys[0].text[:-2] + "zz")]


class _AsKey(Backend):
    """Carries requests out on the server as a client with a key does."""

    def __init__(self, app: Any, key: Key) -> None:
        self._app = app
        self._key = key

    async def run(self, operation: Operation[Any, Any], space: str, request: Any) -> Any:
        """Send a request and read its result, or raise the error that the server told."""
        names, body = codec.encode_request(operation, request)
        path = path_of(operation.path, {"space": space, **names})
        answer = await ask(self._app, operation.http_method, path, key=self._key.text, body=body)
        if answer.status >= 400:
            raise error_for(answer.status, answer.body, read_only=True)[0]
        return codec.decode_result(operation, answer.body)


class Campaign:
    """Sends requests to one server, and looks into every answer."""

    def __init__(self, memory: bethink.Memory, world: World, *, strict: bool) -> None:
        self._memory = memory
        self._app = create_app(memory, options=ServerOptions(rate=float("inf"), mcp=False))
        self._world = world
        self._strict = strict
        self.found = Found()

    async def run(self, requests: int, seed: int) -> Found:
        async with anyio.create_task_group() as tasks:
            for number in range(_TASKS):
                share = requests // _TASKS + (number < requests % _TASKS)
                tasks.start_soon(self._some, share, Random(seed * 31 + number))
        for space in SPACES:
            try:
                same = await _standing_of(self._memory, space, self._world) == self._world.before[space]
            except BethinkError:
                same = False
            if not same:
                self.found.foreign.append(f"{space}: was changed by another's request")
        return self.found

    async def _some(self, count: int, random: Random) -> None:
        requests = Requests(self._world, random)
        for _ in range(count):
            key = requests.key()
            space = requests.space(key)
            if random.random() < _SEVERAL:
                await self._several(key, requests, random)
                continue
            method, path, scope, body = requests.one(space)
            answer = await ask(self._app, method, path, key=key.text, body=body)
            self._look(f"{method} {path} {json.dumps(body)}", answer, key=key, space=space, scope=scope)

    async def _several(self, key: Key, requests: Requests, random: Random) -> None:
        """Ask two or three spaces together: each item must be of its space, and one that is closed must be named."""
        names = random.sample(SPACES, random.choice((2, 2, 3)))
        closed = [name for name in names if not key.allows(name, Scope.READ)]
        asked, found = f"spaces {names}", self.found
        found.requests += 1
        try:
            answer = await SpaceGroup(_AsKey(self._app, key), tuple(names)).recall(
                requests.words(), limit=50, explain=True
            )
        except BethinkError as error:
            if not closed or repr(closed[0]) not in str(error):
                found.failures.append(f"{asked}: {error}")
            return
        found.answered += 1
        if closed:
            found.foreign.append(f"{asked}: {closed} were read with a key that does not open them")
        for space, text in [(each.space, each.text) for each in (*answer.items, *answer.candidates)]:
            whose = {f"space-{number.decode()}" for number in _SECRET.findall(text.encode())}
            if whose - {space}:
                found.foreign.append(f"{asked}: an item of {space} is of {', '.join(sorted(whose))}")

    def _look(self, request: str, answer: Answer, *, key: Key, space: str, scope: Scope) -> None:
        found = self.found
        found.requests += 1
        found.statuses[answer.status] += 1
        allowed = key.allows(space, scope)
        found.answered += allowed and answer.status < 300
        whose = {f"space-{number.decode()}" for number in _SECRET.findall(answer.body)}
        if whose - ({space} if allowed else set()):
            found.foreign.append(f"{answer.status} {request}: content of {', '.join(sorted(whose - {space}))}")
        # 400: a path that is no text is turned away before its key is looked at. 429: so are many wrong keys in a row.
        if not allowed and answer.status not in (400, 401, 403, 404, 429):
            found.foreign.append(f"{answer.status} {request}: a key that opens nothing here was let in")
        if self._strict and (answer.status >= 500 or (allowed and answer.status == 429)):
            found.failures.append(f"{answer.status} {request}")
        if allowed and answer.status < 300:
            for name in set(_ID.findall(answer.body)):
                owner = self._world.owners.setdefault(name, space)
                if owner != space and name.decode() not in request:
                    found.foreign.append(f"{answer.status} {request}: {name.decode()} is of {owner}")


async def try_walls(where: Place, wall: Wall, *, requests: int, seed: int) -> Found:
    """Fill a database while both walls stand, leave only `wall` standing, and send the requests."""
    settings: dict[str, Any] = {"learn_in_background": False, "redactor": AsItIs()}
    async with bethink.connect(where.target, **settings) as memory:
        world = await furnish(memory, Random(seed))
        await make_keys(memory, world)
    with standing(wall, where):
        async with bethink.connect(where.target, **settings) as memory:
            return await Campaign(memory, world, strict=wall is not Wall.NONE).run(requests, seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000, help="for each database and each way of standing")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--wall", choices=list(Wall), default=None, help="only this; none is the mutant: it must fail")
    parser.add_argument("--seed", type=int, default=None, help="repeat the random choices of an earlier run")
    options = parser.parse_args()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    failed = False
    lines: list[str] = []
    for database in chosen(options.database):
        for wall in walls_of(database) if options.wall is None else (Wall(options.wall),):
            # Without any wall there is much to be found soon.
            count = min(options.requests, 600) if wall is Wall.NONE and options.wall is None else options.requests
            with place(database) as where:
                found = anyio.run(
                    lambda wall=wall, where=where, count=count: try_walls(where, wall, requests=count, seed=seed)
                )
            expected = wall is Wall.NONE and options.wall is None
            bad = bool(found.foreign or found.failures)
            failed = failed or (not bad if expected else bad)
            for line in [] if expected else (found.foreign + found.failures)[:_MOST_PRINTED]:
                print(f"{database}, {wall}: {line}")
            lines.append(
                f"{database}, walls standing: {wall}: {found.requests} requests, {found.answered} answered with "
                f"rows of their own, {len(found.foreign)} foreign rows{' (as it must find some)' if expected else ''}, "
                f"{len(found.failures)} failures (seed {seed})"
            )
    print("\n".join(lines))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
