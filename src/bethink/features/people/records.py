"""Records of data about a person in all spaces: matches, exports, deletions, and the limits of the search."""

from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.enums import OpenEnum
from bethink.model.records import Deletion
from bethink.model.refs import Ref


class PersonMatchKind(OpenEnum):
    """Ways to match a person."""

    SPEAKER = "speaker"
    """By speaker of a message or fact."""
    WORDS = "words"
    """By name as whole words in a text, ignoring case and accents."""
    ENTITIES = "entities"
    """By subject or entities of a fact."""


LIMITATIONS = (
    "pronouns and descriptions, such as 'she' or 'my sister'",
    "nicknames, inflected forms and spellings that were not passed as an alias",
    "paraphrases without a name",
    "names of conversations, agents and spaces, slugs of documents, and ids in the access log",
    "learning rules, memory tests, and pending changes to documents",
    "the actors of feedback, reviews, writes and deletions, and the reasons of deletions and legal holds",
    "images and files that messages only link to",
)
"""Data that a search by name cannot find."""


@frozen
class PersonInSpace:
    """Data about a person in one space."""

    space: str
    messages: int = 0
    facts: int = 0
    session_summaries: int = 0
    documents: int = 0
    threads: int = 0
    others: int = 0
    """Claims under review, conversation summaries, sessions with tags and metadata, and feedback notes."""
    speaker: int = 0
    """Number of matches by speaker. An item can match in several ways."""
    words: int = 0
    entities: int = 0
    refs: tuple[Ref, ...] = ()
    """Matching items, up to the limit. Threads and others have no refs."""
    thread_ids: tuple[str, ...] = ()
    other_ids: tuple[str, ...] = ()
    """The others, each with its kind: `review:` and its id, `summary:` and the id of the conversation, `labels:` and
    the id of the session, `feedback:` and its id."""

    @property
    def total(self) -> int:
        """Total number of items."""
        return self.messages + self.facts + self.session_summaries + self.documents + self.threads + self.others


@frozen
class PersonMatches:
    """Data about a person in each space with matches, and the limits of the search."""

    spaces: tuple[PersonInSpace, ...] = ()
    matched_by: tuple[PersonMatchKind, ...] = ()
    """The ways used to match."""
    spaces_searched: int = 0
    limitations: tuple[str, ...] = LIMITATIONS


@frozen
class PersonItem:
    """One item about a person, with its text."""

    space: str
    kind: str
    id: str
    number: int = 0
    """The number of a message, or the version of a fact or a document."""
    matched_by: tuple[PersonMatchKind, ...] = ()
    at: datetime | None = None
    speaker: str | None = None
    text: str = ""


@frozen
class PersonItems:
    """A page of data about a person, ordered by space, kind and id."""

    items: tuple[PersonItem, ...] = ()
    next: str = ""
    """Cursor to pass as `after`; empty on the last page."""
    limitations: tuple[str, ...] = LIMITATIONS


@frozen
class SpaceDeletion:
    """Deleted data about a person in one space."""

    space: str
    deletion: Deletion = Deletion()
    """Counts, with the receipt of this space."""
    refused: str = ""
    """Reason if nothing was deleted, such as a legal hold."""


@frozen
class PersonDeletion:
    """Deleted data about a person in each space with matches, and the limits of the search."""

    spaces: tuple[SpaceDeletion, ...] = ()
    matched_by: tuple[PersonMatchKind, ...] = ()
    spaces_searched: int = 0
    limitations: tuple[str, ...] = LIMITATIONS
    dry_run: bool = False
