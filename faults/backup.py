"""A memory is backed up while processes write to it, goes on, is lost in one way or another, and restored (--rounds).

What was acknowledged before the mark is kept, what was erased since is in no byte, what was handed out since is void.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from pathlib import Path

import anyio

import bethink
from bethink.config.addresses import settings_of
from bethink.config.settings import load_settings
from bethink.errors import BethinkError
from bethink.features.backups import make, manifest
from bethink.features.backups import restore as restoring
from bethink.features.backups.verify import verify_backup
from bethink.model.backups import BackupManifest, Counts
from bethink.model.jobs import JobKind
from bethink.model.records import Deletion, conversation_key
from bethink.store import jobs, restores
from bethink.store.db import Tx, system_clock
from faults.backup_check import LEASE, SPACE, HandedOut, Life, Places, check, windows_of
from faults.backup_loss import lose
from faults.command import command
from faults.ledger import Ledger, Verdict, read
from faults.places import Place, fork
from faults.raw import Raw
from tools import postgres

WRITERS = 2
_BEFORE, _AFTER, _MOST = 20, 10, 230
"""Messages that each writer has acknowledged before a backup begins, both after it ended, and each writes at most."""
_ERASED = 3
_LETTERS = "bcdfghjklmnpqrstvwxz"
_STUCK = 60.0
_BACKUP_ROLE = "bethink_backup"


class Mutant(StrEnum):
    """Bugs on purpose."""

    COPIES = "copies"
    """The backup is a plain copy of the file, or a dump by the role that row-level security binds."""
    NO_REPLAY = "no-replay"
    """Tombstones are not replayed."""
    NO_EPOCH = "no-epoch"
    """A restore begins no new epoch."""


async def _write(life: Life, process: int) -> None:
    """Append messages with words of their own, and note each that is acknowledged."""
    ledger = Ledger(life.place.ledger, process)
    async with life.connect() as memory:
        session = await memory.space(SPACE).session(conversation_key(channel="faults", chat=f"{process}"))
        for number in range(1, _MOST + 1):
            key = f"{process}-{number}"
            message = bethink.Message(role="user", content=f"message {key} {life.words[key]}", idempotency_key=key)
            [stored] = await session.append([message])
            ledger.acknowledge(session.id, {key: stored})
        await anyio.sleep_forever()  # it stays connected, as a server does


def _acknowledged(life: Life, number: int) -> Places:
    paths = [life.place.ledger / f"{number * WRITERS + writer}.ledger" for writer in range(WRITERS)]
    return {key: (session, at) for path in paths for key, _, session, at in read(path)}


def _wait_for(life: Life, number: int, count: int) -> None:
    deadline = time.monotonic() + _STUCK
    while len(_acknowledged(life, number)) < count:
        if time.monotonic() > deadline:
            raise SystemExit(f"{life.place.database}: the writers are stuck")
        time.sleep(0.01)


def _round(life: Life, number: int, mutant: Mutant | None) -> None:
    processes = [number * WRITERS + writer for writer in range(WRITERS)]
    for process in processes:
        for at in range(1, _MOST + 1):
            life.words[f"{process}-{at}"] = _new_word(life)
    file = life.place.ledger.parent / f"round-{number}.backup"
    children = [fork(lambda process=process: anyio.run(_write, life, process)) for process in processes]
    try:
        _wait_for(life, number, WRITERS * _BEFORE)
        before = life.stored | _acknowledged(life, number)
        anyio.run(_back_up, life, file, mutant)
        ended = len(_acknowledged(life, number))
        _wait_for(life, number, min(ended + _AFTER, WRITERS * _MOST))
        handed_out = anyio.run(_go_on, life, number, before)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    loss = lose(life.place, life.settings, life.dice)
    anyio.run(_restore, life, file)
    anyio.run(check, life, before, handed_out, f"round {number}, {loss}")
    file.unlink()
    manifest.path_of(file).unlink(missing_ok=True)


def _new_word(life: Life) -> str:
    """Draw a word that shares no part with any other: what is looked for must not be there by chance."""
    while True:
        word = "".join(life.dice.choices(_LETTERS, k=12))
        if life.windows.isdisjoint(windows_of(word)):
            life.windows.update(windows_of(word))
            return word


async def _back_up(life: Life, file: Path, mutant: Mutant | None) -> None:
    if mutant is Mutant.COPIES:
        await anyio.to_thread.run_sync(_plain_copy, life, file)
        return
    await make.back_up(life.backing, file, tools=life.tools)
    async for finding in verify_backup(life.settings, file, tools=life.tools):
        if not finding.ok:
            life.problems.append(f"a backup is not whole: {finding.name}: {finding.result}")


def _plain_copy(life: Life, file: Path) -> None:
    if life.place.database == "sqlite":
        shutil.copy(life.place.target, file)
    else:
        program = str(Path(life.tools) / "pg_dump")
        subprocess.run([program, "-Fc", "--enable-row-security", "-f", str(file), life.place.target], check=True)
    made = BackupManifest(
        database=life.place.database,
        began_at=system_clock(),
        counts=Counts(spaces=0, sessions=0, messages=0, schema_version=0, epoch=0),
        bytes=file.stat().st_size,
        sha256=manifest.digest(file),
        bethink="0",
    )
    manifest.write(file, made)


async def _go_on(life: Life, number: int, before: Places) -> HandedOut:
    """Use the memory after the backup: forget some of what it holds, and take refs, a position and a claim."""
    async with life.connect() as memory:
        space, database = memory.space(SPACE), memory.backend.local().database
        for key in life.dice.sample(sorted(before), _ERASED):
            session, at = before[key]
            await space.forget(bethink.Ref.parse(f"message:{session}:{at}"))
            life.erased[key] = life.words[key]
            del before[key]
        await space.facts.save(bethink.Fact(id=f"late-{number}", text="Said late."))
        changes = await space.admin.changes.list()
        [claim] = await database.transact(
            lambda tx: jobs.lease_jobs(tx, kind=JobKind.EXTRACT, limit=1, duration=LEASE, worker="faults")
        )
        # What a writer has acknowledged may be in the backup; this is not.
        key = conversation_key(channel="faults", chat=f"{number * WRITERS}")
        session = await space.session(key)
        late = await session.append([bethink.Message(role="user", content="Said late.")] * WRITERS)
    return HandedOut(
        session=session.id,
        position=changes[-1].number,
        claim=claim,
        refs=[f"message:{session.id}:{at}" for at in late],
    )


async def _restore(life: Life, file: Path) -> None:
    await restoring.restore(life.settings, file, tools=life.tools)


def campaign(place: Place, rounds: int, seed: int, mutant: Mutant | None) -> tuple[str, Verdict]:
    """Run all rounds on one database."""
    given = settings_of(place.target) | {"tombstones_file": str(place.ledger.parent / "tombstones")}
    settings = load_settings(None, **given)  # pyright: ignore[reportArgumentType]
    backing, tools = settings, ""
    if place.database == "postgres":
        tools = str(postgres.binaries())
        backing = load_settings(None, **settings_of(_backup_role(place.raw)))  # pyright: ignore[reportArgumentType]
    life = Life(place=place, dice=random.Random(seed), settings=settings, backing=backing, tools=tools)
    began, done = time.monotonic(), 0
    with _bug(mutant):
        try:
            while done < rounds and not (life.problems and mutant is not None):
                _round(life, done, mutant)
                done += 1
        except BethinkError as error:
            life.problems.append(f"round {done}: {type(error).__name__}: {error}")
    figures = f"{life.kept} messages kept, {life.looked_for} times erased text looked for, "
    figures += f"{life.refused} old refs and marks refused"
    return f"{done} rounds, {time.monotonic() - began:.0f} s", Verdict(figures=figures, violations=life.problems)


def _backup_role(superuser: str) -> str:
    with Raw(superuser) as raw:
        raw.run(f"CREATE ROLE {_BACKUP_ROLE} LOGIN BYPASSRLS")
        raw.run(f"GRANT pg_read_all_data TO {_BACKUP_ROLE}")
    database = superuser.partition("?")[0].rpartition("/")[2]
    return postgres.in_database(superuser, database, user=_BACKUP_ROLE)


@contextmanager
def _bug(mutant: Mutant | None) -> Generator[None]:
    """Put a bug in, for as long as a campaign runs."""
    kept = (restoring.replay, restores.begin_epoch)
    if mutant is Mutant.NO_REPLAY:
        restoring.replay = _no_replay
    if mutant is Mutant.NO_EPOCH:
        restores.begin_epoch = _no_epoch
    try:
        yield
    finally:
        restoring.replay, restores.begin_epoch = kept


def _no_replay(tx: Tx, *, space: str) -> Deletion | None:
    del tx, space
    return None


def _no_epoch(tx: Tx, *, backup_at: datetime, tombstones: int) -> restores.Restore:
    return restores.Restore(restored_at=tx.now, backup_at=backup_at, tombstones=tombstones)


if __name__ == "__main__":
    sys.exit(command(__doc__, "--rounds", Mutant, campaign))
