"""Fuzzing by the OpenAPI document: valid and invalid requests. `benchmarks.fuzz` runs it at length."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.fuzz import fuzz
from bethink.host.local import Local
from bethink.model.operations.memory import RECALL
from bethink.model.operations.monitoring import LIST_SPACE_JOBS
from tests.doors.server_kit import operations


@pytest.mark.slow
def test_whatever_is_sent_the_answer_is_documented_and_never_a_5xx(target: str) -> None:
    tally = fuzz(target, cases=150, seed=7)

    assert tally.failures == []
    assert max(tally.statuses) < 500
    assert tally.cases == 150
    assert len(tally.operations) >= len(operations())
    assert {200, 201, 401, 404, 422} <= set(tally.statuses)


@pytest.mark.mutant
@pytest.mark.slow
def test_undocumented_response_and_server_error_are_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Local.run

    async def broken(self: Local, operation: Any, space: str, request: Any) -> Any:
        if operation is RECALL:
            raise RuntimeError
        return ["not a job"] if operation is LIST_SPACE_JOBS else await run(self, operation, space, request)

    monkeypatch.setattr(Local, "run", broken)

    tally = fuzz(str(tmp_path / "memory.db"), cases=140, seed=7)

    assert any("recall" in failure and "500" in failure for failure in tally.failures)
    assert any("/jobs" in failure for failure in tally.failures)
