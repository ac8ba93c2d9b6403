"""Extracts facts from one exchange, one per line: for models without JSON schemas, or without a model."""

import re
import time
from itertools import count
from typing import Protocol

from bethink.extend import Model, Redactor
from bethink.memory.learning.prompts import prompt
from bethink.model.calls import ModelCall
from bethink.model.facts import Fact, Maker
from bethink.model.records import Origin
from bethink.model.text import clean

PROMPT = "exchange-1"
EXTRACTOR = "exchange-1"
_BULLET = re.compile(r"\A(?:[-*] |\d+\. )")
_NONE = "NONE"
_sequence = count(1)


class FactExtractor(Protocol):
    """Extracts facts from a user's message and its answer."""

    async def extract(self, session_id: str, user: str, assistant: str) -> list[Fact]:
        """Return the facts of one exchange, which may be none."""
        ...


class NopExtractor:
    """Extracts nothing, for when learning facts is switched off."""

    async def extract(self, session_id: str, user: str, assistant: str) -> list[Fact]:
        """Return no facts."""
        del session_id, user, assistant
        return []


class LineExtractor:
    """Asks a model about each exchange and treats every line of its answer as a fact. Nothing is checked or stored."""

    def __init__(self, model: Model, *, redactor: Redactor) -> None:
        self._model = model
        self._redactor = redactor

    async def extract(self, session_id: str, user: str, assistant: str) -> list[Fact]:
        """Return one fact for each line of the answer; `NONE` means no facts. Raises `ModelError`."""
        exchange = self._cut(f"User: {user}\n\nAssistant: {assistant}")
        answer = await self._model.answer(ModelCall(system=prompt(PROMPT), prompt=exchange, max_tokens=1_000))
        made_by = Maker(model=answer.model, prompt=PROMPT, extractor=EXTRACTOR)
        stamp = time.time_ns()
        return [
            Fact(
                id=f"{stamp}-{index}-{next(_sequence)}",
                text=line,
                source=session_id,
                origin=Origin("assistant"),
                created_by=made_by,
            )
            for index, line in enumerate(_lines(self._cut(answer.text)))
        ]

    def _cut(self, text: str) -> str:
        return self._redactor.redact(clean(text))


def _lines(text: str) -> list[str]:
    bare = [_BULLET.sub("", line.strip(), count=1).strip() for line in text.splitlines()]
    return [line for line in bare if line and line != _NONE]
