"""A pytest plugin that records which statements of the checklist are covered by passing tests."""

import json
from collections import defaultdict
from pathlib import Path

import pytest


class Claims:
    """Collects the outcomes of the tests for each statement."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._claims: dict[str, list[str]] = {}
        self._outcomes: dict[str, set[str]] = defaultdict(set)

    @pytest.hookimpl(trylast=True)  # deselected tests do not count
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            statements = [str(statement) for marker in item.iter_markers("spec") for statement in marker.args]
            if statements:
                self._claims[item.nodeid] = statements

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self._outcomes[report.nodeid].add(report.outcome)

    def pytest_sessionfinish(self) -> None:
        results: dict[str, bool] = {}
        for test, statements in self._claims.items():
            passed = self._outcomes[test] == {"passed"}
            for statement in statements:
                results[statement] = results.get(statement, True) and passed
        self._target.write_text(json.dumps({name: results[name] for name in sorted(results)}), encoding="utf-8")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--spec-results", help="write the results of the checklist to this file")


def pytest_configure(config: pytest.Config) -> None:
    target = config.getoption("--spec-results")
    if target:
        config.pluginmanager.register(Claims(Path(target)))
