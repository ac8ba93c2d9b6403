"""The command that shows what Bethink does: three made-up months, asked, explained, looked back on, forgotten."""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.frame import Answer, Door, command
from bethink.cli.terminal import Line
from bethink.errors import Conflict

if TYPE_CHECKING:
    from bethink.memory import Memory
    from bethink.model.records import Micros

app = typer.Typer()

SPACE = "mira"
_WEEK = 7 * 86_400_000_000


@command(app, opens=False)
async def demo(
    door: Door,
    *,
    keep: Annotated[str | None, typer.Option(metavar="FILE", help="Keep the memory in a new file.")] = None,
) -> Answer:
    """Show what it does, on three made-up months. No key, no model, no network; it takes a few seconds."""
    with _file(keep) as path:
        clock = Clock()
        memory = _memory(path, clock)
        async with memory:
            door.note("remembering 31 sessions of Mira's…")
            seeded = await _seed(memory, clock)
            data, lines = await _tour(memory, seeded)
    steps = _next(keep)
    lines += [Line(), Line("Next:", "bold"), *(Line(f"  {each}") for each in steps)]
    return Answer(data=data | {"file": keep, "next": steps}, lines=lines)


@dataclass(slots=True)
class Clock:
    """The time of the story: it moves when told, and by a microsecond each time it is read."""

    time: int = 0

    def __call__(self) -> "Micros":
        """Read it."""
        from bethink.model.records import Micros  # noqa: PLC0415

        self.time += 1
        return Micros(self.time)


@contextmanager
def _file(keep: str | None) -> Generator[str]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="bethink-demo-") as folder:
            yield str(Path(folder) / "demo.db")
        return
    if Path(keep).exists():
        raise Conflict(f"{keep} is there already.", hint="Name a file that is not there yet.")
    yield keep


def _memory(path: str, clock: Clock) -> "Memory":
    """Build a memory whose clock stands where the story is; all else is as it is for everybody."""
    from bethink.build import worker_from  # noqa: PLC0415
    from bethink.memory import Memory  # noqa: PLC0415
    from bethink.plugins.default_redactor import redactor_for  # noqa: PLC0415
    from bethink.settings import Settings  # noqa: PLC0415
    from bethink.store.sqlite import SqliteDatabase, SqliteOptions  # noqa: PLC0415

    database = SqliteDatabase(SqliteOptions(path=path), clock=clock)
    redactor = redactor_for(database)
    settings = Settings(sqlite_path=path)
    return Memory(
        database,
        redactor=redactor,
        worker=lambda: worker_from(settings, database, redactor=redactor, model=None),
    )


async def _seed(memory: "Memory", clock: Clock) -> dict[str, int]:
    """Live through the story: every session at its time, learnt from when it ended, facts when they were written."""
    from bethink.cli.demo_data import TODAY, facts, story  # noqa: PLC0415
    from bethink.model.records import ConversationKey, Message  # noqa: PLC0415

    written, learnt = facts(), 0
    counts = {"sessions": 0, "messages": 0, "facts": len({fact.id for _, fact in written})}
    for said in story():
        await _write_facts(memory, clock, written, until=said.at)
        clock.time = said.at
        key = ConversationKey(channel="chat", chat=SPACE, thread=said.topic)
        session = await memory.open_session(space=SPACE, conversation=key)
        messages = [
            _message(Message, who, text, said.at + 60_000_000 * turn) for turn, (who, text) in enumerate(said.turns)
        ]
        await memory.append(session, messages)
        await memory.end_session(session)
        if said.at - learnt >= _WEEK:
            learnt = said.at
            await memory.learn()
        counts["sessions"] += 1
        counts["messages"] += len(messages)
    await _write_facts(memory, clock, written, until=TODAY)
    clock.time = TODAY
    await memory.learn()
    return counts


async def _write_facts(memory: "Memory", clock: Clock, written: list[Any], *, until: int) -> None:
    while written and written[0][0] < until:
        clock.time, fact = written.pop(0)
        await memory.facts(space=SPACE).index(fact)


def _message(make: Any, who: str, text: str, moment: int) -> Any:
    role, _, name = who.partition(" ")
    return make(role=role, content=text, name=name or None, said_at=moment)


async def _tour(memory: "Memory", seeded: dict[str, int]) -> tuple[dict[str, Any], list[Line]]:
    from bethink.cli.forgetting import counted  # noqa: PLC0415
    from bethink.cli.recalling import kinds_of, recall_lines  # noqa: PLC0415
    from bethink.model.records import ConversationKey  # noqa: PLC0415

    lines = [
        Line(f"Three months of Mira: {', '.join(f'{count} {kind}' for kind, count in seeded.items())}."),
        Line("Today is 2026-04-04. No model is set, so nothing is inferred: memory quotes."),
    ]
    asked: list[Any] = []

    async def ask(question: str, *, limit: int = 1, kind: str | None = None, as_of: str | None = None) -> None:
        found = await memory.recall(
            question, space=SPACE, limit=limit, as_of=as_of, kinds=kinds_of([kind] if kind else None), explain=True
        )
        asked.append(found)
        options = f"{f' --kind {kind}' if kind else ''}{f' --as-of {as_of}' if as_of else ''}"
        lines.extend([Line(), Line(f'$ bethink recall "{question}" --limit {limit}{options} --explain', "bold")])
        lines.extend(recall_lines(found, explain=True, names=False))
        if not found.items:
            lines.append(Line(f"nothing: {found.missing}"))

    await ask("Where do I live?", kind="fact")
    await ask("Where do I live?", kind="fact", as_of="2026-02-10")
    await ask("What am I allergic to?", limit=2)
    await ask("What did the flat search find?")
    lines += [Line(), Line("That is a tool's text: it is shown as data, and never becomes a wish of Mira's.")]
    key = ConversationKey(channel="chat", chat=SPACE, thread="flats")
    gone = await memory.forget(space=SPACE, conversation=key)
    lines += [Line(), Line(f'$ bethink forget --conversation "{key}" --yes', "bold")]
    lines += [Line(f"forgotten: {counted(gone)}")]
    await ask("What did the flat search find?")
    await memory.learn()  # the documents are written anew without what was forgotten
    return {"seeded": seeded, "asked": asked, "forgotten": gone}, lines


def _next(keep: str | None) -> list[str]:
    if keep is None:
        return ["bethink demo --keep demo.db", "bethink init", 'bethink add "I moved to Bergen in May."']
    options = f"--database {keep} --space {SPACE}"
    return [
        f'bethink recall "When is my sister\'s birthday?" {options}',
        f"bethink log home {options}",
        f"bethink sessions {options}",
    ]
