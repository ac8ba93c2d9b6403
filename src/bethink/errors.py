"""All errors that Bethink raises on purpose, as one tree. Every error says what to do next.

BethinkError
├── Invalid            the value cannot be stored as it is
├── NotFound           nothing with that name exists
├── Conflict           the request contradicts what is stored
│   ├── Duplicate      a key that must be unique is taken
│   ├── ErasedKey      what was written with this idempotency key was erased
│   ├── LostClaim      another worker has claimed the job
│   ├── SessionEnded   the session no longer takes messages
│   ├── Stale          someone else wrote a newer version
│   └── UnderLegalHold nothing of the space may be erased
├── Denied             the key does not allow this
├── Misconfigured      the settings or the database role cannot work
├── ModelError         a model call failed
│   ├── ModelUnavailable  it cannot be reached, or rejects calls for now
│   ├── ModelTimeout   it did not answer in time
│   └── BadAnswer      its answer cannot be used
└── StoreError         the database reported an error
    ├── Corrupt        what is stored cannot be read
    ├── OutcomeUnknown the connection was lost while committing: the change may or may not be stored
    └── Unavailable    the database cannot be used right now, and nothing was written
        ├── Busy       another writer locked it for too long
        └── Moved      the space is in another shard, or on its way there
"""


class BethinkError(Exception):
    """The base class of all errors. `hint` is the next step, in one sentence."""

    default_hint = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = self.default_hint if hint is None else hint

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} {self.hint}" if self.hint else message


class Invalid(BethinkError, ValueError):
    """The value cannot be stored as it is."""


class NotFound(BethinkError, LookupError):
    """Nothing with that name exists."""

    default_hint = "Check the space and the id: an id is only looked up inside its own space."


class Conflict(BethinkError):
    """The request contradicts what is stored."""


class Duplicate(Conflict):
    """A key that must be unique is taken."""


class ErasedKey(Conflict):
    """What this key or id was used for was erased: a late retry must not bring it back. Nothing was stored."""

    default_hint = "Do not send it again. If it is something new, give it a new key."


class LostClaim(Conflict):
    """Another worker has claimed the job, or its work was already done. Nothing was written."""


class SessionEnded(Conflict):
    """The session no longer takes messages."""

    default_hint = "Call space.session() with the same conversation and append to the session it returns."


class Stale(Conflict):
    """A newer version than the one that was read exists; `current` is its number, or None if it is gone."""

    default_hint = "Read it again and apply your change to the current version."

    def __init__(self, message: str, *, current: int | None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.current = current


class UnderLegalHold(Conflict):
    """A legal hold stands on the space: nothing of it may be erased. Nothing was."""

    default_hint = "See 'bethink retention holds'. Who answers for it can lift it with 'bethink retention lift'."


class Denied(BethinkError):
    """The key does not allow this: it is unknown, expired or revoked, or lacks the scope."""

    default_hint = "Use a valid key that has the scope; the operator of the server can create one."


class Misconfigured(BethinkError):
    """The settings or the database role cannot work."""


class ModelError(BethinkError):
    """A model call failed."""


class ModelUnavailable(ModelError):
    """The model cannot be reached, or rejects calls for now. `retry_after` is in seconds, if the model gave it."""

    default_hint = "Check the model's URL, its key and its limits. Background jobs are retried later."

    def __init__(self, message: str, *, retry_after: float | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class ModelTimeout(ModelError):
    """The model did not answer in time."""


class BadAnswer(ModelError):
    """The answer of the model cannot be used."""


class StoreError(BethinkError):
    """The database reported an error."""


class Corrupt(StoreError):
    """What is stored cannot be read."""

    default_hint = "Check the path. If this is your memory, stop writing to it and restore it from a backup."


class Unavailable(StoreError):
    """The database cannot be used right now, and nothing was written. If that is uncertain: `OutcomeUnknown`."""

    default_hint = "Nothing was written; retry the call."


class Busy(Unavailable):
    """Another writer locked the database for too long."""


class Moved(Unavailable):
    """The space is in another shard, or on its way there. Nothing was written."""

    default_hint = "Retry the call in a moment; connect with 'shards://…', which finds the shard of each space."


class OutcomeUnknown(StoreError):
    """The connection was lost while committing: the change may or may not be stored. Not an `Unavailable`."""

    default_hint = (
        "Repeat an append only with its idempotency keys; before you repeat anything else, check what is stored."
    )
