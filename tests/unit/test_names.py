"""A name matches whole words in any case, with or without accents, never part of another word."""

import json
import time

import pytest

from bethink.base.language.names import Names


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
        ("Anna", "An\u00adna came."),
        ("Anna Berg", "An\u200bna\u200b \ufeffBerg came."),
        ("An\u200bna", "Anna came."),
        ("Anna", "Anna\u200bBerg came."),
        ("葛城", "葛\U000e0100城さん"),
    ],
)
def test_name_is_matched_in_text(name: str, text: str) -> None:
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


@pytest.mark.parametrize(
    "value",
    [
        "Here:\nAnna Berg",
        "1\tanna berg",
        "Here:\r\nAnna\nBerg\n",
        'She said:\n"\nAnna Berg"',
        "Änna Berg",
        ["one", {"Anna\nBerg": 1}],
        {"arguments": json.dumps({"body": "Dear all,\nÄnna Berg is ill."})},
        json.dumps(json.dumps(["\nAnna Berg"])),
        'Look: {"to": "\\nAnna Berg"}',
        '{"cut": "off\\nAnna Berg and',
    ],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_name_is_matched_in_nested_json(value: object, *, ascii_only: bool) -> None:
    assert Names(["Anna Berg"]).in_text(json.dumps({"note": value}, ensure_ascii=ascii_only))


def test_a_character_that_json_writes_as_two_is_read_as_one() -> None:
    assert Names(["\U00020bb7野"]).in_text(json.dumps({"to": "\U00020bb7野"}))


def test_backslash_outside_json_is_not_an_escape() -> None:
    assert not Names(["Ho", "Au"]).in_text(r"The density \rho, after a time \tau.")
    assert not Names(["Ho"]).in_text(json.dumps({"note": r"The density \rho"}))
    assert not Names(["Anna"]).in_text(json.dumps({"note": "Savannah\nHannah"}))


@pytest.mark.parametrize(
    "text", ['"' + r"\"" * 200_000 + "\\", '"' * 400_001 + "\\", '"\\u0022' + r"\u005cu0022" * 40_000, '"\\' * 200_000]
)
def test_a_text_that_is_made_to_be_read_for_long_is_not(text: str) -> None:
    started = time.process_time()

    assert not Names(["Anna Berg"]).in_text(text)

    assert time.process_time() - started < 5


def test_every_alias_matches_and_full_names_match_exactly() -> None:
    names = Names(["Anna Berg", "Annie"])

    assert names.in_text("Annie said so")
    assert names.includes("ANNIE")
    assert names.includes("anna berg")
    assert names.includes("An\u00adna Berg")
    assert not names.includes("Anna")
    assert not names.includes("Anna Berg Hansen")
    assert not names.includes(None)
    assert not names.includes("")


def test_name_is_matched_literally_not_as_a_pattern() -> None:
    assert not Names(["A.*"]).in_text("Anna")
    assert Names(["C++"]).in_text("c or more")
