"""The command that explores three months of sample conversations: demo."""

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

from bethink.cli.command import NO_SPACE, CommandContext, command
from bethink.cli.results import Result
from bethink.cli.terminal import OutputLine
from bethink.errors import ConflictError
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.api.connect import Memory
    from bethink.config.settings import Settings
    from bethink.extend import Model

app = typer.Typer()

SPACE = "mira"
_DAY = "2026-04-04"
_LIMIT = 2
"""Results per question, so that everything fits a screen."""
_ID = re.compile(r"\b(doc|fct|ses)_\w+")


@command(app, effect="creates", opens=False, local=True, without=(*NO_SPACE, "config", "database"))
async def demo(
    ctx: CommandContext,
    *,
    save: Annotated[str | None, typer.Option(metavar="FILE", help="New file for the database.")] = None,
) -> Result:
    """Explore three months of sample conversations. It needs no key and no network."""
    with _file(save) as path:
        clock = StoryClock()
        ctx.note("storing 31 sessions with Mira…")
        seeded = await seed(path, clock)
        if save is not None:  # before the tour, which deletes: every command can be tried on the copy
            shutil.copy(path, save)
        async with memory_at(path, clock) as memory:
            tour = _Tour(memory=memory, lines=_head(seeded, save))
            await tour.go()
    steps = _next(save)
    # Ids differ between runs. They are useful only in a saved file.
    lines = tour.lines
    if save is None:
        lines = [OutputLine(_ID.sub(r"\1_…", line.text), line.style) for line in lines]
    lines += [OutputLine(), OutputLine("Next:", "bold"), *(OutputLine(f"  {step}") for step in steps)]
    data = {"seeded": seeded, "asked": tour.answers, "followed": tour.lineage, "forgotten": tour.deletion}
    return Result(data=data | {"file": save, "next": steps}, lines=lines)


@dataclass(slots=True)
class StoryClock:
    """The time of the story. It is set by hand and advances by a microsecond with every call."""

    time: datetime = field(default_factory=lambda: datetime(1970, 1, 1, tzinfo=UTC))

    def __call__(self) -> datetime:
        """Return the time."""
        self.time += timedelta(microseconds=1)
        return self.time


@contextmanager
def _file(save: str | None) -> Generator[str]:
    if save is not None and Path(save).exists():
        raise ConflictError(f"{save} already exists.", hint="Choose a new file.")
    with tempfile.TemporaryDirectory(prefix="bethink-demo-") as folder:
        yield str(Path(folder) / "demo.db")


def memory_at(path: str, clock: StoryClock, *, model: "Model | None" = None) -> "Memory":
    """Return a memory in a file, with the clock of the story and without the settings of the user."""
    from bethink.api.connect import connect  # noqa: PLC0415

    return connect(settings=settings_at(path, model_name="none" if model is None else ""), model=model, clock=clock)


def settings_at(path: str, *, model_name: str = "none") -> "Settings":
    """Return settings for a memory in a file, without the user's model and without background learning."""
    from bethink.config.groups import EmbedderSettings, LearningSettings, ModelSettings, SqliteSettings  # noqa: PLC0415
    from bethink.config.settings import Settings  # noqa: PLC0415

    return Settings(
        sqlite=SqliteSettings(path=path),
        embedder=EmbedderSettings(name="none"),  # it prints the same with and without the extra `local`
        learning=LearningSettings(in_background=False),
        model=ModelSettings(name=model_name, input_price=0.0, output_price=0.0),
    )


async def seed(path: str, clock: StoryClock) -> dict[str, int]:
    """Store every session of the story at its time, and learn from it.

    A scripted model extracts the facts. Documents are written every Monday without a model, so they quote.
    """
    from bethink.cli.demo_data import TODAY, answer, story  # noqa: PLC0415
    from bethink.model.jobs import JobKind  # noqa: PLC0415
    from bethink.model.records import Message  # noqa: PLC0415
    from bethink.providers.scripted_model import ScriptedModel  # noqa: PLC0415

    counts = {"session": 0, "message": 0, "held": 0, "refused": 0}
    model = ScriptedModel(answer, name="scripted by the demo")
    async with memory_at(path, clock, model=model) as memory, memory_at(path, clock) as quoting:
        mira = memory.space(SPACE)

        async def learn() -> None:
            report = await memory.learn(kinds=(JobKind.EXTRACT,))
            counts["held"] += report.for_review.total()
            counts["refused"] += report.refused.total()
            if clock.time.weekday() == 0 or clock.time >= TODAY:
                await quoting.learn(kinds=(JobKind.CONSOLIDATE,))

        for talk in story():
            clock.time = talk.at
            session = await mira.session(_conversation(talk.topic))
            messages = [
                _message(Message, who, text, talk.at + timedelta(minutes=turn))
                for turn, (who, text) in enumerate(talk.turns)
            ]
            await session.append(messages)
            await session.end()
            await learn()
            counts["session"] += 1
            counts["message"] += len(messages)
        clock.time = TODAY
        await learn()
        return counts | {"fact": await mira.facts.count()}


def _conversation(topic: str) -> str:
    return f"chat:{SPACE}:{topic}"


def _message(make: Any, who: str, text: str, at: datetime) -> Any:
    role, _, name = who.partition(" ")
    return make(role=role, content=text, name=name or None, said_at=at)


def _head(seeded: dict[str, int], save: str | None) -> list[OutputLine]:
    file = shlex.quote(save or "demo.db")
    after = "" if save is not None else f", after 'bethink demo --save {file}'"
    counts = ", ".join(plural(seeded[kind], kind) for kind in ("session", "message", "fact"))
    others = f"{seeded['refused']} rejected (an instruction from a tool), {seeded['held']} pending review (a guess)"
    return [
        OutputLine(f"Three months of Mira, a fictional user: {counts}."),
        OutputLine("A scripted model replaces yours, so the demo needs no key. Nothing leaves this machine."),
        OutputLine(f"Each fact quotes its messages and passed a second check. Other claims: {others}."),
        OutputLine(f"Today is {_DAY}. Each command also takes --database {file} --space {SPACE}{after}."),
    ]


@dataclass(slots=True, kw_only=True)
class _Tour:
    """Runs the steps of the demo and collects their output."""

    memory: "Memory"
    lines: list[OutputLine]
    answers: list[Any] = field(default_factory=list[Any])
    lineage: Any = None
    deletion: Any = None

    async def go(self) -> None:
        home = await self._ask("Where do I live?", explain=True)
        await self._follow(str(home.items[0].ref))
        await self._ask("Where do I live?", as_of="2026-02-10", limit=1)
        await self._ask("What did the flat search find?")
        self.lines += [
            OutputLine(),
            OutputLine("That text is from a tool: it is data, and never an instruction from Mira."),
        ]
        await self._forget("flats")
        await self._ask("What did the flat search find?")

    async def _ask(self, question: str, *, explain: bool = False, as_of: str = _DAY, limit: int = _LIMIT) -> Any:
        from bethink.cli.recall import recall_lines  # noqa: PLC0415

        result = await self.memory.space(SPACE).recall(question, limit=limit, as_of=as_of, explain=explain)
        self.answers.append(result)
        options = f"--limit {limit} --as-of {as_of}{' --explain' if explain else ''}"
        self._show(f'recall "{question}" {options}', recall_lines(result, explain=explain))
        if result.note:
            self.lines.append(OutputLine(result.note))
        return result

    async def _follow(self, ref: str) -> None:
        from bethink.cli.lineage import lineage_lines  # noqa: PLC0415

        self.lineage = await self.memory.space(SPACE).explain(ref)
        self._show(f"show {ref}", lineage_lines(self.lineage))

    async def _forget(self, topic: str) -> None:
        from bethink.cli.forget import deletion_line  # noqa: PLC0415

        name = _conversation(topic)
        self.deletion = await self.memory.space(SPACE).forget(conversation=name)
        line = deletion_line(self.deletion, dry_run=False)
        self._show(f"forget --conversation {name} --yes", [OutputLine(line)])

    def _show(self, words: str, printed: Iterable[OutputLine]) -> None:
        self.lines += [OutputLine(), OutputLine(f"$ bethink {words}", "bold"), *printed]


def _next(save: str | None) -> list[str]:
    options = f"--database {shlex.quote(save or 'demo.db')} --space {SPACE}"
    ask = f'bethink recall "When is my sister\'s birthday?" {options}'
    if save is None:
        return ["bethink demo --save demo.db", ask, "bethink connect"]
    return [ask, f"bethink doc list {options}", f"bethink show {options}"]
