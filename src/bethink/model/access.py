"""Who may do what: API keys as they are told of, never with their secret."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Scope(StrEnum):
    """What a key is good for. `admin` is for keys, spaces and audits, and opens no content by itself."""

    READ = "read"
    WRITE = "write"
    ERASE = "erase"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyInfo:
    """What is known of a key. `spaces` None means all of them; `last_used_at` is right to the minute."""

    prefix: str
    name: str
    scopes: frozenset[Scope]
    spaces: frozenset[str] | None
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None

    def opens(self, space: str) -> bool:
        """Say whether the key is for a space."""
        return self.spaces is None or space in self.spaces


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key that was just made. This is the only time its text can be read."""

    key: str = field(repr=False)
    info: KeyInfo
