"""The verbs of people: find, export and forget a person, in one space or in all that the caller may see."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.errors import Invalid
from bethink.features.people.records import (
    ErasedInSpace,
    PersonErased,
    PersonFound,
    PersonInSpace,
    PersonItems,
    PersonWay,
)
from bethink.model.access import Scope
from bethink.model.checks import Between, Cleaned, Length, any_of
from bethink.model.operations.base import Cursor, Limit, MemoryOperation, Name, Request, Retry, Verb, served_by

READ, ERASE = Scope.READ, Scope.ERASE

_Many = Annotated[int, Between(1, 10_000)]


@frozen
class _PersonRequest(Request):
    name: Name
    """The name of the person: whole words, whose case and accents do not count."""
    aliases: Annotated[tuple[Name, ...], Length(0, 100)] = ()
    """Other names of the same person: nicknames, initials, an address."""
    by: tuple[PersonWay, ...] = tuple(PersonWay)
    """How to look: by speaker, words and entities."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", any_of("by", self.by, PersonWay))
        Request.__post_init__(self)
        for each in (self.name, *self.aliases):
            if not any(letter.isalnum() for letter in each):
                raise Invalid(f"{each!r} is not a name.", hint="Give a name with at least one letter or digit.")


@frozen
class FindPersonRequest(_PersonRequest):
    """A person to look for."""

    limit: Limit = 100
    """How many refs to return at most, for each space. Everything is counted."""


@frozen
class ExportPersonRequest(_PersonRequest):
    """A person whose texts to return."""

    limit: _Many = 1_000
    """How many items to return at most."""
    after: Cursor = ""
    """Only what follows: the `next` of the page before."""


@frozen
class ForgetPersonRequest(_PersonRequest):
    """A person to forget."""

    reason: Annotated[str, Length(0, 500), Cleaned()] = ""
    """Why, for the record: a number of a request, say, and not the name."""
    dry_run: bool = False
    """Count and name what would go, and remove nothing."""

    def retry(self, declared: Retry) -> Retry:
        """Return SAFE for a dry run."""
        return Retry.SAFE if self.dry_run else declared


_SPACE = "/spaces/{space}/person"
_LOOKS = "It reads every text. A name that is part of another word is not matched."
_ALL = "A key is asked for each of its spaces; without one, it is all spaces."

FIND_IN_SPACE: Verb[FindPersonRequest, PersonInSpace] = Verb(
    "space.find_person", FindPersonRequest, PersonInSpace, f"POST {_SPACE}/find", READ, Retry.SAFE,
    "Count and name what the space holds of a person.",
    operation=MemoryOperation.SEARCH, timed=False, details=_LOOKS,
)  # fmt: skip
EXPORT_FROM_SPACE: Verb[ExportPersonRequest, PersonItems] = Verb(
    "space.export_person", ExportPersonRequest, PersonItems, f"POST {_SPACE}/export", READ, Retry.SAFE,
    "Return the texts that the space holds of a person.",
    operation=MemoryOperation.SEARCH, timed=False, details=_LOOKS,
)  # fmt: skip
FORGET_IN_SPACE: Verb[ForgetPersonRequest, ErasedInSpace] = Verb(
    "space.forget_person", ForgetPersonRequest, ErasedInSpace, f"POST {_SPACE}/forget", ERASE, Retry.ONCE,
    "Erase what the space holds of a person, with everything that was made of it, and return a receipt.",
    operation=MemoryOperation.DELETE, timed=False,
    raises="UnderLegalHold: if the space is under a legal hold.",
    details="Whole messages and whole documents go, also those in which others speak of the person: look first.",
)  # fmt: skip
FIND_PERSON: Verb[FindPersonRequest, PersonFound] = Verb(
    "memory.find_person", FindPersonRequest, PersonFound, "POST /person/find", READ, Retry.SAFE,
    "Count and name what is held of a person, in every space that the caller may see.",
    operation=MemoryOperation.SEARCH, timed=False, details=f"{_LOOKS} {_ALL}",
)  # fmt: skip
EXPORT_PERSON: Verb[ExportPersonRequest, PersonItems] = Verb(
    "memory.export_person", ExportPersonRequest, PersonItems, "POST /person/export", READ, Retry.SAFE,
    "Return the texts that are held of a person, in every space that the caller may see.",
    operation=MemoryOperation.SEARCH, timed=False, details=f"{_LOOKS} {_ALL}",
)  # fmt: skip
FORGET_PERSON: Verb[ForgetPersonRequest, PersonErased] = Verb(
    "memory.forget_person", ForgetPersonRequest, PersonErased, "POST /person/forget", ERASE, Retry.ONCE,
    "Erase what is held of a person, in every space that the caller may see, with one receipt for each.",
    operation=MemoryOperation.DELETE, timed=False,
    details=f"A space under a legal hold is left as it is, and named. {_ALL}",
)  # fmt: skip

VERBS = served_by(
    "bethink.features.people.service",
    FIND_IN_SPACE,
    EXPORT_FROM_SPACE,
    FORGET_IN_SPACE,
    FIND_PERSON,
    EXPORT_PERSON,
    FORGET_PERSON,
)
