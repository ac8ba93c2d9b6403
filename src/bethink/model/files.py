"""Result of adding a file."""

from bethink.base.frozen import frozen
from bethink.model.records import SessionInfo
from bethink.model.text import JsonObject, canonical_json


@frozen
class AddedFile:
    """A file in memory: the session of its passages, the SHA-256 of its bytes, and counts of its passages.

    `added` counts new passages, `kept` existing ones, and `retracted` those that are no longer in the file. If the file
    is unchanged, only `kept` is set.
    """

    session: SessionInfo
    sha256: str
    media_type: str
    added: int = 0
    unchanged: int = 0
    retracted: int = 0
    cut: int = 0
    """Approximate number of characters that were not stored: secrets, private parts, and recalled text."""
    deleted_before: int = 0
    """Number of passages that were skipped because they were deleted individually before."""


def passage_name(content: str, metadata: JsonObject) -> str:
    """Return the identity of a passage across versions of its file: its words and the headings above it."""
    return canonical_json([metadata["file"], metadata.get("headings", []), content])
