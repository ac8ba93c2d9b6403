"""Holds the raw tables of consolidated spaces against what was promised to them and what was watched."""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from faults import promises
from faults.ledger import Verdict
from faults.logs import unexplained
from faults.promises import Promise
from faults.raw import Raw, Row

WATCHED = "watched"
_WINDOW = 30 * 86_400_000_000
EMPTIED = "Nothing is known here any more."
"""What a document says that only stays because something hangs below it."""

_VERSIONS = """SELECT space_id, id, version, valid_from, valid_to, parent_id, slug, body, author_kind, author_id,
    token, run FROM documents"""
_SOURCES = """SELECT s.space_id, s.document_id, d.version, s.kind, s.source_id FROM document_sources s
JOIN documents d ON d.space_id = s.space_id AND d.id = s.document_id AND d.version >= s.version
  AND (s.last_version IS NULL OR s.last_version >= d.version)"""
_REFERENCES = """SELECT space_id, source_id, source_version, kind, target_id FROM document_references
WHERE kind IN ('parent', 'link')"""
_MEMORIES = """SELECT space_id, session_id, source_updated_at, selected, selected_source_updated_at,
    COALESCE(last_usage, generated_at) FROM session_summaries"""
_FACTS = "SELECT space_id, id FROM facts WHERE retired_at IS NULL"
_JOBS = """SELECT space_id, status, token, input_watermark, success_watermark, due_at FROM jobs
WHERE kind = 'consolidate'"""
_CHANGE_SETS = "SELECT space_id, run, token, selection, created_at FROM change_sets"
_ANSWERS = "SELECT space_id, run, token, recorded_at FROM answers WHERE kind = 'consolidate'"

Key = tuple[str, str]


class Version(NamedTuple):
    """One version of a document, as the driver gave it."""

    space: str
    id: str
    version: int
    valid_from: int
    valid_to: int | None
    parent: str
    slug: str
    body: str
    author_kind: str
    author_id: str
    token: int | None
    run: str

    @property
    def derived(self) -> bool:
        """Say whether a run made it. The root is made by none, and rests on nothing."""
        return self.author_kind == "job" and self.author_id != "memory"


class SeenJob(NamedTuple):
    """A space's token and watermark at a moment."""

    space: str
    token: int
    success: int
    at: int


class SeenFlag(NamedTuple):
    """A session summary that was flagged at a moment, for the first time with this snapshot."""

    space: str
    session: str
    moment: int
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Every row that matters, as the driver gave it."""

    versions: list[Version]
    sources: list[Row]
    references: list[Row]
    memories: list[Row]
    facts: set[Key]
    jobs: list[Row]
    change_sets: list[Row]
    answers: list[Row]

    @classmethod
    def of(cls, raw: Raw) -> "Tables":
        return cls(
            versions=[Version(*row) for row in raw.rows(_VERSIONS)],
            sources=raw.rows(_SOURCES),
            references=raw.rows(_REFERENCES),
            memories=raw.rows(_MEMORIES),
            facts={(space, fact) for space, fact in raw.rows(_FACTS)},
            jobs=raw.rows(_JOBS),
            change_sets=raw.rows(_CHANGE_SETS),
            answers=raw.rows(_ANSWERS),
        )

    @property
    def derived(self) -> list[Version]:
        return [each for each in self.versions if each.derived]

    @property
    def current(self) -> list[Version]:
        return [each for each in self.versions if each.valid_to is None]


def check(target: str, ledger: Path, *, failed_processes: int = 0, log: Path | None = None) -> Verdict:
    """Name every broken promise."""
    with Raw(target) as raw:
        tables, unsound = Tables.of(raw), raw.unsound()
    jobs, flags = _watched(ledger / WATCHED)
    promised, now = promises.read(ledger), time.time_ns() // 1_000
    violations = [f"{failed_processes} processes ended in an error"] if failed_processes else []
    violations += unsound
    violations += _one_at_a_time(tables)
    violations += _stale(tables, jobs)
    violations += _falls(jobs)
    violations += _dirty(tables, promised, now)
    violations += _selection(tables, now)
    violations += _tree(tables)
    violations += _support(tables)
    violations += _flags(tables, flags, promised)
    violations += _lost(tables, promised)
    violations += unexplained(log)
    documents = {(each.space, each.id) for each in tables.versions}
    kept = sum(each.session is not None for each in promised)
    return Verdict(
        figures=f"{kept} promises in {len(tables.jobs)} spaces, {len(tables.change_sets)} runs, "
        f"{len(tables.versions)} versions of {len(documents)} documents",
        violations=violations,
    )


def _watched(path: Path) -> tuple[list[SeenJob], list[SeenFlag]]:
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    jobs = [SeenJob(space, *map(int, numbers)) for kind, space, *numbers in lines if kind == "job"]
    flags = [SeenFlag(line[1], line[2], int(line[3]), int(line[4])) for line in lines if line[0] == "flag"]
    return jobs, flags


def _one_at_a_time(tables: Tables) -> list[str]:
    """C1: tokens grow with time and with versions, and a run belongs to one claim and a claim to one run."""
    found: list[str] = []
    tokens: dict[Key, set[int]] = defaultdict(set)
    runs: dict[tuple[str, int], set[str]] = defaultdict(set)
    lines: dict[Key, list[tuple[int, int]]] = defaultdict(list)
    written = [(each.space, each.run, each.token) for each in tables.derived]
    for space, run, token in written + [(space, run, token) for space, run, token, _, _ in tables.change_sets]:
        if token is None or not run:
            found.append(f"something in {space} was written by run {run!r} with token {token}")
            continue
        tokens[space, run].add(token)
        runs[space, token].add(run)
    for each in tables.derived:
        lines[each.space, "the space"].append((each.valid_from, each.token or 0))
        lines[each.space, each.id].append((each.version, each.token or 0))
    for (space, what), line in lines.items():
        if any(later < earlier for (_, earlier), (_, later) in pairwise(sorted(line))):
            found.append(f"the tokens of {what} fall in {space}")
    found += [
        f"run {run} of {space} has the tokens {sorted(each)}" for (space, run), each in tokens.items() if len(each) > 1
    ]
    found += [
        f"token {token} of {space} has {len(each)} runs" for (space, token), each in runs.items() if len(each) > 1
    ]
    return found


def _stale(tables: Tables, seen: list[SeenJob]) -> list[str]:
    """C1: nothing was written under a token after a newer one was there, and none is above the job's."""
    newest = {row[0]: row[2] for row in tables.jobs}
    events: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for each in tables.derived:
        events[each.space].append((each.valid_from, each.token or 0, f"version {each.version} of {each.id}"))
    for space, run, token, _, at in tables.change_sets:
        events[space].append((at, token, f"the change set of {run}"))
    for space, run, token, at in tables.answers:
        events[space].append((at, token, f"an answer of {run}"))
    found = [
        f"{what} has token {token}, above that of the job of {space}"
        for space, entries in events.items()
        for _, token, what in entries
        if token > newest.get(space, 0)
    ]
    for each in seen:
        events[each.space].append((each.at, each.token, ""))
    for space, entries in events.items():
        highest = 0
        for _, token, what in sorted(entries):
            if token < highest and what:
                found.append(f"{what} in {space} was written by token {token} after token {highest}")
            highest = max(highest, token)
    return found


def _falls(seen: list[SeenJob]) -> list[str]:
    """C2: neither a watermark nor a token was ever seen to fall."""
    last: dict[str, SeenJob] = {}
    found: list[str] = []
    for now in seen:
        before = last.get(now.space, now)
        if now.success < before.success:
            found.append(f"the watermark of {now.space} fell from {before.success} back to {now.success}")
        if now.token < before.token:
            found.append(f"the token of {now.space} fell from {before.token} back to {now.token}")
        last[now.space] = now
    return found


def _dirty(tables: Tables, promised: list[Promise], now: int) -> list[str]:
    """C2 and C6: no job waits for its turn, is held or was given up, and all that was promised is reached."""
    found: list[str] = []
    inputs: dict[str, int] = {}
    for space, status, _, promise, success, due in tables.jobs:
        inputs[space] = promise
        if status not in ("waiting", "done"):
            late = ", and its lease is over" if status == "running" and (due or 0) < now else ""
            found.append(f"the job of {space} is {status}{late}")
        if (success or 0) < promise:
            found.append(f"{space} is settled until {success}, promised until {promise}")
    for space, moment, session in promised:
        if session is not None and inputs.get(space, 0) < moment:
            found.append(f"the promise of {moment} to {space} is lost")
    return found


def _selection(tables: Tables, now: int) -> list[str]:
    """C2: what is flagged is just what would be selected, as it is."""
    wanted: dict[str, set[tuple[str, int]]] = defaultdict(set)
    flagged: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for space, session, updated, selected, seen, used in tables.memories:
        if used >= now - _WINDOW:
            wanted[space].add((session, updated))
        if selected:
            flagged[space].add((session, seen))
    found = [
        f"{space} was never settled with {sorted(wanted[space] - flagged[space])}, "
        f"and still holds on to {sorted(flagged[space] - wanted[space])}"
        for space in sorted(wanted | flagged)
        if wanted[space] != flagged[space]
    ]
    success = {row[0]: row[4] or 0 for row in tables.jobs}
    for space, pairs in flagged.items():
        newest = max((moment or 0 for _, moment in pairs), default=0)
        if success.get(space, 0) < newest:
            found.append(f"{space} is settled until {success.get(space)}, but has selected {newest}")
    return found


def _tree(tables: Tables) -> list[str]:
    """C3: versions without gaps, at most one of them current, a name once in a place, nothing pointing at nothing."""
    found: list[str] = []
    numbers: dict[Key, list[int]] = defaultdict(list)
    for each in tables.versions:
        numbers[each.space, each.id].append(each.version)
    for (space, document), versions in numbers.items():
        if sorted(versions) != list(range(1, len(versions) + 1)):
            found.append(f"document {document} of {space} has the versions {sorted(versions)}")
    current = {(each.space, each.id): each.version for each in tables.current}
    for each in tables.versions:
        if each.valid_to is None and each.version != len(numbers[each.space, each.id]):
            found.append(f"version {each.version} of {each.id} was never closed")
    found += _twice("document", ((each.space, each.id) for each in tables.current))
    found += _twice("place", ((each.space, f"{each.parent}/{each.slug}") for each in tables.current))
    for space, source, version, kind, target in tables.references:
        if current.get((space, source)) == version and (space, target) not in current:
            found.append(f"the {kind} {target} of {source} in {space} is not there")
    for each in tables.current:
        if each.parent and (each.space, each.parent) not in current:
            found.append(f"{each.id} in {each.space} hangs below {each.parent}, which is not there")
    return found


def _twice(what: str, things: Iterable[Key]) -> list[str]:
    counted = Counter(things)
    return [
        f"{what} {thing} is current {count} times in {space}" for (space, thing), count in counted.items() if count > 1
    ]


def _support(tables: Tables) -> list[str]:
    """C3 and C4: every version that a run made names what it rests on, and a current one rests on what is there."""
    there = {(space, "session_summary", session) for space, session, *_ in tables.memories}
    there |= {(space, "fact", fact) for space, fact in tables.facts}
    named: dict[tuple[str, str, int], set[tuple[str, str, str]]] = defaultdict(set)
    for space, document, version, kind, source in tables.sources:
        named[space, document, version].add((space, kind, source))
    found: list[str] = []
    for each in tables.derived:
        sources = named[each.space, each.id, each.version]
        if not sources:
            found.append(f"version {each.version} of {each.id} in {each.space} has no source")
        elif each.valid_to is None and each.body != EMPTIED and not sources & there:
            found.append(f"{each.slug} ({each.id}) in {each.space} rests on nothing that is there")
    return found


def _flags(tables: Tables, seen: list[SeenFlag], promised: list[Promise]) -> list[str]:
    """C5: only what was once stored is flagged, and nothing before a run that looked at it has succeeded."""
    meant = {(each.space, each.moment) for each in promised}
    settled: dict[tuple[str, str, int], int] = {}
    for space, _, _, selection, at in tables.change_sets:
        pairs: list[tuple[str, int]] = json.loads(selection) if isinstance(selection, str) else selection
        for session, moment in pairs:
            settled[space, session, moment] = min(at, settled.get((space, session, moment), at))
    found: list[str] = []
    for space, session, _, selected, moment, _ in tables.memories:
        if selected and (space, moment) not in meant:
            found.append(f"{session} in {space} is flagged at {moment}, which was never stored")
        if selected and (space, session, moment) not in settled:
            found.append(f"{session} in {space} is flagged at {moment}, which no run has looked at")
        if not selected and moment is not None:
            found.append(f"{session} in {space} is not flagged, but at {moment}")
    for each in seen:
        if (each.space, each.moment) not in meant:
            found.append(f"{each.session} in {each.space} was flagged at {each.moment}, which was never stored")
        if settled.get((each.space, each.session, each.moment), each.at + 1) > each.at:
            found.append(f"{each.session} in {each.space} was flagged at {each.moment} before a run succeeded")
    return found


def _lost(tables: Tables, promised: list[Promise]) -> list[str]:
    """C5: every session summary is the last one that is known to be stored, or one that was meant after it."""
    order = {(each.space, each.moment): place for place, each in enumerate(promised) if each.session is None}
    stored = {(row[0], row[1]): row[2] for row in tables.memories}
    last = {(each.space, each.session): each.moment for each in promised if each.session is not None}
    found: list[str] = []
    for (space, session), moment in last.items():
        now = stored.get((space, session or ""))
        if now is None or order.get((space, now), -1) < order[space, moment]:
            found.append(f"the memory of {session} in {space} is that of {now}, not of {moment}")
    return found
