"""The page of memory tests and their results."""

from typing import Any

from bethink.features.memory_tests.operations import (
    ADD_TEST,
    LIST_TESTS,
    REMOVE_TEST,
    RUN_TESTS,
    AddTestRequest,
    ListTestsRequest,
    RunTestsRequest,
    TestRequest,
)
from bethink.model.moments import moment_or_none
from bethink.model.refs import RefKind
from bethink.web.visit import Goto, MenuItem, PageRoute, PageView, Twin, Visit

_PAGE = 50


def _list_request(visit: Visit) -> Twin:
    return LIST_TESTS, ListTestsRequest(limit=_PAGE, after=visit.query_value("after"))


async def tests(visit: Visit) -> PageView:
    """Show the tests of a space; with `?run=1`, also their results."""
    operation, request = _list_request(visit)
    items = await visit.run(operation, request)
    results: dict[str, Any] = {}
    if visit.query_value("run") and items:
        outcomes = await visit.run(RUN_TESTS, RunTestsRequest(only=tuple(item.id for item in items)))
        results = {item.test.id: item for item in outcomes}
    values: dict[str, Any] = {
        "tests": items,
        "results": results,
        "passed": sum(item.passed for item in results.values()),
        "more": visit.link("tests", after=items.next) if items.next else "",
        "may_add": visit.may_change(ADD_TEST),
        "adding": visit.query_value("add"),
        "all_kinds": tuple(RefKind),
    }
    return PageView(template="memory_tests.html", values=values)


async def add(visit: Visit) -> Goto:
    """Add a test."""
    request = AddTestRequest(
        question=visit.form_value("question").strip(),
        must=_lines(visit.form_value("must")),
        must_not=_lines(visit.form_value("must_not")),
        as_of=moment_or_none(visit.form_value("as_of").strip() or None),
        known_at=moment_or_none(visit.form_value("known_at").strip() or None),
        note=visit.form_value("note").strip(),
    )
    await visit.run(ADD_TEST, request.repeatable())
    return Goto(visit.link("tests", run="1"))


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.split("\n") if line.strip())


async def remove(visit: Visit) -> Goto:
    """Remove a test."""
    await visit.run(REMOVE_TEST, TestRequest(test_id=visit.names["test"]))
    return Goto(visit.link("tests", told="removed"))


ROUTES = (
    PageRoute(path="/s/{space}/tests", handler=tests, twin=_list_request),
    PageRoute(path="/s/{space}/tests/add", handler=add, method="POST"),
    PageRoute(path="/s/{space}/tests/{test}/remove", handler=remove, method="POST"),
)
MENU = (
    MenuItem(
        section="Curation",
        name="Memory tests",
        step="tests",
        operation=LIST_TESTS,
        shortcut="m",
        position=20,
        templates=("memory_tests",),
    ),
)
