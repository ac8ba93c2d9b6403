"""Handles `ask`."""

from collections.abc import Callable
from typing import Self

from bethink.memory.answering.answerer import Answerer, no_model
from bethink.memory.registry import Host, handles
from bethink.model.answers import MemoryAnswer
from bethink.model.operations.memory import ASK, AskRequest


class AskService:
    """Answers questions with a model that is made for each request: one that was missing may be there by now."""

    def __init__(self, answerer: "Callable[[], Answerer | None]") -> None:
        self._answerer = answerer

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.answerer)

    @handles(ASK)
    async def ask(self, space: str, request: AskRequest) -> MemoryAnswer:
        """Answer a question, or say that there is no model."""
        answerer = self._answerer()
        if answerer is None:
            raise no_model()
        return await answerer.ask(space, request)
