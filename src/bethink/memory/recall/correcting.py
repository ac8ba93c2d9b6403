"""Carries out the verb `correct`: a fact or a document, as the ref says."""

from typing import Self

from bethink.memory.documents.service import DocumentService
from bethink.memory.facts.service import FactService
from bethink.memory.registry import Host, handles
from bethink.model.operations.memory import CORRECT, Corrected, CorrectRequest
from bethink.model.recall import RefKind


class CorrectService:
    """Corrects what a space holds."""

    def __init__(self, facts: FactService, documents: DocumentService) -> None:
        self._facts = facts
        self._documents = documents

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(FactService.of(host), DocumentService.of(host))

    @handles(CORRECT)
    async def correct(self, space: str, request: CorrectRequest) -> Corrected:
        """Write a new version."""
        correct = {RefKind.FACT: self._facts.correct, RefKind.DOCUMENT: self._documents.correct}
        return await correct[request.ref.kind](space, request)
