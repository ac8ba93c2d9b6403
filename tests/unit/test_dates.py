"""Times in a question. Now is Wednesday, 18 October 2023, three in the afternoon."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bethink.memory.recall.dates import DateSpan, spans
from bethink.model.moments import Micros, to_micros

NOW = datetime(2023, 10, 18, 15, tzinfo=UTC)


def times(question: str, now: datetime = NOW) -> list[str]:
    """What `spans` finds, first and last day, written to be read."""
    found = spans(question, now)
    return [f"{day(span.start)} {day(Micros(span.end - 1))} {span.precision}" for span in found]


def day(at: Micros) -> str:
    return f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at):%Y-%m-%d}"


@pytest.mark.parametrize(
    "spelling",
    [
        "8 May 2023",
        "8 May, 2023",
        "the 8th of May 2023",
        "8 may 2023",
        "May 8, 2023",
        "May 8th, 2023",
        "May 8 2023",
        "May 8,2023",
        "may the 8th",
        "Monday, May 8, 2023",
        "Mon 8 May",
        "2023-05-08",
        "2023/05/08",
        "2023-05-08T10:00:00Z",
        "5/8/2023",
        "5/8/23",
        "8.5.2023",
        "08.05.2023",
        "the 8th  of\nMay",
    ],
)
def test_day_is_recognized_in_any_spelling(spelling: str) -> None:
    assert times(f"What did she do on {spelling}?") == ["2023-05-08 2023-05-08 day"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("13/8/2023", "2023-08-13 2023-08-13 day"),
        ("12.31.2022", "2022-12-31 2022-12-31 day"),
        ("11/22/63", "1963-11-22 1963-11-22 day"),
        ("May 2023", "2023-05-01 2023-05-31 month"),
        ("2023-05", "2023-05-01 2023-05-31 month"),
        ("where was I in May", "2023-05-01 2023-05-31 month"),
        ("where was I in november", "2022-11-01 2022-11-30 month"),
        ("at the end of April", "2023-04-01 2023-04-30 month"),
        ("in Sept. of 2021", "2021-09-01 2021-09-30 month"),
        ("last October", "2022-10-01 2022-10-31 month"),
        ("this May", "2023-05-01 2023-05-31 month"),
        ("next may", "2024-05-01 2024-05-31 month"),
        ("the 3rd of June", "2023-06-03 2023-06-03 day"),
        ("on the second of June", "2023-06-02 2023-06-02 day"),
        ("December 5", "2022-12-05 2022-12-05 day"),
        ("Feb 29", "2020-02-29 2020-02-29 day"),
        ("2022", "2022-01-01 2022-12-31 year"),
        ("my trip in 2022", "2022-01-01 2022-12-31 year"),
        ("2020-2022", "2020-01-01 2022-12-31 range"),
        ("the 1990s", "1990-01-01 1999-12-31 decade"),
        ("summer 2022", "2022-06-01 2022-08-31 season"),
        ("the winter of 2022", "2022-12-01 2023-02-28 season"),
        ("in the fall", "2023-09-01 2023-11-30 season"),
        ("last fall", "2022-09-01 2022-11-30 season"),
        ("last summer", "2023-06-01 2023-08-31 season"),
        ("this winter", "2023-12-01 2024-02-29 season"),
        ("Q3 2022", "2022-07-01 2022-09-30 quarter"),
    ],
)
def test_months_seasons_and_years_mean_the_last_one(question: str, expected: str) -> None:
    assert times(question) == [expected]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("on Monday", "2023-10-16 2023-10-16 day"),
        ("on Wednesday", "2023-10-11 2023-10-11 day"),
        ("What did I eat Saturday night?", "2023-10-14 2023-10-14 day"),
        ("on Sun", "2023-10-15 2023-10-15 day"),
        ("last Friday", "2023-10-13 2023-10-13 day"),
        ("this past Friday", "2023-10-13 2023-10-13 day"),
        ("this Friday", "2023-10-20 2023-10-20 day"),
        ("next Monday", "2023-10-23 2023-10-23 day"),
        ("today", "2023-10-18 2023-10-18 day"),
        ("this morning", "2023-10-18 2023-10-18 day"),
        ("Yesterday", "2023-10-17 2023-10-17 day"),
        ("the day before yesterday", "2023-10-16 2023-10-16 day"),
        ("last night", "2023-10-17 2023-10-18 range"),
        ("tomorrow", "2023-10-19 2023-10-19 day"),
        ("last week", "2023-10-09 2023-10-15 week"),
        ("this week", "2023-10-16 2023-10-22 week"),
        ("next week", "2023-10-23 2023-10-29 week"),
        ("last month", "2023-09-01 2023-09-30 month"),
        ("last year", "2022-01-01 2022-12-31 year"),
        ("previous quarter", "2023-07-01 2023-09-30 quarter"),
        ("last weekend", "2023-10-14 2023-10-15 weekend"),
        ("over the weekend", "2023-10-14 2023-10-15 weekend"),
        ("two days ago", "2023-10-16 2023-10-16 day"),
        ("an hour ago", "2023-10-18 2023-10-18 hour"),
        ("3 weeks ago", "2023-09-25 2023-10-01 week"),
        ("a month ago", "2023-09-01 2023-09-30 month"),
        ("a couple of months ago", "2023-07-01 2023-08-31 range"),
        ("a few days ago", "2023-10-13 2023-10-16 range"),
        ("two years ago", "2021-01-01 2021-12-31 year"),
        ("what have I done recently", "2023-10-04 2023-10-18 recent"),
        ("in the past two weeks", "2023-10-04 2023-10-18 range"),
        ("in the last month", "2023-09-18 2023-10-18 range"),
    ],
)
def test_relative_words_are_counted_from_now(question: str, expected: str) -> None:
    assert times(question) == [expected]


def test_current_winter_and_shorter_months_are_resolved() -> None:
    january = datetime(2023, 1, 31, 9, tzinfo=UTC)

    assert times("this winter", january) == ["2022-12-01 2023-02-28 season"]
    assert times("in the last month", datetime(2023, 3, 31, tzinfo=UTC)) == ["2023-02-28 2023-03-31 range"]
    assert times("last weekend", datetime(2023, 10, 15, tzinfo=UTC)) == ["2023-10-07 2023-10-08 weekend"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("between March and May 2023", "2023-03-01 2023-05-31 range"),
        ("between March and May", "2023-03-01 2023-05-31 range"),
        ("between March and early May", "2023-03-01 2023-05-31 range"),
        ("between November and February 2023", "2022-11-01 2023-02-28 range"),
        ("March to May 2022", "2022-03-01 2022-05-31 range"),
        ("from May 2022 to June", "2022-05-01 2022-06-30 range"),
        ("from 3 to 7 June", "2023-06-03 2023-06-07 range"),
        ("June 3\u20137, 2022", "2022-06-03 2022-06-07 range"),
        ("from May 3 to June 7, 2022", "2022-05-03 2022-06-07 range"),
        ("between 2023-05-03 and 2023-05-09", "2023-05-03 2023-05-09 range"),
        ("between 2020 and 2022", "2020-01-01 2022-12-31 range"),
        ("from Monday to Wednesday", "2023-10-09 2023-10-11 range"),
        ("from yesterday until today", "2023-10-17 2023-10-18 range"),
        ("since April", "2023-04-01 2023-10-18 open"),
        ("since last Friday", "2023-10-13 2023-10-18 open"),
        ("after May 8", "2023-05-09 2023-10-18 open"),
        ("after today", "2023-10-19 9999-12-30 open"),
        ("before 2023", "0001-01-01 2022-12-31 open"),
        ("prior to 3 June", "0001-01-01 2023-06-02 open"),
        ("until last Friday", "0001-01-01 2023-10-13 open"),
        ("by July 10, 2022", "0001-01-01 2022-07-10 open"),
        ("the week before 9 June 2023", "2023-06-02 2023-06-08 week"),
        ("two days after May 8", "2023-05-10 2023-05-10 day"),
        ("999 decades before May 8", "2023-05-08 2023-05-08 day"),
    ],
)
def test_a_range_is_one_stretch_of_time(question: str, expected: str) -> None:
    assert [span.replace("1-01-01", "0001-01-01") if span.startswith("1-") else span for span in times(question)] == [
        expected
    ]


def test_several_times_come_in_the_order_of_the_question_and_each_once() -> None:
    assert times("In June and May 2022, or yesterday, in June?") == [
        "2023-06-01 2023-06-30 month",
        "2022-05-01 2022-05-31 month",
        "2023-10-17 2023-10-17 day",
    ]


@pytest.mark.parametrize(
    "question",
    [
        "",
        "5 apples",
        "Do I have 2 kids?",
        "version 2023.1",
        "room 2023",
        "2000 calories",
        "$2000, 2,000 and a 2000-word essay",
        "24/7, 3/4 cup, 10.0.0.1, 192.168.20.2022",
        "what may help",
        "What may 5 people do?",
        "May 5 people come?",
        "this may help",
        "the 1st may be best",
        "Did May call?",
        "they march 5 miles",
        "the march on Washington",
        "What did she march for?",
        "I sat in the sun",
        "wed in the sun",
        "a second ago",
        "the second time",
        "the second may win",
        "did I fall?",
        "a hot spring",
        "What do I do on a Sunday?",
        "on Saturday mornings",
        "most recently",
        "how long did it last?",
        "how many days ago",
        "999 decades ago",
        "13/13/2023",
        "May 77",
    ],
)
def test_text_without_a_time_yields_no_times(question: str) -> None:
    assert times(question) == []


def test_a_long_question_takes_no_longer_than_its_length() -> None:
    assert times("may " + " " * 200_000 + ", 5 to " * 2_000 + "in May 2022") == ["2022-05-01 2022-05-31 month"]


SPELLINGS = [
    "{:%Y-%m-%d}",
    "{:%m/%d/%Y}",
    "{0.month}/{0.day}/{0.year}",
    "{0.day} {0:%B} {0.year}",
    "{0.day} {0:%b} {0.year}",
    "{0:%B} {0.day}, {0.year}",
    "{0:%B} {0.day}{1}, {0.year}",
    "{0:%b}. {0.day} {0.year}",
    "the {0.day}{1} of {0:%B} {0.year}",
    "{0:%A}, {0:%B} {0.day}, {0.year}",
    "{0:%A} the {0.day}{1} of {0:%B}, {0.year}",
]
COARSE = ["{0:%B} {0.year}", "in {0:%b} {0.year}", "{0.year}", "{0:%Y-%m}"]
WITHOUT_YEAR = ["{0.day} {0:%B}", "{0:%B} {0.day}", "the {0.day}{1} of {0:%B}", "{0:%B} {0.day}{1}", "in {0:%B}"]
SUFFIX = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}
DAYS = st.datetimes(datetime(1900, 1, 1), datetime(2030, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001


def holds(span: DateSpan, moment: datetime) -> bool:
    return span.start <= to_micros(moment) < span.end


@given(day=DAYS, spelling=st.sampled_from(SPELLINGS), frame=st.sampled_from(["{}", "What happened on {}?", "({})"]))
def test_written_day_is_recognized(day: datetime, spelling: str, frame: str) -> None:
    question = frame.format(spelling.format(day, SUFFIX.get(day.day, "th")))

    [span] = spans(question, NOW)

    assert holds(span, day)
    assert span.end - span.start == 86_400_000_000


@given(day=DAYS, spelling=st.sampled_from(COARSE))
def test_a_month_or_a_year_written_out_holds_its_days(day: datetime, spelling: str) -> None:
    [span] = spans(spelling.format(day), NOW)

    assert holds(span, day)


@given(
    day=st.datetimes(datetime(2022, 11, 1), datetime(2023, 10, 17), timezones=st.just(UTC)),  # noqa: DTZ001
    spelling=st.sampled_from(WITHOUT_YEAR),
)
def test_a_day_without_its_year_is_the_last_one(day: datetime, spelling: str) -> None:
    [span] = spans("Where was I on " + spelling.format(day, SUFFIX.get(day.day, "th")), NOW)

    assert holds(span, day)


@given(days=st.integers(1, 999), now=DAYS)
def test_days_ago_are_counted_exactly(days: int, now: datetime) -> None:
    [span] = spans(f"{days} days ago", now)

    assert holds(span, now - timedelta(days=days))


@given(question=st.text(), now=DAYS)
def test_any_text_is_read_and_spans_are_ordered(question: str, now: datetime) -> None:
    assert all(span.start < span.end for span in spans(question, now))


SOME_WORDS = """
    since before after until between and from to the last this next may May march 8 8th 999 2022 June sun sat Monday
    week weeks weekend decades ago two few a summer fall yesterday today of in on by - , 5/8/2023 2023-05 recently
"""
WORDS = st.sampled_from(SOME_WORDS.split())


@given(words=st.lists(WORDS, max_size=12), now=DAYS)
def test_any_words_of_time_are_read_too(words: list[str], now: datetime) -> None:
    assert all(span.start < span.end for span in spans(" ".join(words), now))
