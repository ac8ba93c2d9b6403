"""What is known of a person, in all spaces: where it is, how it was found, and what no search can claim to find."""

from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.enums import OpenEnum
from bethink.model.recall import Ref
from bethink.model.records import Forgotten


class PersonWay(OpenEnum):
    """How a person is looked for."""

    SPEAKER = "speaker"
    """Who said it: the name of a message's speaker, or of a fact's."""
    WORDS = "words"
    """A name as whole words of a text; case and accents do not count."""
    ENTITIES = "entities"
    """Whom a fact is about: its subject, or one of its entities."""


NOT_CLAIMED = (
    "pronouns and descriptions, such as 'she' or 'my sister'",
    "nicknames, inflected forms and spellings that were not given as an alias",
    "paraphrases without a name",
    "names of conversations, agents and spaces, slugs of documents, and ids in the access record",
    "learning rules, memory tests, and changes to documents that wait for approval",
    "who gave feedback, decided, wrote or erased something, and the reasons of erasures and legal holds",
    "pictures and files that messages only refer to",
)
"""What a search by name cannot claim to have found."""


@frozen
class PersonInSpace:
    """What a space holds of a person."""

    space: str
    messages: int = 0
    facts: int = 0
    session_memories: int = 0
    documents: int = 0
    threads: int = 0
    others: int = 0
    """Claims under review, summaries of conversations, sessions with their tags and metadata, and notes of feedback."""
    speaker: int = 0
    """How many of these were found by their speaker; one may be found in several ways."""
    words: int = 0
    entities: int = 0
    refs: tuple[Ref, ...] = ()
    """What was found, up to the limit; threads and others have no refs."""
    thread_ids: tuple[str, ...] = ()
    other_ids: tuple[str, ...] = ()
    """The others, each with its kind: `review:` and its id, `summary:` and the id of the conversation, `labels:` and
    the id of the session, `feedback:` and its id."""

    @property
    def total(self) -> int:
        """How much it is in all."""
        return self.messages + self.facts + self.session_memories + self.documents + self.threads + self.others


@frozen
class PersonFound:
    """What was found of a person, in each space that holds anything, and what cannot be claimed."""

    spaces: tuple[PersonInSpace, ...] = ()
    looked: tuple[PersonWay, ...] = ()
    """The ways in which was looked."""
    spaces_searched: int = 0
    not_claimed: tuple[str, ...] = NOT_CLAIMED


@frozen
class PersonItem:
    """One thing that a space holds of a person, with its text."""

    space: str
    kind: str
    id: str
    number: int = 0
    """The number of a message, or the version of a fact or a document."""
    ways: tuple[PersonWay, ...] = ()
    at: datetime | None = None
    speaker: str | None = None
    text: str = ""


@frozen
class PersonItems:
    """A page of what is held of a person, by space, kind and id."""

    items: tuple[PersonItem, ...] = ()
    next: str | None = None
    """Pass it as `after` for the next page; None on the last one."""
    not_claimed: tuple[str, ...] = NOT_CLAIMED


@frozen
class ErasedInSpace:
    """What was erased of a person in one space."""

    space: str
    went: Forgotten = Forgotten()
    """Counts, with the receipt of this space."""
    refused: str = ""
    """Why nothing was: a legal hold, say."""


@frozen
class PersonErased:
    """What was erased of a person, in each space that held anything, and what cannot be claimed to be gone."""

    spaces: tuple[ErasedInSpace, ...] = ()
    looked: tuple[PersonWay, ...] = ()
    spaces_searched: int = 0
    not_claimed: tuple[str, ...] = NOT_CLAIMED
    dry_run: bool = False
