"""Memory for AI agents that you can audit."""

from bethink.build import AgentStores, connect, open_history_store
from bethink.capture.history import History
from bethink.capture.live import LiveHistory
from bethink.memory import Memory
from bethink.model.records import AgentKind, ConversationKey, Fact, Message, Origin, Record, Role, Session
from bethink.recall.facts import Facts
from bethink.settings import Settings, load_settings

__all__ = [
    "AgentKind",
    "AgentStores",
    "ConversationKey",
    "Fact",
    "Facts",
    "History",
    "LiveHistory",
    "Memory",
    "Message",
    "Origin",
    "Record",
    "Role",
    "Session",
    "Settings",
    "connect",
    "load_settings",
    "open_history_store",
]
