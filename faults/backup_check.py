"""What must hold after a restore: of the rows, of every byte, and of what was handed out before."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

import bethink
from bethink.config.settings import Settings
from bethink.errors import LeaseLostError, NotFoundError, SessionEndedError, VersionConflictError
from bethink.features.backups.verify import verify_database
from bethink.model.jobs import Lease
from bethink.model.operations.sessions import APPEND, AppendRequest
from bethink.store import jobs
from bethink.store.db import Tx
from faults.backup_loss import raw_text
from faults.places import AsItIs, Place
from faults.raw import Raw

SPACE = "faults"
LEASE = timedelta(hours=1)
_WINDOW = 6

Places = dict[str, tuple[str, int]]
"""The session and the number of each message, by its key."""


@dataclass(slots=True, kw_only=True)
class HandedOut:
    """What was handed out after the backup, and must be void after the restore."""

    session: str
    position: int
    claim: Lease
    refs: list[str]


@dataclass(slots=True, kw_only=True)
class Life:
    """One database through all rounds, and what is known of it outside."""

    place: Place
    dice: random.Random
    settings: Settings
    backing: Settings
    """Those of the role that makes backups."""
    tools: str
    words: dict[str, str] = field(default_factory=dict[str, str])
    """The word that only one message has, by its key."""
    windows: set[str] = field(default_factory=set[str])
    """The parts of all words."""
    stored: Places = field(default_factory=Places)
    erased: dict[str, str] = field(default_factory=dict[str, str])
    problems: list[str] = field(default_factory=list[str])
    kept: int = 0
    looked_for: int = 0
    refused: int = 0

    def connect(self) -> bethink.Memory:
        """Return the memory, for the caller to open."""
        return bethink.connect(
            self.place.target,
            redactor=AsItIs(),
            learn=False,
            postgres_pool_size=2,
            tombstones_file=self.settings.tombstones_file,
        )


async def check(life: Life, must: Places, handed_out: HandedOut, where: str) -> None:
    """Name every broken promise, and go on with what is there now."""
    found: list[str] = []
    with Raw(life.place.raw) as raw:
        rows = raw.rows("SELECT idempotency_key, session_id, number, content FROM messages")
        found += raw.unsound()
    here: Places = {str(key): (str(session), int(at)) for key, session, at, _ in rows}
    found += ["a key has two rows"] if len(here) != len(rows) else []
    for key, place in must.items():
        life.kept += 1
        if here.get(key) != place:
            found.append(f"{key} was acknowledged at {place} and is at {here.get(key)}")
    found += [
        f"message {key} holds {content!r}"
        for key, _, _, content in rows
        if content != f"message {key} {life.words[str(key)]}"
    ]
    found += _back(life)
    async with life.connect() as memory:
        async for finding in verify_database(life.settings, memory.backend.local().database):
            found += [] if finding.ok else [f"{finding.name}: {finding.result}"]
        found += await _accepted(life, memory, handed_out)
    life.problems += [f"{where}: {each}" for each in found]
    life.stored = here


def windows_of(word: str) -> list[str]:
    """Return the parts of a word that are looked for."""
    return [word[at : at + _WINDOW] for at in range(len(word) - _WINDOW + 1)]


def _back(life: Life) -> list[str]:
    """Look for all that was ever erased, in windows: an index may hold a part of a word."""
    left = raw_text(life.place, life.settings)
    found: list[str] = []
    for key, word in life.erased.items():
        life.looked_for += 1
        if any(window.encode() in left for window in windows_of(word)):
            found.append(f"the erased {key} is back")
    return found


async def _accepted(life: Life, memory: bethink.Memory, handed_out: HandedOut) -> list[str]:
    """Use what was handed out before the restore: each must be refused, and the refusal name the restore."""
    found: list[str] = []
    for name, call in _calls(memory, handed_out).items():
        life.refused += 1
        try:
            await call()
        except (NotFoundError, SessionEndedError, VersionConflictError, LeaseLostError) as error:
            if "was restored on" not in str(error):
                found.append(f"{name} is refused without a word of the restore: {error}")
        else:
            found.append(f"{name} from before the restore is accepted")
    return found


def _calls(memory: bethink.Memory, handed_out: HandedOut) -> dict[str, Callable[[], Awaitable[object]]]:
    space, local = memory.space(SPACE), memory.backend.local()
    late = (bethink.Message(role="user", content="late"),)

    def beat(tx: Tx) -> None:
        if not jobs.renew_lease(tx, handed_out.claim, duration=LEASE):
            raise jobs.lease_lost(handed_out.claim)

    refs = {ref: lambda ref=ref: space.explain(bethink.Ref.parse(ref)) for ref in handed_out.refs}
    return {
        "a session": lambda: local.run(APPEND, SPACE, AppendRequest(session_id=handed_out.session, messages=late)),
        "a position": lambda: space.admin.changes.list(after=handed_out.position),
        "a claim": lambda: local.database.transact(beat, space=SPACE),
        **refs,
    }
