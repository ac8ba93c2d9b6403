"""How results of several databases are merged: as each operation declares."""

from datetime import date

import pytest

from bethink.errors import DatabaseUnavailableError
from bethink.features.people import operations as people
from bethink.features.people.records import PersonItem, PersonItems
from bethink.features.retention import operations as retention
from bethink.memory.registry import InSpace, across
from bethink.model.jobs import LearnReport, Spending, SpendingBy, Usage
from bethink.model.operations import OPERATIONS
from bethink.model.operations import installation as service
from bethink.model.operations import monitoring as operations
from bethink.model.operations.base import Request
from bethink.model.operations.installation import LearnRequest
from bethink.model.pages import cursor_of
from bethink.model.paging import Page
from bethink.model.summaries import SpaceInfo

MONDAY = date(2026, 1, 5)
NOT_MERGED = {  # each needs one database: its result has a cursor, or belongs to one installation
    "memory.admin.keys.list", "memory.admin.keys.create", "memory.admin.keys.revoke", "memory.admin.keys.rotate",
    "memory.admin.access.list", "memory.admin.reviews.list", "memory.admin.jobs.list",
    "memory.admin.webhooks.list", "memory.admin.webhooks.create", "memory.admin.webhooks.delete",
    "memory.admin.webhooks.deliveries",
}  # fmt: skip


def test_operation_on_all_spaces_declares_how_it_merges() -> None:
    outside = [
        operation
        for operation in OPERATIONS
        if not operation.in_space and operation.request.named_space is Request.named_space
    ]

    assert {
        operation.name for operation in outside if operation.merge is None and across(operation) is None
    } == NOT_MERGED


def test_space_names_merge_into_one_sorted_page() -> None:
    merge = operations.LIST_SPACES.merge
    first, second = (Page(items=tuple(SpaceInfo(name=name) for name in names)) for names in ("ad", "bcd"))

    assert merge is not None
    page = merge(operations.ListSpacesRequest(limit=3), [first, second])
    assert ([space.name for space in page], page.next) == (["a", "b", "c"], cursor_of("c"))
    last = merge(operations.ListSpacesRequest(limit=4), [first, second])
    assert ([space.name for space in last], last.next) == (["a", "b", "c", "d"], "")


def test_run_reports_keep_a_reason_of_any_database() -> None:
    merge = service.LEARN.merge

    assert merge is not None
    total = merge(LearnRequest(), [LearnReport(leased=1, blocked="daily_cap"), LearnReport(leased=2)])
    assert (total.leased, total.blocked) == (3, "daily_cap")


def test_spending_by_space_keeps_the_most_expensive() -> None:
    def spent(name: str, cost: int) -> Spending:
        return Spending(day=MONDAY, name=name, usage=Usage(cost=cost))

    merge = operations.LIST_SPENDING.merge

    assert merge is not None
    request = operations.ListSpendingRequest(by=SpendingBy.SPACE, limit=1)
    assert merge(request, [Page(items=(spent("a", 2),)), Page(items=(spent("b", 3), spent("a", 2)))]) == [spent("a", 4)]


def test_request_for_a_named_space_is_sent_to_it() -> None:
    assert retention.LiftHoldRequest(space="mira", hold_id="hld_1", reason="closed").named_space() == "mira"
    assert retention.ListHoldsRequest().named_space() == ""


async def test_export_refuses_to_end_a_page_in_a_space_stored_twice() -> None:
    async def export(operation: object, request: people.ExportPersonRequest) -> PersonItems:
        del operation
        return PersonItems(items=(PersonItem(space="a", kind="message", id="m"),) * request.limit, next="more")

    by_space = across(people.EXPORT_PERSON)
    assert by_space is not None
    request = people.ExportPersonRequest(name="Anna", limit=2)
    assert (await by_space(request, [InSpace(name="a", run=export)])).next == "more"
    with pytest.raises(DatabaseUnavailableError, match="stored in two databases"):
        await by_space(request, [InSpace(name="a", run=export), InSpace(name="a", run=export)])
