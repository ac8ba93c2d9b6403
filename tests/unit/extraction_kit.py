"""Helpers for claim tests: a conversation, claims about it, and the result of their validation."""

from bethink.memory.learning.extraction.claims import DraftClaim, DraftQuote
from bethink.memory.learning.extraction.validation import CheckedClaim, ClaimValidator
from bethink.model.kinds import FactKind
from bethink.model.moments import from_micros
from bethink.model.records import Message, Record

SAID = from_micros(1_763_208_000_000_000)  # 2025-11-15, a Saturday


def talk(*messages: tuple[str, str] | Message) -> dict[int, Record]:
    """The records of a conversation, from the role and the text of each message."""
    found: dict[int, Record] = {}
    for number, each in enumerate(messages, 1):
        message = each if isinstance(each, Message) else _message(*each)
        found[number] = Record(session_id="s", number=number, recorded_at=SAID, message=message)
    return found


def _message(role: str, text: str) -> Message:
    return Message(role=role, content=text, name="web" if role == "tool" else None, said_at=SAID)


def claim(
    statement: str, *quotes: tuple[int, str], kind: FactKind | None = FactKind.DETAIL, **more: object
) -> DraftClaim:
    """A claim about the owner that quotes these words."""
    fields: dict[str, object] = {"about": "owner", "quotes": tuple(DraftQuote(*quote) for quote in quotes), **more}
    return DraftClaim(statement=statement, kind=kind, **fields)  # pyright: ignore[reportArgumentType]


def whole(statement: str, said: dict[int, Record], *numbers: int, **more: object) -> DraftClaim:
    """A claim that quotes whole messages; all of them if none is named."""
    quotes = [(number, said[number].message.content) for number in numbers or said]
    return claim(statement, *quotes, **more)  # pyright: ignore[reportArgumentType]


def checked(draft: DraftClaim, said: dict[int, Record], **gate: object) -> CheckedClaim:
    return ClaimValidator(said, **gate).check(draft)  # pyright: ignore[reportArgumentType]


def problem(draft: DraftClaim, said: dict[int, Record], **gate: object) -> tuple[str, str] | None:
    """The reason and the force of what the gate finds wrong with a claim; None for nothing."""
    found = checked(draft, said, **gate).problem
    return None if found is None else (found.reason.value, found.effect.value)
