"""Times: aware datetimes in UTC for callers, integer microseconds since 1970 in the databases."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, NewType, cast

from bethink.base.frozen import frozen
from bethink.errors import InvalidRequestError

When = datetime | date | str
"""A time as callers can pass it. See `moment`."""

Micros = NewType("Micros", int)
"""A time as the databases store it: microseconds since 1970-01-01 UTC."""

DAY = 86_400_000_000
"""One day in microseconds."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
"""First and last time that a datetime can represent: years 1 to 9999."""

_MICROSECOND = timedelta(microseconds=1)
_HINT = "Use the form 2026-03-01 or 2026-03-01T12:00:00+01:00."


def moment(when: When) -> datetime:
    """Return a time as an aware datetime in UTC.

    Text is parsed as ISO 8601. A time without a time zone is UTC, and a date means its last microsecond.
    Raises `InvalidRequestError` for anything else, including numbers.
    """
    if isinstance(when, str):
        return _parse_text(when)
    if isinstance(when, datetime):
        return when if when.tzinfo is UTC else _in_utc(when)
    if isinstance(cast("object", when), date):
        return datetime.combine(when, time.max, UTC)
    raise InvalidRequestError(f"Cannot read {type(when).__name__} as a date or time.", hint=_HINT)


def beginning(when: When) -> datetime:
    """Return a time as `moment` does, except that a date means its first microsecond."""
    if isinstance(when, str):
        with suppress(ValueError):
            return datetime.combine(date.fromisoformat(when), time.min, UTC)
    elif isinstance(cast("object", when), date) and not isinstance(when, datetime):
        return datetime.combine(when, time.min, UTC)
    return moment(when)


@frozen(kw_only=False)
class ReadsMoment:
    """Parses a time from JSON like from Python: ISO 8601. A date means its end or its start, depending on `parse`."""

    parse: Callable[[Any], datetime]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        return {
            "type": "function-before",
            "function": {"type": "no-info", "function": self._parse_value},
            "schema": handler(source),
        }

    def _parse_value(self, value: Any) -> datetime:
        try:
            return self.parse(value)
        except InvalidRequestError as error:
            raise ValueError(f"is not a date or time in ISO 8601. {error.hint}") from error


Moment = Annotated[datetime, ReadsMoment(moment)]
"""A time in a record, parsed by `moment`."""

Since = Annotated[datetime, ReadsMoment(beginning)]
"""A start time, parsed by `beginning`."""


def moment_or_none(when: When | None) -> datetime | None:
    """Return a time as `moment` does, or None for None."""
    return None if when is None else moment(when)


def later(at: datetime, *, days: int = 0, hours: int = 0) -> datetime:
    """Add days and hours to a time, clamped to the years 1 to 9999. Negative numbers are subtracted."""
    try:
        return at + timedelta(days=days, hours=hours)
    except OverflowError:  # a very large limit means no limit
        return LAST if days + hours > 0 else FIRST


def to_micros(at: datetime) -> Micros:
    """Return a time as the databases store it."""
    return Micros((at - EPOCH) // _MICROSECOND)


def from_micros(at: int) -> datetime:
    """Return a stored time as a datetime, clamped to the years 1 to 9999."""
    try:
        return EPOCH + timedelta(microseconds=at)
    except OverflowError:  # stored before such times were rejected
        return FIRST if at < 0 else LAST


def from_micros_or_none(at: int | None) -> datetime | None:
    """Return a stored time as a datetime, or None for None."""
    return None if at is None else from_micros(at)


def iso(at: datetime) -> str:
    """Format a time as ISO 8601 in UTC: `2026-03-01T12:00:00Z`, with microseconds if it has any."""
    return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"


def _parse_text(text: str) -> datetime:
    with suppress(ValueError):
        return moment(date.fromisoformat(text))
    parsed = None
    with suppress(ValueError):  # Python would parse the ninth digit of a long number as the T
        parsed = None if text.isdecimal() else datetime.fromisoformat(text)
    if parsed is None:
        raise InvalidRequestError(f"Cannot parse {text[:40]!r} as a date or time.", hint=_HINT)
    return _in_utc(parsed)


def _in_utc(at: datetime) -> datetime:
    try:
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except OverflowError:
        raise InvalidRequestError(f"{at.isoformat()} is not in the years 1 to 9999 in UTC.", hint=_HINT) from None
