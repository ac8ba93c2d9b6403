"""API keys and what they allow. A record never carries the secret itself."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from bethink.frozen import frozen


class Scope(StrEnum):
    """What a key allows. `admin` covers keys, spaces and audits, and gives no access to content by itself.

    `steer` decides what is learnt and believed: rules, reviews, corrections and relearning. It is for people and their
    tools, not for an agent: one that approves its own claims has proven nothing.
    """

    READ = "read"
    WRITE = "write"
    STEER = "steer"
    ERASE = "erase"
    ADMIN = "admin"


@frozen
class KeyInfo:
    """A key without its secret. `spaces` None means all spaces; `last_used_at` is accurate to the minute."""

    prefix: str
    name: str
    scopes: frozenset[Scope]
    spaces: frozenset[str] | None
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None

    def opens(self, space: str) -> bool:
        """Return whether the key gives access to a space."""
        return self.spaces is None or space in self.spaces


@frozen
class NewKey:
    """A new key. Its text can only be read here."""

    key: str = field(repr=False)
    info: KeyInfo
