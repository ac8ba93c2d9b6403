"""A name is found as whole words, in any case and with or without accents, and never as part of another word."""

import pytest

from bethink.language.names import Names


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Anna", "I met anna yesterday."),
        ("Anna", "ANNA!"),
        ("Anna", "It is Anna's."),
        ("Anna", "Write to anna@example.org"),
        ("Anna Berg", "Dr. anna  berg came"),
        ("Anna Berg", "Anna\nBerg"),
        ("Jose", "José called."),
        ("José", "jose called."),
        ("Jørgen", "jorgen called"),
        ("O'Brien", "Mr. O’Brien left."),
        ("Marie-Luise", "marie-luise said"),
        ("田中", "田中さんは来ました。"),
        ("민수", "민수는 갔다"),
        ("राम", "राम आया"),
        ("Anna", "\uff21\uff4e\uff4e\uff41 in wide letters"),
    ],
)
def test_a_name_is_found(name: str, text: str) -> None:
    assert Names([name]).in_text(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Anna", "I ate bananas in Savannah."),
        ("Anna", "Annabel came."),
        ("Anna", "Hannah came."),
        ("Anna", "anna_smith"),
        ("Anna", "Anna-Lena came."),
        ("Lena", "Anna-Lena came."),
        ("Al", "also, all and real"),
        ("Anna Berg", "Anna came to Berg."),
        ("राम", "रामा आया"),
        ("Anna", ""),
    ],
)
def test_a_part_of_another_word_is_not(name: str, text: str) -> None:
    assert not Names([name]).in_text(text)


def test_every_alias_counts_and_a_whole_name_is_compared_as_a_whole() -> None:
    names = Names(["Anna Berg", "Annie"])

    assert names.in_text("Annie said so")
    assert names.is_one("ANNIE")
    assert names.is_one("anna berg")
    assert not names.is_one("Anna")
    assert not names.is_one("Anna Berg Hansen")
    assert not names.is_one(None)
    assert not names.is_one("")


def test_what_is_no_pattern_is_taken_as_it_is() -> None:
    assert not Names(["A.*"]).in_text("Anna")
    assert Names(["C++"]).in_text("c or more")
