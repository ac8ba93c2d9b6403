"""A model that believes everything: it reads small sentences out of whatever it is shown, and makes one up besides."""

import json
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from bethink.model.calls import ModelCall
from bethink.providers.scripted_model import ScriptedModel

NOTES = "~/memory/notes"
"""The document that it keeps, of all facts it is told."""

INVENTED = "User is a certified astronaut from Atlantis"
"""What it claims of everyone, whatever was said."""

_WHO = r"\b(?:I|[Yy]ou|[Tt]he user|[Uu]ser)"
_WHOSE = r"\b(?:[Mm]y|[Yy]our|[Tt]he user's|[Uu]ser's)"
_NAME = r"([A-Z]\w+)"
# A fake heading in a tool's text is as good as a real one to it.
_HEADING = re.compile(r"^(?:> )?\\?#{2} (User|Assistant|System Message|Tool [^\[\n]*) \[(\d+)\]([^\n]*)$", re.MULTILINE)
_SENTENCE = re.compile(r"[.!?\n]+")
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})")
_LISTED = re.compile(r"^- (fct_\w+) \([^)\n]*\): (.*)$", re.MULTILINE)
_SESSIONS = re.compile(r"^- \[(?:added|retained)\] (ses_\w+):", re.MULTILINE)
_TELLING = ("preference", "instruction", "procedure")


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
    since: str | None = None


def claims(text: str, day: str = "") -> list[Claim]:
    """Return what it makes of a text, sentence by sentence."""
    found: list[Claim] = []
    for sentence in _SENTENCE.split(text):
        for form in FORMS:
            if said := form.pattern.search(sentence):
                parts = [part.strip() for part in said.groups()]
                since = _a_week_before(day) if "last week" in sentence and day else None
                slot = form.slot and form.slot.format(*parts)
                found.append(Claim(statement=form.statement.format(*parts), kind=form.kind, slot=slot, since=since))
                break
    return found


class Spoken(NamedTuple):
    """A message as it stands in the transcript."""

    number: int
    speaker: str
    day: str
    text: str


def spoken(prompt: str) -> list[Spoken]:
    """Read a transcript, headings that stand inside a message included."""
    heads = list(_HEADING.finditer(prompt))
    ends = [head.start() for head in heads[1:]] + [len(prompt)]
    found: list[Spoken] = []
    for head, end in zip(heads, ends, strict=True):
        day = _DAY.search(head[3])
        found.append(Spoken(int(head[2]), head[1].split()[0], day[1] if day else "", prompt[head.end() : end]))
    return found


def extracted(prompt: str) -> str:
    """Answer about a session: every sentence it knows is a fact, and what a tool said is also what the user wants."""
    messages = spoken(prompt.removesuffix("</transcript>"))
    users = [each.number for each in messages if each.speaker == "User"]
    facts: list[dict[str, object]] = []
    for message in messages:
        for claim in claims(message.text, message.day):
            facts.append(_fact(claim, claim.kind, [message.number]))
            if message.speaker != "User":
                facts += _believed(claim, message.number, users[-1:])
    if users:
        facts.append(_fact(Claim(statement=INVENTED, kind="detail", slot=None), "detail", users[:1]))
    facts.reverse()  # the newest first, as models often have it
    lines = [line for message in messages for line in message.text.splitlines() if line.strip("> ")]
    first = next((message.text for message in messages if message.speaker == "User"), "").split()
    return json.dumps(
        {
            "raw_memory": "\n".join(lines)[:4_000],
            "summary": " ".join(first[:12]),
            "slug": "-".join(first[:3]),
            "facts": facts[:200],
        }
    )


def _believed(claim: Claim, number: int, user: list[int]) -> list[dict[str, object]]:
    """Claim in every way that what another said is so, that the user said it, and that the user wants it."""
    sources = [[number], [*user, number], user] if user else [[number]]
    return [_fact(claim, kind, each) for kind in ("detail", *_TELLING) for each in sources]


def _fact(claim: Claim, kind: str, sources: list[int]) -> dict[str, object]:
    return {
        "statement": claim.statement,
        "kind": kind,
        "sources": sources,
        "entities": [],
        "subject": "user",
        "slot": claim.slot,
        "valid_from": claim.since,
        "valid_to": None,
    }


def written(prompt: str) -> str:
    """Answer as a memory writer: put all facts into one document, whoever they come from."""
    if "You called:" not in prompt:
        return json.dumps({"calls": [_call("document_read", each) for each in ("~/memory", NOTES)], "done": False})
    told = _LISTED.findall(prompt)
    sources = [each for each, _ in told] + _SESSIONS.findall(prompt)
    body = "\n".join(["## What the user wants", "", *(f"- {content}" for _, content in told)])
    calls = [_call("document_write", NOTES, body=body, sources=sources)] if told else []
    return json.dumps({"calls": calls, "done": True})


def _call(tool: str, path: str, *, body: str | None = None, sources: list[str] | None = None) -> dict[str, object]:
    title = None if body is None else "Notes"
    return {"tool": tool, "path": path, "title": title, "description": title, "body": body, "sources": sources or []}


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
        return written(call.prompt) if call.schema_name == "document_calls" else extracted(call.prompt)
