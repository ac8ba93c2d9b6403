"""What recall gives back: what was found, why, at what cost, and what became of the rest."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from bethink.errors import Invalid
from bethink.model.enums import OpenEnum
from bethink.model.jobs import Job
from bethink.model.records import Fact, Maker, Origin, SessionInfo, SourceMessage, checked_name, checked_text
from bethink.model.text import text_schema

_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")
_LAST_NUMBER = 2**63 - 1
_SHOWN = 100


class RefKind(OpenEnum):
    """What can be recalled."""

    MESSAGE = "message"
    FACT = "fact"
    SESSION_MEMORY = "session_memory"
    DOCUMENT = "document"


class Ref(str):
    """Names one thing that can be recalled, for good: the text `kind:id:number`, with its parts.

    The number is a message's own within its session, or the version of a fact or document; a session memory has 0.
    """

    __slots__ = ("_id", "_kind", "_number")
    _id: str
    _kind: RefKind
    _number: int

    def __new__(cls, kind: RefKind, id: str, number: int = 0) -> "Ref":  # noqa: A002
        """Write the text of a ref from its parts."""
        self = super().__new__(cls, f"{kind}:{id}:{number}")
        self._kind, self._id, self._number = kind, id, number
        return self

    def __reduce__(self) -> tuple[type["Ref"], tuple[RefKind, str, int]]:
        return Ref, self.parts

    @property
    def kind(self) -> RefKind:
        """What it names."""
        return self._kind

    @property
    def id(self) -> str:
        """The id of the session, fact or document."""
        return self._id

    @property
    def number(self) -> int:
        """The number of the message, or the version of the fact or document."""
        return self._number

    @property
    def known(self) -> bool:
        """Whether this version knows its kind: a newer server may have others."""
        return self._kind.known

    @property
    def parts(self) -> tuple[RefKind, str, int]:
        """Its kind, id and number. Sort by them where 10 should come after 9: a ref itself sorts as text."""
        return self._kind, self._id, self._number

    @classmethod
    def parse(cls, text: str) -> "Ref":
        """Read a ref from its text. Raises `Invalid` if it is not written `kind:id:number`."""
        found = cls._of_any_kind(text)
        if not found.known:
            raise _not_a_ref(text)
        return found

    @classmethod
    def _of_any_kind(cls, text: str) -> "Ref":
        kind, _, rest = text.partition(":")
        name, _, number = rest.rpartition(":")
        if not kind or not _NUMBER.fullmatch(number) or int(number) > _LAST_NUMBER:
            raise _not_a_ref(text)
        return cls(RefKind(kind), checked_name(name, "the id of a memory"), int(number))

    @classmethod
    def read(cls, value: "Ref | str") -> "Ref":
        """Return a ref as it is, or read it from its text."""
        return value if isinstance(value, Ref) else cls.parse(checked_text(value, "a ref"))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Callable[[type], Any]) -> dict[str, Any]:
        return text_schema(cls._of_any_kind, handler)


def _not_a_ref(text: str) -> Invalid:
    said = f"{text[:_SHOWN]!r} names nothing that can be recalled."
    return Invalid(said, hint="Write kind:id:number, as in results.")


class Fate(OpenEnum):
    """What became of a candidate: it was shown, or why it was not."""

    SHOWN = "shown"
    BELOW_FLOOR = "below_floor"
    BEYOND_LIMIT = "beyond_limit"
    OVER_BUDGET = "over_budget"
    DUPLICATE = "duplicate"
    SUPERSEDED = "superseded"
    ENDED = "ended"
    ERASED = "erased"
    OTHER_ORIGIN = "other_origin"
    QUESTION = "question"
    """It is the question itself: in the session that asks, or as a user asked it before."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One reason for a candidate's place: as measured, between 0 and 1, and what it added to the score."""

    raw: float
    normalised: float
    added: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something that was considered, with every signal, its place after each stage, and what became of it.

    `because_of` names what it is a duplicate of, or what superseded it.
    """

    ref: Ref
    text: str
    signals: Mapping[str, Signal]
    score: float
    ranks: Mapping[str, int]
    fate: Fate
    because_of: Ref | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A message that something rests on, cut to the part that matters."""

    source: SourceMessage
    text: str
    origin: Origin
    said_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """One thing that was found. `score` is between 0 and 1; `also` names what said the same."""

    ref: Ref
    text: str
    origin: Origin
    at: datetime
    score: float
    tokens: int
    label: str
    speaker: str | None = None
    session_id: str | None = None
    fact: Fact | None = None
    also: tuple[Ref, ...] = ()
    sources: tuple[SourceMessage, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """The answer to a question: what was found, the best first, within its budget.

    `missing` says why it is empty, or what it was made without, such as vectors.
    """

    question: str
    items: tuple[Recalled, ...] = ()
    tokens: int = 0
    budget: int | None = None
    as_of: datetime | None = None
    missing: str | None = None
    candidates: tuple[Candidate, ...] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        """Say whether anything was found."""
        return bool(self.items)


class Purpose(StrEnum):
    """What something was shown for: as the answer to a question, or as a block in a prompt."""

    RECALL = "recall"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class Use:
    """How often something was of use, and when last."""

    times: int
    last: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """One entry of the ledger: what was shown, when, and to which session, if it was to one."""

    id: str
    purpose: Purpose
    session_id: str | None
    shown_at: datetime
    tokens: int
    digest: str
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block of memory for a prompt: the same bytes for as long as memory does not change. Empty if it has nothing."""

    text: str = ""
    tokens: int = 0
    items: tuple[Recalled, ...] = ()
    digest: str = ""

    def __bool__(self) -> bool:
        """Say whether there is anything to show."""
        return bool(self.text)

    def to_openai(self) -> list[dict[str, object]]:
        """Return it as messages for the OpenAI API: one of the user's, or none."""
        return [{"role": "user", "content": self.text}] if self else []

    def to_anthropic(self) -> list[dict[str, object]]:
        """Return it as messages for the Anthropic API, marked for its prompt cache: one of the user's, or none."""
        part = {"type": "text", "text": self.text, "cache_control": {"type": "ephemeral"}}
        return [{"role": "user", "content": [part]}] if self else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What `remember` stored: the session it went into, and a name for each message by which it can be explained."""

    session: SessionInfo
    refs: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a fact or a document: from when to when it was the one that held."""

    ref: Ref
    text: str
    since: datetime
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """Where a memory comes from, what became of it, and where it was shown; `text` None if it is erased.

    `rests_on` and `used_in` are the things one step before and after it, so that a door can walk on.
    """

    ref: Ref
    text: str | None
    origin: Origin | None = None
    at: datetime | None = None
    made_by: Maker | None = None
    written_by: str | None = None
    jobs: tuple[Job, ...] = ()
    sources: tuple[Excerpt, ...] = ()
    rests_on: tuple[Ref, ...] = ()
    used_in: tuple[Ref, ...] = ()
    versions: tuple[Version, ...] = ()
    superseded_by: Ref | None = None
    shown: tuple[Showing, ...] = ()
    usage: Use | None = None
