"""The table of verbs: each one written once, as a request with its result, scope and retry class."""

from typing import Any

from bethink.model.verbs import documents, facts, memory, service, sessions, threads
from bethink.model.verbs.base import Verb

VERBS: tuple[Verb[Any, Any], ...] = (
    *memory.VERBS,
    *sessions.VERBS,
    *facts.VERBS,
    *documents.VERBS,
    *threads.VERBS,
    *service.VERBS,
)
"""Every verb, in the order of the reference."""
