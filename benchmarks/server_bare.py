"""The engine without us: the statements that the operations issue, through psycopg alone, from as many clients."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

import anyio
import psycopg
from psycopg.raw_cursor import RawCursor
from psycopg.rows import TupleRow
from psycopg.types.string import TextLoader

from benchmarks.latency_bare import Statement, Transaction, noted
from benchmarks.server_world import BEFORE, World, connected, question, sentence
from bethink import Message
from bethink.store.engines.postgres import PostgresOptions, PostgresTx

Cursor = psycopg.Cursor[TupleRow]

_TRACED = 60
_CONTENT = "a sentence that is remembered to learn which statements that takes"
_SPACE = "traced-space"
_KEY = "traced"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What one slice of load gave: seconds that every answer took, by operation, and what was refused or lost."""

    took: dict[str, list[float]] = field(default_factory=lambda: {"remember": [], "recall": []})
    errors: list[str] = field(default_factory=list[str])
    cpu: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {"took": self.took, "errors": self.errors[:20], "failed": len(self.errors), "cpu": self.cpu}


class _Template:
    """A traced transaction of `remember`, to be issued again for another space, with another text and key."""

    def __init__(self, traced: Transaction, names: Mapping[object, str]) -> None:
        self._traced = traced
        self._names = names

    def issue(self, cursor: Cursor, given: dict[str, object]) -> None:
        """Issue it. The number of the message is the one that the database gives out, as it is for us."""
        begin: bytes = self._traced.begin
        cursor.execute(begin.replace(f"'{_SPACE}'".encode(), f"'{given['space']}'".encode()))
        for statement in self._traced.statements:
            rows = _issue(cursor, statement, [self._value(value, given) for value in statement.values])
            if statement.name == "take_numbers":
                given["number"] = rows[0][0]
        cursor.execute(b"COMMIT")

    def _value(self, value: object, given: Mapping[str, object]) -> object:
        if isinstance(value, list):
            return [self._value(each, given) for each in cast("list[object]", value)]
        name = self._names.get(value)
        return value if name is None else given[name]


def _issue(cursor: Cursor, statement: Statement, values: Sequence[object]) -> list[TupleRow]:
    cursor.execute(statement.text.encode(), values)
    return cursor.fetchall() if cursor.description else []


class Bare:
    """As many connections as there are clients, each in a thread of its own."""

    def __init__(self, dsn: str, world: World, clients: int) -> None:
        self._dsn = dsn
        self._world = world
        self._clients = clients
        self._places: dict[str, tuple[str, str]] = {}
        self._template: _Template | None = None
        self._recalls: list[Sequence[Transaction]] = []
        parameters = PostgresOptions(dsn=dsn).parameters()
        self._connections = [
            psycopg.connect(dsn, autocommit=True, cursor_factory=RawCursor, **parameters) for _ in range(clients)
        ]
        for connection in self._connections:
            connection.adapters.register_loader("json", TextLoader)

    def prepare(self, number: int) -> None:
        """Learn what the operations issue now: messages have been added since, and found things change."""
        anyio.run(self._trace, self._world.dice("trace", number))

    async def _trace(self, dice: Random) -> None:
        spaces = self._world.names()
        async with connected(self._dsn) as memory:
            if self._template is None:
                for space in spaces:
                    [entry] = await memory.space(space).sessions.list()
                    self._places[space] = (entry.session.conversation_id, entry.session.id)
                self._template = await self._remembering()
            await memory.space(spaces[0]).recall("Who is it?")  # the first of a process asks for more
            self._recalls.clear()
            for _ in range(_TRACED):
                with noted(PostgresTx) as seen:
                    await memory.space(dice.choice(spaces)).recall(question(dice))
                self._recalls.append(seen)

    async def _remembering(self) -> _Template:
        async with connected(self._dsn) as memory:
            before = [Message(role="user", content=f"before {number}") for number in range(BEFORE)]
            await memory.space(_SPACE).remember(before)  # so that it finds what it finds in every other space
            with noted(PostgresTx) as seen:
                stored = await memory.space(_SPACE).remember(_CONTENT, idempotency_key=_KEY)
        [traced] = seen
        session = stored.session
        now = next(each for each in traced.statements if each.name == "insert_messages").values[3]
        names = {
            _SPACE: "space", session.conversation_id: "conversation", session.id: "session",
            f"{_KEY}:0": "key", _CONTENT: "content", now: "now", stored.refs[0].number: "number",
        }  # fmt: skip
        return _Template(traced, names)

    def close(self) -> None:
        """Let go of every connection."""
        for connection in self._connections:
            connection.close()

    def issued(self) -> str:
        """Say what the two operations issue."""
        assert self._template is not None
        remember = [each.name for each in self._template._traced.statements]
        recall = [each.name for transaction in self._recalls[0] for each in transaction.statements]
        return (
            f"remember issues {', '.join(remember)}; recall issues {', '.join(recall)}; each between BEGIN and COMMIT"
        )

    def run(self, seconds: float, number: int) -> Told:
        """Let every client remember and recall in turn until the time is over."""
        told = Told()
        until = time.perf_counter() + seconds
        began = time.process_time()
        threads = [
            threading.Thread(target=self._client, args=(each, number, until, told)) for each in range(self._clients)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return Told(took=told.took, errors=told.errors, cpu=time.process_time() - began)

    def _client(self, client: int, number: int, until: float, told: Told) -> None:
        dice = self._world.dice("bare", number, client)
        cursor = self._connections[client].cursor()
        spaces = self._world.names()
        turn = client
        while time.perf_counter() < until:
            turn += 1
            operation: Callable[[], None] = (
                self._remember(cursor, dice, spaces) if turn % 2 else self._recall(cursor, dice)
            )
            started = time.perf_counter()
            try:
                operation()
            except psycopg.Error as error:
                told.errors.append(f"bare: {error}")
                self._connections[client].rollback()
                continue
            told.took["remember" if turn % 2 else "recall"].append(time.perf_counter() - started)

    def _remember(self, cursor: Cursor, dice: Random, spaces: Sequence[str]) -> Callable[[], None]:
        space = dice.choice(spaces)
        conversation, session = self._places[space]
        given: dict[str, object] = {
            "space": space, "conversation": conversation, "session": session, "content": sentence(dice),
            "key": f"bare-{dice.getrandbits(64):x}:0", "now": time.time_ns() // 1_000,
        }  # fmt: skip
        template = self._template
        assert template is not None
        return lambda: template.issue(cursor, given)

    def _recall(self, cursor: Cursor, dice: Random) -> Callable[[], None]:
        traced = dice.choice(self._recalls)

        def issue() -> None:
            for transaction in traced:
                cursor.execute(transaction.begin)
                for statement in transaction.statements:
                    _issue(cursor, statement, statement.values)
                cursor.execute(b"COMMIT")

        return issue
