"""Handles the operation `correct` for facts and documents."""

from typing import Self

from bethink.memory.documents.service import DocumentService
from bethink.memory.facts.service import FactService
from bethink.memory.registry import Host, handles
from bethink.model.operations.memory import CORRECT, Correction, CorrectRequest
from bethink.model.refs import RefKind


class CorrectService:
    """Corrects the facts and documents of every space in one database."""

    def __init__(self, facts: FactService, documents: DocumentService) -> None:
        self._facts = facts
        self._documents = documents

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Create the service from an open memory."""
        return cls(FactService.from_host(host), DocumentService.from_host(host))

    @handles(CORRECT)
    async def correct(self, space: str, request: CorrectRequest) -> Correction:
        """Write a new version of a fact or document."""
        correct = {RefKind.FACT: self._facts.correct, RefKind.DOCUMENT: self._documents.correct}
        return await correct[request.ref.kind](space, request)
