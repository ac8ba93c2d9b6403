"""Names that callers choose, as they are stored: a name that contains a secret is stored without it."""

import re
from collections.abc import Callable
from hashlib import blake2b

from bethink.extend import Redactor
from bethink.model.checks import Bytes
from bethink.model.records import MAX_CONVERSATION, checked_text
from bethink.store import sessions
from bethink.store.db import Tx

_GENERATED = re.compile("(?:req|msg)_[0-9a-z]{26}(?::[0-9]{1,4})?")
"""A generated idempotency key. It needs no search for secrets, which is slow, and most messages have one."""


def stored_name(name: str, redactor: Redactor) -> str:
    """Return a name without its secrets; the same name always becomes the same.

    A fingerprint of the whole name is added, so that two names that differ only in their secrets stay apart.
    """
    redacted = name if _GENERATED.fullmatch(name) else redactor.redact(name)
    if redacted == name:
        return name
    fingerprint: Callable[[str], str] = getattr(redactor, "fingerprint", _fingerprint)
    return f"{redacted}#{fingerprint(name)}"


def _fingerprint(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()


def checked_conversation(key: str) -> str:
    """Return `key` if it can name a conversation, else raise `InvalidRequestError`."""
    Bytes(MAX_CONVERSATION).check("conversation", checked_text(key, "a conversation"))
    return key


def redacted_conversation(key: str, redactor: Redactor) -> str:
    """Return the name of a conversation without its secrets. Raises `InvalidRequestError` for an invalid name."""
    return stored_name(checked_conversation(key), redactor)


def stored_conversation(tx: Tx, *, space: str, agent: str, key: str, redactor: Redactor) -> str:
    """Return the name under which a conversation is stored. Raises `InvalidRequestError` for an invalid name."""
    return conversation_in(tx, space=space, agent=agent, key=key, name=redacted_conversation(key, redactor))


def conversation_in(tx: Tx, *, space: str, agent: str, key: str, name: str) -> str:
    """Return the name under which a conversation is stored, given its redacted `name`.

    Earlier versions stored names unchanged: such a conversation keeps its name.
    """
    if name == key or sessions.find_conversation(tx, space=space, agent=agent, key=key) is None:
        return checked_conversation(name)
    return key
