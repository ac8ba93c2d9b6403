"""Memory for AI agents that you can audit."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bethink.api.connect import Memory, connect
    from bethink.api.group import SpaceGroup
    from bethink.api.session import Session
    from bethink.api.space import Space
    from bethink.config.settings import Settings
    from bethink.errors import (
        BethinkError,
        ConfigurationError,
        ConflictError,
        DatabaseError,
        InvalidRequestError,
        ModelError,
        NotFoundError,
        PermissionDeniedError,
    )
    from bethink.errors import CorruptDatabaseError as CorruptDatabaseError
    from bethink.errors import DatabaseBusyError as DatabaseBusyError
    from bethink.errors import DatabaseUnavailableError as DatabaseUnavailableError
    from bethink.errors import DuplicateError as DuplicateError
    from bethink.errors import ErasedKeyError as ErasedKeyError
    from bethink.errors import InvalidFieldError as InvalidFieldError
    from bethink.errors import LeaseLostError as LeaseLostError
    from bethink.errors import LegalHoldError as LegalHoldError
    from bethink.errors import ModelResponseError as ModelResponseError
    from bethink.errors import ModelTimeoutError as ModelTimeoutError
    from bethink.errors import ModelUnavailableError as ModelUnavailableError
    from bethink.errors import OutcomeUnknownError as OutcomeUnknownError
    from bethink.errors import SessionEndedError as SessionEndedError
    from bethink.errors import SpaceMovedError as SpaceMovedError
    from bethink.errors import VersionConflictError as VersionConflictError
    from bethink.features.webhooks.records import verify_webhook
    from bethink.model.access import acting_for
    from bethink.model.answers import Answer
    from bethink.model.changes import Change
    from bethink.model.documents import Document
    from bethink.model.facts import Fact
    from bethink.model.paging import Page
    from bethink.model.recall import ContextBlock, Lineage, Match, RecallResult
    from bethink.model.records import Deletion, Message
    from bethink.model.refs import Ref
    from bethink.model.reviews import Review
    from bethink.model.steering import LearningRules

__all__ = [
    "Answer",
    "BethinkError",
    "Change",
    "ConfigurationError",
    "ConflictError",
    "ContextBlock",
    "DatabaseError",
    "Deletion",
    "Document",
    "Fact",
    "InvalidRequestError",
    "LearningRules",
    "Lineage",
    "Match",
    "Memory",
    "Message",
    "ModelError",
    "NotFoundError",
    "Page",
    "PermissionDeniedError",
    "RecallResult",
    "Ref",
    "Review",
    "Session",
    "Settings",
    "Space",
    "SpaceGroup",
    "acting_for",
    "connect",
    "verify_webhook",
]

# tools/make_api.py writes the imports and `__all__` from this table, and adds what features export.
_HOMES = {
    "bethink.api.connect": ("Memory", "connect"),
    "bethink.api.group": ("SpaceGroup",),
    "bethink.api.session": ("Session",),
    "bethink.api.space": ("Space",),
    "bethink.config.settings": ("Settings",),
    "bethink.errors": (
        "BethinkError",
        "ConfigurationError",
        "ConflictError",
        "DatabaseError",
        "InvalidRequestError",
        "ModelError",
        "NotFoundError",
        "PermissionDeniedError",
    ),
    "bethink.features.webhooks.records": ("verify_webhook",),
    "bethink.model.access": ("acting_for",),
    "bethink.model.answers": ("Answer",),
    "bethink.model.changes": ("Change",),
    "bethink.model.documents": ("Document",),
    "bethink.model.facts": ("Fact",),
    "bethink.model.paging": ("Page",),
    "bethink.model.recall": ("ContextBlock", "Lineage", "Match", "RecallResult"),
    "bethink.model.records": ("Deletion", "Message"),
    "bethink.model.refs": ("Ref",),
    "bethink.model.reviews": ("Review",),
    "bethink.model.steering": ("LearningRules",),
}

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    # Names load when they are used: a command line's help, or a client of a server, needs few of them.
    home = _HOME_OF.get(name) or ("bethink.errors" if name.endswith("Error") else None)
    if home is None or not hasattr(import_module(home), name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
