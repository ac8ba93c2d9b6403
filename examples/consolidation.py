"""Three months of one person in thirty sessions, and what memory makes of them, consolidation by consolidation.

Run it from a clone: python -m examples.consolidation. Nothing leaves the machine; a script answers in a model's place.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import anyio

import bethink
import bethink.extend
import bethink.testing
from bethink.api.connect import memory_from
from bethink.jobs.worker import Worker, WorkerOptions
from bethink.memory.learning.documents.consolidate import ConsolidationRules, Consolidator
from bethink.memory.learning.documents.runs import Runs
from bethink.memory.learning.extraction.extract import Extractor
from bethink.model.jobs import JobKind
from bethink.providers.default_redactor import redactor_for
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.store.db import Database
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions

START = datetime(2026, 8, 1, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Said:
    """What was said on a day, and the fact in it: its kind, what it is about, its slot, and its last day."""

    day: int
    text: str
    fact: str = ""
    kind: str = "detail"
    about: str = "owner"
    slot: str | None = None
    until: str | None = None


SMALL_TALK = ["Good morning!", "Thanks, that helped.", "What is a monad?", "Please format this table.", "Bye for now."]
LIFE = [
    Said(0, "I live in Oslo, near the harbour.", "User lives in Oslo", slot="home_town"),
    Said(2, "I drink coffee, three cups a day.", "User drinks coffee", "preference", slot="drink"),
    Said(5, "Project Heron starts today: a boat shed.", "Project Heron is a boat shed", "goal", "Heron"),
    Said(8, "For Heron I decided on larch wood.", "User decided on larch wood for Heron", "decision", "Heron"),
    Said(11, "Until 30 September I learn to juggle.", "User learns to juggle", "goal", "juggling", until="2026-09-30"),
    Said(24, "I moved to Bergen last week.", "User moved to Bergen", slot="home_town"),
    Said(33, "I gave up coffee, I drink tea now.", "User drinks tea", "preference", slot="drink"),
    Said(52, "Project Heron is finished, the shed stands.", "Project Heron is finished", "event", "Heron"),
    Said(70, "In Bergen it rains, so I bought a red coat.", "User bought a red coat", "event"),
]


def sessions() -> list[Said]:
    """Thirty sessions over ninety days: nine that matter, and talk between them."""
    talk = [Said(day, SMALL_TALK[day % len(SMALL_TALK)]) for day in range(1, 88, 4)]
    return sorted([*LIFE, *talk[:21]], key=lambda each: each.day)


def answer_to(said: Said, call: bethink.extend.ModelCall) -> str:
    """What a model would say about a session, and about its claim when it reads again."""
    if call.schema_name == "verdicts":
        return '{"said": ["c1"], "others": [], "fixed": []}'  # every fact of the script is said
    claim = {
        "quotes": [{"message": 1, "text": said.text, "as": "word"}],
        "statement": said.fact,
        "about": said.about,
        "kind": said.kind,
        "slot": said.slot,
        "until": said.until,
    }
    return json.dumps({"claims": [claim] if said.fact else [], "title": said.text.partition(",")[0].rstrip(".!?")})


class Calendar:
    """A clock that is put forward by hand."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        self.time += timedelta(microseconds=1)
        return self.time


def worker(database: Database, said: list[Said]) -> Worker:
    """A worker that learns by the script, and consolidates without a model."""

    def script(call: bethink.extend.ModelCall) -> str:
        return answer_to(next(each for each in said if each.text in call.prompt), call)

    model, redactor, tokens = bethink.testing.ScriptedModel(script), redactor_for(database), EstimatedTokens()
    runs = Runs(database=database, model=None, redactor=redactor, tokens=tokens)
    handlers = {
        JobKind.EXTRACT: Extractor(database=database, model=model, reader=model, redactor=redactor, tokens=tokens),
        JobKind.CONSOLIDATE: Consolidator(runs=runs, rules=ConsolidationRules(max_unused_days=60)),
    }
    return Worker(database, handlers, WorkerOptions(daily_cap=None))


async def show_changes(ida: bethink.Space, seen: set[str], day: int) -> None:
    for changes in reversed(await ida.documents.changes.list()):
        if changes.run in seen:
            continue
        seen.add(changes.run)
        print(f"\n== day {day}, {changes.run}")
        for change in changes.changes:
            if change.path.endswith(".md") or change.path.endswith("consolidated"):
                continue
            before = change.expected or 0
            if change.draft is None:
                print(f"- {change.path} is forgotten")
                continue
            found = await ida.documents.find(change.path)
            if found is not None:
                print(f"{change.path}\n{await ida.documents.diff(found.id, before, before + 1)}")


async def main() -> None:
    clock = Calendar()
    database = SqliteDatabase(SqliteOptions(path=":memory:"), clock=clock)
    said, seen = sessions(), set[str]()
    async with memory_from(bethink.Settings.load(environ={}, learn=False), database=database) as memory:
        ida = memory.space("ida")
        work = worker(database, said)
        for number, each in enumerate(said):
            clock.time = START + timedelta(days=each.day)
            session = await ida.session(f"chat-{number}")
            await session.append(each.text)
            await session.end()
            await work.run_once()
            await show_changes(ida, seen, each.day)
        print("\n== the tree after ninety days")
        for entry in await ida.documents.list():
            document = await ida.documents.get(entry.id)
            print(f"\n{entry.path} (version {document.version})\n{document.body}")


if __name__ == "__main__":
    anyio.run(main)
