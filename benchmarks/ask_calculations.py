"""Calculated answers that `ask` must keep, and wrong ones that it must reject.

`data/calculations.jsonl` has right answers with the memories that they cite. The wrong ones are made from them: another
result, another unit, an operand that is not cited, and one of another memory.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.memory.answering.proof import Proof
from bethink.memory.answering.sentences import SentenceSplitter
from bethink.model.answers import AnswerSentence, SentenceFault
from bethink.model.recall import Match
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind

CASES = Path(__file__).parent / "data" / "calculations.jsonl"
_NUMBERS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty
"""
_WORDS: Sequence[str] = _NUMBERS.split()
_RESULT = re.compile(
    rf"(?P<sign>[$€]?)(?P<number>\d[\d,]*(?:\.\d+)?(?::\d\d)?|\b(?:{'|'.join(_WORDS[1:])})\b)", re.IGNORECASE
)
_OTHER_UNITS = {
    "days": "weeks", "weeks": "months", "months": "years", "years": "months", "hours": "minutes", "minutes": "hours",
    "kilometers": "miles", "kilos": "grams", "euros": "dollars", "liters": "kilometers",
}  # fmt: skip
_UNIT = re.compile(rf"\b(?:{'|'.join(_OTHER_UNITS)})\b")
_LETTERS = "abcdefghijklmnop"


@frozen
class Calculation:
    """A question, the memories, and the right answer with the memories that it cites."""

    question: str
    today: datetime
    lines: tuple[Match, ...]
    answer: str
    cites: tuple[int, ...]


class Attempt(NamedTuple):
    """A sentence with citations that a model may write."""

    kind: str
    text: str
    cites: tuple[int, ...]


def load(path: Path = CASES) -> list[Calculation]:
    """Return the cases of a file."""
    return [_calculation(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def _calculation(row: dict[str, object]) -> Calculation:
    lines = [_match(number, day, text) for number, (day, text) in enumerate(_pairs(row["lines"]))]
    return Calculation(
        question=str(row["question"]),
        today=_moment(str(row["today"])),
        lines=tuple(lines),
        answer=str(row["answer"]),
        cites=tuple(int(str(number)) for number in _list(row["cites"])),
    )


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value  # pyright: ignore[reportUnknownVariableType]


def _pairs(value: object) -> Iterator[tuple[str, str]]:
    for pair in _list(value):
        day, text = _list(pair)
        yield str(day), str(text)


def _moment(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC)


def _match(number: int, day: str, text: str) -> Match:
    return Match(
        ref=Ref(RefKind.MESSAGE, f"ses_{number}", 1),
        text=text,
        origin=Origin("user"),
        said_at=_moment(day),
        score=1.0,
        tokens=len(text) // 4,
        label=6 * _LETTERS[number],
    )


def check(case: Calculation, attempt: Attempt) -> AnswerSentence | SentenceFault:
    """Return what the proof says to a sentence with its citations."""
    labels = "".join(f"[^{case.lines[number].label}]" for number in attempt.cites)
    splitter = SentenceSplitter()
    [sentence] = [*splitter.add(f"{attempt.text} {labels}"), *splitter.finish()]
    return Proof(case.lines, question=case.question, space="town", now=case.today).check(sentence)


def right(case: Calculation) -> Attempt:
    """Return the right answer."""
    return Attempt("right", case.answer, case.cites)


def wrong(case: Calculation) -> list[Attempt]:
    """Return wrong answers: other results, other units, and citations without one of the operands."""
    result = _RESULT.search(case.answer)
    assert result is not None, case.answer
    attempts = [
        Attempt("result", _with_result(case.answer, result, number), case.cites) for number in _other_results(result)
    ]
    unit = _UNIT.search(case.answer)
    if unit is not None and 0 <= unit.start() - result.end() <= 1:
        text = f"{case.answer[: unit.start()]}{_OTHER_UNITS[unit[0]]}{case.answer[unit.end() :]}"
        attempts.append(Attempt("unit", text, case.cites))
    if result["sign"]:
        attempts.append(Attempt("unit", case.answer.translate(str.maketrans("$€", "€$")), case.cites))
    for dropped in case.cites if len(case.cites) > 1 else ():
        remaining = tuple(cite for cite in case.cites if cite != dropped)
        attempts.append(Attempt("uncited operand", case.answer, remaining))
        others = [number for number in range(len(case.lines)) if number not in case.cites]
        attempts += [Attempt("foreign operand", case.answer, (*remaining, other)) for other in others]
    return attempts


def _other_results(result: re.Match[str]) -> list[str]:
    number = result["number"]
    if ":" in number:
        hour, minute = map(int, number.split(":"))
        moved = [(60 * hour + minute + by) % 720 for by in (15, -15, 60, 90, 5)]
        return [f"{minutes // 60 or 12}:{minutes % 60:02}" for minutes in moved]
    if number.lower() in _WORDS:
        value = _WORDS.index(number.lower())
        return [_WORDS[other] for other in (value + 1, value - 1, 2 * value, value + 3) if 1 < other <= 20]
    value = float(number.replace(",", ""))
    others = [value + 1, value - 1, 2 * value, value + 10, round(1.1 * value + 1)]
    return [f"{other:,.10g}" for other in dict.fromkeys(others) if other > 1 and other != value]


def _with_result(answer: str, result: re.Match[str], number: str) -> str:
    return f"{answer[: result.start('number')]}{number}{answer[result.end('number') :]}"


def main() -> int:
    """Print how many right answers are kept, and how many wrong ones are rejected."""
    cases = load()
    kept = sum(isinstance(check(case, right(case)), AnswerSentence) for case in cases)
    attempts: Sequence[tuple[Calculation, Attempt]] = [(case, attempt) for case in cases for attempt in wrong(case)]
    accepted = [(case, attempt) for case, attempt in attempts if isinstance(check(case, attempt), AnswerSentence)]
    for case, attempt in accepted:
        print(f"accepted: {attempt.text} ({attempt.kind}; {case.question})")
    print(f"kept: {kept} of {len(cases)}; rejected: {len(attempts) - len(accepted)} of {len(attempts)} wrong ones")
    return 0 if kept == len(cases) and not accepted else 1


if __name__ == "__main__":
    sys.exit(main())
