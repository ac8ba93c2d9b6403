"""Operations on data about a person: find, export and delete it, in one space or in all."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.errors import InvalidRequestError
from bethink.features.people.records import (
    PersonDeletion,
    PersonInSpace,
    PersonItems,
    PersonMatches,
    PersonMatchKind,
    SpaceDeletion,
)
from bethink.model.access import Scope
from bethink.model.checks import Between, Cleaned, Length, any_of
from bethink.model.operations.base import (
    Cursor,
    HandleClass,
    Limit,
    Name,
    Operation,
    Request,
    Retry,
    SpanName,
    served_by,
)

READ, ERASE = Scope.READ, Scope.ERASE

_ItemLimit = Annotated[int, Between(1, 10_000)]


@frozen
class _PersonRequest(Request):
    name: Name
    """Name of the person. Matches whole words and ignores case and accents."""
    aliases: Annotated[tuple[Name, ...], Length(0, 100)] = ()
    """Other names of the person, such as nicknames, initials or an email address."""
    match: tuple[PersonMatchKind, ...] = tuple(PersonMatchKind)
    """Ways to match: `speaker`, `words` and `entities` (default: all)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "match", any_of("match", self.match, PersonMatchKind))
        Request.__post_init__(self)
        for name in (self.name, *self.aliases):
            if not any(letter.isalnum() for letter in name):
                raise InvalidRequestError(
                    f"{name!r} is not a name.", hint="Pass a name with at least one letter or digit."
                )


@frozen
class FindPersonRequest(_PersonRequest):
    """A person whose data to find."""

    limit: Limit = 100
    """Maximum number of refs for each space (default 100). Counts include all matches."""


@frozen
class ExportPersonRequest(_PersonRequest):
    """A person whose data to export."""

    limit: _ItemLimit = 1_000
    """Maximum number of items (default 1,000)."""
    after: Cursor = ""
    """Cursor of the next page: the `next` of the previous page."""


@frozen
class ForgetPersonRequest(_PersonRequest):
    """A person whose data to delete."""

    reason: Annotated[str, Length(0, 500), Cleaned()] = ""
    """Reason for the record, such as a request number. Do not include the name."""
    dry_run: bool = False
    """Whether to count the items without deleting them (default False)."""

    def retry(self, declared: Retry) -> Retry:
        """Return SAFE for a dry run."""
        return Retry.SAFE if self.dry_run else declared


_SPACE = "/spaces/{space}/people"
_MATCHING = "Reads every text. Names match only as whole words."
_ALL_SPACES = "Covers the spaces of the key, or all spaces without a key."

FIND_IN_SPACE: Operation[FindPersonRequest, PersonInSpace] = Operation(
    "space.admin.people.find", FindPersonRequest, PersonInSpace, f"POST {_SPACE}/find", READ, Retry.SAFE,
    "Find all data about a person in the space, with counts and refs.",
    span_name=SpanName.SEARCH, timed=False, details=_MATCHING,
)  # fmt: skip
EXPORT_FROM_SPACE: Operation[ExportPersonRequest, PersonItems] = Operation(
    "space.admin.people.export", ExportPersonRequest, PersonItems, f"POST {_SPACE}/export", READ, Retry.SAFE,
    "Export all data about a person in the space, with texts.",
    span_name=SpanName.SEARCH, timed=False, details=_MATCHING,
)  # fmt: skip
FORGET_IN_SPACE: Operation[ForgetPersonRequest, SpaceDeletion] = Operation(
    "space.admin.people.forget", ForgetPersonRequest, SpaceDeletion, f"POST {_SPACE}/forget", ERASE, Retry.ONCE,
    "Permanently delete all data about a person in the space, and return a receipt.",
    span_name=SpanName.DELETE, timed=False,
    raises="LegalHoldError: if the space is under a legal hold.",
    details="Deletes entire messages and documents, even if others only mention the person. Use `find` first.",
)  # fmt: skip
FIND_PERSON: Operation[FindPersonRequest, PersonMatches] = Operation(
    "memory.admin.people.find", FindPersonRequest, PersonMatches, "POST /people/find", READ, Retry.SAFE,
    "Find all data about a person in all accessible spaces, with counts and refs.",
    span_name=SpanName.SEARCH, timed=False, details=f"{_MATCHING} {_ALL_SPACES}",
)  # fmt: skip
EXPORT_PERSON: Operation[ExportPersonRequest, PersonItems] = Operation(
    "memory.admin.people.export", ExportPersonRequest, PersonItems, "POST /people/export", READ, Retry.SAFE,
    "Export all data about a person in all accessible spaces, with texts.",
    span_name=SpanName.SEARCH, timed=False, details=f"{_MATCHING} {_ALL_SPACES}",
)  # fmt: skip
FORGET_PERSON: Operation[ForgetPersonRequest, PersonDeletion] = Operation(
    "memory.admin.people.forget", ForgetPersonRequest, PersonDeletion, "POST /people/forget", ERASE, Retry.ONCE,
    "Permanently delete all data about a person in all accessible spaces, with a receipt for each.",
    span_name=SpanName.DELETE, timed=False,
    details=f"Spaces under a legal hold stay unchanged and are listed with the reason. {_ALL_SPACES}",
)  # fmt: skip

OPERATIONS = served_by(
    "bethink.features.people.service",
    FIND_IN_SPACE,
    EXPORT_FROM_SPACE,
    FORGET_IN_SPACE,
    FIND_PERSON,
    EXPORT_PERSON,
    FORGET_PERSON,
)
HANDLES = (
    HandleClass(path="memory.admin.people", class_name="People", summary="Data about a person, in all spaces."),
    HandleClass(path="space.admin.people", class_name="SpacePeople", summary="Data about a person, in one space."),
)
