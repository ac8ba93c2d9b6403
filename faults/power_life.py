# pyright: reportUnknownMemberType=false
"""What a memory goes through on a disk that is recorded, and what must hold of any state a power cut leaves."""

import contextlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, cast

import anyio
import apsw

import bethink
from bethink.model.records import conversation_key
from bethink.store import chain
from bethink.store.db import system_clock
from bethink.store.engines.sqlite import SqliteTx
from faults.places import AsItIs
from faults.recorded_disk import Disk

SPACE = "faults"
FILE = "memory.db"
_SESSIONS = 3
_STEPS = 24
_LETTERS = "bcdfghjklmnpqrstvwxz"
_MESSAGES = "SELECT idempotency_key, session_id, number, content FROM messages"
_FACTS = "SELECT id FROM facts"

Stored = tuple[str, int]


@dataclass(slots=True)
class Known:
    """What callers know: what must be there, what may be, and what must not."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    """The text of every message that was ever sent, by key."""
    chats: dict[str, int] = field(default_factory=dict[str, int])
    stored: dict[str, Stored] = field(default_factory=dict[str, Stored])
    leaving: set[str] = field(default_factory=set[str])
    """Messages that somebody has asked to forget, answered or not: any process that opens the file finishes it."""
    forgotten: set[str] = field(default_factory=set[str])
    refused: set[str] = field(default_factory=set[str])
    """Messages of which a caller was told that nothing was written."""
    facts: set[str] = field(default_factory=set[str])

    def copy(self) -> "Known":
        """Return one that goes its own way."""
        return Known(
            dict(self.texts), dict(self.chats), dict(self.stored), set(self.leaving), set(self.forgotten),
            set(self.refused), set(self.facts),
        )  # fmt: skip

    def hear(self, told: Iterable[tuple[object, ...]]) -> None:
        """Take in what callers were told."""
        for each in told:
            match each:
                case ("sent", str(key), str(text), int(number)):
                    self.texts[key], self.chats[key] = text, number
                    self.refused.discard(key)
                case ("stored", str(key), str(session), int(number)):
                    self.stored[key] = (session, number)
                case ("refused", str(key)):
                    self.refused.add(key)
                case ("forgetting", str(key)):
                    self.leaving.add(key)
                case ("forgot", str(key)):
                    self.forgotten.add(key)
                case ("fact", str(name)):
                    self.facts.add(name)
                case _:
                    raise ValueError(f"nobody says {each}")


def connect(file: Path, *, wal: bool, **given: Any) -> bethink.Memory:
    """Open the memory as anybody would."""
    return bethink.connect(str(file), redactor=AsItIs(), learn=False, sqlite_wal=wal, **given)


@dataclass(slots=True)
class Life:
    """One process from start to end: it appends, forgets, recalls, and opens the file anew in between."""

    disk: Disk
    dice: Random
    known: Known
    """What was so before; whatever happens is told to the disk."""
    name: str
    wal: bool
    synchronous: str = "FULL"
    _sent: int = 0
    _own: dict[str, Stored] = field(default_factory=dict[str, Stored])

    async def run(self) -> None:
        """Live it."""
        self._own = {key: place for key, place in self.known.stored.items() if key not in self.known.leaving}
        for _ in range(2):
            async with connect(self.disk.folder / FILE, wal=self.wal, sqlite_synchronous=self.synchronous) as memory:
                for _ in range(_STEPS // 2):
                    await self._step(memory)

    async def _step(self, memory: bethink.Memory) -> None:
        space, fate = memory.space(SPACE), self.dice.random()
        if fate < 0.1 and self._own:
            key = self.dice.choice(sorted(self._own))
            session, number = self._own.pop(key)
            self.disk.tell("forgetting", key)
            await space.forget(bethink.Ref.parse(f"message:{session}:{number}"))
            self.disk.tell("forgot", key)
        elif fate < 0.2:
            name = f"fact-{self.name}-{self._sent}"
            await space.facts.save(bethink.Fact(id=name, text="Likes tea."))
            self.disk.tell("fact", name)
        elif fate < 0.3:
            await space.sessions.list()  # read beside the writer, and recorded without a sync
        else:
            await self._append(space, self.dice.randrange(_SESSIONS))

    async def _append(self, space: bethink.Space, number: int) -> None:
        session = await space.session(chat(number))
        keys: list[str] = []
        messages: list[bethink.Message] = []
        for _ in range(self.dice.choice((1, 1, 2, 12))):
            self._sent += 1
            keys.append(f"{self.name}-{self._sent}")
            text = f"message {keys[-1]} {''.join(self.dice.choices(_LETTERS, k=12))}"
            self.disk.tell("sent", keys[-1], text, number)
            messages.append(bethink.Message(role="user", content=text, idempotency_key=keys[-1]))
        for key, at in zip(keys, await session.append(messages), strict=True):
            self.disk.tell("stored", key, session.id, at)
            self._own[key] = (session.id, at)


def chat(number: int) -> str:
    """Name a conversation."""
    return conversation_key(channel="faults", chat=str(number))


@dataclass(slots=True)
class Found:
    """What a database holds, read past our own code, and what is wrong with it."""

    problems: list[str] = field(default_factory=list[str])
    messages: dict[str, Stored] = field(default_factory=dict[str, Stored])
    facts: set[str] = field(default_factory=set[str])


def look(file: Path, known: Known) -> Found:
    """Open a file as a cut left it, and hold it against what callers know."""
    found = Found()
    connection = apsw.Connection(str(file), vfs="unix")
    try:
        sound = [str(row[0]) for row in _rows(connection, "PRAGMA integrity_check")]
        found.problems += [] if sound == ["ok"] else [f"the database's own check says: {sound[:2]}"]
        found.problems += ["rows refer to others that are gone"] * any(_rows(connection, "PRAGMA foreign_key_check"))
        if connection.table_exists(None, "messages"):
            _compare(connection, known, found)
        elif known.stored.keys() - known.leaving or known.facts:
            found.problems.append("all of it is lost, the schema too")
    except apsw.Error as error:
        found.problems.append(f"cannot be read: {type(error).__name__}: {error}")
    finally:
        with contextlib.suppress(apsw.Error):
            connection.close()
    return found


def _rows(connection: apsw.Connection, query: str) -> list[tuple[Any, ...]]:
    return cast("list[tuple[Any, ...]]", list(connection.execute(query)))


def _compare(connection: apsw.Connection, known: Known, found: Found) -> None:
    rows = _rows(connection, _MESSAGES)
    doubled = [key for key, count in Counter(row[0] for row in rows).items() if count > 1]
    found.problems += [f"{key} is stored more than once" for key in doubled]
    found.messages = {key: (session, number) for key, session, number, _ in rows}
    found.facts = {str(row[0]) for row in _rows(connection, _FACTS)}
    for key, place in known.stored.items():
        if key not in known.leaving and found.messages.get(key) != place:
            found.problems.append(f"acknowledged message {key} is at {found.messages.get(key)}, not at {place}")
    found.problems += [f"{key} was forgotten and is there" for key in known.forgotten if key in found.messages]
    found.problems += [f"{key} was refused and is there" for key in known.refused if key in found.messages]
    found.problems += [f"{name} is lost" for name in known.facts - found.facts]
    found.problems += [f"{key} is not what was sent" for key, _, _, text in rows if known.texts.get(key) != text]
    transaction = SqliteTx(connection, begin="BEGIN", clock=system_clock)
    broken = chain.check(transaction, space=SPACE).broken
    found.problems += [f"the chain of {ref.session_id} is broken at {ref.number}: {why}" for ref, why in broken]
    connection.execute("ROLLBACK")


async def use_again(file: Path, known: Known, *, wal: bool) -> list[str]:
    """Open it with Bethink, send again what is unanswered and some that is not, and go on."""
    open_keys = [key for key in known.texts if key not in known.stored and key not in known.forgotten][-3:]
    again = [key for key in known.stored if key not in known.leaving][-3:]
    problems: list[str] = []
    async with connect(file, wal=wal) as memory:
        space = memory.space(SPACE)
        for key in [*open_keys, *again]:
            place = known.stored.get(key)
            session = await space.session(chat(known.chats[key]))
            message = bethink.Message(role="user", content=known.texts[key], idempotency_key=key)
            [number] = await session.append([message])
            if place is not None and place != (session.id, number):
                problems.append(f"{key} was sent again and is at {number}, not at {place}")
        await space.sessions.list()
        with anyio.fail_after(10):
            while await memory.admin.erasures.list():  # noqa: ASYNC110 - a thread empties the log
                await anyio.sleep(0.01)
    text = b"".join(path.read_bytes() for path in sorted(file.parent.glob(f"{FILE}*")))
    words = {key: known.texts[key].rpartition(" ")[2].encode() for key in known.forgotten}
    return problems + [
        f"{key} was forgotten and its text is in the file" for key, word in words.items() if word in text
    ]
