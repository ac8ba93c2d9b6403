"""Rules that need no database: agents to learn from, marking of sessions, and trust in origins."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from bethink.model.facts import Fact
from bethink.model.kinds import FactKind, Kind
from bethink.model.moments import EPOCH
from bethink.model.records import AgentKind, EndReason, Origin, Trigger, conversation_key

TURN_THRESHOLD = 5
"""A session is marked once more than this many records follow `processed_until`."""

QUIET_CHECK = timedelta(hours=1)
"""Idle time before an open session is checked for the first time."""

CONFIDENTIAL = "confidential"
"""Flag of a fact that a person asked to keep confidential."""

PRIVATE_FLAGS = ("health", "money", "child", "third_party", CONFIDENTIAL)
"""Flags of facts that stay in their own space: an answer from several spaces never has them."""

CLAIM_FLAGS = ("health", "money", "credential", "child", "third_party", CONFIDENTIAL, "doubtful")
"""Flags with which a model can mark a claim for review."""

NOTES = conversation_key("mcp", "notes")
"""Conversation for the notes of an assistant."""

_LEARNED_FROM = frozenset({AgentKind.PRIMARY})

_TRIGGER_OF_END = {
    EndReason.CLOSED: Trigger.IDLE,
    EndReason.RESET: Trigger.RESET,
    EndReason.EMERGENCY: Trigger.RESET,
    EndReason.COMPACTION: Trigger.COMPACTION,
    EndReason.RESTORED: Trigger.IDLE,
}


def makes_memory(kind: AgentKind) -> bool:
    """Return whether Bethink learns from this kind of agent. It never learns from its own memory agents."""
    return kind in _LEARNED_FROM


def trigger_of(reason: EndReason) -> Trigger:
    """Return the trigger that corresponds to an end reason."""
    return _TRIGGER_OF_END[reason]


_RANK = {"user": 4, "assistant": 3, "import": 2, "document": 1, "memory": 0}
_DIRECTIVES = frozenset({FactKind.PREFERENCE, FactKind.INSTRUCTION, FactKind.PROCEDURE})


def rank(origin: Origin) -> int:
    """Return the trust in an origin as a number. A tool ranks as low as a document."""
    return _RANK.get(origin, _RANK["document"])


def is_vouched_for(origin: Origin) -> bool:
    """Return whether a text is from a person, the assistant or an import, not from a tool or document."""
    return rank(origin) >= _RANK["import"]


def least_trusted(origins: Iterable[Origin]) -> Origin:
    """Return the least trusted origin, for a text combined from several."""
    return min(origins, key=lambda origin: (rank(origin), origin))


def is_directive(kind: Kind) -> bool:
    """Return whether facts of this kind instruct an agent, so that only a user's own words can create them."""
    return kind in _DIRECTIVES


def is_confidential(fact: Fact) -> bool:
    """Return whether a person asked to keep a fact confidential."""
    return CONFIDENTIAL in fact.flags


def is_private(fact: Fact) -> bool:
    """Return whether a fact stays in its own space when several are searched."""
    return any(flag in PRIVATE_FLAGS for flag in fact.flags)


def valid_since(fact: Fact) -> datetime:
    """Return the start of a fact's validity: by default, the time of its message."""
    start = fact.valid_from if fact.valid_from is not None else (fact.created_at or EPOCH)
    return start if fact.valid_to is None else min(start, fact.valid_to)


def overlap(fact: Fact, other: Fact) -> bool:
    """Return whether the validity of both facts overlaps."""
    if (fact.valid_from, valid_until(fact)) == (other.valid_from, valid_until(other)):
        return True
    first, second = valid_until(fact), valid_until(other)
    return not (
        (first is not None and first <= valid_since(other)) or (second is not None and second <= valid_since(fact))
    )


def valid_until(fact: Fact) -> datetime | None:
    """Return when a fact ends or expires, or None."""
    return min(filter(None, (fact.valid_to, fact.expires_at)), default=None)
