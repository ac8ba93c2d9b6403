"""Reads the sets that were written for this project, one JSON line per turn and per question."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from benchmarks.sets import Conversation, Question, Turn

Half = Literal["tune", "report"]
_Line = dict[str, Any]


def read(path: Path, half: Half | None = None) -> list[Conversation]:
    """Read a file's conversations in order, with the questions of one half or all of them."""
    said: dict[str, list[Turn]] = {}
    asked: dict[str, list[_Line]] = {}
    for text in path.read_text(encoding="utf-8").splitlines():
        line: _Line = json.loads(text)
        if "question" not in line:
            said.setdefault(line["conversation"], []).append(_turn(line))
        elif half is None or line["half"] == half:
            asked.setdefault(line["conversation"], []).append(line)
    return [
        Conversation(id=name, turns=tuple(turns), questions=tuple(_question(each, turns) for each in asked[name]))
        for name, turns in said.items()
        if name in asked
    ]


def spoken(path: Path) -> list[Conversation]:
    """Read a file's conversations without their questions."""
    said: dict[str, list[Turn]] = {}
    for text in path.read_text(encoding="utf-8").splitlines():
        line: _Line = json.loads(text)
        if "question" not in line:
            said.setdefault(line["conversation"], []).append(_turn(line))
    return [Conversation(id=name, turns=tuple(turns), questions=()) for name, turns in said.items()]


def _turn(line: _Line) -> Turn:
    return Turn(
        id=line["id"],
        text=line["text"],
        speaker=line["speaker"],
        at=datetime.fromisoformat(line["at"]),
        session=line["session"],
    )


def _question(line: _Line, turns: list[Turn]) -> Question:
    sessions = {turn.id: turn.session for turn in turns}
    evidence: list[str] = line["evidence"]
    return Question(
        id=line["id"],
        text=line["question"],
        evidence=frozenset(evidence),
        category=line["category"],
        at=turns[-1].at,
        answer=line["answer"],
        evidence_sessions=frozenset(sessions[each] for each in evidence),
    )
