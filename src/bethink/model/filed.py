"""What adding a file did."""

from bethink.frozen import frozen
from bethink.model.records import SessionInfo


@frozen
class AddedFile:
    """A file in memory: the session of its passages, the SHA-256 of its bytes, and what was done with its passages.

    `added` counts those that are new, `kept` those that memory held already, and `retracted` those that were taken back
    because they are gone from the file. All but `kept` are 0 if the file was there already.
    """

    session: SessionInfo
    sha256: str
    media_type: str
    added: int = 0
    kept: int = 0
    retracted: int = 0
    cut: int = 0
    """About how many characters were not stored: secrets, private parts, and what memory itself had told before."""
