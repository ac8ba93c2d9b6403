"""The rules that need no database: who is learnt from, and when a session is marked."""

from bethink.model.records import AgentKind, EndReason, Trigger

TURN_THRESHOLD = 5
"""A session is marked once more than this many records follow `processed_until`."""

_LEARNT_FROM = frozenset({AgentKind.PRIMARY})

_TRIGGER_OF_END = {
    EndReason.CLOSED: Trigger.IDLE,
    EndReason.RESET: Trigger.RESET,
    EndReason.EMERGENCY: Trigger.RESET,
    EndReason.COMPACTION: Trigger.COMPACTION,
}


def makes_memory(kind: AgentKind) -> bool:
    """Say whether sessions of this kind of agent are ever marked: the one rule against memory of memory."""
    return kind in _LEARNT_FROM


def trigger_of(reason: EndReason) -> Trigger:
    """Say which of the four triggers an ending is."""
    return _TRIGGER_OF_END[reason]
