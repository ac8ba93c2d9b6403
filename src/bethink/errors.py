"""All errors that Bethink raises on purpose. Every error has a message and, in `hint`, the next step.

BethinkError
├── InvalidRequestError           a value in the request is not allowed
│   └── InvalidFieldError         a field of the request is not allowed; `field` is its name
├── NotFoundError                 the item does not exist
├── ConflictError                 the request contradicts the stored data
│   ├── DuplicateError            the id, path or name is already in use
│   ├── ErasedKeyError            the item with this key or id was deleted recently
│   ├── LeaseLostError            another worker has the job now
│   ├── SessionEndedError         the session accepts no more messages
│   ├── VersionConflictError      the item has a newer version; `current` is its number
│   └── LegalHoldError            a legal hold protects the space from deletion
├── PermissionDeniedError         the API key is invalid or lacks a scope
├── ConfigurationError            a setting, package or database role is wrong or missing
├── ModelError                    a call to a model failed
│   ├── ModelUnavailableError     the model cannot be reached, or rejects calls for now
│   ├── ModelTimeoutError         the model did not answer in time
│   └── ModelResponseError        the answer of the model cannot be used
└── DatabaseError                 the database reported an error
    ├── CorruptDatabaseError      the stored data cannot be read
    ├── OutcomeUnknownError       the connection was lost during the commit: the change may be stored
    └── DatabaseUnavailableError  the database cannot be used right now; nothing was written
        ├── DatabaseBusyError     another process locked the database for too long
        └── SpaceMovedError       the space is in another shard, or is being moved
"""


class BethinkError(Exception):
    """Base class of all errors. `message` says what failed, `hint` the next step; `str()` is both."""

    default_hint = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = self.default_hint if hint is None else hint

    @property
    def message(self) -> str:
        """What failed, without the hint."""
        return super().__str__()

    def __str__(self) -> str:
        return f"{self.message} {self.hint}" if self.hint else self.message


class InvalidRequestError(BethinkError, ValueError):
    """A value in the request is not allowed."""


class InvalidFieldError(InvalidRequestError):
    """A field of the request is not allowed. `field` is its name."""

    def __init__(self, field: str, message: str, *, hint: str) -> None:
        super().__init__(f"{field} {message}", hint=hint)
        self.field = field


class NotFoundError(BethinkError, LookupError):
    """The item does not exist in this space."""

    default_hint = "Check the space and the id. An id is only looked up in its own space."


class ConflictError(BethinkError):
    """The request contradicts the stored data."""


class DuplicateError(ConflictError):
    """The id, path or name is already in use."""


class ErasedKeyError(ConflictError):
    """The item with this key or id was deleted recently, so a late retry is rejected. Nothing was stored."""

    default_hint = "Do not retry. For a new item, use a new key."


class LeaseLostError(ConflictError):
    """Another worker has the job now, or has finished it. Nothing was written."""


class SessionEndedError(ConflictError):
    """The session has ended and accepts no more messages."""

    default_hint = "Call `space.session()` with the same conversation, and append to the session that it returns."


class VersionConflictError(ConflictError):
    """The item has changed since it was read. `current` is its version now, or None if it was deleted."""

    default_hint = "Read the item again, and apply the change to its current version."

    def __init__(self, message: str, *, current: int | None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.current = current


class LegalHoldError(ConflictError):
    """A legal hold protects the space from deletion. Nothing was deleted."""

    default_hint = "List the holds with 'bethink admin hold list', and lift one with 'bethink admin hold lift'."


class PermissionDeniedError(BethinkError):
    """The API key is unknown, expired or revoked, or lacks the scope."""

    default_hint = "Use a valid key with the scope. The operator of the server can create one."


class ConfigurationError(BethinkError):
    """A setting, an installed package or the database role is wrong or missing."""


class ModelError(BethinkError):
    """A call to a model failed."""


class ModelUnavailableError(ModelError):
    """The model cannot be reached, or rejects calls for now. `retry_after` is in seconds, if the model sent it."""

    default_hint = "Check the URL, the API key and the rate limits of the model. Background jobs are retried later."

    def __init__(self, message: str, *, retry_after: float | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class ModelTimeoutError(ModelError):
    """The model did not answer in time."""


class ModelResponseError(ModelError):
    """The answer of the model cannot be used."""


class DatabaseError(BethinkError):
    """The database reported an error."""


class CorruptDatabaseError(DatabaseError):
    """The stored data cannot be read."""

    default_hint = "Check the path. If it is right, stop all writers and restore a backup."


class DatabaseUnavailableError(DatabaseError):
    """The database cannot be used right now. Nothing was written; if that is uncertain, see `OutcomeUnknownError`."""

    default_hint = "Nothing was written. Retry the call."


class DatabaseBusyError(DatabaseUnavailableError):
    """Another process locked the database for too long. Nothing was written."""


class SpaceMovedError(DatabaseUnavailableError):
    """The space is in another shard, or is being moved to one. Nothing was written."""

    default_hint = "Retry in a moment, or connect with 'shards://…', which finds the shard of each space."


class OutcomeUnknownError(DatabaseError):
    """The connection was lost during the commit: the change may or may not be stored.

    It is not a `DatabaseUnavailableError`, after which every retry is safe.
    """

    default_hint = (
        "Retry an append only with its idempotency keys. Before you retry anything else, check what is stored."
    )
