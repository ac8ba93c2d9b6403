"""Memory for AI agents that you can audit."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bethink.api.connect import Memory, connect
    from bethink.api.documents import Documents
    from bethink.api.facts import Facts
    from bethink.api.reviews import Reviews
    from bethink.api.rules import Rules
    from bethink.api.session import Session
    from bethink.api.space import Space
    from bethink.api.threads import Threads
    from bethink.config.settings import Settings, load_settings
    from bethink.features.memory_tests.handle import MemoryTests
    from bethink.features.memory_tests.records import MemoryTest, MemoryTestResult
    from bethink.features.retention.handle import SpaceRetention
    from bethink.features.retention.records import RetentionKind
    from bethink.features.webhooks.records import verify_webhook
    from bethink.host.backend import Backend
    from bethink.memory.log.history import History
    from bethink.memory.log.live import LiveHistory
    from bethink.memory.working.memory import WorkingMemory
    from bethink.model.access import acting_for
    from bethink.model.answers import AnswerSentence, MemoryAnswer, streaming
    from bethink.model.calls import ModelAnswer, ModelCall
    from bethink.model.changes import MemoryChange
    from bethink.model.documents import Document, DocumentDraft
    from bethink.model.facts import Evidence, Fact, Quote
    from bethink.model.kinds import FactKind, OwnKind
    from bethink.model.moments import moment
    from bethink.model.recall import Block, FactVerdict, Lineage, Recall, Recalled, Ref, RefKind, Remembered
    from bethink.model.records import AgentKind, Forgotten, Message, Origin, Record, Role, SessionInfo, conversation_key
    from bethink.model.reviews import Review, ReviewStatus
    from bethink.model.steering import LearningRules
    from bethink.model.working import Event, Mode
    from bethink.providers.scripted_model import ScriptedModel

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

# tools/make_api.py writes the imports and `__all__` from this table, and adds what features export.
_HOMES = {
    "bethink.api.connect": ("Memory", "connect"),
    "bethink.api.documents": ("Documents",),
    "bethink.api.facts": ("Facts",),
    "bethink.api.reviews": ("Reviews",),
    "bethink.api.rules": ("Rules",),
    "bethink.api.session": ("Session",),
    "bethink.api.space": ("Space",),
    "bethink.api.threads": ("Threads",),
    "bethink.config.settings": ("Settings", "load_settings"),
    "bethink.features.memory_tests.handle": ("MemoryTests",),
    "bethink.features.memory_tests.records": ("MemoryTest", "MemoryTestResult"),
    "bethink.features.retention.handle": ("SpaceRetention",),
    "bethink.features.retention.records": ("RetentionKind",),
    "bethink.features.webhooks.records": ("verify_webhook",),
    "bethink.host.backend": ("Backend",),
    "bethink.memory.log.history": ("History",),
    "bethink.memory.log.live": ("LiveHistory",),
    "bethink.memory.working.memory": ("WorkingMemory",),
    "bethink.model.access": ("acting_for",),
    "bethink.model.answers": ("AnswerSentence", "MemoryAnswer", "streaming"),
    "bethink.model.calls": ("ModelAnswer", "ModelCall"),
    "bethink.model.changes": ("MemoryChange",),
    "bethink.model.documents": ("Document", "DocumentDraft"),
    "bethink.model.facts": ("Evidence", "Fact", "Quote"),
    "bethink.model.kinds": ("FactKind", "OwnKind"),
    "bethink.model.moments": ("moment",),
    "bethink.model.recall": ("Block", "FactVerdict", "Lineage", "Recall", "Recalled", "Ref", "RefKind", "Remembered"),
    "bethink.model.records": (
        "AgentKind",
        "Forgotten",
        "Message",
        "Origin",
        "Record",
        "Role",
        "SessionInfo",
        "conversation_key",
    ),
    "bethink.model.reviews": ("Review", "ReviewStatus"),
    "bethink.model.steering": ("LearningRules",),
    "bethink.model.working": ("Event", "Mode"),
    "bethink.providers.scripted_model": ("ScriptedModel",),
}
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
