"""Facts and session memories: what was learnt, and what it rests on."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from bethink.base.frozen import frozen
from bethink.model.checks import any_of, tuple_from
from bethink.model.kinds import FactKind, Kind, kind_of
from bethink.model.moments import Moment, moment_or_none
from bethink.model.records import Origin
from bethink.model.text import JsonObject

_IMPORT = Origin("import")


class Evidence(StrEnum):
    """How it is known that a fact is true."""

    QUOTED = "quoted"
    """The words it rests on were found in the messages; what they mean was not judged."""
    CONFIRMED = "confirmed"
    """A second reading of the messages agreed that they say so."""
    STATED = "stated"
    """A person wrote or approved it."""
    IMPORTED = "imported"
    """A program stored it, and neither a message nor a person is known to say so."""


@frozen
class Quote:
    """The exact words of a message that a fact rests on; `context` if they are only needed to understand others."""

    session_id: str
    number: int
    text: str
    context: bool = False


@frozen(kw_only=False)
class SourceMessage:
    """A message that a memory rests on."""

    session_id: str
    number: int


@frozen
class Fact:
    """One statement, with the session it was learnt from.

    `valid_from` and `valid_to` say when it was true, `recorded_at` and `retired_at` when memory believed it. A `slot`
    names an attribute that has one value at a time, such as a home town: another value there retires this fact.
    An event happened between `happened_from` and `happened_to` and stays true; `speaker` is whose word it is, `scope`
    where a wish applies, and `flags` say why it needs care, such as `confidential`. It is no longer recalled from
    `expires_at` on. `pinned_at` is set while it is pinned.
    The values of `metadata` are texts, so that facts can be found by them.
    """

    id: str
    content: str
    source: str = ""
    tags: tuple[str, ...] = ()
    metadata: JsonObject = field(default_factory=dict[str, object])
    created_at: Moment | None = None
    kind: Kind = FactKind.KNOWLEDGE
    origin: Origin = _IMPORT
    entities: tuple[str, ...] = ()
    subject: str | None = None
    slot: str | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    happened_from: Moment | None = None
    happened_to: Moment | None = None
    speaker: str | None = None
    scope: str | None = None
    flags: tuple[str, ...] = ()
    expires_at: Moment | None = None
    pinned_at: Moment | None = field(default=None, compare=False)
    evidence: Evidence = field(default=Evidence.IMPORTED, compare=False)
    recorded_at: Moment | None = field(default=None, compare=False)
    retired_at: Moment | None = field(default=None, compare=False)
    retired_by: str | None = field(default=None, compare=False)
    version: int = field(default=1, compare=False)
    made_by: "Maker | None" = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name in ("created_at", "valid_from", "valid_to", "happened_from", "happened_to", "expires_at", "pinned_at"):
            object.__setattr__(self, name, moment_or_none(getattr(self, name)))
        for name in ("tags", "entities", "flags"):
            object.__setattr__(self, name, tuple_from(name, getattr(self, name)))
        if type(self.kind) is not FactKind:
            object.__setattr__(self, "kind", kind_of(self.kind))
        if type(self.origin) is not Origin:
            object.__setattr__(self, "origin", Origin(self.origin))
        if type(self.evidence) is not Evidence:
            object.__setattr__(self, "evidence", any_of("evidence", (self.evidence,), Evidence)[0])

    @property
    def limited(self) -> bool:
        """Whether it applies to some project, person or occasion only."""
        return self.scope is not None and self.scope.casefold() != "always"


@frozen
class Maker:
    """What created a memory: the model, the prompt and the extractor, each with its version."""

    model: str
    prompt: str
    extractor: str

    @property
    def quotes(self) -> bool:
        """Return whether no model was involved, so that messages were only quoted."""
        return self.model == "none"


@frozen
class SessionMemory:
    """The result of extracting from one entire session; the next extraction replaces it.

    `said_from` and `said_until` are when its messages were said, `source_updated_at` when the last of them was stored.
    """

    space: str
    session_id: str
    raw_memory: str
    summary: str
    slug: str
    until: int
    source_updated_at: datetime
    generated_at: datetime
    made_by: Maker
    said_from: datetime | None = field(default=None, compare=False)
    said_until: datetime | None = field(default=None, compare=False)

    @property
    def last_said(self) -> datetime:
        """When its last message was said, if that is known."""
        return self.source_updated_at if self.said_until is None else self.said_until
