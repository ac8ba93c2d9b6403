from datetime import UTC, datetime

import pytest

from bethink.base.language.numbers import numbers_in
from bethink.memory.learning.extraction.grounding import Ground, date_numbers, foreign_numbers


@pytest.mark.parametrize(
    ("said", "statement", "names"),
    [
        ("Lena lives in Freiburg.", "Mia is seven.", ["Mia"]),
        ("Lena lives in Freiburg.", "Lena knows Mia.", ["Mia"]),
        ("Lena wohnt in Freiburg und ist froh.", "Lena mag Hans.", ["Hans"]),
        ("Lena habite à Nantes et elle est contente.", "Lena connaît Dan.", ["Dan"]),
        ("Lena vive en Valencia con su madre.", "Lena quiere a Ben.", ["Ben"]),
        ("Lena vive a Roma con la madre.", "Lena ha visto Will.", ["Will"]),
        ("Lena bor i Oslo og er glad.", "Lena kjenner Noi.", ["Noi"]),
    ],
)
def test_name_that_is_a_function_word_must_be_said(said: str, statement: str, names: list[str]) -> None:
    assert Ground([said]).foreign_names(statement) == names
    assert Ground([said, *names]).foreign_names(statement) == []


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("Lena lives in Freiburg.", "The home of Lena is Freiburg. She is there."),
        ("Lena wohnt in Freiburg und ist froh.", "Sie wohnt in Freiburg. Und Lena möchte, dass Sie es wissen."),
        ("Lena habite à Nantes et elle est contente.", "Elle est à Nantes. Avec Lena, tout va."),
        ("Lena vive en Valencia con su madre.", "Ella vive en Valencia. Con su madre."),
        ("Lena lives in the Hague.", "Lena lives in The Hague."),
        ("Lena says so.", "Lena does NOT want it."),
        ("Лена живёт в Казани.", "Она живёт в Казани, как Вы знаете."),
    ],
)
def test_function_word_at_sentence_start_is_not_a_name(said: str, statement: str) -> None:
    assert Ground([said]).foreign_names(statement) == []


@pytest.mark.parametrize(
    ("said", "statement", "numbers"),
    [
        ("I start on the 2nd of March.", "User starts on 2026-03-02.", []),
        ("I start on the 2nd of March.", "User starts on 2026-04-02.", ["20260402"]),
        ("Ich fange am 2. März an.", "User starts on 2026-03-02.", []),
        ("We leave tomorrow.", "User leaves on 2026-02-01.", []),
        ("We leave tomorrow.", "User leaves on 2026-02-03.", ["20260203"]),
        ("We leave in March.", "User leaves on 2026-03-01.", ["20260301"]),
        ("We leave.", "User leaves on 2026-03-02.", ["20260302"]),
    ],
)
def test_date_in_figures_must_be_named(said: str, statement: str, numbers: list[str]) -> None:
    said_at = datetime(2026, 1, 31, 12, tzinfo=UTC)
    known = numbers_in(said) | date_numbers(said, said_at)

    assert foreign_numbers(statement, known, dates=(), year=2026) == numbers
