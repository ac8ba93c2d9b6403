"""The command that shows what Bethink does: three made-up months, asked, followed, looked back on, forgotten."""

import re
import shlex
import shutil
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.frame import SPACE as SPACE_OPTIONS
from bethink.cli.frame import Answer, Door, command
from bethink.cli.terminal import Line, many
from bethink.errors import Conflict

if TYPE_CHECKING:
    from bethink.memory import Memory
    from bethink.store.db import Database
    from bethink.worker import Worker

app = typer.Typer()

SPACE = "mira"
_DAY = "2026-04-04"
_ID = re.compile(r"\b(doc|fct|ses)_\w+")


@command(app, does="makes", opens=False, without=(*SPACE_OPTIONS, "config", "database"))
async def demo(
    door: Door,
    *,
    keep: Annotated[str | None, typer.Option(metavar="FILE", help="Keep the memory in a new file.")] = None,
) -> Answer:
    """Show what it does, on three made-up months. No key, no network; it takes a few seconds."""
    with _file(keep) as path:
        clock = Clock()
        door.note("remembering 31 sessions of Mira's…")
        async with memory_at(path, clock) as memory:
            seeded = await seed(memory, clock)
        if keep is not None:  # before the tour, which forgets: there every command can be tried
            shutil.copy(path, keep)
        async with memory_at(path, clock) as memory:
            tour = _Tour(memory=memory, lines=_head(seeded, keep))
            await tour.go()
    steps = _next(keep)
    # Ids differ from one run to the next; only those that were kept can be asked for.
    lines = tour.lines if keep is not None else [Line(_ID.sub(r"\1_…", each.text), each.style) for each in tour.lines]
    lines += [Line(), Line("Next:", "bold"), *(Line(f"  {each}") for each in steps)]
    data = {"seeded": seeded, "asked": tour.asked, "followed": tour.followed, "forgotten": tour.forgotten}
    return Answer(data=data | {"file": keep, "next": steps}, lines=lines)


@dataclass(slots=True)
class Clock:
    """The time of the story: it moves when told, and by a microsecond each time it is read."""

    time: datetime = field(default_factory=lambda: datetime(1970, 1, 1, tzinfo=UTC))

    def __call__(self) -> datetime:
        """Read it."""
        self.time += timedelta(microseconds=1)
        return self.time


@contextmanager
def _file(keep: str | None) -> Generator[str]:
    if keep is not None and Path(keep).exists():
        raise Conflict(f"{keep} is there already.", hint="Name a file that is not there yet.")
    with tempfile.TemporaryDirectory(prefix="bethink-demo-") as folder:
        yield str(Path(folder) / "demo.db")


def memory_at(path: str, clock: Clock) -> "Memory":
    """Build a memory whose clock stands where the story is, and whose model is scripted; all else is as ever."""
    from bethink.memory import Memory  # noqa: PLC0415
    from bethink.providers.default_redactor import redactor_for  # noqa: PLC0415
    from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions  # noqa: PLC0415

    database = SqliteDatabase(SqliteOptions(path=path), clock=clock)
    redactor = redactor_for(database)
    return Memory(database, redactor=redactor, worker=lambda: _worker(database, redactor, clock))


def _worker(database: "Database", redactor: Any, clock: Clock) -> "Worker":
    """Learn facts with the scripted model; documents quote, as without a model, and are written on Mondays."""
    from bethink.cli.demo_data import TODAY, answer  # noqa: PLC0415
    from bethink.learning.documents.consolidate import ConsolidationRules, Consolidator  # noqa: PLC0415
    from bethink.learning.documents.runs import Runs  # noqa: PLC0415
    from bethink.learning.extraction.extract import Extractor, Prices  # noqa: PLC0415
    from bethink.model.jobs import JobKind  # noqa: PLC0415
    from bethink.providers.estimated_tokens import EstimatedTokens  # noqa: PLC0415
    from bethink.providers.scripted_model import ScriptedModel  # noqa: PLC0415
    from bethink.worker import Handler, Worker  # noqa: PLC0415

    tokens, free = EstimatedTokens(), Prices(input=0.0, output=0.0)
    model = ScriptedModel(answer, name="scripted by the demo")
    extractor = Extractor(database=database, model=model, redactor=redactor, tokens=tokens, prices=free)
    handlers: dict[JobKind, Handler] = {JobKind.EXTRACT: extractor}
    runs = Runs(database=database, model=None, redactor=redactor, tokens=tokens, prices=free)
    if clock.time.weekday() == 0 or clock.time >= TODAY:
        handlers[JobKind.CONSOLIDATE] = Consolidator(runs=runs, rules=ConsolidationRules())
    return Worker(database, handlers)


async def seed(memory: "Memory", clock: Clock) -> dict[str, int]:
    """Live through the story: every session at its time, and learnt from when it ended."""
    from bethink.cli.demo_data import TODAY, story  # noqa: PLC0415
    from bethink.model.records import ConversationKey, Message  # noqa: PLC0415

    counts = {"session": 0, "message": 0}
    for said in story():
        clock.time = said.at
        key = ConversationKey(channel="chat", chat=SPACE, thread=said.topic)
        session = await memory.open_session(space=SPACE, conversation=key)
        messages = [
            _message(Message, who, text, said.at + timedelta(minutes=turn))
            for turn, (who, text) in enumerate(said.turns)
        ]
        await memory.append(session, messages)
        await memory.end_session(session)
        await memory.learn()
        counts["session"] += 1
        counts["message"] += len(messages)
    clock.time = TODAY
    await memory.learn()
    return counts | {"fact": await memory.facts(space=SPACE).length()}


def _message(make: Any, who: str, text: str, at: datetime) -> Any:
    role, _, name = who.partition(" ")
    return make(role=role, content=text, name=name or None, said_at=at)


def _head(seeded: dict[str, int], keep: str | None) -> list[Line]:
    file = shlex.quote(keep or "demo.db")
    after = "" if keep is not None else f", after 'bethink demo --keep {file}'"
    return [
        Line(f"Three months of Mira, who does not exist: {', '.join(many(n, kind) for kind, n in seeded.items())}."),
        Line(
            "A scripted model stands in for yours: what it answers is written in the demo. Nothing leaves this machine."
        ),
        Line(f"Today is {_DAY}. Each command also takes --database {file} --space {SPACE}{after}."),
    ]


@dataclass(slots=True, kw_only=True)
class _Tour:
    """Calls what the commands call, and prints what they print."""

    memory: "Memory"
    lines: list[Line]
    asked: list[Any] = field(default_factory=list[Any])
    followed: Any = None
    forgotten: Any = None

    async def go(self) -> None:
        home = await self._ask("Where do I live?", facts=True, explain=True)
        await self._follow(str(home.items[0].ref))
        await self._ask("Where do I live?", facts=True, as_of="2026-02-10")
        await self._ask("What did the flat search find?")
        self.lines += [Line(), Line("That is a tool's text: it is shown as data, and never becomes a wish of Mira's.")]
        await self._forget("flats")
        await self._ask("What did the flat search find?")

    async def _ask(self, question: str, *, facts: bool = False, explain: bool = False, as_of: str = _DAY) -> Any:
        from bethink.cli.recalling import kinds_of, recall_lines  # noqa: PLC0415

        kinds = kinds_of(["fact"] if facts else None)
        found = await self.memory.recall(question, space=SPACE, limit=1, as_of=as_of, kinds=kinds, explain=explain)
        self.asked.append(found)
        options = f"--limit 1{' --kind fact' if facts else ''} --as-of {as_of}{' --explain' if explain else ''}"
        self._show(f'recall "{question}" {options}', recall_lines(found, explain=explain))
        if found.missing:
            self.lines.append(Line(f"note: {found.missing}"))
        return found

    async def _follow(self, ref: str) -> None:
        from bethink.cli.recalling import lineage_lines  # noqa: PLC0415

        self.followed = await self.memory.explain(ref, space=SPACE)
        self._show(f"show {ref}", lineage_lines(self.followed))

    async def _forget(self, thread: str) -> None:
        from bethink.cli.forgetting import counted  # noqa: PLC0415
        from bethink.model.records import ConversationKey  # noqa: PLC0415

        key = ConversationKey(channel="chat", chat=SPACE, thread=thread)
        self.forgotten = await self.memory.forget(space=SPACE, conversation=key)
        self._show(f"forget --conversation {key} --yes", [Line(f"forgotten: {counted(self.forgotten)}")])

    def _show(self, words: str, printed: Iterable[Line]) -> None:
        self.lines += [Line(), Line(f"$ bethink {words}", "bold"), *printed]


def _next(keep: str | None) -> list[str]:
    options = f"--database {shlex.quote(keep or 'demo.db')} --space {SPACE}"
    ask = f'bethink recall "When is my sister\'s birthday?" {options}'
    if keep is None:
        return ["bethink demo --keep demo.db", ask, "bethink init"]
    return [ask, f"bethink log {options}", f"bethink sessions {options}"]
