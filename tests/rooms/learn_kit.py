"""What tests of learning share: scripted answers, and a worker that does one thing at a time."""

import json
from collections.abc import Awaitable, Callable, Sequence

import anyio

from bethink import Memory, Session
from bethink.extend import Model, Redactor
from bethink.learning.documents.consolidate import ConsolidationRules, Consolidator
from bethink.learning.documents.runs import Runs
from bethink.learning.extraction.extract import Extractor
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.jobs import JobKind
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.providers.scripted_model import ScriptedModel
from bethink.store.db import Database
from bethink.worker import Worker, WorkerOptions
from tests.conftest import Quiet, said

Scripted = Callable[[ModelCall], str | ModelAnswer | Exception]


def a_fact(statement: str, *sources: int, **more: object) -> dict[str, object]:
    """A fact as a model writes it."""
    fields: dict[str, object] = {
        "statement": statement,
        "kind": "detail",
        "sources": list(sources),
        "entities": [],
        "subject": "user",
        "slot": None,
        "valid_from": None,
        "valid_to": None,
    }
    return fields | more


def answer(
    *facts: dict[str, object], raw: str = "notes", summary: str = "in short", slug: str | None = "a-talk"
) -> str:
    """What a model answers about a session."""
    return json.dumps({"raw_memory": raw, "summary": summary, "slug": slug, "facts": list(facts)})


DONE = json.dumps({"calls": [], "done": True})
"""What a memory writer says that has nothing to do."""


def willing(call: ModelCall) -> str:
    """Answer whatever is asked: notes for a session, and nothing to write for a space."""
    return DONE if call.schema_name == "document_calls" else answer()


NOTHING = answer(raw="", summary="", slug=None)


def extractor(database: Database, model: Model | None, redactor: Redactor | None = None) -> Extractor:
    return Extractor(database=database, model=model, redactor=redactor or Quiet(), tokens=EstimatedTokens())


def runs(database: Database, model: Model | None = None, redactor: Redactor | None = None) -> Runs:
    return Runs(database=database, model=model, redactor=redactor or Quiet(), tokens=EstimatedTokens())


def consolidator(database: Database, model: Model | None = None, **rules: object) -> Consolidator:
    return Consolidator(
        runs=runs(database, model),
        rules=ConsolidationRules(**rules),  # pyright: ignore[reportArgumentType]
    )


def worker(
    database: Database, answers: Model | Scripted | Sequence[str | Exception] | None, **options: object
) -> Worker:
    """A worker whose model answers as scripted; None for a worker without a model."""
    model = ScriptedModel(answers) if callable(answers) or isinstance(answers, Sequence) else answers
    return Worker(
        database,
        {JobKind.EXTRACT: extractor(database, model)},
        WorkerOptions(**options),  # pyright: ignore[reportArgumentType]
        name="tester",
    )


async def marked(memory: Memory, session: Session, *texts: str) -> Session:
    """Say something in a session and mark it."""
    await session.append(said(*texts))
    await session.idle()
    return session


async def until(done: Callable[[], Awaitable[bool]]) -> None:
    """Wait for what another thread does."""
    with anyio.fail_after(10):
        while not await done():  # noqa: ASYNC110 - it has no event to wait for
            await anyio.sleep(0.01)
