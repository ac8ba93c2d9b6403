"""The sets that recall is measured on: four of long conversations, MADial, and five that are kept here."""

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from benchmarks import sets
from benchmarks.connected import connected, connected2
from benchmarks.everyday import everyday, everyday2
from benchmarks.own_sets import Half
from benchmarks.sets import Conversation, Question, Turn
from benchmarks.tongues import tongues

_READERS: Mapping[str, Callable[[Half | None], list[Conversation]]] = {
    "everyday": everyday,
    "everyday2": everyday2,
    "tongues": tongues,
    "connected": connected,
    "connected2": connected2,
}
OWN = tuple(_READERS)
"""Sets that need no folder of data."""
CONNECTED = ("connected", "connected2")
"""Sets in which every question has rivals: the same person, the same matter, or an older answer."""
KINDS: Mapping[str, Sequence[str]] = {
    "everyday statements": ("everyday", "everyday2"),
    "connected lives": CONNECTED,
    "twelve languages": ("tongues",),
    "quizzes about people": ("locomo", "realtalk"),
    "open conversation": ("madial-en", "madial-zh"),
    "long chats": ("longmemeval", "beam"),
}
"""The sets by kind of data: a certainty has to be right in each kind."""
LONG = ("locomo", "realtalk", "beam", "longmemeval")
"""Sets of which one half tuned the weights."""
SESSIONS = ("longmemeval",)
"""Sets in which whole sessions are the evidence."""


def load(name: str, data: Path) -> list[Conversation]:
    """Read a set by its name. Raises `SystemExit` if its files are missing."""
    try:
        return SETS[name](data)
    except FileNotFoundError as error:
        raise SystemExit(f"no {name} under {data}: {error.filename} is missing") from error


def together(name: str, conversations: Sequence[Conversation]) -> Conversation:
    """Put all conversations of a set into one, each session once, so that every question is asked of all of them."""
    turns: dict[tuple[str, ...], list[Turn]] = {}
    questions: list[Question] = []
    for place, each in enumerate(conversations):
        moved: dict[str, str] = {}
        for session, said in groupby(sorted(each.turns, key=lambda turn: turn.session), lambda turn: turn.session):
            told = list(said)
            known = turns.setdefault(
                (session, *(turn.text for turn in told)),
                [replace(turn, id=f"{each.id}/{turn.id}", session=f"{each.id}/{session}") for turn in told],
            )
            moved |= {turn.id: other.id for turn, other in zip(told, known, strict=True)}
        questions += [
            replace(question, evidence=frozenset(moved[turn] for turn in question.evidence), odd=place % 2 == 0)
            for question in each.questions
        ]
    whole = sorted(chain.from_iterable(turns.values()), key=lambda turn: turn.at)
    return Conversation(id=name, turns=tuple(whole), questions=tuple(questions))


def _own(name: str, _: Path) -> list[Conversation]:
    read = _READERS[name]
    tuned = {(each.id, question.id) for each in read("tune") for question in each.questions}
    return [
        replace(
            each,
            questions=tuple(
                replace(
                    question,
                    id=f"{each.id}-{question.id}",
                    language=each.id if name == "tongues" else question.language,
                    odd=(each.id, question.id) in tuned,
                )
                for question in each.questions
            ),
        )
        for each in read(None)
    ]


def _madial(language: str, data: Path) -> list[Conversation]:
    with gzip.open(data / "madial" / f"madial-{language}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [_madial_chat(json.loads(line), language) for line in lines]


def _madial_chat(record: Mapping[str, Any], language: str) -> Conversation:
    """Read memories, and the turns of a talk that call them up: the question is such a turn, its answer has no text."""
    turns = tuple(
        Turn(
            id=said["id"],
            text=said["text"],
            speaker=said["speaker"],
            at=datetime.fromisoformat(said["at"]),
            session=str(said["session"]),
        )
        for said in record["conversation"]
    )
    where = {turn.id: turn.session for turn in turns}
    questions = tuple(
        Question(
            id=f"{record['id']}-{place}",
            text=each["q"],
            evidence=frozenset(each["evidence"]),
            category=each["category"],
            at=max(turn.at for turn in turns),
            answer="",
            evidence_sessions=frozenset(where[turn] for turn in each["evidence"]),
            language=language,
        )
        for place, each in enumerate(record["questions"])
    )
    return Conversation(id=record["id"], turns=turns, questions=questions)


SETS: Mapping[str, Callable[[Path], list[Conversation]]] = {
    **{name: sets.SETS[name] for name in LONG},
    "madial-en": partial(_madial, "en"),
    "madial-zh": partial(_madial, "zh"),
    **{name: partial(_own, name) for name in OWN},
}
