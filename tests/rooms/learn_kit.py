"""Helpers for learning tests: scripted answers, and a worker that runs one job at a time.

A test says which messages a claim rests on, by their numbers. `Quoting` copies the words of these messages out of the
request, as a model does, and a reader finds that every claim was said, unless a test has one of its own.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import anyio

from bethink import Memory, Session
from bethink.extend import Model, Redactor
from bethink.jobs.worker import Worker, WorkerOptions
from bethink.memory.learning.documents.consolidate import ConsolidationRules, Consolidator
from bethink.memory.learning.documents.runs import Runs
from bethink.memory.learning.extraction.extract import Extractor
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.jobs import JobKind
from bethink.model.reviews import Review, ReviewStatus
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.providers.scripted_model import ScriptedModel
from bethink.store import reviews
from bethink.store.db import Database
from tests.conftest import Quiet, said

Scripted = Callable[[ModelCall], str | ModelAnswer | Exception]

_MESSAGES = re.compile(r"<messages>\n(.*?)\n</messages>", re.DOTALL)
_MESSAGE = re.compile(r"^\[(\d+)\] (?:\d\d:\d\d )?[^:\n]+: (.*(?:\n  .*)*)", re.MULTILINE)
_CLAIM = re.compile(r"^(c\d+) about ", re.MULTILINE)
_DOUBTED = re.compile(r"^(c\d+) about .*?, doubt: .*?, \[(\d+)", re.MULTILINE)
_LONGEST_QUOTE = 1_000


def a_fact(statement: str, *sources: int, **more: object) -> dict[str, object]:
    """A claim as a model makes it, but with the numbers of the messages that it quotes whole."""
    return {"statement": statement, "kind": "detail", "sources": list(sources), "about": "owner", **more}


def a_note(statement: str, *sources: int) -> dict[str, object]:
    """A claim that is remembered with its session alone. Without numbers it rests on the first new message."""
    return a_fact(statement, *sources, kind="note")


def answer(*claims: dict[str, object], title: str | None = "A talk", suspicious: Sequence[int] = ()) -> str:
    """What a model answers about a session; without claims, that it is to be remembered at all."""
    told = claims or (a_note("They talked."),)
    return json.dumps({"claims": told, "suspicious": list(suspicious), "title": title})


DONE = json.dumps({"calls": [], "done": True})
"""What a memory writer says that has nothing to do."""

NOTHING = json.dumps({"claims": [], "suspicious": [], "title": None})


def willing(call: ModelCall) -> str:
    """Answer whatever is asked: a note for a session, that it was said, and nothing to write for a space."""
    if call.schema_name == "verdicts":
        return every_claim_is_said(call)
    return DONE if call.schema_name == "document_calls" else quoting(answer(), call)


def every_claim_is_said(call: ModelCall) -> str:
    """What a reader answers who finds nothing wrong, and settles each doubt with words of the quoted message."""
    said = _messages(call.prompt)
    others = [
        {
            "claim": name,
            "verdict": "proof",
            "text": re.split(r"\d|\n", said[int(number)])[0].strip() or said[int(number)],
        }
        for name, number in _DOUBTED.findall(call.prompt)
    ]
    return json.dumps({"said": _CLAIM.findall(call.prompt), "others": others})


def quoting(text: str, call: ModelCall) -> str:
    """Put the words of messages in place of their numbers. What is no such answer stays as it is."""
    try:
        tree: Any = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(tree, dict):
        return text
    fields = cast("dict[str, Any]", tree)
    if not isinstance(fields.get("claims"), list):
        return text
    shown, said = _MESSAGES.search(call.prompt), _messages(call.prompt)
    new = _MESSAGE.search(shown[1].partition("New:")[2] if shown else "")
    first = int(new[1]) if new else 0
    return json.dumps({**fields, "claims": [_quoted(claim, said, first) for claim in fields["claims"]]})


def _messages(prompt: str) -> dict[int, str]:
    shown = _MESSAGES.search(prompt)
    return {int(number): _undented(words) for number, words in _MESSAGE.findall(shown[1] if shown else "")}


def _undented(words: str) -> str:
    return "\n".join(line.removeprefix("  ") for line in words.splitlines())


def _quoted(claim: object, said: Mapping[int, str], first: int) -> object:
    fields = cast("dict[str, Any]", claim) if isinstance(claim, dict) else {}
    if "sources" not in fields:
        return cast("object", claim)
    numbers = fields.pop("sources") or ([first] if fields.get("kind") == "note" else [])
    quotes = [
        {"message": number, "text": _beginning(said.get(number, "never said")), "as": "word"} for number in numbers
    ]
    return {**fields, "quotes": quotes}


def _beginning(words: str) -> str:
    return words if len(words) <= _LONGEST_QUOTE else words[:_LONGEST_QUOTE].rpartition(" ")[0]


class Quoting:
    """A model that quotes the messages whose numbers another one names."""

    def __init__(self, inner: Model) -> None:
        self.inner = inner

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def window(self) -> int:
        return self.inner.window

    async def answer(self, call: ModelCall) -> ModelAnswer:
        found = await self.inner.answer(call)
        return replace(found, text=quoting(found.text, call)) if call.schema_name == "claims" else found


def extractor(
    database: Database,
    model: Model | None,
    redactor: Redactor | None = None,
    *,
    reader: Model | Scripted | None = every_claim_is_said,
) -> Extractor:
    """An extractor whose model quotes, and whose reader finds that everything was said; None for no reader."""
    return Extractor(
        database=database,
        model=None if model is None else Quoting(model),
        reader=ScriptedModel(reader) if callable(reader) else reader,
        redactor=redactor or Quiet(),
        tokens=EstimatedTokens(),
    )


def runs(database: Database, model: Model | None = None, redactor: Redactor | None = None) -> Runs:
    return Runs(database=database, model=model, redactor=redactor or Quiet(), tokens=EstimatedTokens())


def consolidator(database: Database, model: Model | None = None, **rules: object) -> Consolidator:
    return Consolidator(
        runs=runs(database, model),
        rules=ConsolidationRules(**rules),  # pyright: ignore[reportArgumentType]
    )


def worker(
    database: Database,
    answers: Model | Scripted | Sequence[str | Exception] | None,
    *,
    reader: Model | Scripted | None = every_claim_is_said,
    **options: object,
) -> Worker:
    """A worker whose model answers as scripted; None for a worker without a model."""
    model = ScriptedModel(answers) if callable(answers) or isinstance(answers, Sequence) else answers
    return Worker(
        database,
        {JobKind.EXTRACT: extractor(database, model, reader=reader)},
        WorkerOptions(**options),  # pyright: ignore[reportArgumentType]
        name="tester",
    )


async def marked(memory: Memory, session: Session, *texts: str) -> Session:
    """Say something in a session and mark it."""
    await session.append(said(*texts))
    await session.checkpoint(force=True)
    return session


async def reviewed(database: Database, *, space: str = "alice") -> list[Review]:
    """Every claim that was held or refused, the newest first."""
    return await database.transact(
        lambda tx: reviews.list_reviews(tx, space=space, statuses=list(ReviewStatus), limit=100),
        space=space,
        read_only=True,
    )


async def until(done: Callable[[], Awaitable[bool]]) -> None:
    """Wait for what another thread does."""
    with anyio.fail_after(10):
        while not await done():  # noqa: ASYNC110 - it has no event to wait for
            await anyio.sleep(0.01)
