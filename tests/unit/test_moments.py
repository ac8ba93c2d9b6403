"""Times: accepted input, returned values, and stored values."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bethink import Fact, Message
from bethink.errors import InvalidRequestError
from bethink.model.moments import EPOCH, FIRST, LAST, When, from_micros, iso, later, moment, moment_or_none, to_micros

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
END = datetime(2026, 3, 1, 23, 59, 59, 999_999, tzinfo=UTC)
MOMENTS = st.datetimes(timezones=st.just(UTC))


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (NOON, NOON),
        (datetime(2026, 3, 1, 12), NOON),  # noqa: DTZ001
        (NOON.astimezone(timezone(timedelta(hours=5))), NOON),
        ("2026-03-01T12:00:00", NOON),
        ("2026-03-01T12:00:00Z", NOON),
        ("2026-03-01T13:00:00+01:00", NOON),
        (date(2026, 3, 1), END),
        ("2026-03-01", END),
        ("20260301", END),
    ],
)
def test_whatever_names_a_moment_is_read_as_one_in_utc(when: When, expected: datetime) -> None:
    read = moment(when)

    assert read == expected
    assert read.tzinfo is UTC


@pytest.mark.parametrize("wrong", ["yesterday", "", "2026-13-01", "1712123112233", "1700000000"])
def test_a_text_that_names_no_moment_is_refused_with_an_example(wrong: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        moment(wrong)

    assert str(refused.value).startswith(f"Cannot parse {wrong!r} as a date or time.")
    assert refused.value.hint == "Use the form 2026-03-01 or 2026-03-01T12:00:00+01:00."


@pytest.mark.parametrize("wrong", [0, 1_700_000_000_000_000, 1.5, True, b"2026-03-01"])
def test_number_is_not_a_time(wrong: object) -> None:
    with pytest.raises(InvalidRequestError, match="as a date or time"):
        moment(wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidRequestError):
        Message(role="user", content="", said_at=wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidRequestError):
        Fact(id="a", text="", valid_to=wrong)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("wrong", ["0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"])
def test_a_time_that_utc_has_no_day_for_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidRequestError, match="years 1 to 9999"):
        moment(wrong)


def test_none_stays_none() -> None:
    assert moment_or_none(None) is None
    assert moment_or_none("2026-03-01") == END


@given(MOMENTS)
def test_every_moment_survives_the_database_and_the_wire(at: datetime) -> None:
    assert from_micros(to_micros(at)) == at
    assert moment(iso(at)) == at


def test_out_of_range_time_becomes_the_first_or_last() -> None:
    assert (to_micros(EPOCH), from_micros(0)) == (0, EPOCH)
    assert (from_micros(to_micros(FIRST) - 1), from_micros(-(2**62))) == (FIRST, FIRST)
    assert (from_micros(to_micros(LAST) + 1), from_micros(2**62)) == (LAST, LAST)


def test_time_has_microseconds_only_if_needed() -> None:
    assert iso(NOON) == "2026-03-01T12:00:00Z"
    assert iso(NOON.replace(microsecond=123_456)) == "2026-03-01T12:00:00.123456Z"
    assert iso(NOON.astimezone(timezone(timedelta(hours=-3)))) == "2026-03-01T12:00:00Z"


def test_a_limit_that_means_none_ends_where_the_calendar_does() -> None:
    assert later(NOON, days=1, hours=-12) == datetime(2026, 3, 2, tzinfo=UTC)
    assert (later(NOON, days=10**10), later(NOON, days=-1_000_000)) == (LAST, FIRST)


def test_messages_and_facts_store_times_in_utc() -> None:
    naive = datetime(2026, 3, 1, 12)  # noqa: DTZ001
    said = Message(role="user", content="x", said_at="2026-03-01T13:00:00+01:00")
    fact = Fact(id="a", text="x", created_at=naive, valid_from=naive, valid_to=naive, expires_at="2026-03-01T12:00Z")

    assert {said.said_at, fact.created_at, fact.valid_from, fact.valid_to, fact.expires_at} == {NOON}
