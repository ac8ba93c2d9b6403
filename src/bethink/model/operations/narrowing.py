"""Filters of searches and lists, declared once for all operations."""

import re
from dataclasses import fields
from typing import Annotated, Any

from bethink.base.frozen import frozen
from bethink.errors import InvalidFieldError
from bethink.model.checks import Length, Printable
from bethink.model.filters import Filter, conditions
from bethink.model.moments import Moment, Since
from bethink.model.operations.base import Conversation, Name, Request
from bethink.model.records import MAX_TAGS
from bethink.model.text import JsonObject

Tag = Annotated[str, Length(1, 200), Printable()]
Tags = Annotated[tuple[Tag, ...], Length(0, MAX_TAGS)]


@frozen(kw_only=False)
class KnownOrigin:
    """Only origins that an item can have, and `tool` for those of all tools. A misspelled one would match nothing."""

    def check(self, name: str, value: str) -> None:
        """Raise `InvalidFieldError` for an unknown origin."""
        if not _ORIGIN.match(value):
            raise InvalidFieldError(name, f"cannot be {value[:100]!r}.", hint=_ORIGIN_HINT)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {**handler(schema), "pattern": _ORIGIN.pattern}


_ORIGIN = re.compile(r"^(user|assistant|document|import|memory|tool(:.+)?)$")
_ORIGIN_HINT = "Use user, assistant, document, import, memory, tool or tool:NAME."
OriginFilter = Annotated[str, KnownOrigin()]


@frozen
class FilteredRequest(Request):
    """Base class of requests with filters. Items must match every filter."""

    origin: Annotated[tuple[OriginFilter, ...], Length(1, 100)] | None = None
    """Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default: any)."""
    tags: Tags = ()
    """Tags that every item must have."""
    agent: Name | None = None
    """Agent of the sessions (default: any)."""
    conversation: Conversation | None = None
    """Name of the conversation (default: any)."""
    speaker: Name | None = None
    """Speaker of a message, or of a fact's source messages (default: any)."""
    since: Since | None = None
    """Earliest time of items (default: no limit). A date means the start of that day."""
    until: Moment | None = None
    """Latest time of items (default: no limit). A date means the end of that day."""
    where: JsonObject | None = None
    """Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`."""

    def __post_init__(self) -> None:
        Request.__post_init__(self)
        if self.where is not None:
            conditions(self.where)
        if self.since is not None and self.until is not None and self.since > self.until:
            message = f"({self.since:%Y-%m-%d %H:%M}) must be before `until` ({self.until:%Y-%m-%d %H:%M})."
            raise InvalidFieldError("since", message, hint="Swap the two values.")

    @property
    def only(self) -> Filter | None:
        """The filter, or None if no filter field is set."""
        selection = self.as_filter()
        return None if selection == Filter() else selection

    def as_filter(self) -> Filter:
        """Return the filter, which is empty if no filter field is set."""
        return Filter(
            origins=self.origin,
            tags=self.tags,
            agent=self.agent,
            conversation=self.conversation,
            speaker=self.speaker,
            since=self.since,
            until=self.until,
            where=conditions(self.where or {}),
        )


FILTER_FIELDS = tuple(field.name for field in fields(FilteredRequest))
"""Names of the filter fields."""
