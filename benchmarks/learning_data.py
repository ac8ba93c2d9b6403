"""Reads recorded learning: conversations, the claims a model drew from them, a second reading, and false claims.

Everything is read as text; no code of a set is run. `benchmarks/data/README.md` says what the files of a set hold.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from bethink import Message
from bethink.model.rules import CLAIM_FLAGS

OWN = Path(__file__).parent / "data" / "learning"
FOLLOWUP = "followup"
_OLD_REQUESTS = "as-it-is"
"""The folder beside a set with requests in an older form, which may hold the messages of its follow-up."""
_ABOUT = re.compile(r"Said on \w+, (\d{4}-\d\d-\d\d)\b.*?Owner: ([^.]+)\.")
_KNOWN = re.compile(r"^(f-[\w-]+): (.+)$", re.MULTILINE)
_LINE = re.compile(r"\[(\d+)\] (\d\d:\d\d) (.+?) \((person|AI|tool|system)\): (.*)")
_HEADING = re.compile(r"^## (User|Assistant) \[(\d+)\] (\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC.*$", re.MULTILINE)
_ROLES = {"person": "user", "AI": "assistant", "tool": "tool", "system": "system"}
_UNNAMED = ("owner", "user", "assistant")
_ARGUABLE = ("whose?", "true of", "acceptable")
"""How a reason begins, or what it says, if the claim can be defended after all: such a claim is left out."""
_STEM = 5
Claim = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the second reading says to a claim, with the corrected sentence if there is one."""

    verdict: str
    because: str = ""
    fixed: str | None = None


SAID = Verdict(verdict="said")


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseClaim:
    """A claim that the conversation does not support, and what a careful reader says to it."""

    session: str
    statement: str
    kind: str
    about: str
    sources: tuple[int, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """One conversation, what a model claimed of it, and what the second reading said to each statement."""

    name: str
    space: str
    messages: Sequence[Message]
    claims: Sequence[Claim]
    verdicts: Mapping[str, Verdict]
    false: Sequence[FalseClaim] = ()
    known: Mapping[str, str] = field(default_factory=dict[str, str])
    """The statements that the ids of known facts stand for."""

    @property
    def began_at(self) -> datetime:
        """When its first message was said."""
        return min(message.said_at for message in self.messages if message.said_at is not None)

    @property
    def said_at(self) -> datetime:
        """When its last message was said."""
        return max(message.said_at for message in self.messages if message.said_at is not None)

    def final(self, claim: Claim) -> str:
        """Return the statement of a claim after its second reading."""
        return self.verdicts[claim["statement"]].fixed or claim["statement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked later: patterns for the answer, and for what it corrected."""

    space: str
    text: str
    answer: re.Pattern[str]
    outdated: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Set:
    """Conversations in the order they were held, the one that changes what they said, and questions."""

    talks: Sequence[Talk]
    followup: Talk | None
    questions: Sequence[Question]


def load(folder: Path, also: Path | None = None) -> Set:
    """Read a set. Files that its folder lacks are looked for in `also`."""
    files = _Files([folder] if also is None else [folder, also])
    false = list(_false(files))
    names = [path.name.removesuffix(".request.txt") for path in sorted(folder.glob("*.request.txt"))]
    names = [name for name in names if not name.endswith(".second") and name != FOLLOWUP]
    talks = sorted((_talk(files, name, false) for name in names), key=lambda talk: talk.said_at)
    if not talks:
        raise SystemExit(f"no conversations in {folder}")
    questions = [_question(row) for row in files.rows("questions.jsonl")]
    spaces = {talk.space for talk in talks}
    return Set(
        talks=talks,
        followup=_followup(files, talks),
        questions=[question for question in questions if question.space in spaces],
    )


@dataclass(frozen=True, slots=True)
class _Files:
    folders: Sequence[Path]

    def find(self, name: str) -> Path | None:
        return next((path for folder in self.folders if (path := folder / name).is_file()), None)

    def text(self, name: str) -> str:
        path = self.find(name)
        return "" if path is None else path.read_text(encoding="utf-8")

    def rows(self, name: str) -> list[Any]:
        return [json.loads(line) for line in self.text(name).splitlines() if line.strip()]


def _talk(files: _Files, name: str, false: Sequence[FalseClaim]) -> Talk:
    text = files.text(f"{name}.request.txt")
    about = _ABOUT.search(text)
    if about is None:
        raise SystemExit(f"{name}.request.txt does not say on which day it was said")
    day, owner = about[1], about[2]
    claims = _claims(files, name)
    return Talk(
        name=name,
        space=name if "unknown" in owner else owner.casefold(),
        messages=_messages(text, day),
        claims=claims,
        verdicts=_verdicts(files, name, claims),
        false=[each for each in false if each.session == name],
        known=dict(_KNOWN.findall(text.partition("<messages>")[0])),
    )


def _messages(text: str, day: str) -> list[Message]:
    """Read the messages. A line that does not begin the next one belongs to the one before."""
    body = text.partition("<messages>\n")[2].rpartition("</messages>")[0]
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in body.splitlines():
        start = _LINE.fullmatch(line)
        if start is not None and int(start[1]) == len(found) + 1:
            found.append((start, [start[5]]))
        elif found:
            found[-1][1].append(line)
    return [
        Message(
            role=_ROLES[start[4]],
            name=None if start[3] in _UNNAMED else start[3],
            content="\n".join(lines).rstrip("\n"),
            said_at=_moment(day, start[2]),
        )
        for start, lines in found
    ]


def _claims(files: _Files, name: str) -> list[Claim]:
    tree = json.loads(files.text(f"{name}.answer.json") or '{"claims": []}')
    return [_claim(each) for each in tree["claims"]]


def _claim(given: Mapping[str, Any]) -> Claim:
    """Return a claim as it is asked for today: older recordings name some of its fields otherwise."""
    claim = dict(given)
    claim["happened"] = claim.pop("happens", claim.get("happened"))
    claim["quotes"] = [{"as": "word", **quote} for quote in claim["quotes"]]
    review = claim.get("review")
    claim["review"] = next((flag for flag in CLAIM_FLAGS if flag in review.split()), None) if review else None
    return claim


def _verdicts(files: _Files, name: str, claims: Sequence[Claim]) -> dict[str, Verdict]:
    tree = json.loads(files.text(f"{name}.second.answer.json") or '{"verdicts": []}')
    by_claim = {each["claim"]: each for each in tree["verdicts"]}
    found: dict[str, Verdict] = {}
    for place, claim in enumerate(claims, 1):
        each = by_claim.get(f"c{place}")
        found[claim["statement"]] = SAID if each is None else Verdict(
            verdict=each["verdict"], because=each.get("because") or "", fixed=each.get("fixed")
        )  # fmt: skip
    return found


def _false(files: _Files) -> Iterator[FalseClaim]:
    rows = files.rows("false.jsonl")
    for row in rows:
        verdict = Verdict(verdict=row["verdict"], because=row.get("why", ""))
        yield FalseClaim(
            session=row["session"], statement=row["statement"], kind=row["kind"], about=row.get("about", ""),
            sources=tuple(row["sources"]), verdict=verdict,
        )  # fmt: skip
    if not rows:
        yield from _planted(files.text("planted.py"))


def _planted(text: str) -> Iterator[FalseClaim]:
    """Read the only list of a Python file, without running it."""
    lists = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Assign)]
    for value in lists[:1]:
        for session, statement, kind, sources, why in ast.literal_eval(value):
            if not any(word in why for word in _ARGUABLE):
                verdict = Verdict(verdict="unclear", because=why)
                yield FalseClaim(
                    session=session, statement=statement, kind=kind, about=_about(statement), sources=tuple(sources),
                    verdict=verdict,
                )  # fmt: skip


def _about(statement: str) -> str:
    """Return whom a statement without a subject of its own is about: its first word, if that is a name."""
    words = statement.removeprefix("The ").split()
    if words[0].casefold() == "user":
        return "owner"
    return words[0] if len(words) > 1 and words[0][0].isupper() and words[0] != "Always" else ""


def _followup(files: _Files, talks: Sequence[Talk]) -> Talk | None:
    if not files.find(f"{FOLLOWUP}.answer.json"):
        return None
    if files.find(f"{FOLLOWUP}.request.txt"):
        talk = _talk(files, FOLLOWUP, ())
    else:
        claims = _claims(files, FOLLOWUP)
        verdicts = _verdicts(files, FOLLOWUP, claims)
        messages = _old_messages(files, claims)
        talk = Talk(name=FOLLOWUP, space="", messages=messages, claims=claims, verdicts=verdicts)
    named = [name for claim in talk.claims for name in claim["known"]]
    known = {name: talk.known.get(name) or _meant(name, talks) for name in named}
    spaces = [each.space for each in talks if {each.final(claim) for claim in each.claims} & set(known.values())]
    return replace(talk, known=known, space=talk.space or max(spaces, key=spaces.count))


def _meant(name: str, talks: Sequence[Talk]) -> str:
    """Return the statement that has most words of an id such as `f-home-town`: of several, the shortest."""
    words = [word[:_STEM] for word in name.split("-")[1:]]

    def fit(talk: Talk, claim: Claim) -> tuple[int, int]:
        text = re.sub(r"[^\w ]", "", f"{talk.final(claim)} {claim.get('slot')}".casefold())
        return sum(word in text for word in words), -len(talk.final(claim))

    talk, claim = max(((talk, claim) for talk in talks for claim in talk.claims), key=lambda pair: fit(*pair))
    return talk.final(claim)


def _old_messages(files: _Files, claims: Sequence[Claim]) -> list[Message]:
    """Find the request that has every quote, among those of an older form."""
    quotes = [quote["text"] for claim in claims for quote in claim["quotes"]]
    folder = files.folders[0].parent / _OLD_REQUESTS
    for path in sorted(folder.glob("*.json")):
        tree = cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))
        text = str(tree["messages"][-1]["content"]).rpartition("<transcript>")[2].partition("</transcript>")[0]
        if all(quote in text for quote in quotes):
            parts = _HEADING.split(text)[1:]
            return [
                Message(role=role.lower(), content=content.strip(), said_at=_moment(day, at))
                for role, _, day, at, content in zip(*(parts[place::5] for place in range(5)), strict=True)
            ]
    raise SystemExit(f"the messages of the follow-up are neither in its folder nor in {folder}")


def _question(row: Mapping[str, str]) -> Question:
    outdated = row.get("outdated")
    return Question(
        space=row["space"],
        text=row["question"],
        answer=re.compile(row["answer"]),
        outdated=None if outdated is None else re.compile(outdated),
    )


def _moment(day: str, at: str) -> datetime:
    return datetime.fromisoformat(f"{day}T{at}").replace(tzinfo=UTC)
