"""How records are written to stderr: as lines of JSON or of text, and no more of them than anybody can read."""

import json
import logging
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from bethink.base.logs import RedactingFilter, Redacts, logger
from bethink.errors import Misconfigured

LEVELS = ("debug", "info", "warning", "error")
FORMS = ("text", "json")


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


class TextLines(logging.Formatter):
    """Writes a record as one line for a person at a terminal. Unless it is `terse`, the line names the logger."""

    def __init__(self, *, terse: bool = False) -> None:
        super().__init__()
        self._terse = terse

    def format(self, record: logging.LogRecord) -> str:
        """Write one line, and the trace of an error below it."""
        fields: dict[str, Any] = getattr(record, "fields", {})
        more = ", ".join(f"{name} {value}" for name, value in fields.items() if value not in (None, ""))
        named = "" if self._terse else f"{record.name}: "
        trace = "" if self._terse or not record.exc_text else f"\n{record.exc_text}"
        return f"{record.levelname.lower()}: {named}{record.getMessage()}{more and f' ({more})'}{trace}"


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


def to_stderr(redactor: Redacts, *, level: str = "info", form: str = "json", terse: bool = False) -> None:
    """Send what we and others log to stderr; secrets are cut out of whatever a message may quote.

    Args:
        redactor: Cuts secrets out.
        level: The least that is logged: one of `LEVELS`.
        form: One of `FORMS`.
        terse: Log only errors, each as a line to read at a terminal.

    Raises:
        Misconfigured: for an unknown level or form.
    """
    least, lines = _checked("error" if terse else level, "text" if terse else form, terse=terse)
    for source, lowest, filters in (
        (logger(), least, ()),
        (logging.getLogger("uvicorn"), max(least, logging.INFO), (Seldom(),)),
        (logging.getLogger("asyncio"), max(least, logging.WARNING), (Seldom(), Terse())),
        (logging.getLogger("mcp"), max(least, logging.WARNING), (Seldom(), Terse())),
    ):
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(lines)
        for each in (*filters, RedactingFilter(redactor)):
            handler.addFilter(each)
        source.handlers[:] = [handler]
        source.propagate = False
        source.setLevel(lowest)


@contextmanager
def kept() -> Generator[None]:
    """Put Bethink's own logger back as it was, whatever is set inside."""
    ours = logger()
    level, handlers, propagates = ours.level, ours.handlers[:], ours.propagate
    try:
        yield
    finally:
        ours.setLevel(level)
        ours.handlers[:], ours.propagate = handlers, propagates


def log_ours(*, level: str, form: str) -> None:
    """Send what Bethink itself logs to stderr, as in a command that ends by itself. Raises as `to_stderr` does."""
    ours = logger()
    least, lines = _checked(level, form)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(lines)
    ours.handlers[:] = [handler]
    ours.propagate = False
    ours.setLevel(least)


def _checked(level: str, form: str, *, terse: bool = False) -> tuple[int, logging.Formatter]:
    for name, value, known in (("level", level, LEVELS), ("format", form, FORMS)):
        if value not in known:
            raise Misconfigured(f"log_{name} = {value!r} is not known.", hint=f"Give one of {', '.join(known)}.")
    lines = JsonLines() if form == "json" else TextLines(terse=terse)
    return logging.getLevelNamesMapping()[level.upper()], lines


def whereabouts(error: BaseException) -> str:
    """Say where an error came from, without its message: that may quote what was sent or stored."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    return " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in reversed(frames))
