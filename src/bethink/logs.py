"""Where every logger of Bethink comes from, so that no record leaves one before secrets are cut out of it."""

import logging
from typing import Any, Protocol, cast

_LEFT_OUT = "a log record could not be redacted, so it is left out"
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every record has; whatever else is in one was given as `extra`."""


class Redacts(Protocol):
    """Cuts secrets out of a text."""

    def redact(self, text: str) -> str:
        """Return the text without its secrets."""
        ...


class RedactingFilter(logging.Filter):
    """Redacts what is logged: the message, tracebacks, and what was given as `extra`. It lets every record pass."""

    def __init__(self, *redactors: Redacts) -> None:
        super().__init__()
        # The newest of each kind is enough: two of one kind cut out the same.
        self._redactors: dict[type, Redacts] = {type(each): each for each in redactors}

    def add(self, redactor: Redacts) -> None:
        """Redact with this one as well."""
        self._redactors = {**self._redactors, type(redactor): redactor}

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record, and let it pass."""
        if not self._redactors:
            return True
        extra: dict[str, Any] = {name: value for name, value in vars(record).items() if name not in _OWN}
        try:
            texts, cut = self._texts(record), self._cut(extra)
        except Exception:  # noqa: BLE001 # a log line that cannot be written or redacted must not break its caller
            for name in extra:
                del record.__dict__[name]
            texts, cut = (_LEFT_OUT, None, None), dict[str, Any]()
        record.msg, record.exc_text, record.stack_info = texts
        record.args, record.exc_info = None, None
        record.__dict__.update(cut)
        return True

    def _texts(self, record: logging.LogRecord) -> tuple[str, str | None, str | None]:
        trace, stack = record.exc_text, record.stack_info
        if record.exc_info and not trace:
            trace = logging.Formatter().formatException(record.exc_info)
        return self._redact(record.getMessage()), trace and self._redact(trace), stack and self._redact(stack)

    def _cut(self, value: Any) -> Any:
        match value:
            case None | bool() | int() | float():
                return value
            case dict():
                return {self._cut(key): self._cut(each) for key, each in cast("dict[Any, Any]", value).items()}
            case list() | tuple():
                return [self._cut(each) for each in cast("list[Any]", value)]
            case _:  # a formatter would write it as text
                return self._redact(str(value))

    def _redact(self, text: str) -> str:
        for redactor in self._redactors.values():
            text = redactor.redact(text)
        return text


_net = RedactingFilter()


def logger(name: str = "") -> logging.Logger:
    """Return the logger `bethink`, or the one of a part of it, such as `bethink.recall`.

    Each has the filter itself: a record passes the filters of the logger it was given to, and of no parent.
    """
    found = logging.getLogger(f"bethink.{name}" if name else "bethink")
    found.addFilter(_net)
    return found


def redact_logs(redactor: Redacts) -> None:
    """Let every logger of ours, also those yet to be made, cut out what this redactor does."""
    _net.add(redactor)
