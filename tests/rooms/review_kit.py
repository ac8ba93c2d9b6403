"""Helpers for review and steering tests: claims as a model states them, and a worker that learns them."""

import json
from typing import Any

from bethink.jobs.worker import Worker, WorkerOptions
from bethink.memory.learning.extraction.extract import Extractor
from bethink.model.calls import ModelCall
from bethink.model.jobs import JobKind, LearnReport
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.providers.scripted_model import ScriptedModel
from bethink.store.db import Database
from tests.conftest import Quiet


def claim(statement: str, quote: str, message: int = 1, **more: object) -> dict[str, object]:
    """A claim as a model states it."""
    quotes = [{"message": message, "text": quote, "as": "word"}]
    return {"quotes": quotes, "statement": statement, "about": "owner", "kind": "detail", "op": "new"} | more


def claims(*found: dict[str, object]) -> str:
    """What a model answers about a session."""
    return json.dumps({"claims": list(found), "suspicious": [], "title": "A talk"})


async def learn(database: Database, *found: dict[str, object], calls: list[ModelCall] | None = None) -> LearnReport:
    """Learn from what is marked, with a model that states these claims. `calls` collects what it was asked."""

    def answer(call: ModelCall) -> str:
        if calls is not None:
            calls.append(call)
        return claims(*found)

    model: Any = ScriptedModel(answer)
    extractor = Extractor(database=database, model=model, redactor=Quiet(), tokens=EstimatedTokens())
    return await Worker(database, {JobKind.EXTRACT: extractor}, WorkerOptions(), name="tester").run_once()
