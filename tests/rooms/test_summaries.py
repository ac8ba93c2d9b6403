"""How spaces stand, and what waits in all of them, read without counting what is stored."""

import pytest

from bethink import Fact, Memory
from bethink.model.jobs import JobKind, JobStatus
from bethink.model.reviews import ClaimedFact, ReviewStatus
from bethink.model.summaries import SpacePage, SpaceSummary
from bethink.store import jobs, reviews
from bethink.store.db import Database, Tx
from tests.page_kit import analyze, cost_of, every


async def _stand(database: Database, space: str, *, dead: int = 0, done: int = 0, held: int = 0) -> None:
    def body(tx: Tx) -> None:
        jobs.ensure_space(tx, space=space)
        for number in range(dead + done):
            jobs.queue(tx, space=space, kind=JobKind.EXTRACT, key=f"ses_{number:04}", watermark=1)
        for number in range(held):
            claim = ClaimedFact(fact=Fact(id=f"{number}", content="a claim"), quotes=())
            reviews.put(
                tx, claim, space=space, status=ReviewStatus.HELD, reason="", detail="", effect=f"{space} {number}"
            )
        status = "UPDATE jobs SET status = 'dead', due_at = NULL"
        tx.script(f"{status} WHERE space_id = '{space}' AND key < 'ses_{dead:04}'")

    await database.transact(body, space=space)


async def test_spaces_are_listed_by_name_with_what_is_wrong_in_them(memory: Memory, database: Database) -> None:
    for name, dead, held in (("anna", 0, 0), ("mira", 2, 1), ("miriam", 0, 0), ("zoe", 1, 0)):
        await _stand(database, name, dead=dead, done=1, held=held)

    page = await memory.page_spaces()
    assert [(each.name, each.failed, each.held) for each in page.items] == [
        ("anna", 0, 0), ("mira", 2, 1), ("miriam", 0, 0), ("zoe", 1, 0)
    ]  # fmt: skip
    assert all(each.queued_at for each in page.items)
    assert await every(lambda after: memory.page_spaces(limit=1, after=after)) == list(page.items)
    assert [each.name for each in (await memory.page_spaces(prefix="mir")).items] == ["mira", "miriam"]
    assert await memory.page_spaces(prefix="mo") == SpacePage()
    assert await memory.space("mira").summary() == page.items[1]
    assert await memory.space("nobody").summary() == SpaceSummary(name="nobody")


@pytest.mark.parametrize("name", ["%", "a_b", "ä ö", "𐐷𐐷", "'; --"])
async def test_a_name_of_any_letters_is_found_by_its_beginning(memory: Memory, name: str) -> None:
    await memory.space(name).remember("the parrot likes figs")
    await memory.space("other").remember("the parrot likes figs")

    assert [each.name for each in (await memory.page_spaces(prefix=name[:1])).items] == [name]
    assert [each.name for each in (await memory.page_spaces(prefix=name)).items] == [name]


async def test_counters_follow_jobs_and_what_is_held(memory: Memory, database: Database) -> None:
    before = await memory.counters()
    assert (before.jobs_in(JobStatus.DEAD), before.held) == (0, 0)

    await _stand(database, "mira", dead=3, done=2, held=2)
    found = await memory.counters()
    assert (found.jobs[JobKind.EXTRACT], found.held) == ({JobStatus.DEAD: 3, JobStatus.QUEUED: 2}, 2)
    assert found.jobs_in(JobStatus.DEAD) == 3
    await memory.space("mira").forget(everything=True)
    gone = await memory.counters()
    assert (gone.jobs_in(*JobStatus), gone.held) == (0, 0)


async def test_a_page_of_spaces_costs_the_same_however_many_there_are_and_however_much_they_hold(
    memory: Memory, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs: list[int] = []
    for first, last, more in ((0, 10, 3), (10, 60, 40)):
        for number in range(first, last):
            await _stand(database, f"s{number:03}", done=more)
        for number in range(4):
            await _stand(database, f"s{number:03}", done=more)
        await analyze(database, "jobs", "held")
        cost = await cost_of(monkeypatch, lambda: memory.page_spaces(limit=4))
        assert cost.statements == 1
        costs.append(cost.rows)

    assert costs[1] <= costs[0] * 1.2 + 5, costs
