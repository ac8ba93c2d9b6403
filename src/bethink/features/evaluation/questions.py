"""The questions of an evaluation, one JSON object on each line of a file."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from bethink.base.frozen import frozen
from bethink.errors import Invalid

_KNOWN = ("id", "question", "answer", "evidence", "as_of")
_LINE = 'Write one object per line: {"question": "…", "answer": "…", "evidence": ["…"]}.'


@frozen
class EvalQuestion:
    """A question, the answers that are right, and the texts or refs that hold one of them.

    `answers` is None if only evidence is known, and empty if memory does not hold the answer and must say so.
    """

    id: str
    question: str
    answers: tuple[str, ...] | None = None
    evidence: tuple[str, ...] = ()
    as_of: str | None = None


def read_questions(lines: Iterable[str]) -> list[EvalQuestion]:
    """Read questions. Blank lines are left out.

    Raises:
        Invalid: if a line cannot be used; it names the line.
    """
    found = [_question(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise Invalid("there are no questions.", hint=_LINE)
    return found


def _question(number: int, line: str) -> EvalQuestion:
    given = _object(number, line)
    unknown = [name for name in given if name not in _KNOWN]
    if unknown:
        raise Invalid(f"line {number}: unknown field {unknown[0][:100]!r}.", hint=f"Use {', '.join(_KNOWN)}.")
    question, as_of = given.get("question"), given.get("as_of")
    if not isinstance(question, str) or not question.strip():
        raise Invalid(f"line {number} has no question.", hint=_LINE)
    if as_of is not None and not isinstance(as_of, str):
        raise Invalid(f"line {number}: as_of is not a day.", hint="Write it as 2026-03-01.")
    answers = None if "answer" not in given else _texts(number, "answer", given["answer"])
    evidence = _texts(number, "evidence", given.get("evidence"))
    if answers is None and not evidence:
        raise Invalid(f"line {number} has neither answer nor evidence.", hint=_LINE)
    return EvalQuestion(
        id=str(given.get("id", number)), question=question, answers=answers, evidence=evidence, as_of=as_of
    )


def _object(number: int, line: str) -> Mapping[str, object]:
    try:
        read: object = json.loads(line)
    except (ValueError, RecursionError):
        raise Invalid(f"line {number} is not JSON.", hint=_LINE) from None
    if not isinstance(read, dict):
        raise Invalid(f"line {number} is not an object.", hint=_LINE)
    return cast("Mapping[str, object]", read)


def _texts(number: int, name: str, given: object) -> tuple[str, ...]:
    values: Sequence[object] = () if given is None else (given,)
    if isinstance(given, list):
        values = cast("Sequence[object]", given)
    texts = [each.strip() for each in values if isinstance(each, str)]
    if len(texts) != len(values) or not all(texts):
        raise Invalid(f"line {number}: {name} is not a text or a list of texts.", hint=_LINE)
    return tuple(texts)
