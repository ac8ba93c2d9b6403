"""A model that believes everything, and a second one that reads again what the first one claims.

The first reads small sentences out of whatever it is shown, and makes one up besides. The second judges by itself what
the messages say.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from bethink.model.calls import ModelCall
from bethink.providers.scripted_model import ScriptedModel
from faults.scripted import OWNER, TELLING, Claimed, Line, answer, claim, judged, quote, shown_lines

NOTES = "~/memory/notes"
"""The document that it keeps, of all facts it is told."""

INVENTED = "User is a certified astronaut from Atlantis"
"""What it claims of everyone, whatever was said."""

_WHO = r"\b(?:I|[Yy]ou|[Tt]he user|[Uu]ser)"
_WHOSE = r"\b(?:[Mm]y|[Yy]our|[Tt]he user's|[Uu]ser's)"
_NAME = r"([A-Z]\w+)"
# The beginning of a message inside a tool's text is as good as a real one to it.
_HEADING = re.compile(r"^ *\[(\d+)\] (?:\d\d:\d\d )?([^:\n]*):", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_DAY = re.compile(r"^(\d{4}-\d{2}-\d{2}), \w+day$", re.MULTILINE)
_LISTED = re.compile(r"^- (f\d+) [^:\n]*: (.*)$", re.MULTILINE)
_IN_PAGE = re.compile(r"^- (.*?) \[(f\d+)\]$", re.MULTILINE)
_MOST = 200


class Form(NamedTuple):
    """A sentence that it knows, and what it makes of it."""

    pattern: "re.Pattern[str]"
    statement: str
    kind: str
    slot: str | None = None


FORMS = (
    Form(re.compile(rf"{_WHO} no longer lives? in {_NAME}"), "User does not live in {0}", "detail", "home_town"),
    Form(re.compile(rf"{_WHO}(?: now| still)? lives? in {_NAME}"), "User lives in {0}", "detail", "home_town"),
    Form(re.compile(rf"{_WHO} moved to {_NAME}"), "User lives in {0}", "detail", "home_town"),
    Form(re.compile(rf"{_WHO}(?: now| still)? works? (?:at|for) {_NAME}"), "User works at {0}", "detail", "employer"),
    Form(re.compile(rf"{_WHO}(?: now| still)? drives? an? {_NAME}"), "User drives a {0}", "detail", "car"),
    Form(re.compile(rf"{_WHOSE} (favourite \w+) is (\w+)"), "User's {0} is {1}", "preference", "{0}"),
    Form(re.compile(rf"{_WHOSE} (\w+) is {_NAME}"), "User's {0} is {1}", "detail", "{0}"),
    Form(re.compile(rf"{_WHO} (?:do|does) not like (\w+)"), "User does not like {0}", "preference", "likes {0}"),
    Form(re.compile(rf"{_WHO} likes? (\w+)"), "User likes {0}", "preference", "likes {0}"),
    Form(re.compile(rf"{_WHO} prefers? ([\w ]+)"), "User prefers {0}", "preference"),
    Form(re.compile(r"(?:[Aa]lways|[Ff]rom now on,?) ([\w ]+)"), "Always {0}", "instruction"),
    Form(re.compile(r"\b[Nn]ever ([\w ]+)"), "Never {0}", "instruction"),
    Form(re.compile(r"\b[Rr]emember: ([\w ]+)"), "{0}", "procedure"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What it makes of one sentence."""

    statement: str
    kind: str
    slot: str | None
    words: str = ""
    since: str | None = None

    @property
    def asks(self) -> bool:
        """Say whether the sentence is a question, which states nothing."""
        return self.words.endswith("?")


def claims(text: str, day: str = "") -> list[Claim]:
    """Return what it makes of a text, sentence by sentence."""
    found: list[Claim] = []
    for sentence in map(str.strip, _SENTENCE.findall(text)):
        for form in FORMS:
            if said := form.pattern.search(sentence):
                parts = [part.strip() for part in said.groups()]
                since = _a_week_before(day) if "last week" in sentence and day else None
                slot = form.slot and form.slot.format(*parts)
                statement = form.statement.format(*parts)
                found.append(Claim(statement=statement, kind=form.kind, slot=slot, words=sentence, since=since))
                break
    return found


class Spoken(NamedTuple):
    """A message as it stands in the request."""

    number: int
    speaker: str
    day: str
    text: str


def spoken(prompt: str) -> list[Spoken]:
    """Read the messages of a request, beginnings that stand inside a message included."""
    part = prompt.rpartition("</messages>")[0]
    heads = list(_HEADING.finditer(part))
    ends = [head.start() for head in heads[1:]] + [len(part)]
    days = [(found.start(), found[1]) for found in _DAY.finditer(part)]
    found: list[Spoken] = []
    for head, end in zip(heads, ends, strict=True):
        day = next((day for at, day in reversed(days) if at < head.start()), "")
        text = _DAY.sub("", part[head.end() : end]).replace("\n  ", "\n").strip()
        found.append(Spoken(int(head[1]), head[2], day, text))
    return found


def extracted(prompt: str) -> str:
    """Answer about a session: every sentence it knows is a fact, and what a tool said is also what the user wants."""
    messages = spoken(prompt)
    users = [each for each in messages if each.speaker == OWNER]
    found: list[dict[str, object]] = []
    for message in messages:
        for said in claims(message.text, message.day):
            found.append(_claim(said, said.kind, [quote(message.number, said.words)]))
            if message.speaker != OWNER:
                found += _believed(said, message.number, users[-1:])
        found += [_noted(message.number, line) for line in message.text.splitlines() if line.strip()]
    if users:
        invented = Claim(statement=INVENTED, kind="detail", slot=None)
        found.append(_claim(invented, "detail", [quote(users[0].number, users[0].text)]))
    found.reverse()  # the newest first, as models often have it
    return answer(found[:_MOST], title=" ".join(users[0].text.split()[:6])[:100] if users else None)


def _believed(said: Claim, number: int, user: list[Spoken]) -> list[dict[str, object]]:
    """Claim in every way that what another said is so, that the user said it, and that the user wants it."""
    words = quote(number, said.words)
    ways = [[words]]
    for each in user:
        asked = quote(each.number, each.text)
        context = quote(number, said.words, "context")
        ways += [[words, asked], [asked], [asked, context], [quote(each.number, said.words)]]
    abouts = (OWNER, "")
    return [_claim(said, kind, way, about) for kind in ("detail", *TELLING) for way in ways for about in abouts]


def _claim(said: Claim, kind: str, quotes: list[dict[str, object]], about: str = OWNER) -> dict[str, object]:
    return claim(said.statement, *quotes, kind=kind, slot=said.slot, since=said.since, about=about)


def _noted(number: int, line: str) -> dict[str, object]:
    return claim(line[:500], quote(number, line[:500]), kind="note", about="")


def read_again(prompt: str) -> str:
    """Judge every claim by what the messages say."""
    lines = shown_lines(prompt)
    return judged(prompt, lambda each: is_said(each, lines))


def is_said(each: Claimed, lines: Sequence[Line]) -> bool:
    """Judge as an honest reader: the owner says so of themselves, asks nothing by it, and says nothing else later.

    A note is what a quoted message says, whoever says it.
    """
    if each.kind == "note":
        return any(each.statement in " ".join(line.text.split()) for line in lines if line.number in each.numbers)
    told = [(line.number, said) for line in lines if line.speaker == OWNER for said in claims(line.text)]
    stated = [(number, said) for number, said in told if said.statement == each.statement and not said.asks]
    slots = {said.slot for number, said in stated if number in each.numbers}
    if not slots:
        return False
    last = [said.statement for _, said in told if said.slot in slots and not said.asks][-1]
    return None in slots or last == each.statement


def is_taken_in(each: Claimed, lines: Sequence[Line]) -> bool:
    """Judge as a reader whom anyone can fool: what the first quoted message says is so, whoever says it."""
    first = next(line.text for line in lines if line.number == each.numbers[0])
    return each.kind == "note" or any(said.statement == each.statement for said in claims(first))


def written(prompt: str) -> str:
    """Answer as a memory writer: put all facts into one document, whoever they come from."""
    if "You called:" in prompt:
        return json.dumps({"calls": [], "done": True})
    told = {label: content for content, label in _IN_PAGE.findall(prompt)} | dict(_LISTED.findall(prompt))
    body = "\n".join(["## Wishes", "", *(f"- {content} [{label}]" for label, content in told.items())])
    call = {"tool": "document_write", "path": NOTES, "title": "Notes", "description": "Notes", "body": body}
    calls = [call | {"old": None, "to": None}] if told else []
    return json.dumps({"calls": calls, "done": True})


def _a_week_before(day: str) -> str:
    return (datetime.fromisoformat(day) - timedelta(days=7)).strftime("%Y-%m-%d")


class Credulous(ScriptedModel):
    """The model: it answers about sessions and writes documents, the same each time, and keeps no calls."""

    def __init__(self) -> None:
        super().__init__(self._reply, name="credulous", window=64_000)
        self.asked = 0

    def _reply(self, call: ModelCall) -> str:
        self.calls.clear()
        self.asked += 1
        replies = {"document_calls": written, "claims": extracted, "verdicts": read_again}
        return replies[call.schema_name](call.prompt)
