"""From a marked session to a session memory and facts, with what was said beside every one."""

from contextlib import suppress

import anyio
import pytest

from bethink import AgentKind, ConversationKey, Memory, Session
from bethink.errors import ModelTimeout, ModelUnavailable
from bethink.model.calls import ModelAnswer, ModelCall, Stop
from bethink.model.jobs import JobKind, JobStatus, Outcome
from bethink.plugins.redaction import SecretRedactor
from bethink.plugins.scripted_model import ScriptedModel
from bethink.store import jobs, learning, sessions
from bethink.store.db import Database, Tx
from bethink.worker import Worker, WorkerOptions
from tests.conftest import KEY, FakeClock, many, said
from tests.rooms.learn_kit import NOTHING, a_fact, answer, extractor, worker


class Killed(BaseException):
    """What no handler catches."""


async def marked(memory: Memory, session: Session, *texts: str) -> Session:
    await memory.append(session, said(*texts))
    await memory.idle(session)
    return session


@pytest.mark.spec("S2.16", "S2.18", "S2.21", "S0.20", "S1.22", "S4.33")
async def test_a_marked_session_becomes_a_session_memory_and_facts_with_their_sources(
    database: Database, memory: Memory, session: Session
) -> None:
    await marked(memory, session, "Hello!", "I moved to Bergen in May.")
    told = answer(
        a_fact("User moved to Bergen", 2, entities=["Bergen"], slot="home_town", valid_from="2026-05"),
        raw="# Notes\n\nThe user moved.",
        summary="The user moved to Bergen.",
        slug="Moving to Bergen!",
    )

    report = await worker(database, [told]).run_once()

    assert report.outcomes == {Outcome.SUCCEEDED: 1}
    memory_of = await memory.session_memory(session)
    assert memory_of is not None
    assert (memory_of.raw_memory, memory_of.slug) == ("# Notes\n\nThe user moved.", "moving-to-bergen")
    assert (memory_of.until, memory_of.made_by.model, memory_of.made_by.prompt) == (2, "scripted", "extract-1")
    [fact] = await memory.facts(space="alice").search("Bergen", 5)
    assert (fact.content, fact.source, fact.origin) == ("User moved to Bergen", session.id, "user")
    assert fact.valid_from == 1_777_593_600_000_000
    assert await memory.facts(space="alice").sources(fact.id) == [(session.id, 2)]
    after = await memory.get_session(space="alice", session_id=session.id)
    assert after is not None
    assert (after.invalidated_at, after.processed_until) == (None, 2)


@pytest.mark.spec("S2.22")
async def test_nothing_worth_keeping_is_a_success(database: Database, memory: Memory, session: Session) -> None:
    await marked(memory, session, "ok", "thanks")

    report = await worker(database, [NOTHING]).run_once()

    assert report.outcomes == {Outcome.SUCCEEDED_NO_OUTPUT: 1}
    assert await memory.session_memory(session) is None
    [job] = await memory.jobs(space="alice")
    assert job.outcome is Outcome.SUCCEEDED_NO_OUTPUT


async def test_what_was_kept_of_a_session_is_told_to_the_model_and_outlives_small_talk(
    database: Database, memory: Memory, session: Session
) -> None:
    await marked(memory, session, "My cat is called Miez.")
    await worker(database, [answer(raw="The cat is Miez.")]).run_once()
    await marked(memory, session, "ok", "thanks")
    model = ScriptedModel([NOTHING])

    await worker(database, model).run_once()

    assert "<notes_so_far>\nThe cat is Miez.\n</notes_so_far>" in model.calls[0].prompt
    kept = await memory.session_memory(session)
    assert kept is not None
    assert kept.raw_memory == "The cat is Miez."


@pytest.mark.spec("S1.19")
async def test_only_what_is_new_is_asked_about_and_the_rest_is_there_to_understand_it(
    database: Database, memory: Memory, session: Session
) -> None:
    model = ScriptedModel(lambda _: answer(a_fact("User likes tea", 1)))
    work = worker(database, model)
    await marked(memory, session, "I like tea.")
    await work.run_once()
    await marked(memory, session, "And rain.")

    report = await work.run_once()

    assert "after number 1 are new" in model.calls[1].system
    assert "I like tea." in model.calls[1].prompt
    assert report.refused["not_new"] == 1, "a fact must rest on something new"


@pytest.mark.spec("S0.21", "S0.14")
async def test_what_comes_in_while_a_model_thinks_is_learnt_next_and_never_skipped(
    database: Database, memory: Memory, session: Session
) -> None:
    class Slow(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            if not self.calls:
                await memory.append(session, said("late"))
                await memory.idle(session)
            return await super().answer(call)

    model = Slow(lambda _: answer())
    work = worker(database, model)
    await marked(memory, session, "early")

    await work.run_once()
    between = await memory.get_session(space="alice", session_id=session.id)
    await work.run_once()
    after = await memory.get_session(space="alice", session_id=session.id)

    assert between is not None
    assert after is not None
    assert (between.processed_until, between.invalidated_at) == (1, 2)
    assert "late" not in model.calls[0].prompt
    assert "late" in model.calls[1].prompt
    assert (after.processed_until, after.invalidated_at) == (2, None)


async def test_more_than_fits_the_window_is_learnt_piece_by_piece(
    database: Database, memory: Memory, session: Session
) -> None:
    model = ScriptedModel(lambda _: answer(), window=4_000)
    await marked(memory, session, *(f"part {number} " + "word " * 400 for number in range(8)))
    work = worker(database, model)

    for _ in range(8):
        await work.run_once()

    after = await memory.get_session(space="alice", session_id=session.id)
    assert after is not None
    assert (after.processed_until, after.invalidated_at) == (8, None)
    assert len(model.calls) > 1
    for number in range(8):
        assert any(f"[{number + 1}]" in call.prompt and f"part {number} " in call.prompt for call in model.calls)
    assert all(len(call.system + call.prompt) / 4 < 4_000 for call in model.calls)


async def test_a_worker_killed_between_the_answer_and_its_application_costs_no_second_call(
    database: Database, memory: Memory, session: Session, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel(lambda _: answer(a_fact("User plays the cello", 1)))
    await marked(memory, session, "I play the cello.")

    async def die(*_: object) -> None:
        raise Killed

    async def nothing(*_: object) -> None:
        """It is dead, not stopped: nothing is handed back."""

    with monkeypatch.context() as patch:
        patch.setattr("bethink.learn.extract.Extractor._apply", die)
        patch.setattr("bethink.worker.Worker._release", nothing)
        with pytest.raises(BaseExceptionGroup):
            await worker(database, model).run_once()
    await memory.append(session, said("said meanwhile"))
    clock.time += 3_600_000_000

    await worker(database, model).run_once()

    assert len(model.calls) == 1
    [fact] = await memory.facts(space="alice").search("cello", 5)
    assert fact.made_by is not None
    after = await memory.get_session(space="alice", session_id=session.id)
    assert after is not None
    assert after.processed_until == 1, "the recorded answer was about one record"


async def test_an_answer_that_cannot_be_used_is_asked_for_once_more(
    database: Database, memory: Memory, session: Session
) -> None:
    model = ScriptedModel(["Sure! Here is your JSON.", answer()])
    await marked(memory, session, "I like tea.")

    report = await worker(database, model).run_once()

    assert report.outcomes == {Outcome.SUCCEEDED: 1}
    assert "could not be used: the answer is not one JSON object." in model.calls[1].prompt
    [job] = [each for each in await memory.jobs(space="alice") if each.kind is JobKind.EXTRACT]
    assert job.usage.calls == 2


@pytest.mark.parametrize(
    "bad",
    [
        "no json",
        '{"raw_memory": "x"',
        "[1, 2]",
        '{"raw_memory": 1, "summary": "", "slug": null, "facts": []}',
        '{"raw_memory": "", "summary": "", "slug": null, "facts": {}}',
        '{"raw_memory": "", "summary": "", "slug": null, "facts": [], "more": 1}',
        '{"raw_memory": "", "summary": "", "slug": NaN, "facts": []}',
        "[" * 100_000,
        '{"raw_memory": "' + "x" * 1_000_001 + '", "summary": "s", "slug": null, "facts": []}',
        ModelAnswer(text=answer(), model="m", stop=Stop.LENGTH),
        ModelAnswer(text="", model="m", stop=Stop.REFUSED),
    ],
)
@pytest.mark.spec("S2.23")
async def test_a_useless_answer_fails_the_job_and_leaves_nothing_behind(
    database: Database, memory: Memory, session: Session, bad: str | ModelAnswer
) -> None:
    await marked(memory, session, "I like tea.")

    report = await worker(database, lambda _: bad).run_once()

    assert report.outcomes == {"failed": 1}
    assert await memory.session_memory(session) is None
    assert await memory.facts(space="alice").length() == 0
    [job] = await memory.jobs(space="alice")
    assert (job.status, job.outcome, job.attempts) == (JobStatus.FAILED, Outcome.FAILED, 1)
    assert job.last_error is not None
    assert job.last_error.startswith("BadAnswer")
    assert job.usage.calls == 2, "it was paid for all the same"
    after = await memory.get_session(space="alice", session_id=session.id)
    assert after is not None
    assert (after.processed_until, after.invalidated_at) == (None, 1)


@pytest.mark.spec("S2.20")
async def test_a_failed_job_waits_longer_each_time_and_is_given_up_in_the_end(
    database: Database, memory: Memory, session: Session, clock: FakeClock
) -> None:
    await marked(memory, session, "I like tea.")
    work = worker(database, lambda _: "no json", max_attempts=3)
    waits: list[float] = []
    for _ in range(2):
        await work.run_once()
        assert (await work.run_once()).claimed == 0, "no hot loop"
        [job] = await memory.jobs(space="alice")
        assert job.due_at is not None
        waits.append((job.due_at - clock.time) / 1e6)
        clock.time = job.due_at
    await work.run_once()

    [job] = await memory.jobs(space="alice")
    assert (job.status, job.attempts, job.due_at) == (JobStatus.DEAD, 3, None)
    assert 45 < waits[0] < 75
    assert 90 < waits[1] < 150
    assert (await work.audit()).dead == 1


async def test_a_job_that_kills_its_worker_is_given_up_without_another_try(
    database: Database, memory: Memory, session: Session, clock: FakeClock
) -> None:
    await marked(memory, session, "poison")
    for _ in range(3):
        await database.transact(lambda tx: jobs.claim(tx, kind=JobKind.EXTRACT, worker="doomed", lease=1_000, limit=1))
        clock.time += 2_000
    model = ScriptedModel(lambda _: answer())

    await worker(database, model, max_attempts=3).run_once()

    assert model.calls == []
    [job] = await memory.jobs(space="alice")
    assert (job.status, job.last_error) == (JobStatus.DEAD, "crashed")


async def test_what_was_said_during_the_last_attempt_is_reason_for_another(
    database: Database, memory: Memory, session: Session
) -> None:
    class Failing(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            await memory.append(session, said("something new"))
            raise ZeroDivisionError

    await memory.append(session, many(6))

    await worker(database, Failing([]), max_attempts=1).run_once()

    [job] = await memory.jobs(space="alice")
    assert (job.status, job.attempts) == (JobStatus.QUEUED, 0)


async def test_one_session_that_kills_its_worker_takes_no_other_down_with_it(
    database: Database, memory: Memory, clock: FakeClock
) -> None:
    sessions_ = [
        await memory.open_session(space="alice", conversation=ConversationKey(channel="c", chat=str(number)))
        for number in range(6)
    ]
    for each in sessions_:
        await marked(memory, each, "poison" if each is sessions_[2] else "tea")

    def deadly(call: ModelCall) -> str:
        if "poison" in call.prompt:
            raise Killed
        return answer()

    async def nothing(*_: object) -> None:
        """It is dead: nothing is handed back."""

    for _ in range(40):
        mortal = worker(database, deadly, max_attempts=3, concurrency=1)
        mortal._release = nothing  # pyright: ignore[reportAttributeAccessIssue]
        with suppress(BaseExceptionGroup):
            await mortal.run_once()
        clock.time += 61_000_000

    statuses = {job.key: job.status for job in await memory.jobs(space="alice") if job.kind is JobKind.EXTRACT}
    assert [statuses[each.id] for each in sessions_] == [
        JobStatus.DEAD if each is sessions_[2] else JobStatus.WAITING for each in sessions_
    ]


async def test_a_model_that_keeps_everyone_waiting_is_away_and_one_that_keeps_one_waiting_is_not(
    database: Database, memory: Memory, session: Session
) -> None:
    other = await memory.open_session(space="alice", conversation=ConversationKey(channel="c", chat="other"))
    await marked(memory, session, "slow")
    await worker(database, lambda _: ModelTimeout("slow")).run_once()
    [job] = [each for each in await memory.jobs(space="alice") if each.key == session.id]
    assert job.attempts == 0

    await memory.retry(session)
    await marked(memory, other, "quick")
    answered = anyio.Event()

    class Choosy(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            if "slow" in call.prompt:
                await answered.wait()
                while await memory.session_memory(other) is None:  # noqa: ASYNC110
                    await anyio.sleep(0.01)
                await anyio.sleep(0.05)
                raise ModelTimeout("slow")
            answered.set()
            return await super().answer(call)

    await worker(database, Choosy([answer()])).run_once()
    [job] = [each for each in await memory.jobs(space="alice") if each.key == session.id]
    assert job.attempts == 1


@pytest.mark.parametrize("wait", [float("inf"), float("nan"), 1e15, -5.0])
async def test_no_answer_about_when_to_come_back_breaks_a_worker(
    database: Database, memory: Memory, session: Session, clock: FakeClock, wait: float
) -> None:
    await marked(memory, session, "I like tea.")

    await worker(database, lambda _: ModelUnavailable("later", retry_after=wait)).run_once()

    [job] = await memory.jobs(space="alice")
    assert job.due_at is not None
    assert job.due_at - clock.time < 1.5 * 86_400e6


async def test_what_a_model_says_of_itself_and_of_its_errors_is_kept_clean(
    database: Database, memory: Memory, session: Session
) -> None:
    secret = "ghp_" + "a1B2" * 9
    odd = ModelAnswer(text=answer(), model=f"m\0\ud800 {secret} " + "x" * 999, input_tokens=-5, output_tokens=10**30)
    extract = extractor(database, ScriptedModel([odd]), SecretRedactor(b"k"))
    await marked(memory, session, "I like tea.")
    await Worker(database, {JobKind.EXTRACT: extract}, WorkerOptions()).run_once()
    kept = await memory.session_memory(session)
    [job] = [each for each in await memory.jobs(space="alice") if each.kind is JobKind.EXTRACT]
    assert kept is not None
    assert secret not in kept.made_by.model
    assert len(kept.made_by.model) <= 200
    assert (job.usage.input_tokens, job.usage.output_tokens) == (0, 10**9)

    await marked(memory, session, "And coffee.")
    broken = extractor(database, ScriptedModel([ModelUnavailable(f"no\ud800\0 {secret}")]), SecretRedactor(b"k"))
    await Worker(database, {JobKind.EXTRACT: broken}, WorkerOptions(daily_cap=None)).run_once()
    [job] = [each for each in await memory.jobs(space="alice") if each.kind is JobKind.EXTRACT]
    assert job.last_error is not None
    assert job.last_error.startswith("ModelUnavailable: no")
    assert secret not in job.last_error


async def test_a_call_is_paid_whatever_comes_after_it_and_estimated_where_nobody_counts(
    database: Database, memory: Memory, session: Session
) -> None:
    await marked(memory, session, "I like tea.")
    script = [ModelAnswer(text="no json", model="m"), ConnectionResetError()]

    report = await worker(database, script).run_once()  # pyright: ignore[reportArgumentType]

    assert report.outcomes == {"failed": 1}
    spent = (await worker(database, None).audit()).spent_today
    assert spent.calls == 1
    assert spent.input_tokens > 300
    assert spent.cost > 0


async def test_a_model_that_is_away_costs_no_attempt_and_gets_a_rest(
    database: Database, memory: Memory, session: Session, clock: FakeClock
) -> None:
    await marked(memory, session, "I like tea.")
    work = worker(database, lambda _: ModelUnavailable("429", retry_after=200.0), max_attempts=2)

    await work.run_once()
    report = await work.run_once()

    assert report.held == "model_unavailable"
    [job] = await memory.jobs(space="alice")
    assert (job.status, job.attempts) == (JobStatus.FAILED, 0)
    assert job.due_at is not None
    assert job.due_at - clock.time >= 150e6


@pytest.mark.spec("S1.18")
async def test_a_session_that_memory_itself_made_is_marked_processed_and_never_read(
    database: Database, memory: Memory
) -> None:
    inner = await memory.open_session(space="alice", conversation=KEY, agent="w", kind=AgentKind.MEMORY_WRITER)
    await memory.append(inner, many(7))

    def force(tx: Tx) -> None:
        tx.script(f"UPDATE sessions SET invalidated_at = 7 WHERE id = '{inner.id}'")
        jobs.queue(tx, space="alice", kind=JobKind.EXTRACT, key=inner.id, watermark=7)

    await database.transact(force, space="alice")
    model = ScriptedModel(lambda _: answer())

    await worker(database, model).run_once()

    assert model.calls == []
    after = await memory.get_session(space="alice", session_id=inner.id)
    assert after is not None
    assert (after.processed_until, after.invalidated_at) == (7, None)


@pytest.mark.spec("S1.5", "S1.6", "S1.7")
async def test_every_agent_has_one_memory_writer_made_when_it_is_first_needed(
    database: Database, memory: Memory, session: Session
) -> None:
    def writers(tx: Tx) -> list[str]:
        name = f"/memory-agent/{session.agent_id}"
        row = tx.one("find_agent", space="alice", name=name)
        return [] if row is None else [row["kind"], row["id"]]

    assert await database.transact(writers, space="alice", read=True) == []
    work = worker(database, lambda _: answer())
    await marked(memory, session, "I like tea.")
    await work.run_once()
    [kind, first] = await database.transact(writers, space="alice", read=True)
    await marked(memory, session, "And coffee.")
    await work.run_once()

    assert kind == AgentKind.MEMORY_WRITER
    assert await database.transact(writers, space="alice", read=True) == [kind, first]
    answers = await database.transact(
        lambda tx: learning.answers(tx, space="alice", kind=JobKind.EXTRACT, key=session.id), space="alice", read=True
    )
    assert [each.agent_id for each in answers] == [first, first]


@pytest.mark.spec("S2.17")
async def test_secrets_in_an_answer_are_cut_out_of_everything_that_is_kept(
    database: Database, memory: Memory, session: Session
) -> None:
    secret = "ghp_" + "a1B2" * 9
    await marked(memory, session, "My deploy script lives in the tools repository.")
    told = answer(
        a_fact(f"User keeps the deploy script in the tools repository, key {secret}", 1, entities=[secret]),
        raw=f"notes {secret}",
        summary=f"in short {secret}",
        slug=secret,
    )
    model = ScriptedModel([told])
    extract = extractor(database, model, SecretRedactor(b"key"))

    await Worker(database, {JobKind.EXTRACT: extract}, WorkerOptions()).run_once()

    kept = await memory.session_memory(session)
    answers = await database.transact(
        lambda tx: learning.answers(tx, space="alice", kind=JobKind.EXTRACT, key=session.id), space="alice", read=True
    )
    facts = await memory.facts(space="alice").search("deploy script", 5)
    everything = f"{kept} {answers} {facts}"
    assert secret not in everything
    assert secret.lower() not in everything.lower()
    assert "REDACTED" in everything


async def test_without_a_model_a_session_is_remembered_in_the_users_own_words(
    database: Database, memory: Memory, session: Session
) -> None:
    await marked(memory, session, "Please mend the roof.", "And the gutter.")

    report = await worker(database, None).run_once()

    kept = await memory.session_memory(session)
    assert kept is not None
    assert kept.raw_memory == "- Please mend the roof.\n- And the gutter."
    assert kept.summary == "The user wrote 2 messages. First: Please mend the roof. Last: And the gutter."
    assert (kept.slug, kept.made_by.model) == ("please-mend-the-roof", "none")
    assert report.outcomes == {Outcome.SUCCEEDED: 1}
    assert await memory.facts(space="alice").length() == 0
    assert (await worker(database, None).audit()).spent_today.calls == 0


async def test_a_purge_forgets_what_was_made_of_the_conversation(
    database: Database, memory: Memory, session: Session
) -> None:
    await marked(memory, session, "I play the cello.")
    await worker(database, [answer(a_fact("User plays the cello", 1))]).run_once()

    await memory.history(space="alice").purge(KEY)

    assert await memory.session_memory(session) is None
    assert await memory.facts(space="alice").search("cello", 5) == []
    answers = await database.transact(
        lambda tx: learning.answers(tx, space="alice", kind=JobKind.EXTRACT, key=session.id), space="alice", read=True
    )
    assert answers == []


async def test_a_purge_while_a_model_thinks_leaves_nothing_of_the_answer(
    database: Database, memory: Memory, session: Session
) -> None:
    class Purging(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            await memory.history(space="alice").purge(KEY)
            return await super().answer(call)

    await marked(memory, session, "I play the cello.")

    report = await worker(database, Purging([answer(a_fact("User plays the cello", 1))])).run_once()

    assert report.lost == 1
    assert await memory.facts(space="alice").length() == 0
    assert await memory.session_memory(session) is None
    assert await database.transact(
        lambda tx: learning.answers(tx, space="alice", kind=JobKind.EXTRACT, key=session.id), space="alice", read=True
    ) == []  # fmt: skip


async def test_a_session_that_is_gone_ends_its_job(database: Database, memory: Memory) -> None:
    session = await memory.open_session(space="alice", conversation=ConversationKey(channel="c", chat="gone"))
    await database.transact(
        lambda tx: jobs.queue(tx, space="alice", kind=JobKind.EXTRACT, key="ses_never", watermark=1), space="alice"
    )

    report = await worker(database, None).run_once()

    assert report.outcomes == {Outcome.SUCCEEDED_NO_OUTPUT: 1}
    statuses = {each.key: each.status for each in await memory.jobs(space="alice")}
    assert statuses == {"ses_never": JobStatus.DONE, session.id: JobStatus.WAITING}


async def test_a_transcript_of_nothing_but_memory_costs_no_call(
    database: Database, memory: Memory, session: Session
) -> None:
    await marked(memory, session, "<bethink-memory>\n- User likes tea\n</bethink-memory>")
    model = ScriptedModel(lambda _: answer())

    report = await worker(database, model).run_once()

    assert model.calls == []
    assert report.outcomes == {Outcome.SUCCEEDED_NO_OUTPUT: 1}


async def test_a_session_that_ended_is_done_with_once_it_is_learnt_from(
    database: Database, memory: Memory, session: Session
) -> None:
    await memory.append(session, said("bye"))
    await memory.end_session(session)

    await worker(database, None).run_once()

    [job] = [each for each in await memory.jobs(space="alice") if each.kind is JobKind.EXTRACT]
    assert (job.status, job.due_at) == (JobStatus.DONE, None)
    found = await database.transact(
        lambda tx: sessions.find(tx, space="alice", session_id=session.id), space="alice", read=True
    )
    assert found is not None
    assert found.processed_until == 1
