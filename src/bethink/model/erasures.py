"""Records of erasures: what was forgotten, who has confirmed it, and what may not come back. None holds a text."""

from datetime import datetime

from bethink.base.frozen import frozen

SPACE, SESSION, CONVERSATION = "space", "session", "conversation"
THREAD, IDEMPOTENCY_KEY, DOCUMENT_KEY, PASSAGE = "thread", "idempotency_key", "document_key", "passage"
SAID, WRITTEN = "said", "written"
"""Kinds of tombstones, besides those of refs."""
REVIEW, SUMMARY, LABELS, FEEDBACK = "review", "summary", "labels", "feedback"
OTHERS = (REVIEW, SUMMARY, LABELS, FEEDBACK)
"""The kinds of what else may name a person: claims under review, summaries of conversations, the tags and metadata of
sessions, and the notes of feedback."""

ARTEFACTS, WRITING, EXPORT = "artefacts", "writing", "export"
"""What is written down of files: pages of a space, pages that a worker is writing now, and what was exported."""


@frozen
class SinkState:
    """A place that texts of a space may be in, and when it confirmed that nothing of an erasure is left there."""

    sink: str
    confirmed_at: datetime | None = None


@frozen
class Erasure:
    """One thing that was asked to be forgotten."""

    space: str
    id: str
    asked_by: str
    """Who asked: the name of a key, or of the user who ran the command or the program."""
    key_prefix: str | None
    """The key that it was asked with, through a server."""
    reason: str
    requested_at: datetime
    settled_at: datetime | None
    """When the last place confirmed; None while it is open."""
    sinks: tuple[SinkState, ...]
    receipt: str = ""
    """The receipt as JSON text. It is signed if the extra `receipts` is installed."""

    @property
    def open_sinks(self) -> tuple[str, ...]:
        """The places that have not confirmed yet."""
        return tuple(each.sink for each in self.sinks if each.confirmed_at is None)


@frozen
class Tombstone:
    """The keyed digest of something that was forgotten and may not come back."""

    kind: str
    """`space`, `session`, `conversation`, `thread`, `idempotency_key`, `document_key`, `passage`, `review`, `summary`,
    `labels`, `feedback`, or a kind of ref. Messages are also `said`, and versions of documents `written`: that holds
    whatever their number is, and whichever clock is fast.
    """
    key_id: str
    digest: str
    erasure_id: str
    at: datetime
    """When it was forgotten: what was recorded later under the same name is new."""


@frozen
class OpenErasure:
    """An erasure that some place has not confirmed yet."""

    space: str
    id: str
    sinks: tuple[str, ...]


@frozen
class OpenErasures:
    """What is still to be confirmed in any space, and the key that receipts of this installation are signed with."""

    waiting: tuple[OpenErasure, ...]
    public_key: str
    """The public key, for `bethink verify-receipt`; empty without the extra `receipts`."""
