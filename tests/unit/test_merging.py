"""How results of several databases are merged: as each operation declares."""

from datetime import date

import pytest

from bethink.errors import Unavailable
from bethink.features.people import operations as people
from bethink.features.people.records import PersonItem, PersonItems
from bethink.features.retention import operations as retention
from bethink.memory.registry import InSpace, across
from bethink.model.jobs import RunReport, Spending, SpendingBy, Usage
from bethink.model.operations import VERBS
from bethink.model.operations import installation as service
from bethink.model.operations import monitoring as operations
from bethink.model.operations.base import Request
from bethink.model.operations.installation import LearnRequest, ListSpacesRequest

MONDAY = date(2026, 1, 5)
NOT_MERGED = {  # each needs one database: its result has a cursor, or belongs to one installation
    "keys.all", "keys.create", "keys.revoke", "keys.rotate", "memory.access", "memory.held", "memory.page_jobs",
    "memory.page_spaces", "webhooks.all", "webhooks.create", "webhooks.delete", "webhooks.deliveries",
}  # fmt: skip


def test_operation_on_all_spaces_declares_how_it_merges() -> None:
    outside = [verb for verb in VERBS if not verb.in_space and verb.request.named_space is Request.named_space]

    assert {verb.name for verb in outside if verb.merge is None and across(verb) is None} == NOT_MERGED


def test_space_names_merge_into_one_sorted_page() -> None:
    merge = service.LIST_SPACES.merge

    assert merge is not None
    assert merge(ListSpacesRequest(limit=3), [["a", "d"], ["b", "c", "d"]]) == ["a", "b", "c"]


def test_run_reports_keep_a_reason_of_any_database() -> None:
    merge = service.LEARN.merge

    assert merge is not None
    total = merge(LearnRequest(), [RunReport(claimed=1, held="daily_cap"), RunReport(claimed=2)])
    assert (total.claimed, total.held) == (3, "daily_cap")


def test_spending_by_space_keeps_the_most_expensive() -> None:
    def spent(name: str, cost: int) -> Spending:
        return Spending(day=MONDAY, name=name, usage=Usage(cost=cost))

    merge = operations.SPENDING.merge

    assert merge is not None
    request = operations.SpendingRequest(by=SpendingBy.SPACE, limit=1)
    assert merge(request, [[spent("a", 2)], [spent("b", 3), spent("a", 2)]]) == [spent("a", 4)]


def test_request_for_a_named_space_goes_to_that_space() -> None:
    assert retention.LiftRequest(space="mira", hold_id="hld_1", reason="closed").named_space() == "mira"
    assert retention.HoldsRequest().named_space() == ""


async def test_export_refuses_to_end_a_page_in_a_space_stored_twice() -> None:
    async def export(verb: object, request: people.ExportPersonRequest) -> PersonItems:
        del verb
        return PersonItems(items=(PersonItem(space="a", kind="message", id="m"),) * request.limit, next="more")

    by_space = across(people.EXPORT_PERSON)
    assert by_space is not None
    request = people.ExportPersonRequest(name="Anna", limit=2)
    assert (await by_space(request, [InSpace(name="a", run=export)])).next == "more"
    with pytest.raises(Unavailable, match="stored in two databases"):
        await by_space(request, [InSpace(name="a", run=export), InSpace(name="a", run=export)])
