"""What scripted models share: the lines and claims of a request, the shape of answers, and an honest second reading."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

Claim = dict[str, object]

_LINE = re.compile(r"^\[(\d+)\] (?:\d\d:\d\d )?([^:\n]*): ([^\n]*(?:\n  [^\n]*)*)", re.MULTILINE)
_CLAIM = re.compile(r"^(c\d+) about ([^,\n]*), (\w+)(?:, doubt: .*?)?, \[([\d, ]*)\]: (.*)$", re.MULTILINE)
_NEW = "\nNew:\n"
_END = "</messages>"
OWNER = "owner"
NOBODY = "no one"
TELLING = ("preference", "instruction", "procedure")


class Line(NamedTuple):
    """A message as a request shows it."""

    number: int
    speaker: str
    text: str


class Claimed(NamedTuple):
    """A claim as a second reading is asked about it."""

    name: str
    about: str
    kind: str
    numbers: tuple[int, ...]
    statement: str


def shown_lines(prompt: str) -> list[Line]:
    """Return all messages of a request."""
    part = prompt.partition(_END)[0]
    return [Line(int(number), who, text.replace("\n  ", "\n")) for number, who, text in _LINE.findall(part)]


def new_lines(prompt: str) -> list[Line]:
    """Return the new messages of a request."""
    return shown_lines(prompt.partition(_NEW)[2])


def claimed(prompt: str) -> list[Claimed]:
    """Return the claims that a second reading is asked about."""
    return [
        Claimed(name, about, kind, tuple(int(each) for each in numbers.split(", ") if each), statement)
        for name, about, kind, numbers, statement in _CLAIM.findall(prompt)
    ]


def quote(number: object, text: object, role: str = "word") -> dict[str, object]:
    """Quote a message."""
    return {"message": number, "text": text, "as": role}


def claim(statement: str, *quotes: object, **more: object) -> Claim:
    """Make a claim about the owner, as a model writes it."""
    fields: Claim = {"quotes": list(quotes), "statement": statement, "about": OWNER, "kind": "detail"}
    fields |= {"stance": "said", "scope": None, "slot": None, "happened": None, "since": None, "until": None}
    fields |= {"op": "new", "known": list[str](), "review": None}
    return fields | more


def answer(claims: object, **more: object) -> str:
    """Write an extraction."""
    fields: Claim = {"claims": claims, "suspicious": list[int](), "title": "a talk"}
    return json.dumps(fields | more)


def verdicts(said: Iterable[object], others: Sequence[object] = ()) -> str:
    """Write a second reading."""
    return json.dumps({"said": list(said), "others": list(others)})


def other(name: object, verdict: str = "unclear", because: str = "it is not there") -> dict[str, object]:
    """Judge that a claim does not stand."""
    return {"claim": name, "verdict": verdict, "text": because}


def judged(prompt: str, is_said: Callable[[Claimed], bool]) -> str:
    """Read again: what is said is said, and everything else is unclear."""
    asked = claimed(prompt)
    found = {each.name: is_said(each) for each in asked}
    return verdicts(
        [name for name, said in found.items() if said], [other(name) for name, said in found.items() if not said]
    )


def says_so(prompt: str) -> Callable[[Claimed], bool]:
    """Return an honest judge for claims in the words of the messages: a quoted message must say it, word for word.

    About the owner, only the owner can know, and nobody else has wishes.
    """
    lines = shown_lines(prompt)

    def is_said(each: Claimed) -> bool:
        whose = [line.speaker for line in lines if line.number in each.numbers and line.text == each.statement]
        if each.about == OWNER or each.kind in TELLING:
            return OWNER in whose and each.about in (OWNER, NOBODY)
        return each.about == NOBODY and bool(whose)

    return is_said


def taken_in(prompt: str) -> Callable[[Claimed], bool]:
    """Return a judge that believes the first message that is quoted, whoever says it and whatever about."""
    said = {line.number: line.text for line in shown_lines(prompt)}
    return lambda each: each.about in (OWNER, NOBODY) and said.get(each.numbers[0]) == each.statement
