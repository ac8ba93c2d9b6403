"""Results of recall: matches, their scores and cost, and the other candidates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import overload

from bethink.base.frozen import frozen, short_repr
from bethink.model.enums import OpenEnum
from bethink.model.facts import Fact, FactStatus, Maker, Quote, SourceMessage
from bethink.model.jobs import Job
from bethink.model.plural import plural
from bethink.model.records import Origin, SessionInfo
from bethink.model.refs import Ref
from bethink.model.text import JsonObject


class Fate(OpenEnum):
    """Outcome of a candidate: shown, or the reason for leaving it out."""

    SHOWN = "shown"
    UNRELATED = "unrelated"
    """It is unrelated to the question and only next to a memory that is related."""
    UNCERTAIN = "uncertain"
    """It is less certain than `min_certainty`."""
    BEYOND_LIMIT = "beyond_limit"
    OVER_BUDGET = "over_budget"
    DUPLICATE = "duplicate"
    SUPERSEDED = "superseded"
    ENDED = "ended"
    ERASED = "erased"
    QUESTION = "question"
    """It repeats the question, in this session or an earlier one."""


class Certainty(OpenEnum):
    """How certain it is that a memory answers the question."""

    HIGH = "high"
    FAIR = "fair"
    WEAK = "weak"


@frozen(kw_only=False)
class Signal:
    """One contribution to a candidate's rank: its value between 0 and 1, and its share of the score."""

    raw: float
    normalized: float
    added: float


@frozen
class Candidate:
    """A memory that was considered, with its signals, its rank after each stage, and its outcome.

    `because_of` is the memory that it duplicates or that replaced it, even if the candidate is shown.
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
    """A source message of a memory, cut to the relevant part."""

    source: SourceMessage
    text: str
    origin: Origin
    said_at: datetime
    confidential: bool = False


@frozen
class Match:
    """One memory that was found. `score`, between 0 and 1, ranks it; `duplicates` names memories that say the same.

    `certainty` says how likely it is that this match answers the question, and `probability` is the calibrated number:
    of the matches with 0.8, about 8 in 10 are right on public conversations. `replaced_by` names the fact that replaced
    a statement in it. `status` is that of the fact, or of what a message states; `because_of` is the memory that
    replaced or corrected it or made it doubtful, and `because_text` its text. `confidential` marks what an answer from
    several spaces leaves out: a fact that a person asked to keep confidential or that is about health, money, a child
    or a third party, and every message and session summary that states one. `section` is the heading above it in a
    context block. `reply_to` is the line that a message answers, such as the question before it.
    """

    ref: Ref
    text: str
    origin: Origin
    said_at: datetime
    score: float
    tokens: int
    label: str
    certainty: Certainty = Certainty.WEAK
    probability: float = 0.0
    speaker: str | None = None
    session_id: str | None = None
    fact: Fact | None = None
    duplicates: tuple[Ref, ...] = ()
    sources: tuple[SourceMessage, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: JsonObject = field(default_factory=dict[str, object])
    space: str = ""
    """Set by a search of several spaces."""
    replaced_by: Ref | None = None
    status: FactStatus | None = None
    because_of: Ref | None = None
    because_text: str | None = None
    confidential: bool = False
    section: str = ""
    reply_to: Excerpt | None = None

    def __repr__(self) -> str:
        return short_repr(self, self.ref, self.text, self.certainty)


@frozen
class RecallResult(Sequence[Match]):
    """The matches for a question within the budget, best first.

    Loop over the result, or index it. `certainty` is that of the most certain match; if it is weak, memory may not
    contain the answer. `note` says why the result is empty, or what the search had to do without, such as vectors.
    """

    question: str
    items: tuple[Match, ...] = ()
    certainty: Certainty = Certainty.WEAK
    tokens: int = 0
    budget: int | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    note: str | None = None
    candidates: tuple[Candidate, ...] = field(default=(), repr=False)

    @overload
    def __getitem__(self, index: int) -> Match: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Match]: ...

    def __getitem__(self, index: int | slice) -> Match | Sequence[Match]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        return short_repr(self, plural(len(self.items), "match", "matches"), self.question, self.certainty)


def highest(matches: Iterable[Match]) -> Certainty:
    """Return the certainty of the most certain match; weak without any."""
    best = max(matches, key=lambda match: match.probability, default=None)
    return Certainty.WEAK if best is None else best.certainty


class Purpose(StrEnum):
    """Purpose of an entry of the context log: an answer to a question, or a block in a prompt."""

    RECALL = "recall"
    CONTEXT = "context"


@frozen(kw_only=False)
class Use:
    """Number of uses of a memory, and the time of the last one."""

    times: int
    last: datetime


@frozen
class ContextEntry:
    """An entry of the context log: the refs that were shown, when, and to which session, if any."""

    id: str
    purpose: Purpose
    session_id: str | None
    shown_at: datetime
    tokens: int
    digest: str
    refs: tuple[Ref, ...]


@frozen
class ContextBlock:
    """A memory block for a prompt. Its text stays identical until memory changes, and may be empty."""

    text: str = ""
    tokens: int = 0
    items: tuple[Match, ...] = ()
    digest: str = ""

    def __bool__(self) -> bool:
        """Return whether the block has text."""
        return bool(self.text)

    def __str__(self) -> str:
        return self.text

    def to_openai(self) -> list[dict[str, object]]:
        """Return the block as messages for the OpenAI API: one user message, or none."""
        return [{"role": "user", "content": self.text}] if self else []

    def to_anthropic(self) -> list[dict[str, object]]:
        """Return the block as messages for the Anthropic API, marked for prompt caching: one user message, or none."""
        part = {"type": "text", "text": self.text, "cache_control": {"type": "ephemeral"}}
        return [{"role": "user", "content": [part]}] if self else []


@frozen
class Remembered:
    """Result of `remember`: the session, and a ref for each message."""

    session: SessionInfo
    refs: tuple[Ref, ...] = ()


@frozen
class Correction:
    """A correction: the new version, the one it replaced, and the stored text.

    If the memory already had this text, both refs are the same.
    """

    ref: Ref
    previous: Ref
    text: str


class FactVerdict(StrEnum):
    """A person's verdict on a fact."""

    USEFUL = "useful"
    WRONG = "wrong"
    """It is not true. It needs review and is not recalled until then."""
    OUTDATED = "outdated"
    """It is no longer true, so it ends."""


@frozen
class Feedback:
    """Feedback on a version of a fact. `review_id` is the review that it opened, if any."""

    id: str
    ref: Ref
    verdict: FactVerdict
    actor: str
    rated_at: datetime
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
    """A memory related to another: `step` is negative for sources, positive for derived memories.

    `text` is its beginning, or None if it was deleted. `via` is the memory that led to it.
    """

    ref: Ref
    step: int
    via: Ref
    text: str | None
    origin: Origin | None = None
    at: datetime | None = None


@frozen
class LineageWalk:
    """Sources and derived memories several steps away, nearest first, at most 200."""

    steps: tuple[LineageStep, ...] = ()
    beyond: int = 0
    """Minimum number of further steps that are not listed."""


@frozen
class Lineage:
    """Sources, history and uses of a memory. `text` is None if it was deleted.

    `source_refs` and `derived` are the memories one step before and after it. `because_of` is the memory that replaced
    or corrected it or made it doubtful, and `because_text` its text. For a fact, `fact` is the requested
    version with its evidence, and `quotes` are the exact words it is based on. `metadata` is that of a message; for a
    passage of a file it contains the file and the position. `hidden_by` is the message in which a person asked to
    forget it, or some of its words, and `hidden_at` when that was said.
    """

    ref: Ref
    text: str | None
    origin: Origin | None = None
    at: datetime | None = None
    metadata: JsonObject = field(default_factory=dict[str, object])
    created_by: Maker | None = None
    written_by: str | None = None
    jobs: tuple[Job, ...] = ()
    sources: tuple[Excerpt, ...] = ()
    source_refs: tuple[Ref, ...] = ()
    derived: tuple[Ref, ...] = ()
    versions: tuple[Version, ...] = ()
    replaced_by: Ref | None = None
    because_of: Ref | None = None
    because_text: str | None = None
    hidden_by: Ref | None = None
    hidden_at: datetime | None = None
    context_log: tuple[ContextEntry, ...] = ()
    usage: Use | None = None
    fact: Fact | None = None
    quotes: tuple[Quote, ...] = ()
    feedback: tuple[Feedback, ...] = ()
    walk: LineageWalk | None = None
    """Memories further away, if `depth` is more than 1."""

    def __repr__(self) -> str:
        return short_repr(self, self.ref, self.text, plural(len(self.sources), "source"))
