"""Rules that need no database: which agents are learnt from, when a session is marked, and which origin is trusted."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from bethink.model.facts import Fact
from bethink.model.kinds import FactKind, Kind
from bethink.model.moments import EPOCH
from bethink.model.records import AgentKind, EndReason, Origin, Trigger, conversation_key

TURN_THRESHOLD = 5
"""A session is marked once more than this many records follow `processed_until`."""

QUIET_CHECK = timedelta(hours=1)
"""How long an open session may be idle before it is checked for the first time."""

CONFIDENTIAL = "confidential"
"""The flag of a fact that somebody asked not to pass on."""

CLAIM_FLAGS = ("health", "money", "credential", "child", "third_party", CONFIDENTIAL, "doubtful")
"""What a model may mark a claim with, so that a person can see it first."""

NOTES = conversation_key("mcp", "notes")
"""The conversation in which an assistant keeps its notes."""

_LEARNT_FROM = frozenset({AgentKind.PRIMARY})

_TRIGGER_OF_END = {
    EndReason.CLOSED: Trigger.IDLE,
    EndReason.RESET: Trigger.RESET,
    EndReason.EMERGENCY: Trigger.RESET,
    EndReason.COMPACTION: Trigger.COMPACTION,
    EndReason.RESTORED: Trigger.IDLE,
}


def makes_memory(kind: AgentKind) -> bool:
    """Return whether sessions of this kind of agent are ever marked: the rule against learning from memory itself."""
    return kind in _LEARNT_FROM


def trigger_of(reason: EndReason) -> Trigger:
    """Return which of the four triggers an ending is."""
    return _TRIGGER_OF_END[reason]


_RANK = {"user": 4, "assistant": 3, "import": 2, "document": 1, "memory": 0}
_TELLING = frozenset({FactKind.PREFERENCE, FactKind.INSTRUCTION, FactKind.PROCEDURE})


def rank(origin: Origin) -> int:
    """Return how far an origin can be trusted, as a number; a tool counts as little as a document."""
    return _RANK.get(origin, _RANK["document"])


def vouched(origin: Origin) -> bool:
    """Return whether somebody stands behind a text: a person, the assistant or an import, not a tool or a document."""
    return rank(origin) >= _RANK["import"]


def lowest(origins: Iterable[Origin]) -> Origin:
    """Return the origin of a combination: the least trusted of its parts."""
    return min(origins, key=lambda origin: (rank(origin), origin))


def tells(kind: Kind) -> bool:
    """Return whether facts of this kind tell an agent what to do, so that only a user's own words can create them."""
    return kind in _TELLING


def confidential(fact: Fact) -> bool:
    """Return whether somebody asked not to pass a fact on."""
    return CONFIDENTIAL in fact.flags


def since(fact: Fact) -> datetime:
    """Return from when on a fact is true: when it was said, unless it says otherwise."""
    begun = fact.valid_from if fact.valid_from is not None else (fact.created_at or EPOCH)
    return begun if fact.valid_to is None else min(begun, fact.valid_to)


def overlap(one: Fact, other: Fact) -> bool:
    """Return whether both facts are true at some common time."""
    if (one.valid_from, ends(one)) == (other.valid_from, ends(other)):
        return True
    first, second = ends(one), ends(other)
    return not ((first is not None and first <= since(other)) or (second is not None and second <= since(one)))


def ends(fact: Fact) -> datetime | None:
    """Return until when a fact is true and recalled; None if that is open."""
    return min(filter(None, (fact.valid_to, fact.expires_at)), default=None)
