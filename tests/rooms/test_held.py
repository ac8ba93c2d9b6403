"""Pending reviews of all spaces, listed without scanning every space."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bethink import Fact, Memory
from bethink.model.consolidation import ChangeStatus, DocumentChange
from bethink.model.documents import DocumentDraft
from bethink.model.held import PendingItem, PendingKind
from bethink.model.paging import Page
from bethink.model.reviews import ClaimedFact, ReviewStatus
from bethink.model.text import canonical_json
from bethink.store import jobs, reviews
from bethink.store.db import Database, Tx
from tests.page_kit import EVERY_CHECK, analyze, cost_of, every


async def _claim(database: Database, space: str, text: str, status: ReviewStatus = ReviewStatus.PENDING) -> str:
    def body(tx: Tx) -> str:
        jobs.ensure_space(tx, space=space)
        claim = ClaimedFact(fact=Fact(id=text, text=text), quotes=())
        return reviews.put(tx, claim, space=space, status=status, reason="flagged", detail="", effect=text)

    return await database.transact(body, space=space)


async def _changes(database: Database, space: str, run: str) -> None:
    change = DocumentChange(path="~/memory/people", draft=DocumentDraft(slug="people", title="People"))

    def body(tx: Tx) -> None:
        jobs.ensure_space(tx, space=space)
        tx.run(
            "put_change_set",
            space=space, run=run, token=1, status=ChangeStatus.PENDING, changes=canonical_json([change.to_json()]),
            selection="[]", now=tx.now, settled_at=None,
        )  # fmt: skip

    await database.transact(body, space=space)


async def test_pending_items_are_listed_across_spaces_until_decided(memory: Memory, database: Database) -> None:
    first = await _claim(database, "anna", "Anna is ill")
    await _claim(database, "anna", "Anna is a spy", ReviewStatus.REFUSED)
    await _changes(database, "mira", "run_1")
    second = await _claim(database, "mira", "Mira moved")

    page = await memory.admin.reviews.list()
    assert [(each.space, each.kind.value, each.id, each.text, each.paths) for each in page] == [
        ("mira", "claim", second, "Mira moved", ()),
        ("mira", "changes", "run_1", "", ("~/memory/people",)),
        ("anna", "claim", first, "Anna is ill", ()),
    ]
    assert (page.next, page[0].reason) == ("", "flagged")
    assert (await memory.admin.health()).pending == 3
    assert await every(lambda after: memory.admin.reviews.list(limit=1, after=after)) == page
    assert [each.id for each in await memory.admin.reviews.list(kind=PendingKind.CHANGES)] == ["run_1"]

    await memory.space("mira").reviews.reject(second)
    await memory.space("mira").documents.changes.reject("run_1")
    assert [each.id for each in await memory.admin.reviews.list()] == [first]
    await memory.space("anna").forget(everything=True)
    assert await memory.admin.reviews.list() == []


@settings(max_examples=8, suppress_health_check=EVERY_CHECK)
@given(
    before=st.lists(st.sampled_from("ab"), max_size=7),
    meanwhile=st.lists(st.sampled_from("abc"), max_size=4),
    limit=st.integers(1, 3),
)
async def test_pages_of_what_waits_have_no_gaps_and_no_doubles(
    memory: Memory, database: Database, before: list[str], meanwhile: list[str], limit: int
) -> None:
    for number, space in enumerate(before):
        await _claim(database, space, f"claim {number}")
    first = {(each.space, each.text) for each in await memory.admin.reviews.list(limit=100)}
    waiting = iter(enumerate(meanwhile, 100))

    async def page(after: str) -> Page[PendingItem]:
        for number, space in waiting:
            await _claim(database, space, f"claim {number}")
            break
        return await memory.admin.reviews.list(limit=limit, after=after)

    seen = [(each.space, each.text) for each in await every(page)]
    for space in [space.name for space in await memory.spaces.list()]:
        await memory.space(space).forget(everything=True)

    assert len(first) == len(before)
    assert len(seen) == len(set(seen))
    assert first <= set(seen)


async def test_a_page_of_what_waits_costs_the_same_however_many_spaces_there_are(
    memory: Memory, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs: list[int] = []
    for first, last in ((0, 10), (10, 150)):
        for number in range(first, last):
            await _claim(database, f"s{number:03}", "a claim")
        await analyze(database, "held", "reviews")
        cost = await cost_of(monkeypatch, lambda: memory.admin.reviews.list(limit=3))
        assert cost.statements == 1 + 3
        costs.append(cost.rows)

    assert costs[1] - costs[0] <= 10, costs
