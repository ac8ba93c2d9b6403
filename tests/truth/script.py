"""Conversations whose claims are written down, and a scripted model that makes these claims as far as it can see."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bethink.model.calls import ModelCall

CHANGES = ("replaces", "corrects", "ends")


@dataclass(frozen=True)
class Claim:
    """A statement of a message. `of` names the claims that it repeats, changes or asks to forget.

    A compound claim has `parts`, the text of each by its slot; `part` is the slot of the part that another one changes.
    """

    id: str
    text: str
    quote: str = ""
    message: int = 0
    subject: str = "owner"
    slot: str | None = None
    op: str = "new"
    of: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    happened: str | None = None
    kind: str = "detail"
    stance: str = "said"
    forget: str | None = None
    parts: tuple[tuple[str, str], ...] = ()
    part: str | None = None


@dataclass(frozen=True)
class Line:
    """A message of a talk."""

    role: str
    text: str
    at: datetime
    name: str | None = None


@dataclass(frozen=True)
class Talk:
    """A conversation with its claims. `suspicious` are the messages in which a page or tool gives orders."""

    id: str
    lines: tuple[Line, ...]
    claims: tuple[Claim, ...] = ()
    suspicious: tuple[int, ...] = ()

    @property
    def begins_at(self) -> datetime:
        return self.lines[0].at

    @property
    def ends_at(self) -> datetime:
        return max(line.at for line in self.lines)

    def said_at(self, claim: Claim) -> datetime:
        return self.lines[claim.message - 1].at


def moment(text: str) -> datetime:
    """Return a day at nine o'clock, or the time in an ISO text, in UTC."""
    at = datetime.fromisoformat(text)
    return at.replace(hour=9, tzinfo=UTC) if len(text) == len("2026-01-01") else at.replace(tzinfo=UTC)


def day(text: str) -> datetime:
    """Return the start of a day in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class ScriptedReader:
    """Answers as an honest model does: it makes the claims of the talk that it reads, and names only what it sees."""

    def __init__(self, talks: Iterable[Talk]) -> None:
        self.talks = {talk.id: talk for talk in talks}
        self.claims = {claim.id: claim for talk in self.talks.values() for claim in talk.claims}
        self._days = {
            claim.id: talk.said_at(claim).date().isoformat() for talk in self.talks.values() for claim in talk.claims
        }

    def __call__(self, call: ModelCall) -> str:
        if call.schema_name == "verdicts":
            ids = re.findall(r"^(c\d+) ", call.prompt, re.MULTILINE)
            return json.dumps({"said": list(dict.fromkeys(ids)), "others": []})
        if call.schema_name != "claims":
            return json.dumps({"calls": [], "done": True})
        channel = re.search(r"^Channel: (.*)\.$", call.prompt, re.MULTILINE)
        talk = self.talks.get(channel[1] if channel else "")
        if talk is None:
            return json.dumps({"claims": [], "suspicious": [], "title": None})
        claims = self._claims(talk, call.prompt)
        return json.dumps({"claims": claims, "suspicious": list(talk.suspicious), "title": None})

    def _claims(self, talk: Talk, prompt: str) -> list[dict[str, Any]]:
        recent = prompt.rpartition("</messages>")[0].rpartition("\nNew:\n")[2]
        numbers = {int(number) for number in re.findall(r"^\[(\d+)\] ", recent, re.MULTILINE)}
        own = [claim for claim in talk.claims if claim.message in numbers]
        names = {claim.id: f"c{position}" for position, claim in enumerate(own, 1)}
        section = re.search(r"<known>\n(.*?)\n</known>", prompt, re.DOTALL)
        facts = re.findall(r"^(f\d+) (.*?): (.*)$", section[1] if section else "", re.MULTILINE)
        return [self._answer(claim, names, facts) for claim in own]

    def _answer(self, claim: Claim, names: dict[str, str], facts: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
        op, targets = claim.op, self._names(claim.of, names, facts, claim.part)
        if op == "new" and (same := self._listed(claim, (claim.text,), facts)):
            op, targets = "same", same
        later = [other.id for other in self.claims.values() if claim.id in other.of and other.op in CHANGES]
        earlier = self._names([claim_id for claim_id in later if claim_id not in names], {}, facts)
        return {
            "quotes": [{"message": claim.message, "text": claim.quote, "as": "word"}],
            "statement": claim.text,
            "about": claim.subject,
            "kind": claim.kind,
            "stance": claim.stance,
            "scope": None,
            "slot": claim.slot,
            "happened": claim.happened,
            "since": claim.since,
            "until": claim.until,
            "op": op,
            "known": targets,
            "earlier": [name for name in earlier if name not in targets],
            "rests_on": self._names(claim.rests_on, names, facts),
            "forget": claim.forget,
            "review": None,
        }

    def _names(
        self,
        claim_ids: Iterable[str],
        names: dict[str, str],
        facts: Sequence[tuple[str, str, str]],
        part: str | None = None,
    ) -> list[str]:
        """Return the names that a request gives to claims: `c1` in this answer, `f1` in its list of known facts."""
        result: list[str] = []
        for claim_id in claim_ids:
            claim = self.claims[claim_id]
            texts = (claim.text, *(text for slot, text in claim.parts if part in (None, slot)))
            named = [names[claim_id]] if claim_id in names else self._listed(claim, texts, facts)
            # What is neither in this answer nor listed may have been said in this talk in the same words.
            result += named or [name for own, name in names.items() if self.claims[own].text == claim.text][-1:]
        return list(dict.fromkeys(result))

    def _listed(self, claim: Claim, texts: Sequence[str], facts: Sequence[tuple[str, str, str]]) -> list[str]:
        """Return the listed facts with these texts. Of several with one text, it is the one of the claim's day."""
        result: list[str] = []
        for text in texts:
            lines = [(about, name) for name, about, listed in facts if listed == text]
            lines.sort(key=lambda line: self._days[claim.id] not in line[0])
            result += [name for _, name in lines[:1]]
        return result


def spoken(at: datetime, position: int) -> datetime:
    """Return when the message at a position was said in a talk that began at a time: one message a minute."""
    return at + timedelta(minutes=position)
