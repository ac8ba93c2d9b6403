"""Evaluation questions: a file with one JSON object per line."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from bethink.base.frozen import frozen
from bethink.errors import InvalidRequestError

_FIELDS = ("id", "question", "answer", "evidence", "as_of", "known_at")
_LINE = 'Write one object per line: {"question": "…", "answer": "…", "evidence": ["…"]}.'


@frozen
class EvalQuestion:
    """A question, its correct answers, and texts or refs that contain one of them.

    `answers` is None if there is only evidence, and empty if memory has no answer and must refuse.
    """

    id: str
    question: str
    answers: tuple[str, ...] | None = None
    evidence: tuple[str, ...] = ()
    as_of: str | None = None
    known_at: str | None = None


def read_questions(lines: Iterable[str]) -> list[EvalQuestion]:
    """Parse questions. Blank lines are skipped.

    Raises:
        InvalidRequestError: if a line is invalid. The message has its number.
    """
    questions = [_question(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not questions:
        raise InvalidRequestError("The file has no questions.", hint=_LINE)
    return questions


def _question(number: int, line: str) -> EvalQuestion:
    fields = _object(number, line)
    unknown = [name for name in fields if name not in _FIELDS]
    if unknown:
        raise InvalidRequestError(
            f"Line {number}: unknown field {unknown[0][:100]!r}.", hint=f"Use {', '.join(_FIELDS)}."
        )
    question = fields.get("question")
    if not isinstance(question, str) or not question.strip():
        raise InvalidRequestError(f"Line {number} has no `question`.", hint=_LINE)
    answers = None if "answer" not in fields else _texts(number, "answer", fields["answer"])
    evidence = _texts(number, "evidence", fields.get("evidence"))
    if answers is None and not evidence:
        raise InvalidRequestError(f"Line {number} has neither `answer` nor `evidence`.", hint=_LINE)
    return EvalQuestion(
        id=str(fields.get("id", number)),
        question=question,
        answers=answers,
        evidence=evidence,
        as_of=_time(number, "as_of", fields),
        known_at=_time(number, "known_at", fields),
    )


def _time(number: int, name: str, fields: Mapping[str, object]) -> str | None:
    time = fields.get(name)
    if time is not None and not isinstance(time, str):
        raise InvalidRequestError(f"Line {number}: `{name}` is not a date.", hint="Use the form 2026-03-01.")
    return time


def _object(number: int, line: str) -> Mapping[str, object]:
    try:
        tree: object = json.loads(line)
    except (ValueError, RecursionError):
        raise InvalidRequestError(f"Line {number} is not JSON.", hint=_LINE) from None
    if not isinstance(tree, dict):
        raise InvalidRequestError(f"Line {number} is not a JSON object.", hint=_LINE)
    return cast("Mapping[str, object]", tree)


def _texts(number: int, name: str, value: object) -> tuple[str, ...]:
    values: Sequence[object] = () if value is None else (value,)
    if isinstance(value, list):
        values = cast("Sequence[object]", value)
    texts = [item.strip() for item in values if isinstance(item, str)]
    if len(texts) != len(values) or not all(texts):
        raise InvalidRequestError(f"Line {number}: `{name}` must be a string or a list of strings.", hint=_LINE)
    return tuple(texts)
