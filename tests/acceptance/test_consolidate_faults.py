# pyright: reportUnknownMemberType=false
"""A short consolidation fault campaign, and proof that it and its check detect seeded bugs."""

import random
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import apsw
import pytest

from faults import consolidators, promises
from faults.consolidate_check import EMPTIED, WATCHED, check
from faults.consolidate_mutants import ConsolidateMutant
from faults.learners import database_at
from faults.places import Place
from faults.signs import Signs


def campaign(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "faults.consolidate", "--database", "sqlite", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.slow
def test_a_campaign_ends_with_its_figures_and_its_seed() -> None:
    done = campaign("--faults", "30", "--seed", "7")

    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("sqlite: ")
    assert last.endswith("0 violations (seed 7)")


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("mutant", list(ConsolidateMutant))
def test_campaign_detects_every_seeded_bug(mutant: ConsolidateMutant) -> None:
    for faults in (40, 80, 160, 320):
        done = campaign("--faults", str(faults), "--mutant", mutant)
        if done.returncode == 1:
            break

    assert done.returncode == 1, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("sqlite: ")
    assert " 0 violations" not in last


async def _settle(place: Place, slot: int) -> None:
    database = database_at(place.target)
    await database.open()
    worker = consolidators.worker(database, random.Random(slot), Signs(consolidators.WORKERS), slot)
    while (await worker.run_once()).leased:
        pass
    await database.close()


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that was fed and settled four times, with a model and without, in a folder with its ledger."""
    folder = tmp_path_factory.mktemp("settled")
    target = str(folder / "memory.db")
    place = Place(database="sqlite", target=target, raw=target, ledger=folder / "ledger")
    place.ledger.mkdir()
    for slot in (0, 1, 0, 1):
        anyio.run(consolidators.feed, place, random.Random(slot), 40)
        anyio.run(_settle, place, slot)
    return folder


@pytest.fixture
def folder(settled: Path, tmp_path: Path) -> Path:
    """A copy to be damaged."""
    return Path(shutil.copytree(settled, tmp_path / "copy"))


def rows(folder: Path, query: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(folder / "memory.db"))
    found = list(connection.execute(query))
    connection.close()
    return found


def complaints(folder: Path) -> list[str]:
    return check(str(folder / "memory.db"), folder / "ledger").violations


def test_the_check_finds_nothing_where_nothing_is_wrong(folder: Path) -> None:
    verdict = check(str(folder / "memory.db"), folder / "ledger", log=folder / "no.log")

    assert verdict.violations == []
    assert " promises in 20 spaces, " in verdict.figures
    assert verdict.figures.endswith(" documents")


_DERIVED = "author_kind = 'job' AND author_id <> 'memory'"
_OLD = f"(SELECT id FROM documents WHERE {_DERIVED} AND version > 2 ORDER BY id LIMIT 1)"
# A topic that only stays because something hangs below it may rest on nothing.
_STANDING = f"valid_to IS NULL AND slug LIKE 'topic-%' AND body <> '{EMPTIED}'"
_TOPIC = f"(SELECT id FROM documents WHERE {_DERIVED} AND {_STANDING} ORDER BY id LIMIT 1)"
_FLAGGED = "(SELECT session_id FROM session_summaries WHERE selected = 1 ORDER BY session_id LIMIT 1)"
_FIRST_CHANGES = """EXISTS (
    SELECT 1 FROM change_sets l WHERE l.space_id = change_sets.space_id AND l.token > change_sets.token
)"""
_EARLIER_ANSWERS = """token < (
    SELECT max(j.token) FROM jobs j WHERE j.space_id = answers.space_id AND j.kind = 'consolidate'
)"""
_COPY = f"""DROP INDEX documents_current; DROP INDEX documents_place;
INSERT INTO documents SELECT space_id, id, version + 1, valid_from, valid_to, parent_id, slug, title, description, body,
    created_at, author_kind, author_id, reason, token, run, closed_run, origin, redacted, tags,
    metadata
FROM documents WHERE id = {_TOPIC} AND valid_to IS NULL"""


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (f"UPDATE documents SET token = token + 99 WHERE id = {_OLD} AND version = 1", "the tokens of doc_"),
        (f"UPDATE documents SET valid_from = 1 WHERE id = {_OLD} AND version = 3", "the tokens of the space fall"),
        (f"UPDATE documents SET run = 'run_x' WHERE {_DERIVED}", "run run_x of space-"),
        (f"UPDATE documents SET run = 'run_x' WHERE id = {_OLD} AND version = 2", " has 2 runs"),
        (f"UPDATE documents SET token = NULL WHERE id = {_OLD}", "with token None"),
        (f"UPDATE documents SET run = '' WHERE id = {_OLD}", "was written by run ''"),
        (
            f"UPDATE documents SET valid_from = 1 WHERE id = {_OLD} AND version = 3",
            " after token ",
        ),
        (
            f"UPDATE change_sets SET created_at = created_at + 1000000000 WHERE {_FIRST_CHANGES}",
            "the change set of run_",
        ),
        (
            f"UPDATE answers SET recorded_at = recorded_at + 1000000000 WHERE {_EARLIER_ANSWERS}",
            "an answer of run_",
        ),
        ("UPDATE jobs SET token = 1 WHERE kind = 'consolidate'", "above that of the job of space-"),
        ("UPDATE jobs SET status = 'queued' WHERE kind = 'consolidate'", "is queued"),
        ("UPDATE jobs SET status = 'failed' WHERE kind = 'consolidate'", "is failed"),
        ("UPDATE jobs SET status = 'abandoned' WHERE kind = 'consolidate'", "is abandoned"),
        ("UPDATE jobs SET status = 'running', due_at = 1 WHERE kind = 'consolidate'", "running, and its lease is over"),
        ("UPDATE jobs SET input_watermark = success_watermark + 1 WHERE kind = 'consolidate'", ", promised until "),
        ("UPDATE jobs SET input_watermark = 1, success_watermark = 1 WHERE kind = 'consolidate'", " is lost"),
        ("UPDATE jobs SET success_watermark = 1 WHERE kind = 'consolidate'", "settled until 1, but has selected "),
        (
            "UPDATE session_summaries SET selected = 0, selected_source_updated_at = NULL",
            "was never settled with [('ses_",
        ),
        (f"UPDATE session_summaries SET generated_at = 1 WHERE session_id = {_FLAGGED}", "still holds on to [('ses_"),
        (f"DELETE FROM documents WHERE id = {_OLD} AND version = 2", " has the versions [1, 3"),
        (_COPY, "was never closed"),
        (_COPY, " is current 2 times in space-"),
        (_COPY, "place doc_"),
        (f"UPDATE document_references SET target_id = 'doc_x' WHERE source_id = {_TOPIC}", "the parent doc_x of doc_"),
        (
            "UPDATE document_references SET kind = 'link', target_id = 'doc_x' WHERE kind = 'parent'",
            "the link doc_x",
        ),
        (f"UPDATE documents SET parent_id = 'doc_x' WHERE id = {_TOPIC}", "hangs below doc_x, which is not there"),
        (f"DELETE FROM document_sources WHERE document_id = {_OLD} AND version = 1", " has no source"),
        (
            f"UPDATE document_sources SET source_id = 'x' || source_id WHERE document_id = {_TOPIC}",
            "rests on nothing that is there",
        ),
        ("UPDATE facts SET retired_at = 1", "(doc_"),
        (
            f"UPDATE session_summaries SET selected_source_updated_at = 7 WHERE session_id = {_FLAGGED}",
            "is flagged at 7, which was never stored",
        ),
        ("UPDATE change_sets SET selection = '[]'", "which no run has looked at"),
        ("UPDATE session_summaries SET selected = 0 WHERE selected = 1", "is not flagged, but at "),
        ("DELETE FROM session_summaries", "is that of None, not of "),
        ("UPDATE session_summaries SET source_updated_at = 7", "is that of 7, not of "),
        ("DELETE FROM terms WHERE kind = 'document'", "does not agree with the documents"),
    ],
)
def test_the_check_names_every_broken_promise(folder: Path, damage: str, complaint: str) -> None:
    connection = apsw.Connection(str(folder / "memory.db"))
    connection.pragma("foreign_keys", True)
    connection.execute(damage)
    connection.close()

    found = complaints(folder)

    assert any(complaint in violation for violation in found), found[:20]


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ("job space-x 1 9 1\njob space-y 1 1 2\njob space-x 2 4 3\n", "the watermark of space-x fell from 9 back to 4"),
        ("job space-x 3 4 1\njob space-x 2 4 2\n", "the token of space-x fell from 3 back to 2"),
    ],
)
def test_check_detects_a_value_that_decreased(folder: Path, lines: str, complaint: str) -> None:
    (folder / "ledger" / WATCHED).write_text(lines)

    assert complaints(folder) == [complaint]


def test_check_detects_a_write_after_a_lost_lease(folder: Path) -> None:
    [(first,)] = rows(folder, "SELECT min(token) FROM change_sets WHERE space_id = 'space-03'")
    assert isinstance(first, int)
    (folder / "ledger" / WATCHED).write_text(f"job space-03 {first} 0 1\njob space-03 {first + 1} 0 2\n")

    found = complaints(folder)

    assert found
    assert all(f"space-03 was written by token {first} after token {first + 1}" in violation for violation in found)


def test_check_detects_a_flag_set_before_its_run_succeeded(folder: Path) -> None:
    [(space, session, moment)] = rows(
        folder,
        "SELECT space_id, session_id, selected_source_updated_at FROM session_summaries WHERE selected = 1 LIMIT 1",
    )
    (folder / "ledger" / WATCHED).write_text(f"flag {space} {session} {moment} 1\nflag {space} {session} 7 {2**60}\n")

    assert complaints(folder) == [
        f"{session} in {space} was flagged at {moment} before a run succeeded",
        f"{session} in {space} was flagged at 7, which was never stored",
        f"{session} in {space} was flagged at 7 before a run succeeded",
    ]


def test_intended_write_may_be_stored_or_missing(folder: Path) -> None:
    kept = [each for each in promises.read(folder / "ledger") if each.session is not None]
    last = kept[-1]
    ledger = folder / "ledger" / "promises"
    ledger.write_text(ledger.read_text().replace(f"{last.space} {last.moment} {last.session}\n", ""))
    with ledger.open("a") as file:
        file.write(f"{last.space} 5\n")

    assert complaints(folder) == []


def test_check_counts_failed_processes_and_reads_worker_logs(folder: Path) -> None:
    log = folder / "workers.log"
    log.write_text(
        "job consolidate of space failed (DatabaseBusyError), attempt 1\n"
        "job consolidate of space failed (VersionConflictError), attempt 1\n"
    )

    found = check(str(folder / "memory.db"), folder / "ledger", failed_processes=2, log=log).violations

    assert found == [
        "2 processes ended in an error",
        "a worker says: job consolidate of space failed (VersionConflictError), attempt 1",
    ]
