"""What can go wrong on purpose, as one tree; every error says what to do next.

BethinkError
├── Invalid            the value cannot be stored as it is
├── NotFound           nothing here by that name
├── Conflict           the request and what is stored disagree
│   ├── Duplicate      a key that must be unique is taken
│   ├── LostClaim      another worker holds the job now
│   ├── SessionEnded   the session no longer takes messages
│   └── Stale          someone else wrote a newer version
├── Denied             the key does not open this
├── Misconfigured      the settings or the database role cannot work
├── ModelError         a model did not do its part
│   ├── ModelUnavailable  it cannot be reached, or refuses us for now
│   ├── ModelTimeout   it did not answer in time
│   └── BadAnswer      it answered with something that cannot be used
└── StoreError         the database said no
    ├── Corrupt        what is stored cannot be read
    ├── OutcomeUnknown the database was lost while committing: the change may or may not be stored
    └── Unavailable    the database cannot be used right now, and nothing was written
        └── Busy       another writer held it for too long
"""


class BethinkError(Exception):
    """Root of the tree. `hint` is the next step, in one sentence."""

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
    """Nothing here by that name."""

    default_hint = "Check the space and the id: an id is only ever looked up inside its own space."


class Conflict(BethinkError):
    """The request and what is stored disagree."""


class Duplicate(Conflict):
    """A key that must be unique is taken."""


class LostClaim(Conflict):
    """Another worker holds the job now, or someone else did what it was for. Nothing was written."""


class SessionEnded(Conflict):
    """The session no longer takes messages."""

    default_hint = "Call open_session for the same conversation and append to the session it returns."


class Stale(Conflict):
    """Someone else wrote a newer version than the one that was read; `current` is its number, None if it is gone."""

    default_hint = "Read it again, and write what you want changed on top of that."

    def __init__(self, message: str, *, current: int | None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.current = current


class Denied(BethinkError):
    """The key does not open this: it is unknown, expired, revoked, or lacks the scope."""

    default_hint = "Use a key that is good and has the scope; whoever runs the server can make one."


class Misconfigured(BethinkError):
    """The settings or the database role cannot work."""


class ModelError(BethinkError):
    """A model did not do its part."""


class ModelUnavailable(ModelError):
    """The model cannot be reached, or refuses us for now. `retry_after` is in seconds, where it said so."""

    default_hint = "Check the model's address, its key and its limits; what was to be learnt is tried again later."

    def __init__(self, message: str, *, retry_after: float | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class ModelTimeout(ModelError):
    """The model did not answer in time."""


class BadAnswer(ModelError):
    """The model answered with something that cannot be used."""


class StoreError(BethinkError):
    """The database said no."""


class Corrupt(StoreError):
    """What is stored cannot be read."""

    default_hint = "Check the path; if this was your memory, stop writing to it and restore it from a backup."


class Unavailable(StoreError):
    """The database cannot be used right now, and nothing was written. Where that is uncertain: `OutcomeUnknown`."""

    default_hint = "Nothing was written; the same call may be made again."


class Busy(Unavailable):
    """Another writer held the database for too long."""


class OutcomeUnknown(StoreError):
    """The database was lost while committing: the change may or may not be stored. Not an `Unavailable`."""

    default_hint = (
        "Append again only with idempotency keys, which are not stored twice; read before you repeat anything else."
    )
