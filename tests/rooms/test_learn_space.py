"""`space.learn()` runs the due jobs of its space and touches no other space."""

import bethink
from bethink.model.jobs import JobKind, JobStatus, Outcome
from bethink.providers.scripted_model import ScriptedModel
from tests.conftest import Quiet
from tests.rooms.learn_kit import willing


def model_memory(target: str, model: ScriptedModel, *, learn_in_background: bool = False) -> bethink.Memory:
    return bethink.connect(target, model=model, redactor=Quiet(), learn_in_background=learn_in_background)


async def test_learning_one_space_leaves_others_marked(target: str) -> None:
    model = ScriptedModel(willing)
    async with model_memory(target, model) as memory:
        for name in ("alice", "bob"):
            await memory.space(name).remember(f"{name} likes tea.")

        report = await memory.space("alice").admin.learn()

        assert report.outcomes == {Outcome.SUCCEEDED: 2}, "its session, and its documents"
        assert all("bob" not in call.prompt for call in model.calls)
        jobs = {job.kind: job.status for job in await memory.space("bob").admin.jobs.list()}
        assert jobs[JobKind.EXTRACT] is JobStatus.QUEUED
        assert (await memory.space("alice").admin.learn()).leased == 0
        assert (await memory.learn()).outcomes == {Outcome.SUCCEEDED: 2}


async def test_kinds_of_jobs_can_be_chosen(target: str) -> None:
    async with model_memory(target, ScriptedModel(willing)) as memory:
        await memory.space("alice").remember("I like tea.")

        report = await memory.space("alice").admin.learn(kinds=[JobKind.EXTRACT])

        assert report.outcomes == {Outcome.SUCCEEDED: 1}


async def test_learning_one_space_leaves_other_spaces_alone(target: str) -> None:
    async with bethink.connect(target, redactor=Quiet(), learn_in_background=False) as memory:
        for name in ("alice", "bob"):
            await memory.space(name).remember("I like tea.")
        await memory.learn()
    model = ScriptedModel(willing)
    async with model_memory(target, model) as memory:
        await memory.space("alice").admin.learn(kinds=[JobKind.EXTRACT])

        assert [call.schema_name for call in model.calls] == ["claims", "verdicts"], "of one session"


async def test_learn_reports_background_work_of_its_space(target: str) -> None:
    async with model_memory(target, ScriptedModel(willing), learn_in_background=True) as memory:
        for name in ("alice", "bob"):
            await memory.space(name).remember("I like tea.")

        alice = await memory.space("alice").admin.learn()
        rest = await memory.learn()

        assert alice.outcomes == {Outcome.SUCCEEDED: 2}
        assert rest.outcomes == {Outcome.SUCCEEDED: 2}
