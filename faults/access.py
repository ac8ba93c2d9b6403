"""Random calls through every door, and readers that are killed: whatever was shown is in the access record.

Each stored line has a canary of its own. For every canary in an answer, the record must have an entry of that key or
person, from the time of that call, that names the line.
"""

import argparse
import contextlib
import io
import json
import os
import re
import secrets
import signal
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

import anyio

import bethink
import bethink.types
from bethink.cli.app import main as command_line
from bethink.http import ServerOptions, create_app
from bethink.memory.access.record import AccessRecord
from bethink.model.access import Interface, Scope, caller
from bethink.model.documents import DocumentDraft
from bethink.store.access_log import EVERYTHING, covers
from bethink.web.mount import add_web_ui
from bethink.web.sessions import WebSessions
from faults.asgi import ask
from faults.places import AsItIs, Place, chosen, fork, place
from faults.raw import Raw

_CANARY = re.compile(r"canary[0-9a-f]{10}")
_SPACES = ("alice", "bob", "team")
_WORDS = ("parrot", "figs", "garden", "ferry", "cello", "walnut")
_TASKS = 4
_FEWER = 0.7
"""How many calls of the command line are left to another door, as they take long."""
_AMONG_MUTANTS = 12
_KILLS = 6
_MOST_PRINTED = 20
_DOORS = (Interface.LIBRARY, Interface.HTTP, Interface.MCP, Interface.WEB, Interface.CLI)


class Mutant(StrEnum):
    """A bug on purpose."""

    NO_LIBRARY = "no-library"
    """An interface bypasses the record."""
    NO_HTTP = "no-http"
    NO_MCP = "no-mcp"
    NO_WEB = "no-web"
    NO_CLI = "no-cli"
    NO_KEY = "no-key"
    """The key of the caller is forgotten."""
    NO_REFS = "no-refs"
    """Operations are recorded without their refs."""
    LATE = "late"
    """Entries are collected, and written ten at a time."""
    NO_ARCHIVES = "no-archives"
    """Exporting or deleting a whole space bypasses the record."""


def _forgetful(record: AccessRecord, operation: str) -> Callable[[object, str], None]:
    def add(tx: object, space: str) -> None:
        del tx, space

    del record, operation
    return add


@contextlib.contextmanager
def mutated(mutant: Mutant | None) -> Generator[None]:
    """Put a bug into the record."""
    around, entry, write = AccessRecord.around, AccessRecord._entry, AccessRecord._write

    async def skipping(self: AccessRecord, operation: Any, space: str, request: Any, handler: Any) -> Any:
        if f"no-{caller.get().interface}" == mutant:
            return await handler(space, request)
        return await around(self, operation, space, request, handler)

    def changed(self: AccessRecord, operation: Any, space: str, who: Any) -> Any:
        return entry(self, operation, space, who)._replace(key="", person="")

    kept: list[Any] = []

    async def late(self: AccessRecord, new: Any) -> None:
        kept.append(new)
        if len(kept) == 10:
            for each in kept:
                await write(self, each)
            kept.clear()

    async def without(self: AccessRecord, new: Any) -> None:
        await write(self, new._replace(refs=()))

    bugs: dict[Mutant, tuple[str, Any]] = {
        Mutant.NO_KEY: ("_entry", changed), Mutant.NO_REFS: ("_write", without), Mutant.LATE: ("_write", late),
        Mutant.NO_ARCHIVES: ("record_everything", _forgetful),
    }  # fmt: skip
    if mutant is None:
        yield
        return
    name, body = bugs.get(mutant, ("around", skipping))
    with patch.object(AccessRecord, name, body):
        yield


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What one call has shown, to whom and when."""

    door: Interface
    who: str
    began: int
    ended: int
    canaries: frozenset[str]
    asked: str


@dataclass(kw_only=True)
class World:
    """What is stored: which memory each canary stands in, and what there is to ask for."""

    refs: dict[str, str] = field(default_factory=dict[str, str])
    sessions: dict[str, str] = field(default_factory=dict[str, str])
    shown: list[Shown] = field(default_factory=list[Shown])
    calls: Counter[str] = field(default_factory=Counter[str])

    def some_ref(self, random: Random, space: str, kind: str = "") -> str:
        """Return the ref of a memory in a space."""
        return random.choice([each for each in self.refs.values() if each.startswith(kind) and self.is_in(space, each)])

    def is_in(self, space: str, ref: str) -> bool:
        """Return whether a memory is in a space."""
        return any(name in ref for name in (f"{space}-", self.sessions[space]))


async def furnish(memory: bethink.Memory, random: Random) -> World:
    """Store lines, facts and documents in every space, each with a canary."""
    world = World()

    def said() -> str:
        return f"The {random.choice(_WORDS)} and the {random.choice(_WORDS)}: canary{random.getrandbits(40):010x}"

    for space in _SPACES:
        texts = [said() for _ in range(12)]
        stored = await memory.space(space).remember([{"role": "user", "content": text} for text in texts])
        world.sessions[space] = stored.session.id
        world.refs |= {text[-16:]: str(ref) for text, ref in zip(texts, stored.refs, strict=True)}
        for number in range(4):
            text, name = said(), f"{space}-fact-{number}"
            await memory.space(space).facts.save(bethink.Fact(id=name, text=text, origin=bethink.types.Origin("user")))
            world.refs[text[-16:]] = f"fact:{name}:1"
            text, name = said(), f"{space}-doc-{number}"
            draft = DocumentDraft(slug=f"page-{number}", title=f"Page {number}", body=text)
            await memory.space(space).documents.create(draft, document_id=name)
            world.refs[text[-16:]] = f"document:{name}:1"
    return world


Call = Callable[[Random, str], Awaitable[tuple[str, str]]]
"""Makes one call about a space; returns what was asked, and the answer as text."""


class Doors:
    """How each door is gone through. One person or key goes through each of them at a time."""

    def __init__(self, memory: bethink.Memory, world: World, target: str, folder: str) -> None:
        self._memory = memory
        self.world = world
        self._target = target
        self._folder = folder
        options = ServerOptions(rate=float("inf"))
        self.app = create_app(memory, options=options, mounts=[add_web_ui])

    async def open(self, task: int) -> dict[Interface, tuple[str, Call]]:
        """Return for each door who goes through it, and how."""
        key = await self._memory.admin.keys.create(f"task {task}", [Scope.READ, Scope.WRITE, Scope.STEER])
        session = await WebSessions(self._memory.backend.local().database).begin(key.info.prefix)
        prefix, text = key.info.prefix, key.key
        return {
            Interface.LIBRARY: (f"person-{task}", partial(self._library, f"person-{task}")),
            Interface.HTTP: (prefix, partial(self._http, text)),
            Interface.MCP: (prefix, partial(self._mcp, text)),
            Interface.WEB: (prefix, partial(self._window, session)),
            Interface.CLI: ("", self._cli),
        }

    async def _library(self, person: str, random: Random, space: str) -> tuple[str, str]:
        own, world = self._memory.space(space), self.world
        question = " ".join(random.sample(_WORDS, 2))
        fact, document = world.some_ref(random, space, "fact"), world.some_ref(random, space, "document")
        calls: dict[str, Callable[[], Awaitable[object]]] = {
            "recall": lambda: own.recall(question, explain=random.random() < 0.3),
            "several": lambda: self._memory.group(*_SPACES).recall(question),
            "context": lambda: own.context(question),
            "explain": lambda: own.explain(world.some_ref(random, space)),
            "read": lambda: self._read(space),
            "fact": lambda: own.facts.get(fact.split(":")[1]),
            "facts": own.facts.list,
            "search": lambda: own.facts.search(question),
            "document": lambda: own.documents.get(document.split(":")[1]),
            "documents": lambda: own.documents.search(question),
            "files": own.documents.read_all,
            "timeline": own.admin.timeline.list,
            "archive": lambda: self._export(space, random),
        }
        name = random.choice(list(calls))
        with bethink.acting_for(person):
            return name, repr(await calls[name]())

    async def _read(self, space: str) -> object:
        return await (await self._memory.space(space).sessions.get(self.world.sessions[space])).messages()

    async def _export(self, space: str, random: Random) -> str:
        file = self._file(random)
        await self._memory.space(space).admin.export_archive(file)
        return _read_archive(file.read_bytes())

    def _file(self, random: Random) -> Path:
        return Path(self._folder) / f"{random.getrandbits(64):016x}.zip"

    async def _http(self, key: str, random: Random, space: str) -> tuple[str, str]:
        question = {"question": " ".join(random.sample(_WORDS, 2))}
        fact = self.world.some_ref(random, space, "fact").split(":")[1]
        ref = quote(self.world.some_ref(random, space), safe="")
        method, path, body = random.choice(
            [
                ("POST", "recall", question),
                ("POST", "context", question),
                ("GET", f"memories/{ref}", None),
                ("GET", f"sessions/{self.world.sessions[space]}/messages", None),
                ("GET", f"facts/{fact}", None),
                ("GET", "facts", None),
                ("GET", "files", None),
                ("GET", "timeline", None),
                ("GET", "archive", None),
            ]
        )
        answer = await ask(self.app, method, f"/v1/spaces/{space}/{path}", key=key, body=body)
        return f"{answer.status} {path}", _read_archive(answer.body) if path == "archive" else answer.body.decode()

    async def _mcp(self, key: str, random: Random, space: str) -> tuple[str, str]:
        ref = self.world.some_ref(random, space)
        name, arguments = random.choice(
            [
                ("recall", {"question": " ".join(random.sample(_WORDS, 2))}),
                ("search", {"query": " ".join(random.sample(_WORDS, 2))}),
                ("read_memory", {"ref": ref}),
                ("fetch", {"id": ref}),
                ("explain", {"ref": ref}),
                ("list_memories", {}),
                ("timeline", {"around": self.world.some_ref(random, space, "message")}),
            ]
        )
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        headers = {"accept": "application/json, text/event-stream"}
        answer = await ask(self.app, "POST", f"/mcp/spaces/{space}", key=key, body=body, headers=headers)
        return f"{answer.status} {name}", answer.body.decode()

    async def _window(self, session: str, random: Random, space: str) -> tuple[str, str]:
        fact = self.world.some_ref(random, space, "fact").split(":")[1]
        document = self.world.some_ref(random, space, "document").split(":")[1]
        path = random.choice(
            [
                f"recall?q={random.choice(_WORDS)}",
                f"memories/{quote(self.world.some_ref(random, space), safe=':')}",
                "facts",
                "facts.json",
                f"facts/{fact}",
                f"sessions/{self.world.sessions[space]}",
                f"documents/{document}",
                "timeline",
            ]
        )
        headers = {"cookie": f"__Host-bethink={session}"}
        answer = await ask(self.app, "GET", f"/ui/s/{space}/{path}", headers=headers)
        return f"{answer.status} {path}", answer.body.decode()

    async def _cli(self, random: Random, space: str) -> tuple[str, str]:
        file = self._file(random)
        words = random.choice(
            [
                ["recall", " ".join(random.sample(_WORDS, 2))],
                ["show", self.world.some_ref(random, space)],
                ["fact", "list"],
                ["context", random.choice(_WORDS)],
                ["data", "export", "--format", "archive", "-o", str(file)],
                ["data", "export"],
            ]
        )
        given = [*words, "--database", self._target, "--space", space, "--json"]
        printed = await anyio.to_thread.run_sync(_printed, given)
        return " ".join(words), printed + (_read_archive(file.read_bytes()) if file.exists() else "")


def _read_archive(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return "\n".join(archive.read(name).decode() for name in archive.namelist())


def _printed(words: list[str]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        command_line(words)
    return out.getvalue()


async def call_at_random(target: str, *, calls: int, seed: int, doors: tuple[Interface, ...] = _DOORS) -> World:
    """Go through the doors with several tasks at once, and note what was shown to whom."""
    random = Random(seed)
    shell = anyio.Lock()  # what a command prints goes to the one stdout there is
    memory = bethink.connect(target, learn_in_background=False, redactor=AsItIs())
    async with contextlib.AsyncExitStack() as open_until_the_end:
        folder = open_until_the_end.enter_context(tempfile.TemporaryDirectory())
        made = Doors(memory, World(), target, folder)
        await open_until_the_end.enter_async_context(made.app.router.lifespan_context(made.app))
        world = made.world = await furnish(memory, random)

        async def some(task: int, count: int) -> None:
            own, random = await made.open(task), Random(seed * 31 + task)
            for _ in range(count):
                door, space = random.choice(doors), random.choice(_SPACES)
                if door is Interface.CLI and random.random() < _FEWER:
                    door = doors[0]
                who, call = own[door]
                async with shell if door is Interface.CLI else contextlib.AsyncExitStack():
                    began = time.time_ns() // 1_000
                    asked, answer = await call(random, space)
                    ended = time.time_ns() // 1_000
                canaries = frozenset(_CANARY.findall(answer))
                world.calls[door] += 1
                world.shown.append(
                    Shown(door=door, who=who, began=began, ended=ended, canaries=canaries, asked=f"{door} {asked}")
                )

        async with anyio.create_task_group() as tasks:
            for task in range(_TASKS):
                tasks.start_soon(some, task, calls // _TASKS + (task < calls % _TASKS))
    return world


def missing_in(where: Place, world: World) -> list[str]:
    """Return what was shown and is not in the record, read past our own code."""
    raw = Raw(where.raw)
    rows = raw.rows("SELECT interface, key_prefix, person, at, refs, space_id FROM access_log")
    entries = [(door, key, person, at, json.loads(refs), space) for door, key, person, at, refs, space in rows]
    missing: list[str] = []
    for call in world.shown:
        own = [
            (ref, space)
            for door, key, person, at, refs, space in entries
            if door == call.door and call.began <= at <= call.ended and call.who in (key, person, "")
            for ref in refs
        ]
        missing += [
            f"{call.asked}: {world.refs[canary]} was shown to {call.who or 'the shell'} and is not in the record"
            for canary in call.canaries
            if not any(
                covers(ref, world.refs[canary]) and (ref != EVERYTHING or world.is_in(space, world.refs[canary]))
                for ref, space in own
            )
        ]
    text = json.dumps([entry[:3] + tuple(entry[4]) for entry in entries])
    missing += [f"the record quotes what was said: {each}" for each in _CANARY.findall(text)]
    return missing


def kill_readers(where: Place, *, kills: int, seed: int) -> tuple[int, list[str]]:
    """Kill processes that read: what they had been shown by then must be in the record."""
    random, missing, read = Random(seed), list[str](), 0
    for number in range(kills):
        ledger = Path(where.ledger) / f"reader-{number}"
        ledger.touch()
        child = fork(partial(_reads, where.target, ledger, f"reader-{number}"))
        deadline = time.monotonic() + 60
        most = random.randrange(1, 40)
        while ledger.stat().st_size < most and time.monotonic() < deadline:
            time.sleep(0.002)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        shown = ledger.stat().st_size
        read += shown
        rows = Raw(where.raw).rows("SELECT person FROM access_log")
        recorded = sum(person == f"reader-{number}" for (person,) in rows)
        if not shown <= recorded <= shown + 1:
            missing.append(f"a reader was killed after {shown} answers, and {recorded} are in the record")
    return read, missing


def _reads(target: str, ledger: Path, person: str) -> None:
    async def forever() -> None:
        file = os.open(ledger, os.O_APPEND | os.O_WRONLY)
        async with bethink.connect(target, learn_in_background=False) as memory:
            with bethink.acting_for(person):
                while True:
                    await memory.space("alice").admin.export_archive(ledger.with_suffix(".zip"))
                    os.write(file, b".")
                    await memory.space("alice").recall("parrot")
                    os.write(file, b".")

    anyio.run(forever)


def campaign(
    database: str, *, calls: int, kills: int, seed: int, mutant: Mutant | None, doors: tuple[Interface, ...] = _DOORS
) -> tuple[str, list[str]]:
    """Run everything once on a new database; return the figures and what is missing."""
    with place(database) as where, mutated(mutant):
        world = anyio.run(partial(call_at_random, where.target, calls=calls, seed=seed, doors=doors))
        missing = missing_in(where, world)
        read, lost = kill_readers(where, kills=kills, seed=seed)
    lines = sum(len(each.canaries) for each in world.shown)
    by_door = ", ".join(f"{world.calls[door]} by {door}" for door in _DOORS)
    figures = (
        f"{len(world.shown)} calls ({by_door}), {lines} lines shown, {len(missing)} missing in the record; "
        f"{kills} readers killed after {read} answers, {len(lost)} with answers missing"
    )
    return figures, missing + lost


def noticed(mutant: Mutant, seed: int) -> bool:
    """Return whether a few calls notice a bug on purpose."""
    door = mutant.removeprefix("no-")
    doors = tuple(each for each in _DOORS if each == door) or (Interface.HTTP,)
    kills = int(mutant in (Mutant.LATE, Mutant.NO_ARCHIVES))
    return bool(campaign("sqlite", calls=_AMONG_MUTANTS, kills=kills, seed=seed, mutant=mutant, doors=doors)[1])


def _but(unseen: list[Mutant]) -> str:
    return f", but not {', '.join(unseen)}" if unseen else ""


def main() -> int:
    """Run the campaign as the command line says, then every mutant, which must be noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000, help="for each database")
    parser.add_argument("--kills", type=int, default=_KILLS, help="readers to kill, for each database")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--seed", type=int, default=None, help="repeat the random choices of an earlier run")
    parser.add_argument("--mutant", choices=list(Mutant), default=None, help="only this bug: the run must fail")
    options = parser.parse_args()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    failed, lines = False, list[str]()
    for database in chosen(options.database):
        mutant = None if options.mutant is None else Mutant(options.mutant)
        figures, wrong = campaign(database, calls=options.calls, kills=options.kills, seed=seed, mutant=mutant)
        for line in wrong[:_MOST_PRINTED]:
            print(f"{database}: {line}")
        failed = failed or bool(wrong)
        lines.append(f"{database}: {figures} (seed {seed})")
    if options.mutant is None:
        unseen = [each for each in Mutant if not noticed(each, seed)]
        failed = failed or bool(unseen)
        lines.insert(0, f"{len(Mutant) - len(unseen)} of {len(Mutant)} bugs on purpose were noticed{_but(unseen)}")
    print("\n".join(lines))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
