"""Creates every logger of Bethink, so that secrets are removed from each record before it is emitted."""

import logging
from typing import Any, Protocol, cast

_OMITTED_RECORD = "omitted a log record that could not be redacted"
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""The attributes of every record; all others were passed as `extra`."""


class Redacts(Protocol):
    """Removes secrets from a text."""

    def redact(self, text: str) -> str:
        """Return the text without its secrets."""
        ...


class RedactingFilter(logging.Filter):
    """Redacts log records: the message, tracebacks, and `extra`. It lets every record pass."""

    def __init__(self, *redactors: Redacts) -> None:
        super().__init__()
        # The newest of each kind is enough: two of one kind remove the same secrets.
        self._redactors: dict[type, Redacts] = {type(redactor): redactor for redactor in redactors}

    def add(self, redactor: Redacts) -> None:
        """Also redact with this redactor."""
        self._redactors = {**self._redactors, type(redactor): redactor}

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record, and let it pass."""
        if not self._redactors:
            return True
        extra: dict[str, Any] = {name: value for name, value in vars(record).items() if name not in _OWN}
        try:
            texts, redacted_extra = self._texts(record), self._redact_value(extra)
        except Exception:  # noqa: BLE001 # a log line that cannot be written or redacted must not break its caller
            for name in extra:
                del record.__dict__[name]
            texts, redacted_extra = (_OMITTED_RECORD, None, None), dict[str, Any]()
        record.msg, record.exc_text, record.stack_info = texts
        record.args, record.exc_info = None, None
        record.__dict__.update(redacted_extra)
        return True

    def _texts(self, record: logging.LogRecord) -> tuple[str, str | None, str | None]:
        trace, stack = record.exc_text, record.stack_info
        if record.exc_info and not trace:
            trace = logging.Formatter().formatException(record.exc_info)
        return self._redact(record.getMessage()), trace and self._redact(trace), stack and self._redact(stack)

    def _redact_value(self, value: Any) -> Any:
        match value:
            case None | bool() | int() | float():
                return value
            case dict():
                return {
                    self._redact_value(key): self._redact_value(item)
                    for key, item in cast("dict[Any, Any]", value).items()
                }
            case list() | tuple():
                return [self._redact_value(item) for item in cast("list[Any]", value)]
            case _:  # a formatter would convert it to text
                return self._redact(str(value))

    def _redact(self, text: str) -> str:
        for redactor in self._redactors.values():
            text = redactor.redact(text)
        return text


_redacting_filter = RedactingFilter()


def logger(name: str = "") -> logging.Logger:
    """Return the logger `bethink`, or a child of it, such as `bethink.memory.recall`.

    Each has the filter itself, because a record does not pass the filters of parent loggers.
    """
    log = logging.getLogger(f"bethink.{name}" if name else "bethink")
    log.addFilter(_redacting_filter)
    return log


def redact_logs(redactor: Redacts) -> None:
    """Apply a redactor to every Bethink logger, including those created later."""
    _redacting_filter.add(redactor)
