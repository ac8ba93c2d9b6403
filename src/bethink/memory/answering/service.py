"""Handles `ask`."""

from collections.abc import Callable
from functools import partial
from typing import Self

from bethink.memory.answering.answerer import Answerer, no_model
from bethink.memory.answering.searches import RecallIn
from bethink.memory.registry import Host, handles
from bethink.model.answers import Answer
from bethink.model.operations.memory import ASK, RECALL, AskRequest


class AskService:
    """Answers questions. Each request looks up the model again, as it may be available by now."""

    def __init__(self, answerer: "Callable[[], Answerer | None]", recall_in: RecallIn) -> None:
        self._answerer = answerer
        self._recall_in = recall_in

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Create the service from an open memory."""
        return cls(host.answerer, partial(host.run, RECALL))

    @handles(ASK)
    async def ask(self, space: str, request: AskRequest) -> Answer:
        """Answer a question. Raises `InvalidRequestError` without a model."""
        answerer = self._answerer()
        if answerer is None:
            raise no_model()
        return await answerer.ask(space, request, self._recall_in)
