"""Memory for AI agents that you can audit."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bethink.build import AgentStores, connect, open_history_store
    from bethink.client.client import Client
    from bethink.documents.service import Documents
    from bethink.facts.service import Facts
    from bethink.log.history import History
    from bethink.log.live import LiveHistory
    from bethink.memory import Memory
    from bethink.model.recall import Block, Lineage, Recall, Recalled, Ref, Remembered
    from bethink.model.records import (
        AgentKind,
        ConversationKey,
        Fact,
        Forgotten,
        Message,
        Origin,
        Record,
        Role,
        Session,
    )
    from bethink.settings import Settings, load_settings
    from bethink.working.desk import Desk

__all__ = [
    "AgentKind",
    "AgentStores",
    "Block",
    "Client",
    "ConversationKey",
    "Desk",
    "Documents",
    "Fact",
    "Facts",
    "Forgotten",
    "History",
    "Lineage",
    "LiveHistory",
    "Memory",
    "Message",
    "Origin",
    "Recall",
    "Recalled",
    "Record",
    "Ref",
    "Remembered",
    "Role",
    "Session",
    "Settings",
    "connect",
    "load_settings",
    "open_history_store",
]

_HOMES = {
    "bethink.build": ("AgentStores", "connect", "open_history_store"),
    "bethink.log.history": ("History",),
    "bethink.log.live": ("LiveHistory",),
    "bethink.client.client": ("Client",),
    "bethink.documents.service": ("Documents",),
    "bethink.memory": ("Memory",),
    "bethink.model.recall": ("Block", "Lineage", "Recall", "Recalled", "Ref", "Remembered"),
    "bethink.model.records": (
        "AgentKind", "ConversationKey", "Fact", "Forgotten", "Message", "Origin", "Record", "Role", "Session",
    ),
    "bethink.facts.service": ("Facts",),
    "bethink.settings": ("Settings", "load_settings"),
    "bethink.working.desk": ("Desk",),
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
