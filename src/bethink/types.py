"""Enums, records and handles for annotations. Programs rarely need them: methods accept plain strings."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bethink.api.admin import Admin
    from bethink.api.documents import Documents
    from bethink.api.facts import Facts
    from bethink.api.memory import Spaces
    from bethink.api.reviews import Reviews
    from bethink.api.sessions import Sessions
    from bethink.api.space_admin import Rules, SpaceAdmin
    from bethink.api.threads import Threads
    from bethink.features.memory_tests.handle import MemoryTests
    from bethink.features.memory_tests.records import MemoryTest, MemoryTestResult
    from bethink.features.retention.handle import SpaceRetention
    from bethink.features.retention.records import RetentionKind
    from bethink.memory.log.history import History
    from bethink.memory.log.live import LiveHistory
    from bethink.memory.working.memory import WorkingMemory
    from bethink.model.answers import AnswerSentence
    from bethink.model.documents import DocumentDraft
    from bethink.model.facts import Evidence, FactStatus, Quote, SessionSummary
    from bethink.model.forgetting import ForgetPolicy
    from bethink.model.jobs import LearnReport
    from bethink.model.kinds import FactKind, OwnKind
    from bethink.model.messages import MessagesLike
    from bethink.model.moments import When
    from bethink.model.recall import Certainty, Correction, FactVerdict, Remembered
    from bethink.model.records import AgentKind, Origin, Record, Role, SessionInfo
    from bethink.model.refs import RefKind
    from bethink.model.reviews import ReviewStatus
    from bethink.model.working import Event, Mode

__all__ = [
    "Admin",
    "AgentKind",
    "AnswerSentence",
    "Certainty",
    "Correction",
    "DocumentDraft",
    "Documents",
    "Event",
    "Evidence",
    "FactKind",
    "FactStatus",
    "FactVerdict",
    "Facts",
    "ForgetPolicy",
    "History",
    "LearnReport",
    "LiveHistory",
    "MemoryTest",
    "MemoryTestResult",
    "MemoryTests",
    "MessagesLike",
    "Mode",
    "Origin",
    "OwnKind",
    "Quote",
    "Record",
    "RefKind",
    "Remembered",
    "RetentionKind",
    "ReviewStatus",
    "Reviews",
    "Role",
    "Rules",
    "SessionInfo",
    "SessionSummary",
    "Sessions",
    "SpaceAdmin",
    "SpaceRetention",
    "Spaces",
    "Threads",
    "When",
    "WorkingMemory",
]

# tools/make_api.py writes the imports and `__all__` from this table, and adds what features export.
_HOMES = {
    "bethink.api.admin": ("Admin",),
    "bethink.api.documents": ("Documents",),
    "bethink.api.facts": ("Facts",),
    "bethink.api.memory": ("Spaces",),
    "bethink.api.reviews": ("Reviews",),
    "bethink.api.sessions": ("Sessions",),
    "bethink.api.space_admin": ("Rules", "SpaceAdmin"),
    "bethink.api.threads": ("Threads",),
    "bethink.features.memory_tests.handle": ("MemoryTests",),
    "bethink.features.memory_tests.records": ("MemoryTest", "MemoryTestResult"),
    "bethink.features.retention.handle": ("SpaceRetention",),
    "bethink.features.retention.records": ("RetentionKind",),
    "bethink.memory.log.history": ("History",),
    "bethink.memory.log.live": ("LiveHistory",),
    "bethink.memory.working.memory": ("WorkingMemory",),
    "bethink.model.answers": ("AnswerSentence",),
    "bethink.model.documents": ("DocumentDraft",),
    "bethink.model.facts": ("Evidence", "FactStatus", "Quote", "SessionSummary"),
    "bethink.model.forgetting": ("ForgetPolicy",),
    "bethink.model.jobs": ("LearnReport",),
    "bethink.model.kinds": ("FactKind", "OwnKind"),
    "bethink.model.messages": ("MessagesLike",),
    "bethink.model.moments": ("When",),
    "bethink.model.recall": ("Certainty", "Correction", "FactVerdict", "Remembered"),
    "bethink.model.records": ("AgentKind", "Origin", "Record", "Role", "SessionInfo"),
    "bethink.model.refs": ("RefKind",),
    "bethink.model.reviews": ("ReviewStatus",),
    "bethink.model.working": ("Event", "Mode"),
}

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    # Names load when they are used: a command line's help, or a client of a server, needs few of them.
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
