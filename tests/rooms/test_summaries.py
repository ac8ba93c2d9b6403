"""Summaries and pending items of all spaces, read without counting stored items."""

import pytest

from bethink import Fact, Memory
from bethink.model.jobs import JobKind, JobStatus
from bethink.model.reviews import ClaimedFact, ReviewStatus
from bethink.model.summaries import SpaceInfo
from bethink.store import jobs, reviews
from bethink.store.db import Database, Tx
from tests.page_kit import analyze, cost_of, every


async def _stand(database: Database, space: str, *, dead: int = 0, done: int = 0, held: int = 0) -> None:
    def body(tx: Tx) -> None:
        jobs.ensure_space(tx, space=space)
        for number in range(dead + done):
            jobs.queue(tx, space=space, kind=JobKind.EXTRACT, key=f"ses_{number:04}", watermark=1)
        for number in range(held):
            claim = ClaimedFact(fact=Fact(id=f"{number}", text="a claim"), quotes=())
            reviews.put(
                tx, claim, space=space, status=ReviewStatus.PENDING, reason="", detail="", effect=f"{space} {number}"
            )
        status = "UPDATE jobs SET status = 'abandoned', due_at = NULL"
        tx.script(f"{status} WHERE space_id = '{space}' AND key < 'ses_{dead:04}'")

    await database.transact(body, space=space)


async def test_spaces_are_listed_by_name_with_what_is_wrong_in_them(memory: Memory, database: Database) -> None:
    for name, dead, held in (("anna", 0, 0), ("mira", 2, 1), ("miriam", 0, 0), ("zoe", 1, 0)):
        await _stand(database, name, dead=dead, done=1, held=held)

    page = await memory.spaces.list()
    assert [(each.name, each.failed, each.pending) for each in page.items] == [
        ("anna", 0, 0), ("mira", 2, 1), ("miriam", 0, 0), ("zoe", 1, 0)
    ]  # fmt: skip
    assert all(each.queued_at for each in page.items)
    assert await every(lambda after: memory.spaces.list(limit=1, after=after)) == list(page.items)
    assert [each.name for each in (await memory.spaces.list(prefix="mir")).items] == ["mira", "miriam"]
    assert await memory.spaces.list(prefix="mo") == []
    assert await memory.space("mira").admin.health() == page.items[1]
    assert await memory.space("nobody").admin.health() == SpaceInfo(name="nobody")


@pytest.mark.parametrize("name", ["%", "a_b", "ä ö", "𐐷𐐷", "'; --"])
async def test_space_is_found_by_a_prefix_in_any_script(memory: Memory, name: str) -> None:
    await memory.space(name).remember("the parrot likes figs")
    await memory.space("other").remember("the parrot likes figs")

    assert [each.name for each in (await memory.spaces.list(prefix=name[:1])).items] == [name]
    assert [each.name for each in (await memory.spaces.list(prefix=name)).items] == [name]


async def test_counters_follow_jobs_and_pending_items(memory: Memory, database: Database) -> None:
    before = await memory.admin.health()
    assert (before.jobs_in(JobStatus.ABANDONED), before.pending) == (0, 0)

    await _stand(database, "mira", dead=3, done=2, held=2)
    found = await memory.admin.health()
    assert (found.jobs[JobKind.EXTRACT], found.pending) == ({JobStatus.ABANDONED: 3, JobStatus.QUEUED: 2}, 2)
    assert found.jobs_in(JobStatus.ABANDONED) == 3
    await memory.space("mira").forget(everything=True)
    gone = await memory.admin.health()
    assert (gone.jobs_in(*JobStatus), gone.pending) == (0, 0)


async def test_page_of_spaces_costs_the_same_at_any_size(
    memory: Memory, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs: list[int] = []
    for first, last, more in ((0, 10, 3), (10, 60, 40)):
        for number in range(first, last):
            await _stand(database, f"s{number:03}", done=more)
        for number in range(4):
            await _stand(database, f"s{number:03}", done=more)
        await analyze(database, "jobs", "held")
        cost = await cost_of(monkeypatch, lambda: memory.spaces.list(limit=4))
        assert cost.statements == 1
        costs.append(cost.rows)

    assert costs[1] <= costs[0] * 1.2 + 5, costs
