# pyright: reportUnknownMemberType=false
"""Short learning fault campaigns, and proof that they and their checks detect seeded bugs."""

import random
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import apsw
import pytest

from bethink.jobs.worker import Worker, WorkerOptions
from bethink.memory.learning.extraction.extract import Extractor
from bethink.model.calls import ModelCall
from bethink.model.jobs import JobKind
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.providers.scripted_model import ScriptedModel
from faults import learners, model_check
from faults.learn_check import WATCHED, check
from faults.model import Clock, Faulty, Stage
from faults.mutants import Mutant
from faults.places import AsItIs, Place
from tests.conftest import memory_on


def campaign(module: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", f"faults.{module}", "--database", "sqlite", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [(), ("--mutant", "two_transactions")])
def test_a_campaign_ends_with_its_figures_and_its_seed(arguments: tuple[str, ...]) -> None:
    done = campaign("learn", "--kills", "30", "--seed", "7", *arguments)

    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("sqlite: ")
    assert last.endswith("0 violations (seed 7)")


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("mutant", [each for each in Mutant if each is not Mutant.TWO_TRANSACTIONS])
def test_campaign_detects_every_seeded_bug(mutant: Mutant) -> None:
    for kills in (60, 120, 240):
        done = campaign("learn", "--kills", str(kills), "--mutant", mutant)
        if done.returncode == 1:
            break

    assert done.returncode == 1, done.stdout + done.stderr
    assert " 0 violations" not in done.stdout.splitlines()[-1]


@pytest.mark.slow
def test_a_model_may_do_everything_wrong() -> None:
    done = campaign("model", "--faults", "400", "--seed", "7")

    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("sqlite: 400 faults of ")
    assert last.endswith("0 violations (seed 7)")


async def _learn_from(place: Place) -> None:
    database = learners.database_at(place.target)
    await database.open()

    def answered(call: ModelCall) -> str:
        learners.note_down(place.ledger / learners.ASKED, call)
        return learners.one_fact_each(call)

    model = ScriptedModel(answered)
    handler = learners.noting(Extractor)(
        database=database, model=model, reader=model, redactor=AsItIs(), tokens=EstimatedTokens()
    )  # fmt: skip
    await Worker(database, {JobKind.EXTRACT: handler}, WorkerOptions(daily_cap=None, batch=100)).run_once()
    await database.close()


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of a hundred messages that was learnt from twice, in a folder with its ledger."""
    folder = tmp_path_factory.mktemp("learnt")
    target = str(folder / "memory.db")
    place = Place(database="sqlite", target=target, raw=target, ledger=folder / "ledger")
    place.ledger.mkdir()
    for last in (60, 100):
        anyio.run(learners.append, place, random.Random(3), None, last)
        anyio.run(learners.finish, place)
        anyio.run(_learn_from, place)
    return folder


@pytest.fixture
def folder(learnt: Path, tmp_path: Path) -> Path:
    """A copy to be damaged."""
    return Path(shutil.copytree(learnt, tmp_path / "copy"))


def damaged(folder: Path, damage: str) -> None:
    connection = apsw.Connection(str(folder / "memory.db"))
    connection.execute(damage)
    connection.close()


def complaints(folder: Path) -> list[str]:
    return check(str(folder / "memory.db"), folder / "ledger").violations


def test_the_check_finds_nothing_where_nothing_is_wrong(folder: Path) -> None:
    verdict = check(str(folder / "memory.db"), folder / "ledger", log=folder / "no.log")

    assert verdict.violations == []
    assert verdict.figures.startswith("101 messages in ")
    assert verdict.figures.endswith(" of 3 spaces, 101 facts")


_LATEST = """(SELECT f.id FROM facts f WHERE EXISTS (
    SELECT 1 FROM facts e WHERE e.source = f.source AND e.token < f.token
) ORDER BY f.token DESC, f.id LIMIT 1)"""
_LATER_ANSWERS = "EXISTS (SELECT 1 FROM answers e WHERE e.key = answers.key AND e.token < answers.token)"
_COPY = """INSERT INTO facts (space_id, id, version, content, kind, origin, source, tags, metadata, entities,
    created_at, recorded_at, digest, effect, token)
SELECT space_id, 'fct_copy', 1, content, kind, origin, source, tags, metadata, entities, created_at, recorded_at,
    digest, effect || '0', token FROM facts WHERE content = 'note9x blue9x';
INSERT INTO fact_sources SELECT space_id, 'fct_copy', session_id, number FROM fact_sources
WHERE fact_id = (SELECT id FROM facts WHERE content = 'note9x blue9x' AND id <> 'fct_copy')"""


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ("DELETE FROM messages WHERE idempotency_key = '0-7'", "acknowledged message 0-7 is lost"),
        ("DELETE FROM messages WHERE idempotency_key = '0-7'", "which is not there"),
        ("UPDATE messages SET number = 99 WHERE idempotency_key = '0-7'", "acknowledged message 0-7 is at"),
        ("UPDATE messages SET space_id = 'space-9' WHERE idempotency_key = '0-7'", "which is not there"),
        ("DELETE FROM facts WHERE content = 'note9x blue9x'", "message 0-9 has 0 facts"),
        ("DELETE FROM facts WHERE content = 'note9x blue9x'", "belongs to no fact"),
        ("DELETE FROM fact_sources WHERE number = 3", "has no source"),
        ("DELETE FROM fact_quotes WHERE number = 3", "has no quote"),
        ("UPDATE fact_quotes SET text = 'Note9x' WHERE number = 3", "quotes 'Note9x', which message 3"),
        ("UPDATE facts SET evidence = 'quoted' WHERE content = 'note9x blue9x'", "is only quoted"),
        ("UPDATE answers SET recorded_at = 1, token = 0 WHERE position = 0", "asked for claims about 'note"),
        ("UPDATE answers SET recorded_at = 1, token = 0 WHERE position = 1", "asked for verdicts about 'note"),
        ("UPDATE facts SET retired_at = 1 WHERE content = 'note9x blue9x'", "message 0-9 has 0 facts"),
        ("UPDATE facts SET content = 'other' WHERE content = 'note9x blue9x'", "its fact 'other'"),
        ("UPDATE facts SET effect = NULL WHERE content = 'note9x blue9x'", "has no effect key"),
        ("UPDATE facts SET effect = 'ses_x:1:1:0' WHERE content = 'note9x blue9x'", "has the effect key 'ses_x:1:1:0'"),
        ("DROP INDEX facts_effect; UPDATE facts SET effect = source || ':8:1:0'", " times"),
        (_COPY, "message 0-9 has 2 facts"),
        (_COPY, "fact 'note9x blue9x' is there 2 times"),
        ("UPDATE facts SET token = token + 99", "has a token above its job's"),
        (f"UPDATE facts SET recorded_at = 1 WHERE id = {_LATEST}", " after token "),
        (f"UPDATE answers SET recorded_at = 1 WHERE {_LATER_ANSWERS}", " after token "),
        (f"UPDATE facts SET effect = source || ':1:1:0' WHERE id = {_LATEST}", "was learnt from in the order"),
        (
            f"UPDATE facts SET token = token + 1 WHERE id = {_LATEST}; UPDATE jobs SET token = token + 1",
            "was learnt from in the order",
        ),
        ("UPDATE sessions SET processed_until = 1 WHERE last_number > 1", "is processed until 1, its last message is"),
        ("UPDATE sessions SET processed_until = NULL", "is processed until None"),
        ("UPDATE sessions SET invalidated_at = 2", "is still marked at 2"),
        ("UPDATE fact_sources SET session_id = 'ses_x' WHERE number = 1", "belongs to no fact of that session"),
        (
            "UPDATE jobs SET status = 'running' WHERE key = (SELECT max(key) FROM jobs WHERE kind = 'extract')",
            "is running",
        ),
        ("UPDATE jobs SET status = 'abandoned'", "is abandoned"),
        ("INSERT INTO terms_fts (terms_fts) VALUES ('delete-all')", "the index of words does not agree"),
    ],
)
def test_the_check_names_every_broken_promise(folder: Path, damage: str, complaint: str) -> None:
    damaged(folder, damage)

    found = complaints(folder)

    assert any(complaint in violation for violation in found), found


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ("ses_a 9 2 1\nses_b 1 1 2\nses_a 4 3 3\n", "session ses_a fell from 9 back to 4"),
        ("ses_a 4 3 1\nses_a 4 2 2\n", "the token of session ses_a fell from 3 back to 2"),
    ],
)
def test_check_detects_a_value_that_decreased(folder: Path, lines: str, complaint: str) -> None:
    (folder / "ledger" / WATCHED).write_text(lines)

    assert complaints(folder) == [complaint]


def test_check_detects_a_write_after_a_lost_lease(folder: Path) -> None:
    connection = apsw.Connection(str(folder / "memory.db"))
    [[session]] = list(connection.execute("SELECT source FROM facts WHERE content = 'note9x blue9x'"))
    [[first]] = list(connection.execute("SELECT min(token) FROM facts WHERE source = ?", (session,)))
    connection.close()
    (folder / "ledger" / WATCHED).write_text(f"{session} 0 {first} 1\n{session} 0 {first + 1} 2\n")

    found = complaints(folder)

    assert found
    assert all(f"was written by token {first} after token {first + 1}" in violation for violation in found)


def test_check_counts_failed_processes_and_reads_worker_logs(folder: Path) -> None:
    log = folder / "workers.log"
    log.write_text(
        "job extract of ses_a failed (DatabaseBusyError), attempt 1\na heartbeat failed: DatabaseBusyError\n"
        "job extract of ses_a failed (DuplicateError), attempt 1\n"
    )

    found = check(str(folder / "memory.db"), folder / "ledger", failed_processes=2, log=log).violations

    assert found == [
        "2 processes ended in an error",
        "a worker says: job extract of ses_a failed (DuplicateError), attempt 1",
    ]


@pytest.fixture(scope="module")
def well_answered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A database that a model answered well for, and how many answers it gave."""
    path = tmp_path_factory.mktemp("answered") / "memory.db"

    async def fill() -> int:
        clock, dice = Clock(), random.Random(4)
        database = learners.database_at(str(path), clock)
        await database.open()
        stage = Stage(database, clock, memory_on(database, redactor=AsItIs()), Faulty(dice, 0, []), dice)
        for chat in range(12):
            await stage.talk(chat)
        assert await stage.settle() == []
        await database.close()
        return stage.model.answered

    return path, anyio.run(fill)


def test_the_check_of_answers_finds_nothing_where_nothing_is_wrong(well_answered: tuple[Path, int]) -> None:
    path, answered = well_answered

    verdict = model_check.check(str(path), answered=answered)

    assert verdict.violations == []
    assert verdict.figures.startswith("24 answers, ")


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ("DELETE FROM fact_sources", "has no source"),
        ("DELETE FROM fact_quotes", "has no quote"),
        ("UPDATE fact_quotes SET text = upper(text)", "which its message does not say"),
        ("UPDATE fact_quotes SET support = 'ses_x:1:2:0'", "from another session than it quotes"),
        ("UPDATE facts SET evidence = 'quoted'", "is only quoted"),
        (
            "UPDATE facts SET retired_by = (SELECT g.id FROM facts g WHERE g.space_id = facts.space_id "
            "AND g.origin = 'tool:web') WHERE origin = 'user'",
            "gave way to what tool:web said",
        ),
        ("DELETE FROM messages WHERE number = 1", "which is not there"),
        ("UPDATE facts SET source = 'ses_x'", "which is not its own"),
        ("UPDATE facts SET content = content || ' and 4711 castles'", "its sources do not"),
        ("UPDATE facts SET content = 'User owns a castle'", "its sources do not"),
        ("UPDATE facts SET kind = 'instruction' WHERE origin = 'assistant'", "is a instruction that the user did not"),
        ("UPDATE facts SET kind = 'procedure' WHERE origin = 'tool:web'", "that rests on ['tool:web']"),
        ("UPDATE facts SET origin = 'user'", "claims to be the user's word alone"),
        ("UPDATE facts SET origin = 'assistant'", "is of origin assistant, its sources are not"),
        ("""UPDATE facts SET entities = '["ses_01x"]'""", "names the id of a session"),
        ("UPDATE facts SET subject = 'ghp_q7ZK9abc'", "a secret is in facts"),
        ("UPDATE answers SET model = 'm' || char(0)", "a NUL is in answers"),
        ("UPDATE answers SET key = key || 'x'", "is of no session or agent of its space"),
        ("UPDATE answers SET agent_id = 'agt_x'", "is of no session or agent of its space"),
        ("UPDATE sessions SET processed_until = NULL", "is processed until None"),
        ("UPDATE sessions SET invalidated_at = 1", "marked at 1"),
        ("UPDATE jobs SET status = 'abandoned'", "is abandoned"),
        ("UPDATE spending SET calls = 0", "0 calls were paid for, 24 answered"),
        ("UPDATE spending SET cost = -1", "a day's spending is negative"),
        ("UPDATE jobs SET calls = 0", "0 calls were charged to jobs, 24 answered"),
    ],
)
def test_the_check_of_answers_names_every_broken_promise(
    well_answered: tuple[Path, int], tmp_path: Path, damage: str, complaint: str
) -> None:
    path, answered = well_answered
    shutil.copy(path, tmp_path / "memory.db")
    damaged(tmp_path, damage)

    found = model_check.check(str(tmp_path / "memory.db"), answered=answered).violations

    assert any(complaint in violation for violation in found), found
