"""Words such as "yesterday" get the date that they had when they were said."""

from datetime import UTC, datetime

import pytest

from bethink.memory.recall.said_times import named_dates
from tests.pace import growth

FRIDAY = datetime(2026, 5, 8, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I went there yesterday.", ("yesterday: 2026-05-07",)),
        ("Next Friday I leave.", ("next friday: 2026-05-15",)),
        ("We met last week and two days ago.", ("last week: 2026-04-27 to 2026-05-03", "two days ago: 2026-05-06")),
        ("Last month was fine, next year will be too.", ("last month: 2026-04", "next year: 2027")),
        ("It was last summer.", ("last summer: 2025-06 to 2025-08",)),
        ("Gestern war ich dort.", ("gestern: 2026-05-07",)),
        ("昨天我去了上海。", ("昨天: 2026-05-07",)),
        ("See you on Friday, today or this week.", ()),
        ("An hour ago, and on 3 March 2026.", ()),
        ("No time at all.", ()),
    ],
)
def test_relative_time_has_one_date(text: str, expected: tuple[str, ...]) -> None:
    assert named_dates(text, FRIDAY) == expected


def test_line_names_at_most_three_dates() -> None:
    text = "yesterday, last week, last month, last year, next week"

    assert len(named_dates(text, FRIDAY)) == 3


@pytest.mark.parametrize("unit", ["yesterday ", "last ", "昨天", "two days "])
def test_dates_of_a_line_are_found_in_linear_time(unit: str) -> None:
    assert growth(lambda size: named_dates(unit * size, FRIDAY), 500) < 8
