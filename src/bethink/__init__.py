"""Memory for AI agents that you can audit."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bethink.api.documents import Documents
    from bethink.api.facts import Facts
    from bethink.api.retention import SpaceRetention
    from bethink.api.reviews import Reviews
    from bethink.api.rules import Rules
    from bethink.api.session import Session
    from bethink.api.space import Space
    from bethink.api.tests import MemoryTests
    from bethink.api.threads import Threads
    from bethink.build import connect
    from bethink.handles import Backend
    from bethink.log.history import History
    from bethink.log.live import LiveHistory
    from bethink.memory import Memory
    from bethink.memory_tests.records import MemoryTest, MemoryTestResult
    from bethink.model.access import acting_for
    from bethink.model.answers import AnswerSentence, MemoryAnswer, streaming
    from bethink.model.calls import ModelAnswer, ModelCall
    from bethink.model.changes import MemoryChange
    from bethink.model.documents import Document, DocumentDraft
    from bethink.model.facts import Evidence, Fact, Quote
    from bethink.model.kinds import FactKind, OwnKind
    from bethink.model.moments import moment
    from bethink.model.recall import Block, FactVerdict, Lineage, Recall, Recalled, Ref, RefKind, Remembered
    from bethink.model.records import (
        AgentKind,
        Forgotten,
        Message,
        Origin,
        Record,
        Role,
        SessionInfo,
        conversation_key,
    )
    from bethink.model.reviews import Review, ReviewStatus
    from bethink.model.steering import LearningRules
    from bethink.model.webhooks import verify_webhook
    from bethink.model.working import Event, Mode
    from bethink.providers.scripted_model import ScriptedModel
    from bethink.retention.records import RetentionKind
    from bethink.settings import Settings, load_settings
    from bethink.working.memory import WorkingMemory

__all__ = [
    "AgentKind",
    "AnswerSentence",
    "Backend",
    "Block",
    "Document",
    "DocumentDraft",
    "Documents",
    "Event",
    "Evidence",
    "Fact",
    "FactKind",
    "FactVerdict",
    "Facts",
    "Forgotten",
    "History",
    "LearningRules",
    "Lineage",
    "LiveHistory",
    "Memory",
    "MemoryAnswer",
    "MemoryChange",
    "MemoryTest",
    "MemoryTestResult",
    "MemoryTests",
    "Message",
    "Mode",
    "ModelAnswer",
    "ModelCall",
    "Origin",
    "OwnKind",
    "Quote",
    "Recall",
    "Recalled",
    "Record",
    "Ref",
    "RefKind",
    "Remembered",
    "RetentionKind",
    "Review",
    "ReviewStatus",
    "Reviews",
    "Role",
    "Rules",
    "ScriptedModel",
    "Session",
    "SessionInfo",
    "Settings",
    "Space",
    "SpaceRetention",
    "Threads",
    "WorkingMemory",
    "acting_for",
    "connect",
    "conversation_key",
    "load_settings",
    "moment",
    "streaming",
    "verify_webhook",
]

_HOMES = {
    "bethink.api.documents": ("Documents",),
    "bethink.api.facts": ("Facts",),
    "bethink.api.reviews": ("Reviews",),
    "bethink.api.retention": ("SpaceRetention",),
    "bethink.api.rules": ("Rules",),
    "bethink.api.session": ("Session",),
    "bethink.api.space": ("Space",),
    "bethink.api.tests": ("MemoryTests",),
    "bethink.api.threads": ("Threads",),
    "bethink.build": ("connect",),
    "bethink.handles": ("Backend",),
    "bethink.log.history": ("History",),
    "bethink.log.live": ("LiveHistory",),
    "bethink.memory": ("Memory",),
    "bethink.model.access": ("acting_for",),
    "bethink.model.answers": ("AnswerSentence", "MemoryAnswer", "streaming"),
    "bethink.model.calls": ("ModelAnswer", "ModelCall"),
    "bethink.model.changes": ("MemoryChange",),
    "bethink.model.documents": ("Document", "DocumentDraft"),
    "bethink.model.facts": ("Evidence", "Fact", "Quote"),
    "bethink.model.kinds": ("FactKind", "OwnKind"),
    "bethink.memory_tests.records": ("MemoryTest", "MemoryTestResult"),
    "bethink.model.moments": ("moment",),
    "bethink.model.recall": ("Block", "FactVerdict", "Lineage", "Recall", "Recalled", "Ref", "RefKind", "Remembered"),
    "bethink.model.records": (
        "AgentKind", "Forgotten", "Message", "Origin", "Record", "Role", "SessionInfo", "conversation_key",
    ),
    "bethink.model.webhooks": ("verify_webhook",),
    "bethink.retention.records": ("RetentionKind",),
    "bethink.model.reviews": ("Review", "ReviewStatus"),
    "bethink.model.steering": ("LearningRules",),
    "bethink.model.working": ("Event", "Mode"),
    "bethink.providers.scripted_model": ("ScriptedModel",),
    "bethink.settings": ("Settings", "load_settings"),
    "bethink.working.memory": ("WorkingMemory",),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    # Names load when they are used: a command line's help, or a client of a server, needs few of them.
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'bethink' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
