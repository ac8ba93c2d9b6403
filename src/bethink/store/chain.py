"""The chain of a session: each message is sealed with a digest over itself and the seal before it.

A message that is changed, lost or moved breaks the chain. A seal has a random salt, which is deleted with its
message. Only the digest of a deleted message remains, and reveals nothing about its text, even with the key.
"""

import os
from base64 import b64encode
from collections.abc import Generator, Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from bethink.model.facts import SourceMessage
from bethink.store.db import Row, Tx

_SALT = _DIGEST = 12
"""Bytes of each; together they are 32 letters, and the digest begins after `SALT_LETTERS`."""
SALT_LETTERS = 16
_PAGE = 1_000

FIELDS = (
    "role", "content", "name", "tool_calls", "tool_call_id", "is_error", "metadata", "origin", "idempotency_key",
    "trace_parent", "said_at", "tags",
)  # fmt: skip
"""Sealed fields of a message, in addition to its position and the time it was recorded."""
_SAID_AT = FIELDS.index("said_at")


def seals(
    rows: Iterable[Sequence[Any]], *, key: bytes, session_id: str, first: int, recorded_at: int, before: str
) -> Generator[str]:
    """Seal messages that follow a digest. Each row begins with the values of `FIELDS`."""
    for number, row in enumerate(rows, first):
        salt = b64encode(os.urandom(_SALT)).decode()
        said_at = recorded_at if row[_SAID_AT] is None else row[_SAID_AT]
        before = _digest(key, (salt, before, session_id, number, recorded_at), row, said_at)
        yield salt + before


def _digest(key: bytes, position: tuple[str, str, str, int, int], row: Sequence[Any], said_at: int) -> str:
    # Joined by a character that no stored text has: JSON would take ten times as long, and this runs for every message.
    salt, before, session_id, number, recorded_at = position
    role, content, name, calls, call, error, metadata, origin, own, trace, _, tags = row[: len(FIELDS)]
    text = "\0".join((
        salt, before, session_id, f"{number} {recorded_at} {said_at} {error}", role, content, calls, metadata, origin,
        "-" if name is None else f"={name}", "-" if call is None else f"={call}", "-" if own is None else f"={own}",
        "-" if trace is None else f"={trace}", tags,
    ))  # fmt: skip
    return b64encode(blake2b(text.encode(errors="surrogatepass"), key=key, digest_size=_DIGEST).digest()).decode()


class ChainReport(NamedTuple):
    """Result of checking the chains of a space."""

    sessions: int
    messages: int
    erased: int
    """Deleted messages: a link remains of each."""
    unsealed: int
    """Messages that were stored before seals existed."""
    broken: tuple[tuple[SourceMessage, str], ...]
    """Messages where a chain is broken, and why."""


def check(tx: Tx, *, space: str) -> ChainReport:
    """Follow the chains of all sessions of a space from their first seal to their last number."""
    row = tx.first("index_place", space=space)
    if row is None:
        return ChainReport(0, 0, 0, 0, ())
    key, after = bytes(row["key"]), ""
    count = messages = erased = unsealed = 0
    broken: list[tuple[SourceMessage, str]] = []
    while sessions := tx.all("page_chained_sessions", space=space, after=after, limit=_PAGE):
        for session in sessions:
            walk = _Walk(key, session)
            walk.run(tx, space=space)
            count, messages, erased = count + 1, messages + walk.messages, erased + walk.erased
            unsealed += walk.unsealed
            broken += [(SourceMessage(session["id"], number), why) for number, why in walk.broken]
        after = sessions[-1]["id"]
    return ChainReport(count, messages, erased, unsealed, tuple(broken))


class _Walk:
    """Follows the chain of one session."""

    def __init__(self, key: bytes, session: Row) -> None:
        self._key = key
        self._session = session
        self._next: int = session["sealed_from"]
        self._before = ""
        self.messages = self.erased = self.unsealed = 0
        self.broken: list[tuple[int, str]] = []

    def run(self, tx: Tx, *, space: str) -> None:
        session_id, after = self._session["id"], 0
        while rows := tx.all("page_chain", space=space, session=session_id, after=after, limit=_PAGE):
            for row in rows:
                self._check_row(row)
            after = rows[-1]["number"]
        self._note_missing(self._session["last_number"] + 1)

    def _check_row(self, row: Row) -> None:
        number = row["number"]
        self.messages += not row["erased"]
        if number < self._session["sealed_from"]:
            self.unsealed += 1
            return
        self._note_missing(number)
        self._next = number + 1
        if number > self._session["last_number"]:
            self.broken.append((number, "its number was never assigned"))
        if row["erased"]:
            self.erased += 1
            self._before = row["seal"]
            return
        seal = row["seal"] or ""
        salt, digest = seal[:SALT_LETTERS], seal[SALT_LETTERS:]
        position = (salt, self._before, row["session_id"], number, row["recorded_at"])
        if _digest(self._key, position, [row[field] for field in FIELDS], row["said_at"]) != digest:
            self.broken.append((number, "this message was changed, or does not follow the previous one"))
        self._before = digest

    def _note_missing(self, until: int) -> None:
        if self._next < until:
            missing = until - self._next
            reason = "this message is missing" if missing == 1 else f"{missing} messages are missing from here on"
            self.broken.append((self._next, reason))
            self._next = until
