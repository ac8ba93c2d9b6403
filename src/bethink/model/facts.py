"""Facts and session summaries, with their sources."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any

from bethink.base.frozen import converted_field, frozen, short_repr
from bethink.model.checks import any_of, tuple_from
from bethink.model.enums import OpenEnum
from bethink.model.kinds import FactKind, Kind, kind_of
from bethink.model.moments import Moment, moment_or_none
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind, add_ref_to_schema
from bethink.model.text import JsonObject

_IMPORT = Origin("import")


class FactStatus(OpenEnum):
    """State of a version of a fact at the moment that was asked about, which is now by default."""

    CURRENT = "current"
    UPCOMING = "upcoming"
    """It begins later."""
    DOUBTFUL = "doubtful"
    """A fact that it depends on has changed since it was last said."""
    ENDED = "ended"
    """It was true until a time that has passed, or it has expired."""
    REPLACED = "replaced"
    """It was true until another fact took its place, or it is an older version."""
    CORRECTED = "corrected"
    """It was never true: another fact or a person corrected it."""
    PENDING = "pending"
    """A person reported it as wrong, and it waits for review."""
    EARLIER = "earlier"
    """A message, not a fact: a later one is about the same matter."""


class Evidence(StrEnum):
    """Evidence for a fact."""

    QUOTED = "quoted"
    """Its quotes are in the messages. Their meaning was not verified."""
    CONFIRMED = "confirmed"
    """A second pass over the messages confirmed it."""
    STATED = "stated"
    """A person wrote or approved it."""
    IMPORTED = "imported"
    """A program stored it, without a message or a person as its source."""


@frozen
class Quote:
    """Exact words of a message that a fact is based on. `context` marks words that only clarify other quotes."""

    session_id: str
    number: int
    text: str
    context: bool = False


@frozen(kw_only=False)
class SourceMessage:
    """A source message of a memory."""

    session_id: str
    number: int


@frozen
class Fact:
    """A statement, with the session it was learned from.

    It is true from `valid_from`, by default from when it was said (`created_at`), until `valid_to`. `recorded_at` is
    when memory learned this version. `status` says whether it is true at the moment that was asked about,
    `replaced_by` which fact replaced or corrected it, and `doubted_by` which change put it in doubt. A `slot` is an
    attribute with one value at a time, such as a home town: another value replaces this fact. An event happened
    between `event_from` and `event_to` and stays true. `speaker` is the person who said it, `scope` limits where a
    preference applies, and `flags` mark sensitive facts, such as `confidential`. From `expires_at` on, the fact is not
    recalled. `pinned_at` is set while it is pinned. `metadata` is JSON; filters compare its strings, numbers, booleans
    and nulls. A time may also be passed as a `date` or an ISO 8601 string.
    """

    id: str
    text: str
    source: str = ""
    tags: tuple[str, ...] = ()
    metadata: JsonObject = field(default_factory=dict[str, object])
    created_at: Moment | None = converted_field(default=None, converter=moment_or_none)
    kind: Kind = FactKind.KNOWLEDGE
    origin: Origin = _IMPORT
    entities: tuple[str, ...] = ()
    subject: str | None = None
    slot: str | None = None
    valid_from: Moment | None = converted_field(default=None, converter=moment_or_none)
    valid_to: Moment | None = converted_field(default=None, converter=moment_or_none)
    event_from: Moment | None = converted_field(default=None, converter=moment_or_none)
    event_to: Moment | None = converted_field(default=None, converter=moment_or_none)
    speaker: str | None = None
    scope: str | None = None
    flags: tuple[str, ...] = ()
    expires_at: Moment | None = converted_field(default=None, converter=moment_or_none)
    pinned_at: Moment | None = field(default=None, compare=False)
    evidence: Evidence = field(default=Evidence.IMPORTED, compare=False)
    recorded_at: Moment | None = field(default=None, compare=False)
    replaced_at: Moment | None = field(default=None, compare=False)
    replaced_by: str | None = field(default=None, compare=False)
    status: FactStatus = field(default=FactStatus.CURRENT, compare=False)
    doubted_by: str | None = field(default=None, compare=False)
    version: int = field(default=1, compare=False)
    created_by: "Maker | None" = field(default=None, compare=False)

    def __post_init__(self, _ref: object = None) -> None:
        for name in ("created_at", "valid_from", "valid_to", "event_from", "event_to", "expires_at", "pinned_at"):
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
    def ref(self) -> Ref:
        """The permanent name of this version: `fact:ID:VERSION`."""
        return Ref(RefKind.FACT, self.id, self.version)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Any) -> dict[str, Any]:
        # Other languages need the ref for `explain`, `correct` and `forget`. A fact that is sent back may contain it.
        schema = handler(source)
        arguments = handler.resolve_ref_schema(schema)["schema"]
        text = {"type": "str"}
        ignored = {"type": "default", "schema": {"type": "nullable", "schema": text}, "default": None}
        arguments["fields"].append(
            {
                "type": "dataclass-field",
                "name": "ref",
                "schema": ignored,
                "kw_only": True,
                "init_only": True,
                "metadata": {"pydantic_js_updates": {"description": "Ignored, so that a result can be sent back."}},
            }
        )
        return add_ref_to_schema(schema, handler, form="fact:ID:VERSION")

    def __repr__(self) -> str:
        return short_repr(self, self.ref, self.text, self.status)

    @property
    def is_scoped(self) -> bool:
        """Return whether the fact applies only to some project, person or occasion."""
        return self.scope is not None and self.scope.casefold() != "always"


@frozen
class Maker:
    """Creator of a memory: the model, the prompt and the extractor, each with its version."""

    model: str
    prompt: str
    extractor: str

    @property
    def is_verbatim(self) -> bool:
        """Return whether messages were quoted without a model."""
        return self.model == "none"


@frozen
class SessionSummary:
    """Summary of a session, with notes. The next extraction replaces it.

    `said_from` and `said_until` are the times of its first and last message, `source_updated_at` is when the last one
    was stored.
    """

    space: str
    session_id: str
    raw_memory: str
    summary: str
    slug: str
    until: int
    source_updated_at: datetime
    generated_at: datetime
    created_by: Maker
    said_from: datetime | None = field(default=None, compare=False)
    said_until: datetime | None = field(default=None, compare=False)

    @property
    def last_said(self) -> datetime:
        """Return the time of its last message, or when it was stored if that is unknown."""
        return self.source_updated_at if self.said_until is None else self.said_until
