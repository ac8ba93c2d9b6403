"""Records of erasures: deleted items, confirmations, and tombstones. They contain no text."""

from datetime import datetime

from bethink.base.frozen import frozen

SPACE, SESSION, CONVERSATION = "space", "session", "conversation"
THREAD, IDEMPOTENCY_KEY, DOCUMENT_KEY, PASSAGE = "thread", "idempotency_key", "document_key", "passage"
SAID, WRITTEN = "said", "written"
"""Kinds of tombstones, in addition to the kinds of refs."""
STATEMENT = "statement"
"""Kind of the tombstones of what deleted facts said about messages that remain: it is not learned from them again."""
REVIEW, SUMMARY, LABELS, FEEDBACK = "review", "summary", "labels", "feedback"
OTHERS = (REVIEW, SUMMARY, LABELS, FEEDBACK)
"""Other items that may name a person: claims under review, conversation summaries, tags and metadata of sessions, and
feedback notes."""

ARTIFACTS, WRITING, EXPORT = "artifacts", "writing", "export"
"""Kinds of files: pages of a space, pages that a worker is writing, and exports."""


@frozen
class SinkState:
    """A storage location with text of a space, and when it confirmed that all erased text is removed."""

    sink: str
    confirmed_at: datetime | None = None


@frozen
class Erasure:
    """A deletion request and its progress."""

    space: str
    id: str
    requested_by: str
    """Name of the key, or of the user who ran the command or program."""
    key_prefix: str | None
    """Prefix of the key that was used, for requests to a server."""
    reason: str
    requested_at: datetime
    settled_at: datetime | None
    """When the last storage location confirmed. None while the erasure is open."""
    sinks: tuple[SinkState, ...]
    receipt: str = ""
    """Receipt as JSON text. It is signed if the extra `receipts` is installed."""

    @property
    def open_sinks(self) -> tuple[str, ...]:
        """Storage locations that have not confirmed yet."""
        return tuple(state.sink for state in self.sinks if state.confirmed_at is None)


@frozen
class Tombstone:
    """Keyed digest of a deleted item that must not be stored again."""

    kind: str
    """`space`, `session`, `conversation`, `thread`, `idempotency_key`, `document_key`, `passage`, `review`, `summary`,
    `labels`, `feedback`, `statement`, or a kind of ref. Messages also have `said`, and versions of documents
    `written`, which do not depend on their numbers or on clocks.
    """
    key_id: str
    digest: str
    erasure_id: str
    at: datetime
    """When it was deleted. Items recorded later under the same name are new."""


@frozen
class OpenErasure:
    """An erasure with unconfirmed storage locations."""

    space: str
    id: str
    sinks: tuple[str, ...]
