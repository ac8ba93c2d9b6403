"""Holds the raw tables of a database that was learnt from against the acknowledgements and what was watched."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from faults.learners import ASKED
from faults.ledger import Verdict, read
from faults.logs import unexplained
from faults.raw import Raw, Row

WATCHED = "watched"

_MESSAGES = "SELECT space_id, session_id, number, idempotency_key, content FROM messages"
_FACTS = "SELECT space_id, id, content, source, effect, token, recorded_at, retired_at, evidence FROM facts"
_SOURCES = "SELECT space_id, fact_id, session_id, number FROM fact_sources"
_QUOTES = "SELECT space_id, fact_id, session_id, number, text FROM fact_quotes"
_ANSWERS = "SELECT space_id, key, run, token, recorded_at, position, content FROM answers WHERE kind = 'extract'"
_SESSIONS = "SELECT space_id, id, last_number, processed_until, invalidated_at FROM sessions"
_JOBS = "SELECT space_id, key, status, token FROM jobs WHERE kind = 'extract'"


class Seen(NamedTuple):
    """How far a session had come at a moment, and its job's token then."""

    session: str
    until: int
    token: int
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Every row that matters, as the driver gave it."""

    messages: list[Row]
    facts: list[Row]
    sources: list[Row]
    quotes: list[Row]
    answers: list[Row]
    sessions: list[Row]
    jobs: list[Row]

    @classmethod
    def of(cls, raw: Raw) -> "Tables":
        return cls(
            messages=raw.rows(_MESSAGES),
            facts=raw.rows(_FACTS),
            sources=raw.rows(_SOURCES),
            quotes=raw.rows(_QUOTES),
            answers=raw.rows(_ANSWERS),
            sessions=raw.rows(_SESSIONS),
            jobs=raw.rows(_JOBS),
        )


def check(target: str, ledger: Path, *, failed_processes: int = 0, log: Path | None = None) -> Verdict:
    """Name every broken promise."""
    with Raw(target) as raw:
        tables, unsound = Tables.of(raw), raw.unsound()
    seen = _watched(ledger / WATCHED)
    violations = [f"{failed_processes} processes ended in an error"] if failed_processes else []
    violations += unsound
    violations += _lost(tables, ledger)
    violations += _effects(tables)
    violations += _stale(tables, seen)
    violations += _watermarks(tables)
    violations += _falls(seen)
    violations += _sources(tables)
    violations += _quotes(tables)
    violations += _paid_twice(tables, ledger / ASKED)
    violations += _jobs(tables)
    violations += unexplained(log)
    spaces = {row[0] for row in tables.messages}
    return Verdict(
        figures=f"{len(tables.messages)} messages in {len(tables.sessions)} sessions of {len(spaces)} spaces, "
        f"{len(tables.facts)} facts",
        violations=violations,
    )


def _watched(path: Path) -> list[Seen]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Seen(session, *map(int, numbers)) for session, *numbers in map(str.split, lines)]


def _lost(tables: Tables, ledger: Path) -> list[str]:
    """I1: what was acknowledged is there, once, where it was said to be."""
    places = {key: (session, number) for _, session, number, key, _ in tables.messages}
    rows = Counter(key for _, _, _, key, _ in tables.messages)
    found = [f"key {key} has {count} rows" for key, count in rows.items() if count > 1]
    for path in sorted(ledger.glob("*.ledger")):
        for key, _, session, number in read(path):
            if key not in places:
                found.append(f"acknowledged message {key} is lost")
            elif number and places[key] != (session, number):
                found.append(f"acknowledged message {key} is at {places[key]}, not at {(session, number)}")
    return found


def _effects(tables: Tables) -> list[str]:
    """I2: every message has the one fact it says, and no effect happened twice."""
    current = {(row[0], row[1]): row[2] for row in tables.facts if row[7] is None}
    supported: dict[tuple[str, str, int], list[str]] = defaultdict(list)
    for space, fact, session, number in tables.sources:
        if (space, fact) in current:
            supported[space, session, number].append(current[space, fact])
    found: list[str] = []
    for space, session, number, key, content in tables.messages:
        says = supported[space, session, number]
        if len(says) != 1:
            found.append(f"message {key} has {len(says)} facts")
        elif says != [content]:
            found.append(f"message {key} says {content!r}, its fact {says[0]!r}")
    found += _twice("effect", ((row[0], row[4]) for row in tables.facts if row[4] is not None))
    found += _twice("fact", ((row[0], row[2]) for row in tables.facts))
    found += [f"fact {row[1]} has no effect key" for row in tables.facts if row[4] is None]
    return found


def _twice(what: str, things: Iterable[tuple[str, str]]) -> list[str]:
    counted = Counter(things)
    return [f"{what} {thing!r} is there {count} times" for (_, thing), count in counted.items() if count > 1]


def _stale(tables: Tables, seen: list[Seen]) -> list[str]:
    """I3: nothing was written under a token after a newer one was there, and none is above the job's."""
    newest = {row[1]: row[3] for row in tables.jobs}
    writes: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for _, _, _, session, effect, token, recorded_at, _, _ in tables.facts:
        writes[session].append((recorded_at, token or 0, f"fact {effect}"))
    for _, session, run, token, recorded_at, _, _ in tables.answers:
        writes[session].append((recorded_at, token, f"answer {run}"))
    claimed: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for each in seen:
        claimed[each.session].append((each.at, each.token, ""))
    found: list[str] = []
    for session, entries in writes.items():
        if max(token for _, token, _ in entries) > newest.get(session, 0):
            found.append(f"session {session} has a token above its job's {newest.get(session, 0)}")
        highest = 0
        for _, token, what in sorted(entries + claimed[session]):
            if token < highest and what:
                found.append(f"{what} of session {session} was written by token {token} after token {highest}")
            highest = max(highest, token)
    return found


def _watermarks(tables: Tables) -> list[str]:
    """I4: all is processed, and every run went on from where the one before it ended."""
    found: list[str] = []
    for _, session, last, processed, mark in tables.sessions:
        if (processed or 0) != last:
            found.append(f"session {session} is processed until {processed}, its last message is {last}")
        if mark is not None:
            found.append(f"session {session} is still marked at {mark}")
    runs: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for _, fact, _, session, effect, token, _, _, _ in tables.facts:
        owner, until = _span(effect)
        if owner != session:
            found.append(f"fact {fact} of session {session} has the effect key {effect!r}")
        else:
            runs[session].add((token or 0, until))
    for session, spans in runs.items():
        untils = [until for _, until in sorted(spans)]
        if any(later <= earlier for earlier, later in pairwise(untils)):
            found.append(f"session {session} was learnt from in the order {sorted(spans)} of tokens and ends")
    return found


def _span(effect: str | None) -> tuple[str, int]:
    session, _, rest = (effect or "").partition(":")
    until = rest.partition(":")[0]
    return session, int(until) if until.isdigit() else 0


def _falls(seen: list[Seen]) -> list[str]:
    """I4: neither a watermark nor a token was ever seen to fall."""
    highest: dict[str, Seen] = {}
    found: list[str] = []
    for now in seen:
        before = highest.get(now.session, now)
        if now.until < before.until:
            found.append(f"session {now.session} fell from {before.until} back to {now.until}")
        if now.token < before.token:
            found.append(f"the token of session {now.session} fell from {before.token} back to {now.token}")
        highest[now.session] = now
    return found


def _sources(tables: Tables) -> list[str]:
    """I5: every fact rests on a message of its own space and session."""
    there = {(space, session, number) for space, session, number, _, _ in tables.messages}
    facts = {(row[0], row[1]): row[3] for row in tables.facts}
    found: list[str] = []
    for space, fact, session, number in tables.sources:
        if (space, session, number) not in there:
            found.append(f"fact {fact} rests on message {number} of {session}, which is not there")
        if facts.get((space, fact)) != session:
            found.append(f"a source of {fact} in session {session} belongs to no fact of that session")
    supported = {(space, fact) for space, fact, _, _ in tables.sources}
    found += [f"fact {fact} has no source" for space, fact in facts if (space, fact) not in supported]
    return found


def _quotes(tables: Tables) -> list[str]:
    """I5: every fact was read twice and has its quotes, word for word."""
    said = {(space, session, number): content for space, session, number, _, content in tables.messages}
    found = [
        f"fact {fact} quotes {text!r}, which message {number} of {session} does not say"
        for space, fact, session, number, text in tables.quotes
        if text not in said.get((space, session, number), "")
    ]
    quoted = {(space, fact) for space, fact, *_ in tables.quotes}
    found += [f"fact {row[1]} has no quote" for row in tables.facts if (row[0], row[1]) not in quoted]
    return found + [f"fact {row[1]} is only {row[8]}" for row in tables.facts if row[8] != "confirmed"]


def _paid_twice(tables: Tables, asked: Path) -> list[str]:
    """I7: no model was asked about a message, or a claim, once its answer about that was recorded."""
    statements: dict[tuple[str, str, str], list[str]] = {}
    for space, session, run, _, _, position, content in tables.answers:
        if position == 0:
            statements[space, session, run] = [claim["statement"] for claim in json.loads(content)["claims"]]
    recorded: dict[tuple[str, str], int] = {}
    for space, session, run, _, recorded_at, position, _ in tables.answers:
        what = "verdicts" if position else "claims"
        recorded |= {(what, statement): recorded_at for statement in statements.get((space, session, run), [])}
    lines = asked.read_text(encoding="utf-8").splitlines() if asked.exists() else []
    found: list[str] = []
    for what, at, *texts in (line.split("\t") for line in lines):
        again = [text for text in texts if int(at) > recorded.get((what, text), int(at))]
        found += [f"a model was asked for {what} about {again[0]!r} again"] if again else []
    return found


def _jobs(tables: Tables) -> list[str]:
    """I6: nothing is left running, waiting for its turn, or given up."""
    return [
        f"the job of session {key} is {status}"
        for _, key, status, _ in tables.jobs
        if status not in ("waiting", "done")
    ]
