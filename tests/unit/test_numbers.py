"""Numbers in any notation, and numbers and names of a statement that were not said."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bethink.base.language.numbers import number_runs, numbers_in
from bethink.memory.learning.extraction.answer import moment
from bethink.memory.learning.extraction.grounding import Ground, capitalized_words, foreign_numbers


@given(st.integers(0, 10**12), st.sampled_from(["{}", "{:,}", "it is {}.", "({:,})", "x{}y"]))
def test_number_is_read_with_any_thousands_separator(number: int, how: str) -> None:
    for sign in (",", ".", "\u202f", "'", " "):
        assert number in numbers_in(how.format(number).replace(",", sign))


@given(st.integers(0, 10**9), st.sampled_from([0x0660, 0x06F0, 0x0966, 0x09E6, 0x0E50, 0xFF10]))
def test_digits_of_any_script_are_digits(number: int, zero: int) -> None:
    assert numbers_in("".join(chr(zero + int(digit)) for digit in str(number))) == {number}


@given(st.text(max_size=200))
def test_no_text_breaks_the_reading_of_numbers(text: str) -> None:
    found = numbers_in(text)

    assert all(value >= 0 for value in found)
    assert {run[0] for run in number_runs(text)} <= found


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("twelve eggs", 12),
        ("forty-one", 41),
        ("two hundred and five", 205),
        ("zwölf Eier", 12),
        ("двенадцать", 12),
        ("三百二十一", 321),
        ("二〇二五年", 2025),
        ("一万二千", 12_000),
        ("3.5k", 3_500),
        ("5k", 5_000),
        ("at 3 pm", 15),
        ("at 12:30 p.m.", 1230),
        ("at 2:30 pm", 1430),
        ("at 14:00", 14),
        ("14:30:15", 1430),
        ("45万", 450_000),
        ("８万５千円", 85_000),
        ("R$ 3.100,00", 3_100),
        ("2026-11-09", 9),
        ("1/2", 2),
    ],
)
def test_a_number_may_be_written_as_a_word_or_as_a_part(text: str, number: int) -> None:
    assert number in numbers_in(text)


@pytest.mark.parametrize(("text", "number"), [("at 14:30", 14), ("at 2:30 pm", 14), ("on 3 May, 14:30", 30)])
def test_hour_of_a_time_is_a_number_only_on_the_hour(text: str, number: int) -> None:
    assert number not in numbers_in(text)


def test_a_number_of_many_digits_is_passed_over() -> None:
    assert number_runs("9" * 31) == []
    assert number_runs("1,000 and 2026-11-09") == [(1_000, 1, 0), (20_261_109, 2026, 11, 9)]


def foreign(statement: str, said: str, *dates: datetime | None) -> list[str]:
    return foreign_numbers(statement, numbers_in(said), dates=dates, year=2025)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_unsaid_number_is_foreign(number: int, said: int) -> None:
    allowed = {said, 0, 2025}

    assert foreign(f"it is {number}", f"it is {said}") == ([] if number in allowed else [str(number)])


@pytest.mark.parametrize(
    ("statement", "said", "dates", "expected"),
    [
        ("User ran on 14 November 2025", "I ran yesterday", ["2025-11-14"], []),
        ("User ran on 15 November 2025", "I ran yesterday", ["2025-11-14"], ["15"]),
        ("User ran in 2024", "I ran last year", ["2024"], []),
        ("User ran in 1999", "I ran once", ["1999"], ["1999"]),
        ("User ran in 1999", "I ran 26 years ago", ["1999"], []),
        ("User ran in 1999", "I ran in 99", ["1999"], []),
        ("The rent is 1150", "The rent is 1,150", [], []),
        ("The rent is 150", "The rent is 1,150", [], []),
        ("The rent is 151", "The rent is 1,150", [], ["151"]),
        ("The rate is 3.5 percent", "It is 3.5 percent", [], []),
        ("It begins at 14:00", "It begins at 14:30", [], ["1400"]),
        ("It begins at 8:30", "It begins at 8:00 and ends at 9:30", [], ["830"]),
        ("It begins at 14:00", "It begins at 2 pm", [], []),
        ("It begins at 14:30", "It begins at 2:30 pm", [], []),
        ("It begins at 14", "It begins at 14:30", [], ["14"]),
        ("Es beginnt um 14 Uhr", "Es beginnt um 14.30 Uhr", [], ["14"]),
        ("Ça commence à 14h00", "Ça commence à 14h30", [], ["1400"]),
        ("6時30分に始まる", "6:30に始まる", [], []),
    ],
)
def test_days_of_a_claim_are_allowed_if_near(statement: str, said: str, dates: list[str], expected: list[str]) -> None:
    assert foreign(statement, said, *map(moment, dates)) == expected


@pytest.mark.parametrize(
    ("said", "statement", "names"),
    [
        ("I live in Bergen.", "User lives in Bergen", []),
        ("I live in Bergen.", "User lives in Oslo", ["Oslo"]),
        ("it was in stockholm's old town", "User was in Stockholm's old town", []),
        ("My doctor is Martin.", "User's doctor is Martina", ["Martina"]),
        ("I work at Microsoft.", "User works at Microchip", ["Microchip"]),
        ("send me the pdf", "User wants PDFs", []),
        ("Ich wohne in Zürich.", "Der Nutzer wohnt in Zürich", []),
        ("Я живу в Москве.", "Пользователь живёт в Москва", []),
        ("Я живу в Москве.", "Пользователь живёт в Киеве", ["Киеве"]),
        ("私はベルゲンに住んでいます", "ユーザーはベルゲンに住んでいます", []),
        ("私はベルゲンに住んでいます", "ユーザーは東京に住んでいます", ["ユーザーは東京に住んでいます"]),
        ("The disk has 5 gigabytes", "The disk has 5 GB", []),
        ("I ran on the first day", "User ran on Monday in November", []),
    ],
)
def test_unsaid_name_is_foreign(said: str, statement: str, names: list[str]) -> None:
    assert Ground([said]).foreign_names(statement) == names


@given(st.lists(st.sampled_from(["Oslo", "tea", "Zürich", "Москва", "東京", "42", "likes"]), min_size=1))
def test_said_words_are_never_foreign(words: list[str]) -> None:
    assert Ground([" ".join(words)]).foreign_names(" ".join(reversed(words))) == []


@given(st.text(max_size=100), st.text(max_size=100))
def test_no_text_breaks_the_search_for_names(said: str, statement: str) -> None:
    for name in Ground([said]).foreign_names(statement):
        assert name
    capitalized_words(statement)


def test_capitalized_words_are_names_unless_common() -> None:
    assert capitalized_words("The User met Christina in Oslo on Monday") == ["christina", "oslo"]
