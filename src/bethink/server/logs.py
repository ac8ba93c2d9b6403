"""Logs as lines of JSON: ids, counts and times of requests, never content and never a key's secret."""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

from bethink.extend import Redactor
from bethink.logs import RedactingFilter, logger

requests = logger("server")


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON; what was given as `extra={"fields": …}` becomes its members."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one line."""
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


class PlainLines(logging.Formatter):
    """Writes a record as one line for a person at a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one line."""
        fields: dict[str, Any] = getattr(record, "fields", {})
        more = ", ".join(f"{name} {value}" for name, value in fields.items() if value not in (None, ""))
        return f"{record.levelname.lower()}: {record.getMessage()}{more and f' ({more})'}"


class Seldom(logging.Filter):
    """Lets the same place in the code say something so many times in a while: strangers can make it speak forever."""

    def __init__(self, *, most: int = 20, seconds: float = 60.0) -> None:
        super().__init__()
        self._most = most
        self._seconds = seconds
        self._said: dict[tuple[str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record passes. The first one after a pause says how many were left out."""
        place = (record.pathname, record.lineno)
        since, count = self._said.get(place, (record.created, 0))
        if record.created - since >= self._seconds:
            left, since, count = max(0, count - self._most), record.created, 0
            if left:
                _add_field(record, "left_out", left)
        self._said[place] = (since, count + 1)
        return count < self._most


class Terse(logging.Filter):
    """Takes what a message quotes out of the records of others: they may quote what was sent, or is stored."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record, and let it pass."""
        if record.exc_info and record.exc_info[1] is not None:
            _add_field(record, "error", type(record.exc_info[1]).__name__)
            _add_field(record, "where", whereabouts(record.exc_info[1]))
        record.msg = str(record.msg).partition("\n")[0]
        record.args = record.exc_info = record.exc_text = record.stack_info = None
        return True


def _add_field(record: logging.LogRecord, name: str, value: object) -> None:
    record.__dict__.setdefault("fields", {})[name] = value


def to_stderr(redactor: Redactor, *, terse: bool = False) -> None:
    """Send what we and others log to stderr as JSON; secrets are cut out of whatever a message may quote.

    `terse` is for a terminal: only errors, each as a line to read.
    """
    level, form = (logging.ERROR, PlainLines()) if terse else (logging.INFO, JsonLines())
    for source, least, filters in (
        (logger(), level, ()),
        (logging.getLogger("uvicorn"), level, (Seldom(),)),
        (logging.getLogger("asyncio"), logging.WARNING, (Seldom(), Terse())),
        (logging.getLogger("mcp"), logging.WARNING, (Seldom(), Terse())),
    ):
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(form)
        for each in (*filters, RedactingFilter(redactor)):
            handler.addFilter(each)
        source.handlers[:] = [handler]
        source.propagate = False
        source.setLevel(max(least, level))


def whereabouts(error: BaseException) -> str:
    """Say where an error came from, without its message: that may quote what was sent or stored."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    return " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in reversed(frames))
