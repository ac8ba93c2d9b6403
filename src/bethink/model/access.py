"""API keys with their scopes, callers, and the access log. None of these records contains a secret or text."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum

from bethink.base.frozen import frozen
from bethink.model.enums import OpenEnum


class Scope(StrEnum):
    """Permission of a key. `keys` creates and revokes keys; `operate` covers jobs, settings, spending, the names of all
    spaces and the access log. Neither gives access to content.

    `steer` covers rules, reviews, corrections and relearning. It is meant for people and their tools: an agent should
    not approve its own claims.
    """

    READ = "read"
    WRITE = "write"
    STEER = "steer"
    ERASE = "erase"
    KEYS = "keys"
    OPERATE = "operate"


EVERYWHERE = frozenset({Scope.KEYS, Scope.OPERATE})
"""Scopes that apply to all spaces. A key for some spaces cannot have them."""


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

    def allows_space(self, space: str) -> bool:
        """Return whether the key gives access to a space."""
        return self.spaces is None or space in self.spaces

    def allows_scope(self, scope: Scope) -> bool:
        """Return whether the key has a scope. A key for some spaces has no scope that applies to all spaces."""
        return scope in self.scopes and (self.spaces is None or scope not in EVERYWHERE)


@frozen
class NewKey:
    """A new key. Its secret is shown only once."""

    key: str = field(repr=False)
    info: KeyInfo


class Interface(OpenEnum):
    """Interface through which a request was made."""

    LIBRARY = "library"
    CLI = "cli"
    MCP = "mcp"
    HOOK = "hook"
    """A hook of a coding agent."""
    HTTP = "http"
    WEB = "web"
    PROBE = "probe"
    """A health check of the server itself. It exposes no data, so it is not logged."""


@frozen
class Caller:
    """Caller of an operation: a key, or a person on this machine."""

    interface: Interface = Interface.LIBRARY
    key: KeyInfo | None = None
    person: str = ""
    """Person the program acts for. Without a key and a name, the user that runs the process."""


caller: ContextVar[Caller] = ContextVar("bethink_caller", default=Caller())  # noqa: B039 - it is frozen
"""Caller of the current task. Interfaces set it, and the access log records operations under it."""


@contextmanager
def calling_as(new_caller: Caller) -> Generator[None]:
    """Log operations in this block under a caller."""
    token = caller.set(new_caller)
    try:
        yield
    finally:
        caller.reset(token)


@contextmanager
def acting_for(person: str) -> Generator[None]:
    """Log operations in this block under a person's name: `with bethink.acting_for("kari"): …`.

    For programs that serve several people from one process. The key of a request to a server is logged as well.
    """
    with calling_as(replace(caller.get(), person=person)):
        yield


@frozen
class AccessEntry:
    """An entry of the access log: who did what to which memories, without text or questions."""

    id: str
    at: datetime
    interface: Interface
    operation: str
    space: str
    """Empty for operations without a space."""
    key: str = ""
    """Prefix of the key, or empty."""
    person: str = ""
    refs: tuple[str, ...] = ()
    """Items that were read or changed: `kind:id:number` as elsewhere, `message:SESSION:3-7` for a range of messages,
    and `kind:id` for a session, thread, review or key, or for all versions of a document. `kind:*` means all items of
    that kind in the space, and `*` all items in the space or, without a space, in the database."""
