"""Formats log records for stderr as lines of JSON or text, and limits repeated ones."""

import json
import logging
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from bethink.base.logs import RedactingFilter, Redacts, logger
from bethink.errors import ConfigurationError

LEVELS = ("debug", "info", "warning", "error")
FORMS = ("text", "json")


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON. `extra={"fields": …}` adds members."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= getattr(record, "fields", {})
        if record.exc_text:
            line["trace"] = record.exc_text
        return json.dumps(line, ensure_ascii=False, default=str)


class TextLines(logging.Formatter):
    """Formats a record as one line for a terminal. Unless `terse`, the line names the logger."""

    def __init__(self, *, terse: bool = False) -> None:
        super().__init__()
        self._terse = terse

    def format(self, record: logging.LogRecord) -> str:
        """Return one line, with the traceback of an error below it."""
        fields: dict[str, Any] = getattr(record, "fields", {})
        details = ", ".join(f"{name} {value}" for name, value in fields.items() if value not in (None, ""))
        prefix = "" if self._terse else f"{record.name}: "
        trace = "" if self._terse or not record.exc_text else f"\n{record.exc_text}"
        return f"{record.levelname.lower()}: {prefix}{record.getMessage()}{details and f' ({details})'}{trace}"


class RepeatLimit(logging.Filter):
    """Limits how often one line of code logs within a period, because outsiders can trigger it endlessly."""

    def __init__(self, *, max_records: int = 20, seconds: float = 60.0) -> None:
        super().__init__()
        self._max_records = max_records
        self._seconds = seconds
        self._counts: dict[tuple[str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record passes. The first one of a new period reports how many were omitted."""
        origin = (record.pathname, record.lineno)
        since, count = self._counts.get(origin, (record.created, 0))
        if record.created - since >= self._seconds:
            omitted, since, count = max(0, count - self._max_records), record.created, 0
            if omitted:
                _add_field(record, "left_out", omitted)
        self._counts[origin] = (since, count + 1)
        return count < self._max_records


class ContentRemover(logging.Filter):
    """Removes arguments and tracebacks from records of other libraries, which may quote sent or stored text."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record, and let it pass."""
        if record.exc_info and record.exc_info[1] is not None:
            _add_field(record, "error", type(record.exc_info[1]).__name__)
            _add_field(record, "where", error_location(record.exc_info[1]))
        record.msg = str(record.msg).partition("\n")[0]
        record.args = record.exc_info = record.exc_text = record.stack_info = None
        return True


def _add_field(record: logging.LogRecord, name: str, value: object) -> None:
    record.__dict__.setdefault("fields", {})[name] = value


def log_to_stderr(redactor: Redacts, *, level: str = "info", form: str = "json", terse: bool = False) -> None:
    """Send the log records of Bethink and of its libraries to stderr, without secrets.

    Args:
        redactor: Removes secrets.
        level: Minimum level, one of `LEVELS`.
        form: One of `FORMS`.
        terse: Log only errors, each as one line for a terminal.

    Raises:
        ConfigurationError: for an unknown level or form.
    """
    min_level, lines = _level_and_formatter("error" if terse else level, "text" if terse else form, terse=terse)
    for source, source_level, filters in (
        (logger(), min_level, ()),
        (logging.getLogger("uvicorn"), max(min_level, logging.INFO), (RepeatLimit(),)),
        (logging.getLogger("asyncio"), max(min_level, logging.WARNING), (RepeatLimit(), ContentRemover())),
        (logging.getLogger("mcp"), max(min_level, logging.WARNING), (RepeatLimit(), ContentRemover())),
    ):
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(lines)
        for log_filter in (*filters, RedactingFilter(redactor)):
            handler.addFilter(log_filter)
        source.handlers[:] = [handler]
        source.propagate = False
        source.setLevel(source_level)


@contextmanager
def preserve_logger() -> Generator[None]:
    """Restore Bethink's logger to its previous state on exit."""
    own_logger = logger()
    level, handlers, propagates = own_logger.level, own_logger.handlers[:], own_logger.propagate
    try:
        yield
    finally:
        own_logger.setLevel(level)
        own_logger.handlers[:], own_logger.propagate = handlers, propagates


def log_own_records(*, level: str, form: str) -> None:
    """Send Bethink's own log records to stderr, for short-lived commands. Raises as `log_to_stderr` does."""
    own_logger = logger()
    min_level, lines = _level_and_formatter(level, form)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(lines)
    own_logger.handlers[:] = [handler]
    own_logger.propagate = False
    own_logger.setLevel(min_level)


def _level_and_formatter(level: str, form: str, *, terse: bool = False) -> tuple[int, logging.Formatter]:
    for name, value, choices in (("level", level, LEVELS), ("format", form, FORMS)):
        if value not in choices:
            raise ConfigurationError(f"Unknown `log_{name}`: {value!r}.", hint=f"Use one of {', '.join(choices)}.")
    lines = JsonLines() if form == "json" else TextLines(terse=terse)
    return logging.getLevelNamesMapping()[level.upper()], lines


def error_location(error: BaseException) -> str:
    """Return where an error was raised, without its message, which may quote sent or stored text."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    return " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in reversed(frames))
