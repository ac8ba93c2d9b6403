"""The results of recall: what was found, why, at what cost, and what happened to the other candidates."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any

from bethink.base.frozen import frozen
from bethink.errors import Invalid
from bethink.model.enums import OpenEnum
from bethink.model.facts import Fact, Maker, Quote, SourceMessage
from bethink.model.jobs import Job
from bethink.model.records import Origin, SessionInfo, checked_name, checked_text
from bethink.model.text import JsonObject, text_schema

_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")
_LAST_NUMBER = 2**63 - 1
_SHOWN = 100


class RefKind(OpenEnum):
    """The kinds of memory that can be recalled."""

    MESSAGE = "message"
    FACT = "fact"
    SESSION_MEMORY = "session_memory"
    DOCUMENT = "document"


class Ref(str):
    """A permanent name for one memory: the text `kind:id:number`, with its parts.

    The number is a message's number in its session, or the version of a fact or document; for a session memory it is 0.
    """

    __slots__ = ("_id", "_kind", "_number")
    _id: str
    _kind: RefKind
    _number: int

    def __new__(cls, kind: RefKind, id: str, number: int = 0) -> "Ref":  # noqa: A002
        """Build a ref from its parts."""
        self = str.__new__(cls, f"{kind}:{id}:{number}")  # not super(): a recall builds hundreds
        self._kind, self._id, self._number = kind, id, number
        return self

    def __reduce__(self) -> tuple[type["Ref"], tuple[RefKind, str, int]]:
        return Ref, self.parts

    @property
    def kind(self) -> RefKind:
        """The kind of memory."""
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
        """The kind, id and number. Sort by this to get 9 before 10: a ref itself sorts as text."""
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
        """Return a ref unchanged, or parse its text."""
        return value if isinstance(value, Ref) else cls.parse(checked_text(value, "a ref"))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Callable[[type], Any]) -> dict[str, Any]:
        return text_schema(cls._of_any_kind, handler)


def _not_a_ref(text: str) -> Invalid:
    return Invalid(f"cannot parse {text[:_SHOWN]!r} as a ref.", hint="Write kind:id:number, as in results.")


class Fate(OpenEnum):
    """What happened to a candidate: it was shown, or the reason why not."""

    SHOWN = "shown"
    UNRELATED = "unrelated"
    """It shares nothing with the question, and only stands beside something that does."""
    UNCERTAIN = "uncertain"
    """It is less certain than the caller asked for."""
    BEYOND_LIMIT = "beyond_limit"
    OVER_BUDGET = "over_budget"
    DUPLICATE = "duplicate"
    SUPERSEDED = "superseded"
    ENDED = "ended"
    ERASED = "erased"
    QUESTION = "question"
    """It is the question itself: in the session that asks, or as a user asked it before."""


class Level(OpenEnum):
    """How certain an answer is, in words."""

    HIGH = "high"
    FAIR = "fair"
    WEAK = "weak"


@frozen(kw_only=False)
class Certainty:
    """How certain it is that a memory answers the question.

    The value is calibrated: of the answers with 0.8, about 8 in 10 are right on public conversations.
    """

    level: Level
    value: float


@frozen(kw_only=False)
class Signal:
    """One contribution to a candidate's rank: its value between 0 and 1, and what it added to the score."""

    raw: float
    normalised: float
    added: float


@frozen
class Candidate:
    """A memory that was considered, with every signal, its rank after each stage, and its fate.

    `because_of` names the memory that it duplicates, or that superseded it, even if it is shown.
    """

    ref: Ref
    text: str
    signals: Mapping[str, Signal]
    score: float
    ranks: Mapping[str, int]
    fate: Fate
    because_of: Ref | None = None
    space: str = ""
    """Set by a search of several spaces."""
    certainty: float = 0.0
    confidential: bool = False


@frozen
class Excerpt:
    """A message that a memory rests on, cut to the relevant part."""

    source: SourceMessage
    text: str
    origin: Origin
    said_at: datetime
    confidential: bool = False


@frozen
class Recalled:
    """One memory that was found. `score`, between 0 and 1, ranks it; `also` names memories that say the same.

    `certainty` says how likely it is that this one answers the question. `superseded_by` names the fact that replaced
    something which a message or session memory says. `confidential` marks a fact that somebody asked not to pass on,
    and every message and session memory that states one. `section` is the heading above it in a context block.
    """

    ref: Ref
    text: str
    origin: Origin
    at: datetime
    score: float
    tokens: int
    label: str
    certainty: Certainty | None = None
    speaker: str | None = None
    session_id: str | None = None
    fact: Fact | None = None
    also: tuple[Ref, ...] = ()
    sources: tuple[SourceMessage, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: JsonObject = field(default_factory=dict[str, object])
    space: str = ""
    """Set by a search of several spaces."""
    superseded_by: Ref | None = None
    confidential: bool = False
    section: str = ""


def most_certain(items: Iterable[Recalled]) -> Certainty | None:
    """Return the certainty of the most certain of some results; None without any."""
    known = (item.certainty for item in items if item.certainty is not None)
    return max(known, key=lambda certainty: certainty.value, default=None)


@frozen
class Recall:
    """The answer to a question: the memories found within the budget, the best first.

    `certainty` is that of the most certain one. If it is weak, nothing may have been said about this. `missing` says
    why the answer is empty, or what it had to do without, such as vectors.
    """

    question: str
    items: tuple[Recalled, ...] = ()
    certainty: Certainty | None = None
    tokens: int = 0
    budget: int | None = None
    as_of: datetime | None = None
    missing: str | None = None
    candidates: tuple[Candidate, ...] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        """Return whether anything was found."""
        return bool(self.items)


class Purpose(StrEnum):
    """Why a memory was shown: as the answer to a question, or as a block in a prompt."""

    RECALL = "recall"
    CONTEXT = "context"


@frozen(kw_only=False)
class Use:
    """How often a memory was used, and when last."""

    times: int
    last: datetime


@frozen
class Showing:
    """One entry of the ledger: what was shown, when, and to which session, if any."""

    id: str
    purpose: Purpose
    session_id: str | None
    shown_at: datetime
    tokens: int
    digest: str
    refs: tuple[Ref, ...]


@frozen
class Block:
    """A block of memory for a prompt. Its bytes stay the same until memory changes. Empty without anything to show."""

    text: str = ""
    tokens: int = 0
    items: tuple[Recalled, ...] = ()
    digest: str = ""

    def __bool__(self) -> bool:
        """Return whether there is anything to show."""
        return bool(self.text)

    def to_openai(self) -> list[dict[str, object]]:
        """Return it as messages for the OpenAI API: one user message, or none."""
        return [{"role": "user", "content": self.text}] if self else []

    def to_anthropic(self) -> list[dict[str, object]]:
        """Return it as messages for the Anthropic API, marked for its prompt cache: one user message, or none."""
        part = {"type": "text", "text": self.text, "cache_control": {"type": "ephemeral"}}
        return [{"role": "user", "content": [part]}] if self else []


@frozen
class Remembered:
    """What `remember` stored: the session, and a ref for each message."""

    session: SessionInfo
    refs: tuple[Ref, ...] = ()


@frozen
class Corrected:
    """A correction: the new version, the one it replaced, and the text as it was stored.

    If the memory said so already, both refs are the same.
    """

    ref: Ref
    previous: Ref
    text: str


class FactVerdict(StrEnum):
    """What somebody thinks of a fact."""

    USEFUL = "useful"
    WRONG = "wrong"
    """It is not true: it waits for a decision, and is not recalled until then."""
    OUTDATED = "outdated"
    """It was true and is no longer: it ends."""


@frozen
class Feedback:
    """What somebody said about a version of a fact. `review_id` is the claim under review that it made of the fact."""

    id: str
    ref: Ref
    verdict: FactVerdict
    by: str
    at: datetime
    note: str | None = None
    review_id: str | None = None


@frozen
class Version:
    """One version of a fact or a document, and when it was valid."""

    ref: Ref
    text: str
    since: datetime
    until: datetime | None = None


@frozen
class LineageStep:
    """A memory near another: `step` is negative for what it rests on, positive for what was made of it.

    `text` is the beginning of it, None if it was erased; `beside` is the memory that led to it.
    """

    ref: Ref
    step: int
    beside: Ref
    text: str | None
    origin: Origin | None = None
    at: datetime | None = None


@frozen
class LineageWalk:
    """What lies some steps before and after a memory, the nearest first: up to 200 of them."""

    steps: tuple[LineageStep, ...] = ()
    beyond: int = 0
    """How many more there are, at least."""


@frozen
class Lineage:
    """Where a memory comes from, what happened to it, and where it was shown; `text` is None if it was erased.

    `rests_on` and `used_in` are the memories one step before and after it. Of a fact, `fact` is the version that was
    asked for, with its evidence, and `quotes` are the exact words it rests on. `metadata` is that of a message: of a
    passage of a file it names the file and the place in it.
    """

    ref: Ref
    text: str | None
    origin: Origin | None = None
    at: datetime | None = None
    metadata: JsonObject = field(default_factory=dict[str, object])
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
    fact: Fact | None = None
    quotes: tuple[Quote, ...] = ()
    feedback: tuple[Feedback, ...] = ()
    walk: LineageWalk | None = None
    """What lies further away, if more than one step was asked for."""
