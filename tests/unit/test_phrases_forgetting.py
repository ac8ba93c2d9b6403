"""Plain requests to forget are found without a model, and nothing else is taken for one."""

import time

import pytest

from bethink.memory.phrases.forgetting import find_forget_request
from bethink.model.forgetting import ForgetScope
from tests.unit.phrases_kit import is_tuned, labels

_LABELS = labels("forgetting")
_POSITIVES = [(language, *row) for language, rows in _LABELS.items() for row in rows["requests"]]
_NEGATIVES = [(language, text) for language, rows in _LABELS.items() for text in rows["others"]]


def _is_right(message: str, scope: str, word: str) -> bool:
    request = find_forget_request(message)
    return (
        request is not None
        and request.scope is ForgetScope(scope)
        and word in request.target
        and bool(word) == bool(request.target)
    )


@pytest.mark.parametrize(("language", "message", "scope", "word"), [row for row in _POSITIVES if is_tuned(row[1])])
def test_request_names_what_to_forget(language: str, message: str, scope: str, word: str) -> None:
    assert _is_right(message, scope, word), language


@pytest.mark.parametrize(("language", "message"), [row for row in _NEGATIVES if is_tuned(row[1])])
def test_other_messages_request_nothing(language: str, message: str) -> None:
    assert find_forget_request(message) is None, language


def test_unseen_messages_are_read_as_labeled() -> None:
    """The half that the phrases were not written against: precision matters more than recall."""
    unseen = [_is_right(*row[1:]) for row in _POSITIVES if not is_tuned(row[1])]
    wrong = [row for row in _NEGATIVES if not is_tuned(row[1]) and find_forget_request(row[1]) is not None]
    assert sum(unseen) >= 0.9 * len(unseen)
    assert not wrong


def test_every_language_has_labels() -> None:
    assert len(_LABELS) == 12
    assert all(len(rows["requests"]) >= 8 and len(rows["others"]) >= 8 for rows in _LABELS.values())


def test_request_is_one_sentence_of_its_message() -> None:
    text = "The talk went fine. Forget everything about Tom, please. I play the cello."
    request = find_forget_request(text)
    assert request is not None
    assert text[request.start : request.stop] == "Forget everything about Tom, please."


def test_wiping_the_whole_memory_is_no_plain_request() -> None:
    assert find_forget_request("Delete everything from your memory.") is None


@pytest.mark.parametrize(
    "text", ["forget everything about " * 150, "please " * 600, "delete, " * 500, "忘记关于" * 900]
)
def test_long_messages_take_bounded_time(text: str) -> None:
    start = time.process_time()
    find_forget_request(text)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("Delete what I said about Anna.", "Anna"),
        ("Erase everything you know about my brother.", "my brother"),
        ("Supprime tout ce que je t'ai dit sur Paul.", "Paul"),
        ("请把我说的关于前男友的事都忘掉。", "前男友"),
    ],
)
def test_deleting_what_was_told_needs_no_word_for_memory(text: str, target: str) -> None:
    request = find_forget_request(text)
    assert request is not None
    assert request.target == target


@pytest.mark.parametrize("text", ["Delete the file about Anna.", "Erase everything about Anna from the report."])
def test_deleting_something_else_is_no_request(text: str) -> None:
    assert find_forget_request(text) is None
