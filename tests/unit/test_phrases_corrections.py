"""Explicit corrections are found without a model, and nothing else is taken for one."""

import time

import pytest

from bethink.memory.phrases.corrections import find_correction
from tests.unit.phrases_kit import is_tuned, labels

_LABELS = labels("corrections")
_POSITIVES = [(language, *row) for language, rows in _LABELS.items() for row in rows["corrections"]]
_NEGATIVES = [(language, *row) for language, rows in _LABELS.items() for row in rows["others"]]


def _corrected(message: str, earlier: list[str]) -> str | None:
    match = find_correction(message, earlier)
    return None if match is None else [*earlier, message][match.index][match.start : match.stop]


def _is_right(earlier: str, message: str, wrong: str) -> bool:
    corrected = _corrected(message, earlier.split(" | "))
    return corrected is not None and wrong in corrected


@pytest.mark.parametrize(("language", "earlier", "message", "wrong"), [row for row in _POSITIVES if is_tuned(row[2])])
def test_correction_names_the_wrong_clause(language: str, earlier: str, message: str, wrong: str) -> None:
    assert _is_right(earlier, message, wrong), language


@pytest.mark.parametrize(("language", "earlier", "message"), [row for row in _NEGATIVES if is_tuned(row[2])])
def test_other_messages_correct_nothing(language: str, earlier: str, message: str) -> None:
    assert _corrected(message, earlier.split(" | ")) is None, language


def test_unseen_messages_are_read_as_labeled() -> None:
    """The half that the phrases were not written against: precision matters more than recall."""
    unseen = [_is_right(*row[1:]) for row in _POSITIVES if not is_tuned(row[2])]
    wrong = [row for row in _NEGATIVES if not is_tuned(row[2]) and _corrected(row[2], row[1].split(" | "))]
    assert sum(unseen) >= 0.9 * len(unseen)
    assert len(wrong) <= 1, wrong


def test_every_language_has_labels() -> None:
    assert len(_LABELS) == 12
    assert all(len(rows["corrections"]) >= 8 and len(rows["others"]) >= 8 for rows in _LABELS.values())


def test_message_corrects_its_own_earlier_sentence() -> None:
    message = "Mi hermana se llama Lucía y vive en Sevilla. Perdón, quise decir en Granada, no en Sevilla."
    assert _corrected(message, []) == "vive en Sevilla."


def test_only_the_wrong_clause_is_corrected() -> None:
    earlier = ["My sister lives in Graz and works as a nurse. She has 3 cats."]
    assert _corrected("Oops, not Graz but Linz.", earlier) == "My sister lives in Graz"


def test_several_values_of_a_unit_are_not_guessed() -> None:
    assert _corrected("Sorry, 12 km.", ["Monday I ran 8 km, and on Tuesday 10 km."]) is None


def test_right_value_that_was_stated_already_corrects_nothing() -> None:
    assert _corrected("Typo: 22 km.", ["I ran 24 km.", "I ran 22 km."]) is None


@pytest.mark.parametrize(
    "text", ["not 24, " * 600, "sorry " * 800, "no, " * 1_000, "24 km, " * 700, "不是24,是22" * 500]
)
def test_long_messages_take_bounded_time(text: str) -> None:
    earlier = ["I ran 24 km, " * 300] * 20
    start = time.process_time()
    find_correction(text, earlier)
    assert time.process_time() - start < 2
