"""Resolve words such as "yesterday", which depend on when they were said, to dates."""

from datetime import datetime
from functools import lru_cache

from bethink.memory.recall.calendar import DAY, Stretch
from bethink.memory.recall.dates import relative_times

_MONTHS = ("month", "quarter", "season")
_MAX_TIMES = 3
"""Maximum number of times in one line."""


@lru_cache(maxsize=1_024)
def named_dates(text: str, said_at: datetime) -> tuple[str, ...]:
    """Return the dates of times that are relative to when a line was said, such as "yesterday: 2026-05-07"."""
    times = dict.fromkeys((words.lower(), _days(stretch)) for words, stretch in relative_times(text, said_at))
    return tuple(f"{words}: {days}" for words, days in list(times)[:_MAX_TIMES])


def _days(stretch: Stretch) -> str:
    first, last = stretch.start.date(), (stretch.end - DAY).date()
    if stretch.precision == "year":
        return f"{first.year}"
    if stretch.precision in _MONTHS:
        first_month, last_month = f"{first:%Y-%m}", f"{last:%Y-%m}"
        return first_month if first_month == last_month else f"{first_month} to {last_month}"
    return first.isoformat() if last <= first else f"{first} to {last}"
