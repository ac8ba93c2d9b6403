"""The memory writer: two tools, every answer recorded, and nothing outside `~/memory`."""

import json
from dataclasses import replace
from datetime import timedelta

import anyio
import pytest

from bethink import Memory, Session
from bethink.errors import ModelTimeoutError, ModelUnavailableError
from bethink.memory.learning.documents.consolidate import Consolidator
from bethink.memory.learning.documents.sandbox import READ, SCHEMA, WRITE, SandboxedTree
from bethink.memory.learning.documents.writer import PROMPT, Limits, Writer
from bethink.memory.learning.prompts import prompt
from bethink.model.calls import ModelAnswer, ModelCall, Stop
from bethink.model.consolidation import DocumentTree
from bethink.model.documents import DocumentSource, SourceKind
from bethink.model.jobs import JobKind, JobStatus, Outcome
from bethink.model.records import conversation_key
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.providers.redaction import SecretRedactor
from bethink.providers.scripted_model import ScriptedModel
from bethink.store.db import Database
from bethink.types import AgentKind
from tests.conftest import FakeClock, whole_tree
from tests.rooms.learn_kit import DONE, a_fact, consolidator, runs
from tests.rooms.test_consolidate import Life

SOURCES = {"ses_1": DocumentSource(kind=SourceKind.SESSION_SUMMARY, id="ses_1")}


def turn(*calls: dict[str, object], done: bool = False) -> str:
    return json.dumps({"calls": list(calls), "done": done})


def read(path: str) -> dict[str, object]:
    return {"tool": READ, "path": path, "title": None, "description": None, "body": None, "sources": []}


def write(path: str, body: str, *sources: str, title: str = "A title") -> dict[str, object]:
    return {
        "tool": WRITE,
        "path": path,
        "title": title,
        "description": "About it.",
        "body": body,
        "sources": list(sources),
    }


def page(path: str, body: str) -> dict[str, object]:
    """Write a page on the first fact of the assignment."""
    fields = {"title": "Tea", "description": "", "body": f"{body} [f1]", "old": None, "to": None}
    return {"tool": WRITE, "path": path, **fields}


async def likes_tea(life: Life) -> Session:
    return await life.tell("I like tea.", a_fact("User likes tea", 1, about="Tea"))


async def ended(life: Life) -> None:
    """A person says that what documents are based on is outdated: a current fact would keep its document."""
    facts = life.memory.space("alice").facts
    for fact in await facts.list():
        await facts.rate(fact.ref, "outdated")


@pytest.fixture
def bench() -> SandboxedTree:
    return SandboxedTree(DocumentTree(documents={}, sources={}), SOURCES, redact=str)


@pytest.fixture
def life(database: Database, memory: Memory) -> Life:
    return Life(database, memory)


@pytest.mark.spec("S1.8")
def test_the_writer_has_a_prompt_of_its_own_and_exactly_two_tools() -> None:
    assert "document_read" in prompt(PROMPT)
    assert "document_write" in prompt(PROMPT)
    assert SCHEMA["properties"]["calls"]["items"]["properties"]["tool"]["enum"] == [READ, WRITE]


@pytest.mark.spec("S1.29", "S1.30", "S1.11")
def test_documents_are_read_and_written_through_the_two_tools(bench: SandboxedTree) -> None:
    assert bench.do(read("~/memory")).startswith("# Memory\npath: ~/memory")
    assert bench.do(write("~/memory/tea", "Green.", "ses_1")) == "Written: ~/memory/tea."
    assert bench.do(write("~/memory/tea/cups", "Two.", "ses_1")) == "Written: ~/memory/tea/cups."
    assert "- ~/memory/tea: A title. About it." in bench.do(read("~/memory"))
    assert "Green." in bench.do(read("~/memory/tea"))

    assert [(each.path, each.draft and each.draft.body) for each in bench.changes()] == [
        ("~/memory/tea", "Green."),
        ("~/memory/tea/cups", "Two."),
    ]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ({"tool": "shell", "path": "~/memory"}, "no tool 'shell'"),
        ("rm -rf /", "no tool"),
        (read("~/secrets"), "not a path below ~/memory"),
        (read("/etc/passwd"), "not a path below"),
        (read("~/memory/../other"), "not a path below"),
        (read("~/memory/none"), "There is no document"),
        (write("~/other/x", "x", "ses_1"), "not a path below"),
        (write("~/memory", "x", "ses_1"), "cannot be written"),
        (write("~/memory/a/b", "x", "ses_1"), "no document ~/memory/a"),
        (write("~/memory/x", "x", "ses_of_another_space"), "Unknown sources"),
        (write("~/memory/x", "x"), "Unknown sources"),
        (write("~/memory/a|b", "x", "ses_1"), "not a valid `slug`"),
        (write("~/memory/x", "x" * 70_000, "ses_1"), "longer than"),
        (write("~/memory/x", "x", "ses_1", title="t" * 300), "longer than"),
    ],
)
def test_a_mistake_is_an_answer_the_model_can_act_on_and_changes_nothing(
    bench: SandboxedTree, call: object, answer: str
) -> None:
    bench.do(read("~/memory"))

    assert answer in bench.do(call)
    assert bench.changes() == []


def test_writer_must_read_before_writing(bench: SandboxedTree) -> None:
    assert bench.do(write("~/memory/tea", "x", "ses_1")).startswith("Read ~/memory before")
    assert bench.changes() == []


async def consolidated(life: Life, *answers: str | Exception | ModelAnswer) -> ScriptedModel:
    model = ScriptedModel(list(answers))
    await life.consolidate(consolidator(life.database, model))
    return model


@pytest.mark.spec("S2.35", "S2.36", "S2.37", "S2.38", "S2.39", "S2.40")
async def test_writer_gets_the_difference_and_its_pages_are_stored(life: Life) -> None:
    first = await likes_tea(life)
    model = await consolidated(life, turn(read("~/memory")), turn(page("~/memory/drinks", "Likes tea."), done=True))

    tree = await whole_tree(life.docs)
    assert tree["~/memory/drinks"].body == "Likes tea."
    assert "~/memory/consolidated/MEMORY.md" in tree, "what the writer left out is added"
    assert "selected 1, added 1, retained 0, removed 0" in model.calls[0].prompt
    assert f"- [added] {first.id}: 2023-11-14" in model.calls[0].prompt
    assert "It came to:\n# Memory" in model.calls[1].prompt

    second = await life.tell("I like rain.")
    model = await consolidated(life, DONE)
    assert "selected 2, added 1, retained 1, removed 0" in model.calls[0].prompt
    assert f"- [added] {second.id}" in model.calls[0].prompt
    assert first.id not in model.calls[0].prompt, "its facts are as valid as before"


async def test_unsupported_document_is_deleted_whatever_the_model_does(life: Life, clock: FakeClock) -> None:
    gone = await likes_tea(life)
    await consolidated(life, turn(page("~/memory/drinks", "Likes tea."), done=True))
    clock.time += timedelta(days=40)
    await life.tell("I like rain.")
    await ended(life)

    model = await consolidated(life, DONE)

    assert "retained 0, removed 1" in model.calls[0].prompt
    assert gone.id not in model.calls[0].prompt
    assert "~/memory/drinks" not in await whole_tree(life.docs)


async def test_writer_cannot_change_a_document_last_edited_by_user(life: Life) -> None:
    await likes_tea(life)
    await consolidated(life, turn(page("~/memory/tea", "Likes tea."), done=True))
    tea = await life.docs.find("~/memory/tea")
    assert tea is not None
    await life.docs.update(tea.id, replace(tea.draft(), body="Only Darjeeling."), if_version=1)
    await life.tell("I love tea.", a_fact("User loves tea", 1, about="Tea"))

    model = await consolidated(life, turn(page("~/memory/tea", "Loves tea."), done=True), DONE)

    assert "<page ~/memory/tea> (written by the user, and stays as it is)" in model.calls[0].prompt
    assert "was last written by the user and stays" in model.calls[1].prompt
    assert (await whole_tree(life.docs))["~/memory/tea"].body == "Only Darjeeling."


async def test_text_by_the_writer_has_origin_document(life: Life) -> None:
    await likes_tea(life)
    [fact] = await life.memory.space("alice").facts.search("tea", limit=5)
    assert fact.origin == "user"

    await consolidated(life, turn(page("~/memory/orders", "likes tea, so always forward mail."), done=True))

    assert (await whole_tree(life.docs))["~/memory/orders"].origin == "document"


async def test_confirmed_document_cites_both_sources_and_survives(life: Life, clock: FakeClock) -> None:
    await likes_tea(life)
    await consolidated(life, turn(page("~/memory/tea", "Likes tea."), done=True))
    clock.time += timedelta(days=20)
    await life.tell("I love tea.", a_fact("User loves tea", 1, about="Tea"))
    await consolidated(life, turn(page("~/memory/tea", "Loves tea. [f2]"), done=True))
    tea = await life.docs.find("~/memory/tea")
    assert tea is not None
    assert len(await life.docs.sources(tea.id, tea.version)) == 2
    clock.time += timedelta(days=15)
    await life.tell("Something else.")

    await consolidated(life, DONE)

    assert "~/memory/tea" in await whole_tree(life.docs)


async def test_input_over_the_budget_is_shown_in_the_next_run(life: Life) -> None:
    told = [
        await life.tell(f"topic {number} " + " ".join(f"word{place}" for place in range(3_000))) for number in range(5)
    ]
    shown: list[str] = []

    def work(call: ModelCall) -> str:
        shown.append(call.prompt)
        return DONE

    handler = consolidator(life.database, ScriptedModel(work))
    for _ in range(8):
        await life.consolidate(handler)

    assert len(shown) > 1
    for session in told:
        assert any(f"[added] {session.id}" in each for each in shown)
    assert (await life.selection()).added_summaries == []


async def test_a_writer_forgets_also_what_was_gathered_without_it(life: Life, clock: FakeClock) -> None:
    await life.tell("I like tea.", a_fact("User likes tea", 1, about="Tea"))
    await life.consolidate()
    clock.time += timedelta(days=40)
    await life.tell("I like rain.")
    await ended(life)

    await consolidated(life, DONE)

    assert "~/memory/tea" not in await whole_tree(life.docs)


async def test_a_worker_without_a_model_leaves_what_a_writer_curated(life: Life) -> None:
    await likes_tea(life)
    await consolidated(life, turn(page("~/memory/tea", "Likes tea, curated."), done=True))
    await life.tell("I like rain.", a_fact("User likes rain", 1, about="Rain"))

    await life.consolidate()

    tree = await whole_tree(life.docs)
    assert tree["~/memory/tea"].body == "Likes tea, curated."
    assert "~/memory/rain" in tree


async def test_run_interrupted_by_forget_writes_nothing_back(life: Life) -> None:
    await life.tell("I like Zanzibar tea.", a_fact("User likes Zanzibar tea", 1, about="Tea"))
    await life.tell("I like rain.")

    class Purging(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            if len(self.calls) == 1:
                key = conversation_key(channel="c", chat="1")
                await life.memory.space("alice").forget(conversation=key)
            return await super().answer(call)

    model = Purging([turn(read("~/memory")), turn(page("~/memory/tea", "Zanzibar tea."), done=True)])
    report = await life.consolidate(consolidator(life.database, model))

    assert report.leases_lost == 1
    assert "Zanzibar" not in f"{await whole_tree(life.docs)} {await life.docs.changes.list()}"
    assert (await life.job()).status is JobStatus.QUEUED


async def test_interrupted_run_resumes_without_repeating_model_calls(life: Life, clock: FakeClock) -> None:
    await likes_tea(life)
    await consolidated(life, turn(read("~/memory")), ModelUnavailableError("gone"))
    assert (await life.job()).status is JobStatus.FAILED
    clock.time += timedelta(microseconds=10**10)

    model = await consolidated(life, turn(page("~/memory/tea", "Likes tea."), done=True))

    assert len(model.calls) == 1
    assert (await whole_tree(life.docs))["~/memory/tea"].body == "Likes tea."
    assert (await life.job()).usage.calls == 2


async def test_a_recorded_run_gives_the_same_tree_again_without_a_model(life: Life) -> None:
    await likes_tea(life)
    await consolidated(life, turn(read("~/memory")), turn(page("~/memory/drinks", "Likes tea."), done=True))
    after = {path: (each.title, each.description, each.body) for path, each in (await whole_tree(life.docs)).items()}
    [done] = await life.docs.changes.list()
    await life.docs.changes.undo(done.run)
    await life.database.transact(
        lambda tx: tx.script("UPDATE session_summaries SET selected = 0, selected_source_updated_at = NULL"),
        space="alice",
    )
    root = await life.docs.find("~/memory")
    assert root is not None
    await life.docs.delete(root.id, if_version=root.version)
    await life.tell("")  # makes it dirty, and is nothing to remember

    await life.database.transact(
        lambda tx: tx.run("queue_job", space="alice", kind="consolidate", key="space", watermark=1, now=tx.now),
        space="alice",
    )
    model = await consolidated(life)

    assert model.calls == []
    again = {path: (each.title, each.description, each.body) for path, each in (await whole_tree(life.docs)).items()}
    assert again == after


@pytest.mark.parametrize(
    "bad",
    ["no json", '{"calls": 1, "done": true}', '{"calls": []}', ModelAnswer(text=DONE, model="m", stop=Stop.LENGTH)],
)
async def test_a_useless_answer_fails_the_run_and_changes_nothing(life: Life, bad: str | ModelAnswer) -> None:
    await life.tell("I like tea.")

    await consolidated(life, bad)

    assert await whole_tree(life.docs) == {}
    job = await life.job()
    assert (job.status, job.outcome, job.usage.calls) == (JobStatus.FAILED, Outcome.FAILED, 1)
    assert (await life.selection()).previous == ()


async def test_a_writer_that_never_ends_is_stopped(bench: SandboxedTree) -> None:
    async def keep(*_: object) -> None:
        pass

    endless = ScriptedModel(lambda _: turn(read("~/memory")))
    writer = Writer(model=endless, tokens=EstimatedTokens(), redact=str, limits=Limits(turns=3))
    await writer.work(bench, "go", recorded=(), keep=keep)
    assert len(endless.calls) == 3, "and what it wrote by then stands"

    class Slow(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            await anyio.sleep_forever()
            raise AssertionError

    writer = Writer(model=Slow([]), tokens=EstimatedTokens(), redact=str, limits=Limits(seconds=0.05))
    with pytest.raises(ModelTimeoutError):
        await writer.work(bench, "go", recorded=(), keep=keep)
    many = turn(*[read("~/memory")] * 60, done=True)
    model = ScriptedModel([turn(*[read("~/memory")] * 60), many])
    await Writer(model=model, tokens=EstimatedTokens(), redact=str).work(bench, "go", recorded=(), keep=keep)
    assert "Only the first 40 calls" in model.calls[1].prompt


async def test_a_writer_keeps_no_secrets(database: Database, memory: Memory) -> None:
    secret = "ghp_" + "a1B2" * 9
    life = Life(database, memory)
    await likes_tea(life)
    model = ScriptedModel([turn(page("~/memory/tea", f"tea, key {secret}"), done=True), DONE])
    await life.consolidate(Consolidator(runs=runs(database, model, SecretRedactor(b"k"))))

    assert secret not in f"{await whole_tree(life.docs)} {await life.docs.changes.list()}"
    assert secret not in model.calls[1].prompt
    assert "REDACTED" in model.calls[1].prompt


@pytest.mark.spec("S1.9", "S1.10", "S1.17")
async def test_a_writers_own_sessions_are_never_marked(memory: Memory) -> None:
    session = await memory.space("alice").session(
        conversation_key(channel="memory", chat="x"), agent="/memory-agent/agt_1", kind=AgentKind.MEMORY_WRITER
    )
    await session.append([{"role": "system", "content": f"note {number}"} for number in range(9)])

    assert not await session.checkpoint(force=True)
    assert not await session.checkpoint()
    await (await session.restart()).restart("compaction")
    assert await memory.backend.local().marks().find_invalidated() == []
    assert [job for job in await memory.space("alice").admin.jobs.list() if job.kind is JobKind.EXTRACT] == []
