"""API keys and what they allow, who calls, and the record of what was done. None of them carries a secret or a text."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum

from bethink.base.frozen import frozen
from bethink.model.enums import OpenEnum


class Scope(StrEnum):
    """What a key allows. `keys` creates and revokes keys; `operate` covers jobs, settings, spending, the names of all
    spaces and the access record. Neither gives access to content.

    `steer` decides what is learnt and believed: rules, reviews, corrections and relearning. It is for people and their
    tools, not for an agent: one that approves its own claims has proven nothing.
    """

    READ = "read"
    WRITE = "write"
    STEER = "steer"
    ERASE = "erase"
    KEYS = "keys"
    OPERATE = "operate"


EVERYWHERE = frozenset({Scope.KEYS, Scope.OPERATE})
"""Scopes that concern all spaces: a key for some spaces cannot have them."""


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

    def allows(self, scope: Scope) -> bool:
        """Return whether the key has a scope. A key for some spaces has none that concerns all of them."""
        return scope in self.scopes and (self.spaces is None or scope not in EVERYWHERE)


@frozen
class NewKey:
    """A new key. Its text can only be read here."""

    key: str = field(repr=False)
    info: KeyInfo


class Door(OpenEnum):
    """Where a request came in."""

    LIBRARY = "library"
    CLI = "cli"
    MCP = "mcp"
    HOOK = "hook"
    """A hook of a coding agent."""
    HTTP = "http"
    WINDOW = "window"
    PROBE = "probe"
    """A server that asks itself whether it is ready. It shows no one what it reads, so it is not recorded."""


@frozen
class Caller:
    """Who asks: a key, or a person on this machine."""

    door: Door = Door.LIBRARY
    key: KeyInfo | None = None
    person: str = ""
    """Who a program acts for; without a key and a name, the user that runs the process."""


caller: ContextVar[Caller] = ContextVar("bethink_caller", default=Caller())  # noqa: B039 - it is frozen
"""Who asks, in this task. An interface sets it; what is done to memory is recorded under it."""


@contextmanager
def asked_by(who: Caller) -> Generator[None]:
    """Record what is done within this block under a caller."""
    token = caller.set(who)
    try:
        yield
    finally:
        caller.reset(token)


@contextmanager
def acting_for(person: str) -> Generator[None]:
    """Record what is done within this block under a person's name: `with bethink.acting_for("kari"): …`.

    It is for programs that serve several people from one process. A key that a server knows is recorded as well.
    """
    with asked_by(replace(caller.get(), person=person)):
        yield


@frozen
class AccessEntry:
    """One entry of the access record: who did what to which memories. It has no text and no question."""

    id: str
    at: datetime
    door: Door
    verb: str
    space: str
    """Empty for what concerns no single space."""
    key: str = ""
    """The prefix of the key; empty without one."""
    person: str = ""
    refs: tuple[str, ...] = ()
    """What was read or changed: `kind:id:number` as elsewhere, `message:SESSION:3-7` for several messages in a row, and
    `kind:id` for a session, a thread, a review, a key and the like, or for every version of a document. `kind:*` is
    everything of that kind in the space, and `*` everything in it; without a space, everything in the database."""


@frozen
class AccessPage:
    """A page of the access record, the newest first. It may be shorter than its limit, even empty, and go on."""

    items: tuple[AccessEntry, ...] = ()
    next: str | None = None
    """Pass it as `after` for the next page; None on the last one."""
