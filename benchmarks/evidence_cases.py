"""Reads claims with quotes and labels, one JSON object a line: what was said, what is claimed, what is right."""

import json
import re
import zlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

OWN = Path(__file__).parent / "data" / "evidence.jsonl"
WISHES = frozenset({"preference", "instruction", "procedure"})
_NUMBER_AT_END = re.compile(r"(\d+)\D*$")


class Answer(NamedTuple):
    """What the gate says to a claim: whether it passes, and if not, whether a second reading may let it, and why."""

    passed: bool
    doubted: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message of the session."""

    number: int
    speaker: str
    role: str
    said_at: datetime
    text: str
    tool: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Words that a claim rests on (`word`), or that are needed to understand them (`context`)."""

    message: int
    text: str
    use: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a model claims."""

    statement: str
    kind: str
    about: str
    stance: str
    quotes: tuple[Quote, ...]
    scope: str | None
    happened: str | None
    since: str | None
    until: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A session, a claim about it, and what is right: `verdict` is a careful reader's."""

    id: str
    language: str
    kind: str
    variant: str
    session: tuple[Said, ...]
    owner: str | None
    claim: Claim
    true: bool
    verdict: str
    code_must_refuse: bool
    foreign: tuple[str, ...]
    """Names or numbers of the statement that stand nowhere."""

    @property
    def sound(self) -> bool:
        """Tell whether code should let it through: it is true, and its quotes are there."""
        return self.true and not self.code_must_refuse

    @property
    def half(self) -> str:
        """Give the half by the number at the end of the id."""
        found = _NUMBER_AT_END.search(self.id)
        number = int(found[1]) if found else zlib.crc32(self.id.encode())
        return "odd" if number % 2 else "even"

    @property
    def violation(self) -> str | None:
        """Name what code must refuse the claim for: `quotes`, `names`, `numbers` or `wishes`."""
        if not self.code_must_refuse:
            return None
        if not self.is_quoted:
            return "quotes"
        return next((f"{each}s" for each in ("name", "number") if each in self.kind), "wishes")

    @property
    def is_quoted(self) -> bool:
        """Tell whether every quote stands in its message, white space aside."""
        texts = {said.number: _one_space(said.text) for said in self.session}
        return all(_one_space(quote.text) in texts.get(quote.message, "") for quote in self.claim.quotes)


def read(path: Path = OWN) -> list[Case]:
    """Read every case of a file."""
    return [_case(json.loads(line)) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def _one_space(text: str) -> str:
    return " ".join(text.split())


def _case(line: dict[str, Any]) -> Case:
    return Case(
        id=str(line["id"]),
        language=line["language"],
        kind=line["kind"],
        variant=line.get("variant", "usual"),
        session=tuple(_said(each) for each in line["session"]),
        owner=line["owner"],
        claim=_claim(line["claim"]),
        true=line["true"],
        verdict=line["verdict"],
        code_must_refuse=line["code_must_refuse"],
        foreign=tuple(line.get("foreign", ())),
    )


def _said(line: dict[str, Any]) -> Said:
    return Said(
        number=line["number"],
        speaker=line["speaker"],
        role=line["role"],
        said_at=datetime.fromisoformat(line["said_at"]),
        text=line["text"],
        tool=line.get("tool"),
    )


def _claim(line: dict[str, Any]) -> Claim:
    quotes = tuple(Quote(message=each["message"], text=each["text"], use=each["as"]) for each in line["quotes"])
    return Claim(
        statement=line["statement"],
        kind=line["kind"],
        about=line["about"],
        stance=line["stance"],
        quotes=quotes,
        scope=line.get("scope"),
        happened=line.get("happened"),
        since=line.get("since"),
        until=line.get("until"),
    )
