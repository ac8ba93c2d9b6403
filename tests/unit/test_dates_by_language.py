"""The times of a question in each language. Now is Wednesday, 18 October 2023, three in the afternoon."""

import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bethink.memory.recall.calendars import RULES, calendar
from bethink.memory.recall.date_rules import MAKE
from bethink.memory.recall.dates import spans, times
from bethink.memory.recall.languages import languages_of
from tests.length import often

NOW = datetime(2023, 10, 18, 15, tzinfo=UTC)
START = datetime(1970, 1, 1, tzinfo=UTC)

PHRASES = tomllib.loads(Path(__file__).with_name("dates_by_language.toml").read_text(encoding="utf-8"))


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


SAID = {language: lines(text) for language, text in PHRASES["said"].items()}
TABLE = [
    (language, question, meant)
    for language, said in SAID.items()
    for question, meant in zip(said, lines(PHRASES["meant"]), strict=True)
]


def found(question: str) -> list[str]:
    def day(at: int) -> str:
        return f"{START + timedelta(microseconds=at):%Y-%m-%d}"

    return [f"{day(span.start)} {day(span.end - 1)} {span.precision}" for span in spans(question, NOW)]


@pytest.mark.parametrize(("language", "question", "expected"), TABLE)
def test_time_is_recognized_in_each_language(language: str, question: str, expected: str) -> None:
    assert (languages_of(question)[0], found(question)) == (language, [expected])


@pytest.mark.parametrize("question", lines(PHRASES["no_time"]))
def test_text_without_a_time_yields_none_in_its_language(question: str) -> None:
    assert found(question) == []


@pytest.mark.parametrize(("question", "expected"), PHRASES["mixed"].items())
def test_languages_do_not_get_in_each_others_way(question: str, expected: list[str]) -> None:
    assert found(question) == expected


def test_time_words_are_removed_and_other_words_stay() -> None:
    assert times("Où étais-je le 5 mars ?", NOW)[1] == "Où étais-je le        ?"


def test_every_rule_of_every_calendar_is_one_that_can_be_followed() -> None:
    assert set(RULES) == set(MAKE)
    assert all(calendar(language).language == language for language in SAID)
    assert calendar("xx") is not None
    assert calendar("xx").language == "en"


PIECES = sorted({piece for said in SAID.values() for line in said for piece in line.split()})
CHARACTERS = sorted({char for said in SAID.values() for line in said for char in line})


@settings(max_examples=often(100, long=300))
@given(
    question=st.one_of(
        st.lists(st.sampled_from(PIECES), max_size=10).map(" ".join), st.text(st.sampled_from(CHARACTERS), max_size=40)
    ),
    now=st.datetimes(timezones=st.just(UTC)),
)
def test_any_words_are_read_and_spans_are_ordered(question: str, now: datetime) -> None:
    for span in spans(question, now):
        assert span.start < span.end
