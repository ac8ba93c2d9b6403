"""Repeats a transaction that failed before it wrote anything."""

import time
from collections.abc import Callable
from typing import TypeVar

from bethink.base.backoff import pause_after
from bethink.base.logs import logger

T = TypeVar("T")
_log = logger("store")


def with_retries(attempt: Callable[[], T], *, retry_on: Callable[[Exception], bool], tries: int = 5) -> T:
    """Call `attempt` again, after growing pauses with jitter, while it fails without having written anything."""
    for number in range(1, tries):
        try:
            return attempt()
        except Exception as error:
            if not retry_on(error):
                raise
            _log.warning("transaction failed, retrying", extra={"try": number, "error": type(error).__name__})
            time.sleep(pause_after(number, first=0.03, max_pause=1.0, spread=0.7))
    return attempt()
