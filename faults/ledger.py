"""The acknowledgements, kept outside the database, and the check that holds the database against them."""

import os
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import psycopg

from bethink.model.rules import TURN_THRESHOLD


class Ledger:
    """One process's acknowledged messages, a line each; a line is whole or not there, whenever the process dies."""

    def __init__(self, folder: Path, process: int) -> None:
        self._path = folder / f"{process}.ledger"
        self._file = os.open(self._path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        self.acknowledged = max((number for _, number, _, _ in read(self._path)), default=0)

    def acknowledge(self, session: str, numbers: dict[str, int]) -> None:
        """Write down, in one call to the system, that these messages are stored."""
        os.write(self._file, "".join(f"{key} {session} {number}\n" for key, number in numbers.items()).encode())
        self.acknowledged += len(numbers)


def read(path: Path) -> list[tuple[str, int, str, int]]:
    """Return key, position, session and number of every acknowledged message."""
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    return [(key, int(key.partition("-")[2]), session, int(number)) for key, session, number in lines]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a campaign left behind."""

    figures: str
    violations: list[str]


Stored = tuple[str, int, str | None, str]


def check(target: str, ledger: Path, *, failed_processes: int, expected: int | None) -> Verdict:
    """Read the raw tables, past all of our own code, and name every broken promise."""
    messages, sessions, sound = _raw_postgres(target) if target.startswith("postgresql:") else _raw_sqlite(target)
    acknowledged = [entry for path in sorted(ledger.iterdir()) for entry in read(path)]
    violations = [f"{failed_processes} processes ended in an error"] if failed_processes else []
    violations += [] if sound == "ok" else [f"the database's own check says: {sound}"]
    violations += _lost_or_doubled(messages, acknowledged)
    violations += _numbers(messages, sessions)
    violations += _marks(sessions)
    if expected is not None and len(messages) != expected:
        violations.append(f"{len(messages)} messages stored, {expected} sent")
    unacknowledged = len(messages) - len(acknowledged)
    return Verdict(
        figures=f"{len(messages)} messages in {len(sessions)} sessions, {len(acknowledged)} acknowledged, "
        f"{unacknowledged} stored but not acknowledged",
        violations=violations,
    )


def _lost_or_doubled(messages: list[Stored], acknowledged: list[tuple[str, int, str, int]]) -> list[str]:
    places = {key: (session, number) for session, number, key, _ in messages}
    rows = Counter(key for _, _, key, _ in messages)
    acks = Counter(key for key, _, _, _ in acknowledged)
    found = [f"key {key} has {count} rows" for key, count in rows.items() if count > 1]
    found += [f"key {key} was acknowledged {count} times" for key, count in acks.items() if count > 1]
    for key, _, session, number in acknowledged:
        if key not in places:
            found.append(f"acknowledged message {key} is lost")
        elif number and places[key] != (session, number):
            found.append(f"acknowledged message {key} is at {places[key]}, not at {(session, number)}")
    found += [f"message {key} holds {content!r}" for _, _, key, content in messages if content != f"message {key}"]
    return found


def _numbers(messages: list[Stored], sessions: dict[str, dict[str, Any]]) -> list[str]:
    numbers: dict[str, list[int]] = defaultdict(list)
    for session, number, _, _ in messages:
        numbers[session].append(number)
    found: list[str] = []
    for session, row in sessions.items():
        if sorted(numbers[session]) != list(range(1, row["last_number"] + 1)):
            found.append(f"session {session} has gaps: {len(numbers[session])} messages, last {row['last_number']}")
    return found


def _marks(sessions: dict[str, dict[str, Any]]) -> list[str]:
    found: list[str] = []
    for session, row in sessions.items():
        right = row["last_number"] if row["last_number"] > TURN_THRESHOLD else None
        if row["invalidated_at"] != right:
            found.append(f"session {session} is marked at {row['invalidated_at']}, not at {right}")
        if row["queued"] != (right is not None):
            found.append(f"session {session} is {'not ' if right else ''}queued")
    return found


_MESSAGES = "SELECT session_id, number, idempotency_key, content FROM messages"
_SESSIONS = """SELECT id, last_number, invalidated_at,
    EXISTS (SELECT 1 FROM jobs j WHERE j.key = s.id AND j.status = 'queued') AS queued FROM sessions s"""


def _raw_sqlite(target: str) -> tuple[list[Stored], dict[str, dict[str, Any]], str]:
    connection: Any = apsw.Connection(target)
    sound = str(connection.pragma("integrity_check"))
    messages: list[Stored] = list(connection.execute(_MESSAGES))
    sessions = {
        row[0]: {"last_number": row[1], "invalidated_at": row[2], "queued": bool(row[3])}
        for row in connection.execute(_SESSIONS)
    }
    connection.close()
    return messages, sessions, sound


def _raw_postgres(target: str) -> tuple[list[Stored], dict[str, dict[str, Any]], str]:
    with psycopg.connect(target) as connection:
        connection.execute("SELECT set_config('bethink.space', 'faults', false)")
        messages: list[Stored] = [(row[0], row[1], row[2], row[3]) for row in connection.execute(_MESSAGES)]
        sessions = {
            row[0]: {"last_number": row[1], "invalidated_at": row[2], "queued": bool(row[3])}
            for row in connection.execute(_SESSIONS)
        }
    return messages, sessions, "ok"
