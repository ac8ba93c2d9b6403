"""Reads five public sets of long conversations, with questions and the turns that answer them, into one shape."""

import json
import random
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from bethink.model.moments import EPOCH

_Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing said. `id` is unique within its conversation; all turns of a session may have one time."""

    id: str
    text: str
    speaker: str
    at: datetime
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, asked after the conversation, with the turns that answer it.

    Without an `answer` there is nothing to be known: the right reply is that it was never said. `odd` says in which
    half a question is, where a set splits its questions rather than its conversations. `rubric` lists the points that
    a judge looks for, in sets that are judged by points. `needs` is the id of a question that has to be answered right
    before this one counts.
    """

    id: str
    text: str
    evidence: frozenset[str]
    category: str
    at: datetime
    answer: str | None
    evidence_sessions: frozenset[str]
    language: str = "en"
    odd: bool | None = None
    rubric: tuple[str, ...] = ()
    needs: str | None = None

    @property
    def answerable(self) -> bool:
        """Say whether there is an answer, and turns known to hold it."""
        return bool(self.evidence) and self.answer is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What one pair of speakers said over many sessions, in order, and what is asked about it."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def load(name: str, data: Path) -> list[Conversation]:
    """Read a set by its name in `SETS` from the folder that holds them all."""
    try:
        return SETS[name](data)
    except FileNotFoundError as error:
        raise SystemExit(f"no {name} under {data}: {error.filename} is missing") from error


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _moment(text: str, form: str) -> datetime:
    return datetime.strptime(text, form).replace(tzinfo=UTC)


def _files(folder: Path, pattern: str) -> list[Path]:
    found = list(folder.glob(pattern))
    if not found:
        raise FileNotFoundError(2, "nothing to read", str(folder / pattern))
    return found


def _sessions_of(evidence: Iterable[str], turns: Iterable[Turn]) -> frozenset[str]:
    where = {turn.id: turn.session for turn in turns}
    return frozenset(where[each] for each in evidence)


_CATEGORIES = {
    "locomo": {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"},
    "realtalk": {1: "multi-hop", 2: "temporal", 3: "commonsense"},
}
_NUMBERED = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def _locomo(data: Path) -> list[Conversation]:
    def turns_of(talk: _Json, number: int) -> Iterable[Turn]:
        at = _moment(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        for said in talk[f"session_{number}"]:
            yield _chat_turn(said, said["text"], at, number)

    return [
        _chat(sample["sample_id"], sample["conversation"], sample["qa"], "locomo", turns_of)
        for sample in _read(data / "locomo" / "locomo10.json")
    ]


def _realtalk(data: Path) -> list[Conversation]:
    def turns_of(talk: _Json, number: int) -> Iterable[Turn]:
        for said in talk[f"session_{number}"]:
            at = _moment(said["date_time"], "%d.%m.%Y, %H:%M:%S")
            yield _chat_turn(said, said.get("clean_text") or "", at, number)

    chats = {path.name: _read(path) for path in sorted(_files(data / "realtalk", "*.json"))}
    return [_chat(name, chat, chat["qa"], "realtalk", turns_of) for name, chat in chats.items()]


def _chat_turn(said: _Json, text: str, at: datetime, session: int) -> Turn:
    caption = said.get("blip_caption")
    if caption:
        seen = caption if isinstance(caption, str) else "; ".join(map(str, caption))
        text = f"{text} [shares an image: {seen}]"
    return Turn(id=said["dia_id"], text=text, speaker=said["speaker"], at=at, session=str(session))


def _chat(
    name: str, talk: _Json, asked: list[_Json], kind: str, turns_of: Callable[[_Json, int], Iterable[Turn]]
) -> Conversation:
    numbers = sorted(int(found[1]) for found in map(_NUMBERED.fullmatch, talk) if found)
    turns = tuple(turn for number in numbers for turn in turns_of(talk, number))
    known, end = {turn.id for turn in turns}, max(turn.at for turn in turns)
    questions: list[Question] = []
    for place, each in enumerate(asked):
        named = _EVIDENCE.findall(" ".join(each.get("evidence") or ()))
        evidence = frozenset(f"D{session}:{int(turn)}" for session, turn in named) & known
        category = _CATEGORIES[kind].get(each["category"], str(each["category"]))
        # What a trap question names as its answer is the mistake it invites.
        answer = None if category == "adversarial" else str(each["answer"])
        questions.append(
            Question(
                id=f"{name}-{place}",
                text=each["question"],
                evidence=evidence,
                category=category,
                at=end,
                answer=answer,
                evidence_sessions=_sessions_of(evidence, turns),
            )
        )
    return Conversation(id=name, turns=turns, questions=tuple(questions))


_BEAM_ANSWERS = ("answer", "ideal_answer", "ideal_summary", "expected_compliance")
_NOTE = re.compile(r"\s*->->.*$", re.DOTALL)


def _beam(data: Path) -> list[Conversation]:
    folders = [path.parent for path in _files(data / "beam" / "100K", "*/chat.json")]
    return [_beam_chat(folder) for folder in sorted(folders, key=lambda path: int(path.name))]


def _beam_chat(folder: Path) -> Conversation:
    turns: list[Turn] = []
    at = EPOCH
    for number, batch in enumerate(_read(folder / "chat.json"), 1):
        for said in (said for exchange in batch["turns"] for said in exchange):
            if said.get("time_anchor"):
                at = _moment(said["time_anchor"], "%B-%d-%Y")
            text = _NOTE.sub("", said["content"])  # the notes of whoever made the set
            turns.append(Turn(id=str(said["id"]), text=text, speaker=said["role"], at=at, session=str(number)))
    known = {turn.id for turn in turns}
    questions: list[Question] = []
    for category, asked in _read(folder / "probing_questions" / "probing_questions.json").items():
        for place, each in enumerate(asked):
            evidence = frozenset(_numbers_in(each.get("source_chat_ids"))) & known
            questions.append(
                Question(
                    id=f"{folder.name}-{category}-{place}",
                    text=each["question"],
                    evidence=evidence,
                    category=category,
                    at=max(turn.at for turn in turns),
                    answer=next((str(each[key]) for key in _BEAM_ANSWERS if key in each), None),
                    evidence_sessions=_sessions_of(evidence, turns),
                    rubric=tuple(map(str, each.get("rubric") or ())),
                )
            )
    return Conversation(id=folder.name, turns=tuple(turns), questions=tuple(questions))


def _numbers_in(value: object) -> Iterable[str]:
    if isinstance(value, (int, str)) and not isinstance(value, bool):
        yield from [str(value)] if str(value).isdigit() else []
    elif isinstance(value, (list, dict)):
        whole = cast("list[object] | dict[str, object]", value)
        for each in whole.values() if isinstance(whole, dict) else whole:
            yield from _numbers_in(each)


_LONG_FORM = "%Y/%m/%d (%a) %H:%M"
_FILLED_TO = 48
_FILLER_SEED = 7
_FILLER_MINUTES = (60, 60 * 24 * 90)


PUBLISHED = ("longmemeval_s.json", "longmemeval_s_cleaned.json")
"""Names of the published `_S` file of LongMemEval."""


def _longmemeval_real(data: Path) -> list[Conversation]:
    return [_long_chat(each) for each in _long_records(data)]


def _longmemeval_s(data: Path) -> list[Conversation]:
    """Read the published `_S` file, as it is or cleaned."""
    files = [data / "longmemeval" / name for name in PUBLISHED]
    path = next((path for path in files if path.is_file()), files[0])
    return [_long_chat(record) for record in _read(path)]


def _longmemeval(data: Path) -> list[Conversation]:
    """Put the sessions that answer each question among 48, the others drawn from those of the whole records.

    So it is near to the published `_S` file, but not the same.
    """
    pool: dict[str, Any] = {}
    for record in _long_records(data):
        for name, session in zip(record["haystack_session_ids"], record["haystack_sessions"], strict=True):
            if not name.startswith("answer"):
                pool.setdefault(name, session)
    names = sorted(pool)
    draw = random.Random(_FILLER_SEED)
    found: list[Conversation] = []
    for record in _read(data / "longmemeval" / "longmemeval_oracle.json"):
        asked = _moment(record["question_date"], _LONG_FORM)
        filler = draw.sample(names, _FILLED_TO - len(record["haystack_sessions"]))
        dates = [asked - timedelta(minutes=draw.randint(*_FILLER_MINUTES)) for _ in filler]
        filled = {
            "haystack_session_ids": [*record["haystack_session_ids"], *filler],
            "haystack_dates": [*record["haystack_dates"], *(f"{date:{_LONG_FORM}}" for date in dates)],
            "haystack_sessions": [*record["haystack_sessions"], *(pool[name] for name in filler)],
        }
        found.append(_long_chat({**record, **filled}))
    return found


def _long_records(data: Path) -> list[_Json]:
    found: dict[str, _Json] = {}
    for path in sorted(_files(data / "longmemeval" / "s_parts", "*.json")):
        content: object = _read(path)
        for record in cast("list[_Json]", content if isinstance(content, list) else [content]):
            if "haystack_sessions" in record:
                found.setdefault(record["question_id"], record)
    return list(found.values())


def _long_chat(record: _Json) -> Conversation:
    columns = (record[f"haystack_{name}"] for name in ("session_ids", "dates", "sessions"))
    turns: list[Turn] = []
    evidence: set[str] = set()
    for session, date, said in sorted(zip(*columns, strict=True), key=lambda each: each[1]):
        at = _moment(date, _LONG_FORM)
        for place, each in enumerate(said):
            turns.append(
                Turn(id=f"{session}#{place}", text=each["content"], speaker=each["role"], at=at, session=session)
            )
            if each.get("has_answer"):
                evidence.add(turns[-1].id)
    question = Question(
        id=record["question_id"],
        text=record["question"],
        evidence=frozenset(evidence),
        category=record["question_type"],
        at=_moment(record["question_date"], _LONG_FORM),
        answer=None if record["question_id"].endswith("_abs") else str(record["answer"]),
        evidence_sessions=frozenset(record["answer_session_ids"]),
    )
    return Conversation(id=record["question_id"], turns=tuple(turns), questions=(question,))


_MEME_TIMES = ("before", "after")
_MEME_FILTERED = ("Cas", "Abs", "Del")
"""Tasks that count only if the question about the earlier state was answered right, too."""


def _meme(data: Path) -> list[Conversation]:
    """Read each episode twice: up to the questions before the change, and whole with the questions after it."""
    episodes: list[_Json] = _read(data / "meme" / "meme_filler32k.json")
    return [_meme_chat(episode, time) for episode in episodes for time in _MEME_TIMES]


def _meme_chat(episode: _Json, time: str) -> Conversation:
    asked: _Json = episode[f"{time}_questions"]
    name: str = episode["episode_id"]
    turns: list[Turn] = []
    for number, session in enumerate(episode["sessions"][: asked["position_after_session"] + 1]):
        at = _moment(session["timestamp"], _LONG_FORM)
        turns += [
            Turn(id=f"{number}#{place}", text=said["content"], speaker=said["role"], at=at, session=str(number))
            for place, said in enumerate(session["conversation"])
        ]
    earlier = {_meme_task(each): place for place, each in enumerate(episode["before_questions"]["questions"])}
    questions: list[Question] = []
    for place, each in enumerate(asked["questions"]):
        task = each["task_type"].split("_")[0]
        filtered = time == "after" and task in _MEME_FILTERED and _meme_task(each) in earlier
        key = each.get("gold_answer") or each.get("expected_answer")
        questions.append(
            Question(
                id=f"{name}-{time}-{place}",
                text=each["question"],
                evidence=frozenset(),
                category=task if time == "after" else f"before {task}",
                at=_moment(asked["timestamp"], _LONG_FORM),
                answer=None if key is None else str(key),
                evidence_sessions=frozenset(),
                needs=f"{name}-before-{earlier[_meme_task(each)]}" if filtered else None,
            )
        )
    return Conversation(id=f"{name}-{time}", turns=tuple(turns), questions=tuple(questions))


def _meme_task(question: _Json) -> str:
    """Name the task and the entities of a question, which are the same before and after the change."""
    entities = question.get("entity") or question.get("entities") or question.get("target_entities")
    return f"{question['task_type'].split('_')[0]} {json.dumps(entities)}"


SETS: Mapping[str, Callable[[Path], list[Conversation]]] = {
    "locomo": _locomo,
    "longmemeval": _longmemeval,
    "longmemeval_real": _longmemeval_real,
    "longmemeval_s": _longmemeval_s,
    "realtalk": _realtalk,
    "beam": _beam,
    "meme": _meme,
}
