"""Holds the raw tables against what must be true whatever a model said."""

import json
import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from bethink.model.records import Origin
from bethink.model.rules import rank
from faults.ledger import Verdict
from faults.model_faults import CANARY
from faults.raw import Raw, Row
from faults.scripted import TELLING

_MESSAGES = "SELECT space_id, session_id, number, origin, content FROM messages"
_FACTS = "SELECT space_id, id, content, kind, origin, source, entities, evidence FROM facts"
_QUOTES = "SELECT space_id, fact_id, session_id, number, text, support, context FROM fact_quotes"
_RETIRED = """SELECT f.id, f.origin, g.origin FROM facts f JOIN facts g
ON g.space_id = f.space_id AND g.id = f.retired_by WHERE f.id <> g.id"""
_SOURCES = "SELECT space_id, fact_id, session_id, number FROM fact_sources"
_SESSIONS = "SELECT id, last_number, processed_until, invalidated_at FROM sessions"
_JOBS = "SELECT key, status, calls FROM jobs WHERE kind = 'extract'"
_STRAYS = """SELECT a.key FROM answers a LEFT JOIN sessions s ON s.space_id = a.space_id AND s.id = a.key
LEFT JOIN agents g ON g.space_id = a.space_id AND g.id = a.agent_id WHERE s.id IS NULL OR g.id IS NULL"""
_NEGATIVE = "SELECT * FROM spending WHERE calls < 0 OR input_tokens < 0 OR output_tokens < 0 OR cost < 0"
_WORD = re.compile(r"\w+")
_PLACEHOLDER = re.compile(r"\[REDACTED:[^\]]*\]")
_FOREIGN = re.compile(r"ses_\w+")

Place = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Said:
    """The messages a fact names, as far as they are there."""

    origins: list[str] = field(default_factory=list[str])
    texts: list[str] = field(default_factory=list[str])
    by_user: list[str] = field(default_factory=list[str])

    def add(self, origin: str, text: str) -> None:
        self.origins.append(origin)
        self.texts.append(text)
        if origin == "user":
            self.by_user.append(text)


def check(target: str, *, answered: int, vetoed: Collection[str] = ()) -> Verdict:
    """Name every broken promise.

    `answered` is how many calls came back with an answer, each of which costs money, and `vetoed` what a second reading
    was asked about and did not find said.
    """
    with Raw(target) as raw:
        violations = raw.unsound()
        facts, messages = raw.rows(_FACTS), raw.rows(_MESSAGES)
        quotes = raw.rows(_QUOTES)
        proof = {tuple(row[:4]) for row in quotes if not row[6]}
        context = {tuple(row[:4]) for row in quotes if row[6]} - proof
        sources = raw.rows(_SOURCES)
        violations += _facts(facts, [row for row in sources if tuple(row) not in context], messages)
        violations += _quotes(facts, quotes, messages)
        violations += [
            f"{row[2]!r} is a fact, and no second reading found it said" for row in facts if row[2] in vetoed
        ]
        violations += _outranked(raw.rows(_RETIRED))
        [[reviews]] = raw.rows("SELECT count(*) FROM reviews")
        violations += _sessions(raw.rows(_SESSIONS), raw.rows(_JOBS))
        violations += [f"an answer about {row[0]} is of no session or agent of its space" for row in raw.rows(_STRAYS)]
        violations += _spent(raw, answered)
        for name, rows in raw.tables().items():
            violations += tainted(name, rows)
    figures = f"{answered} answers, {len(facts)} facts, {reviews} claims held or refused"
    return Verdict(figures=figures, violations=violations)


def _facts(facts: list[Row], sources: list[Row], messages: list[Row]) -> list[str]:
    there: dict[Place, tuple[str, str]] = {(row[0], row[1], row[2]): (row[3], row[4]) for row in messages}
    rests = {(space, fact, session) for space, fact, session, _ in sources}
    found = [
        f"fact {row[1]} says it is from session {row[5]}, which is not its own"
        for row in facts
        if (row[0], row[1], row[5]) not in rests
    ]
    said: dict[tuple[str, str], Said] = defaultdict(Said)
    for space, fact, session, number in sources:
        message = there.get((space, session, number))
        if message is None:
            found.append(f"fact {fact} rests on message {number} of {session}, which is not there")
        else:
            said[space, fact].add(*message)
    for space, fact, content, kind, origin, _, entities, _ in facts:
        found += [f"fact {fact} {fault}" for fault in _wrong(content, kind, origin, entities, said[space, fact])]
    return found


def _quotes(facts: list[Row], quotes: list[Row], messages: list[Row]) -> list[str]:
    """Every fact has its quotes, word for word from the session that it was learnt from then, and was read twice."""
    there: dict[Place, str] = {(row[0], row[1], row[2]): row[4] for row in messages}
    quoted = {(row[0], row[1]) for row in quotes}
    found = [f"fact {row[1]} has no quote" for row in facts if (row[0], row[1]) not in quoted]
    found += [f"fact {row[1]} is only {row[7]}" for row in facts if row[7] != "confirmed"]
    for space, fact, session, number, text, support, _ in quotes:
        if text not in there.get((space, session, number), ""):
            found.append(f"fact {fact} quotes {text!r}, which its message does not say")
        if not support.startswith(f"{session}:"):
            found.append(f"fact {fact} was learnt as {support}, from another session than it quotes")
    return found


def _outranked(retired: list[Row]) -> list[str]:
    """No fact gave way to what a less trusted source said."""
    return [
        f"fact {fact} of {origin} gave way to what {by} said"
        for fact, origin, by in retired
        if rank(Origin(by)) < rank(Origin(origin))
    ]


def _wrong(content: str, kind: str, origin: str, entities: object, said: Said) -> list[str]:
    if not said.texts:
        return ["has no source"]
    found: list[str] = []
    if not _says(said.texts, content):
        found.append(f"says {content!r}, its sources do not")
    if origin != "user" and all(each == "user" for each in said.origins):
        found.append(f"is of origin {origin}, its sources are not")
    if origin == "user" and any(each != "user" for each in said.origins):
        found.append("claims to be the user's word alone")
    if kind in TELLING and not (said.by_user and _says(said.by_user, content)):
        found.append(f"is a {kind} that the user did not give")
    if kind in TELLING and any(each not in ("user", "assistant") for each in said.origins):
        found.append(f"is a {kind} that rests on {said.origins}")
    names = entities if isinstance(entities, str) else json.dumps(entities)
    if _FOREIGN.search(f"{content} {names}"):
        found.append("names the id of a session")
    return found


def _says(texts: list[str], statement: str) -> bool:
    """Every word with a digit must be there, and half of the others."""
    there = set(_WORD.findall(" ".join(texts).casefold()))
    words = set(_WORD.findall(_PLACEHOLDER.sub(" ", statement).casefold()))
    exact = {word for word in words if any(sign.isdigit() for sign in word)}
    return exact <= there and 2 * len(words & there) >= len(words)


def _sessions(sessions: list[Row], jobs: list[Row]) -> list[str]:
    found = [
        f"session {session} is processed until {processed} of {last}, marked at {mark}"
        for session, last, processed, mark in sessions
        if (processed or 0) != last or mark is not None
    ]
    return found + [f"the job of {key} is {status}" for key, status, _ in jobs if status not in ("waiting", "done")]


def _spent(raw: Raw, answered: int) -> list[str]:
    [[spent]] = raw.rows("SELECT COALESCE(sum(calls), 0) FROM spending")
    charged = sum(row[2] for row in raw.rows(_JOBS))
    found = [] if int(spent) == answered else [f"{spent} calls were paid for, {answered} answered"]
    found += [f"a day's spending is negative: {row}" for row in raw.rows(_NEGATIVE)]
    return found + ([] if charged == answered else [f"{charged} calls were charged to jobs, {answered} answered"])


def tainted(table: str, rows: list[Row]) -> list[str]:
    """Name every cell that holds a planted secret, or a NUL."""
    found: list[str] = []
    canary = CANARY.casefold()
    for row in rows:
        for cell in row:
            text = cell if isinstance(cell, str) else json.dumps(cell) if isinstance(cell, (dict, list)) else ""
            if canary in text.casefold():
                found.append(f"a secret is in {table}: {text[:100]!r}")
            if "\0" in text:
                found.append(f"a NUL is in {table}: {text[:100]!r}")
    return found
