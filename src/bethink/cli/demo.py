"""The command that shows what Bethink does, with three months of made-up conversations: demo."""

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

from bethink.cli.command import NO_SPACE, CommandContext, Result, command
from bethink.cli.terminal import OutputLine
from bethink.errors import Conflict
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.api.connect import Memory
    from bethink.config.settings import Settings
    from bethink.extend import Model

app = typer.Typer()

SPACE = "mira"
_DAY = "2026-04-04"
_LIMIT = 2
"""So that all of it fits a screen."""
_ID = re.compile(r"\b(doc|fct|ses)_\w+")


@command(app, effect="creates", opens=False, local=True, without=(*NO_SPACE, "config", "database"))
async def demo(
    ctx: CommandContext,
    *,
    keep: Annotated[str | None, typer.Option(metavar="FILE", help="Keep the memory in a new file.")] = None,
) -> Result:
    """Show what Bethink does, with three months of made-up conversations. It needs no key and no network."""
    with _file(keep) as path:
        clock = StoryClock()
        ctx.note("storing 31 sessions with Mira…")
        seeded = await seed(path, clock)
        if keep is not None:  # before the tour, which forgets: every command can be tried on the copy
            shutil.copy(path, keep)
        async with memory_at(path, clock) as memory:
            tour = _Tour(memory=memory, lines=_head(seeded, keep))
            await tour.go()
    steps = _next(keep)
    # Ids differ between runs. They are of use only if the file is kept.
    lines = tour.lines
    if keep is None:
        lines = [OutputLine(_ID.sub(r"\1_…", each.text), each.style) for each in lines]
    lines += [OutputLine(), OutputLine("Next:", "bold"), *(OutputLine(f"  {each}") for each in steps)]
    data = {"seeded": seeded, "asked": tour.asked, "followed": tour.followed, "forgotten": tour.forgotten}
    return Result(data=data | {"file": keep, "next": steps}, lines=lines)


@dataclass(slots=True)
class StoryClock:
    """The time of the story: it is set by hand, and moves by a microsecond each time it is read."""

    time: datetime = field(default_factory=lambda: datetime(1970, 1, 1, tzinfo=UTC))

    def __call__(self) -> datetime:
        """Return the time."""
        self.time += timedelta(microseconds=1)
        return self.time


@contextmanager
def _file(keep: str | None) -> Generator[str]:
    if keep is not None and Path(keep).exists():
        raise Conflict(f"{keep} already exists.", hint="Choose a new file.")
    with tempfile.TemporaryDirectory(prefix="bethink-demo-") as folder:
        yield str(Path(folder) / "demo.db")


def memory_at(path: str, clock: StoryClock, *, model: "Model | None" = None) -> "Memory":
    """Return a memory in a file, with the time of the story and without the settings of the user."""
    from bethink.api.connect import connect  # noqa: PLC0415

    return connect(settings=settings_at(path, model_name="none" if model is None else ""), model=model, clock=clock)


def settings_at(path: str, *, model_name: str = "none") -> "Settings":
    """Return settings for a memory in a file that asks no model of the user's and learns nothing by itself."""
    from bethink.config.groups import EmbedderSettings, LearningSettings, ModelSettings, SqliteSettings  # noqa: PLC0415
    from bethink.config.settings import Settings  # noqa: PLC0415

    return Settings(
        sqlite=SqliteSettings(path=path),
        embedder=EmbedderSettings(name="none"),  # it prints the same with and without the extra `local`
        learning=LearningSettings(in_background=False),
        model=ModelSettings(name=model_name, price_input=0.0, price_output=0.0),
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
            report = await memory.learn(only=(JobKind.EXTRACT,))
            counts["held"] += report.for_review.total()
            counts["refused"] += report.refused.total()
            if clock.time.weekday() == 0 or clock.time >= TODAY:
                await quoting.learn(only=(JobKind.CONSOLIDATE,))

        for said in story():
            clock.time = said.at
            session = await mira.session(_conversation(said.topic))
            messages = [
                _message(Message, who, text, said.at + timedelta(minutes=turn))
                for turn, (who, text) in enumerate(said.turns)
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


def _head(seeded: dict[str, int], keep: str | None) -> list[OutputLine]:
    file = shlex.quote(keep or "demo.db")
    after = "" if keep is not None else f", after 'bethink demo --keep {file}'"
    counts = ", ".join(plural(seeded[kind], kind) for kind in ("session", "message", "fact"))
    claimed = f"{seeded['refused']} refused (a tool's text as a wish), {seeded['held']} held for review (only supposed)"
    return [
        OutputLine(f"Three months of Mira, who does not exist: {counts}."),
        OutputLine(
            "A scripted model stands in for yours: what it answers is written in the demo. Nothing leaves this machine."
        ),
        OutputLine(f"Each fact quotes what was said and was read a second time. Other claims: {claimed}."),
        OutputLine(f"Today is {_DAY}. Each command also takes --database {file} --space {SPACE}{after}."),
    ]


@dataclass(slots=True, kw_only=True)
class _Tour:
    """Calls what the commands call, and collects what they print."""

    memory: "Memory"
    lines: list[OutputLine]
    asked: list[Any] = field(default_factory=list[Any])
    followed: Any = None
    forgotten: Any = None

    async def go(self) -> None:
        home = await self._ask("Where do I live?", explain=True)
        await self._follow(str(home.items[0].ref))
        await self._ask("Where do I live?", as_of="2026-02-10")
        await self._ask("What did the flat search find?")
        self.lines += [
            OutputLine(),
            OutputLine("That is a tool's text: it is shown as data, and never becomes a wish of Mira's."),
        ]
        await self._forget("flats")
        await self._ask("What did the flat search find?")

    async def _ask(self, question: str, *, explain: bool = False, as_of: str = _DAY) -> Any:
        from bethink.cli.recall import recall_lines  # noqa: PLC0415

        found = await self.memory.space(SPACE).recall(question, limit=_LIMIT, as_of=as_of, explain=explain)
        self.asked.append(found)
        options = f"--limit {_LIMIT} --as-of {as_of}{' --explain' if explain else ''}"
        self._show(f'recall "{question}" {options}', recall_lines(found, explain=explain))
        if found.missing:
            self.lines.append(OutputLine(f"note: {found.missing}"))
        return found

    async def _follow(self, ref: str) -> None:
        from bethink.cli.recall import lineage_lines  # noqa: PLC0415

        self.followed = await self.memory.space(SPACE).explain(ref)
        self._show(f"show {ref}", lineage_lines(self.followed))

    async def _forget(self, topic: str) -> None:
        from bethink.cli.forget import counted  # noqa: PLC0415

        name = _conversation(topic)
        self.forgotten = await self.memory.space(SPACE).forget(conversation=name)
        self._show(f"forget --conversation {name} --yes", [OutputLine(f"forgotten: {counted(self.forgotten)}")])

    def _show(self, words: str, printed: Iterable[OutputLine]) -> None:
        self.lines += [OutputLine(), OutputLine(f"$ bethink {words}", "bold"), *printed]


def _next(keep: str | None) -> list[str]:
    options = f"--database {shlex.quote(keep or 'demo.db')} --space {SPACE}"
    ask = f'bethink recall "When is my sister\'s birthday?" {options}'
    if keep is None:
        return ["bethink demo --keep demo.db", ask, "bethink init"]
    return [ask, f"bethink log {options}", f"bethink sessions {options}"]
