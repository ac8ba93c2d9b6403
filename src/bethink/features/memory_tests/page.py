"""Memory tests: questions with what must and must not come back, and whether it does."""

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
from bethink.model.recall import RefKind
from bethink.web.visit import Goto, MenuItem, Page, PageRoute, Twin, Visit

_PAGE = 50


def _listed(visit: Visit) -> Twin:
    return LIST_TESTS, ListTestsRequest(limit=_PAGE, after=visit.ask("after"))


async def tests(visit: Visit) -> Page:
    """Show the tests of a space; with `?run=1`, also how each of them goes."""
    verb, request = _listed(visit)
    found = await visit.run(verb, request)
    results: dict[str, Any] = {}
    if visit.ask("run") and found:
        ran = await visit.run(RUN_TESTS, RunTestsRequest(only=tuple(each.id for each in found)))
        results = {each.test.id: each for each in ran}
    values: dict[str, Any] = {
        "tests": found,
        "results": results,
        "passed": sum(each.passed for each in results.values()),
        "more": visit.link("tests", after=found[-1].id) if len(found) == _PAGE else "",
        "may_add": visit.may_change(ADD_TEST),
        "adding": visit.ask("add"),
        "all_kinds": tuple(RefKind),
    }
    return Page(template="memory_tests.html", values=values)


async def add(visit: Visit) -> Goto:
    """Keep a test."""
    request = AddTestRequest(
        question=visit.filled("question").strip(),
        must=_lines(visit.filled("must")),
        must_not=_lines(visit.filled("must_not")),
        note=visit.filled("note").strip(),
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
    PageRoute(path="/s/{space}/tests", handler=tests, twin=_listed),
    PageRoute(path="/s/{space}/tests/add", handler=add, method="POST"),
    PageRoute(path="/s/{space}/tests/{test}/remove", handler=remove, method="POST"),
)
MENU = (
    MenuItem(
        section="Keeping it right",
        name="Memory tests",
        step="tests",
        operation=LIST_TESTS,
        shortcut="m",
        position=20,
        templates=("memory_tests",),
    ),
)
