"""Logs as lines of JSON: ids, counts and times of requests, never content and never a key's secret."""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

from bethink.extend import Redactor
from bethink.plugins.redaction import RedactingFilter

requests = logging.getLogger("bethink.server")


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


def to_stderr(redactor: Redactor, *, level: int = logging.INFO) -> None:
    """Send what we and uvicorn log to stderr as JSON; secrets are cut out of whatever a message may quote."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    handler.addFilter(RedactingFilter(redactor))
    for name in ("bethink", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(level)


def whereabouts(error: BaseException) -> str:
    """Say where an error came from, without its message: that may quote what was sent or stored."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    return " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in reversed(frames))
