"""What adding a file did."""

from bethink.base.frozen import frozen
from bethink.model.records import SessionInfo
from bethink.model.text import JsonObject, canonical_json


@frozen
class AddedFile:
    """A file in memory: the session of its passages, the SHA-256 of its bytes, and what was done with its passages.

    `added` counts those that are new, `kept` those that memory held already, and `retracted` those that were taken back
    because they are gone from the file. All but `kept` are 0 if these bytes were there already.
    """

    session: SessionInfo
    sha256: str
    media_type: str
    added: int = 0
    kept: int = 0
    retracted: int = 0
    cut: int = 0
    """About how many characters were not stored: secrets, private parts, and what memory itself had told before."""
    forgotten: int = 0
    """How many passages were left out because they were forgotten by themselves before."""


def passage_name(content: str, metadata: JsonObject) -> str:
    """Return what tells a passage from others in all versions of its file: its words and the headings above it."""
    return canonical_json([metadata["file"], metadata.get("headings", []), content])
