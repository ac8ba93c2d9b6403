"""What every search and list can be narrowed by: declared once, for all the verbs that take it."""

from dataclasses import fields
from typing import Annotated

from bethink.base.frozen import frozen
from bethink.model.checks import InvalidField, Length, Printable
from bethink.model.filters import Filter, conditions
from bethink.model.moments import Moment, Since
from bethink.model.operations.base import Conversation, Name, Request
from bethink.model.records import MAX_TAGS
from bethink.model.text import JsonObject

Tag = Annotated[str, Length(1, 200), Printable()]
Tags = Annotated[tuple[Tag, ...], Length(0, MAX_TAGS)]


@frozen
class Narrowed(Request):
    """The base of requests that can be narrowed. What is given must all hold."""

    origins: Annotated[tuple[str, ...], Length(1, 100)] | None = None
    """Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME."""
    tags: Tags = ()
    """Only what has all of these tags."""
    agent: Name | None = None
    """Only what comes from sessions with this agent."""
    conversation: Conversation | None = None
    """Only what comes from this conversation."""
    speaker: Name | None = None
    """Only what the speaker with this name said, and facts that rest on it."""
    since: Since | None = None
    """Only what was said or written at this time or later. A day means its beginning."""
    until: Moment | None = None
    """Only what was said or written by this time. A day means its end."""
    where: JsonObject | None = None
    """Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt": 9}}`."""

    def __post_init__(self) -> None:
        Request.__post_init__(self)
        if self.where is not None:
            conditions(self.where)
        if self.since is not None and self.until is not None and self.since > self.until:
            raise InvalidField("since", "is after until.", hint="Exchange them.")

    @property
    def only(self) -> Filter | None:
        """The filter that the fields describe; None if they narrow nothing."""
        found = self.as_filter()
        return None if found == Filter() else found

    def as_filter(self) -> Filter:
        """Return the filter that the fields describe, also if they narrow nothing."""
        return Filter(
            origins=self.origins,
            tags=self.tags,
            agent=self.agent,
            conversation=self.conversation,
            speaker=self.speaker,
            since=self.since,
            until=self.until,
            where=conditions(self.where or {}),
        )


NARROWING = tuple(each.name for each in fields(Narrowed))
"""The names of the fields that narrow."""
