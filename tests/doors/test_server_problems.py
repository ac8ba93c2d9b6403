from pathlib import Path
from typing import Any

import pytest

from bethink import errors
from bethink.host.local import Local
from bethink.http.problems import problem_for
from tests.doors.server_kit import serving

SECRET = "/var/lib/secret.db hunter2"


def made(kind: type[errors.BethinkError]) -> errors.BethinkError:
    if kind is errors.VersionConflictError:
        return errors.VersionConflictError(SECRET, current=3)
    if kind is errors.InvalidFieldError:
        return errors.InvalidFieldError("limit", SECRET, hint="")
    return kind(SECRET)


EXPECTED = {
    "BethinkError": 500, "ConfigurationError": 500, "PermissionDeniedError": 500,
    "InvalidRequestError": 422, "InvalidFieldError": 422, "NotFoundError": 404,
    "ConflictError": 409, "DuplicateError": 409, "ErasedKeyError": 409, "LeaseLostError": 409, "LegalHoldError": 409,
    "SessionEndedError": 409, "VersionConflictError": 409,
    "ModelError": 502, "ModelResponseError": 502, "ModelTimeoutError": 502, "ModelUnavailableError": 503,
    "DatabaseError": 500, "CorruptDatabaseError": 500, "DatabaseUnavailableError": 503, "DatabaseBusyError": 503,
    "OutcomeUnknownError": 503, "SpaceMovedError": 503,
}  # fmt: skip
CODES = {"InvalidFieldError": "InvalidRequestError"}
"""Codes of errors that a client raises as another error. `errors` names the fields."""
KINDS: list[type[errors.BethinkError]] = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.BethinkError)
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_has_a_status_and_5xx_hide_details(kind: type[errors.BethinkError]) -> None:
    problem = problem_for(made(kind))

    assert problem.status == EXPECTED[kind.__name__]
    if problem.status >= 500:
        assert SECRET.encode() not in problem.body()
    else:
        assert SECRET.encode() in problem.body()
        assert problem.code == CODES.get(kind.__name__, kind.__name__)
    if kind is errors.OutcomeUnknownError:
        assert not problem.headers  # what has a Retry-After is repeated by programs that know nothing of us
    elif problem.status == 503:
        assert dict(problem.headers)[b"retry-after"].isdigit()


def test_stale_error_has_current_version_and_unknown_says_retry() -> None:
    assert b'"current": 3' in problem_for(made(errors.VersionConflictError)).body()
    assert "Idempotency-Key" in problem_for(errors.OutcomeUnknownError("lost.")).hint
    away = problem_for(errors.ModelUnavailableError("busy.", retry_after=7.2))
    assert dict(away.headers)[b"retry-after"] == b"8"


async def test_missing_scope_error_names_the_command_for_a_new_key(tmp_path: Path) -> None:
    async with serving(str(tmp_path / "m.db")) as served:
        for scopes, spaces, path, command in (
            (
                ["read", "write"],
                None,
                "/v1/spaces/alice/forget",
                "NAME --scope read --scope write --scope erase",
            ),
            (
                ["read"],
                ["alice"],
                "/v1/spaces/alice/remember",
                "NAME --scope read --scope write --space SPACE",
            ),
            (["read"], ["alice"], "/v1/learn", "bethink doc update --space SPACE`."),
        ):
            key = await served.key_for(*scopes, spaces=spaces)
            refused = await served("POST", path, {}, key=key)
            assert refused.status == 403
            assert refused.json()["hint"].endswith(command)


def test_unexpected_error_hides_its_message() -> None:
    problem = problem_for(RuntimeError(SECRET))

    assert (problem.status, problem.code) == (500, "InternalError")
    assert b"hunter2" not in problem.body()


async def test_unexpected_error_is_logged_by_location_only(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with serving(str(tmp_path / "m.db")) as served:

        async def burst(space: str, request: object) -> None:
            raise RuntimeError(SECRET)

        local = served.memory.backend.local()
        assert isinstance(local, Local)
        local._handlers["space.recall"] = burst
        with caplog.at_level("INFO", logger="bethink.server"):
            answer = await served("POST", "/v1/spaces/alice/recall", {"question": "x"})

    assert answer.status == 500
    assert b"hunter2" not in answer.body
    assert "hunter2" not in caplog.text
    [record] = [record for record in caplog.records if record.name == "bethink.server"]
    fields: dict[str, Any] = vars(record)["fields"]
    assert fields["error"] == "RuntimeError"
    assert "burst" in fields["where"]
    assert fields["request_id"] == answer.headers["x-request-id"]


async def test_unknown_path_or_method_returns_a_problem(tmp_path: Path) -> None:
    async with serving(str(tmp_path / "m.db")) as served:
        nowhere = await served("GET", "/v2/nothing")
        wrong = await served("PATCH", "/v1/spaces/alice/facts")

    assert (nowhere.status, nowhere.headers["content-type"]) == (404, "application/problem+json")
    assert (wrong.status, wrong.headers["allow"]) == (405, "GET")
    assert set(nowhere.json()) == {"type", "title", "status", "detail", "hint", "code"}


async def test_validation_error_names_the_field_without_its_value(tmp_path: Path) -> None:
    async with serving(str(tmp_path / "m.db")) as served:
        body = {"messages": [{"role": "hunter2", "content": "x", "hunter2": 1}]}
        refused = await served("POST", "/v1/spaces/alice/remember", body)

    assert refused.status == 422
    assert {error["at"] for error in refused.json()["errors"]} == {"messages.0.hunter2"}
    assert "hunter2" not in str([error["message"] for error in refused.json()["errors"]])


async def test_a_thread_is_not_stuck_by_an_event_of_the_engines_own(target: str) -> None:
    async with serving(target) as served:
        await served("POST", "/v1/spaces/alice/threads", {"thread_id": "thread_a"})
        for kind in ("MEMORY_TRUNCATE", "MEMORY_EMERGENCY", "MEMORY_COMPACT_SUGGESTED"):
            event = {"event": {"type": kind, "payload": {"chunks": 1}}}
            assert (await served("POST", "/v1/spaces/alice/threads/thread_a/events", event)).status == 422
        good = {"event": {"type": "USER_MESSAGE", "payload": {"text": "Hello."}}}
        assert (await served("POST", "/v1/spaces/alice/threads/thread_a/events", good)).status == 200


async def test_two_keys_in_one_request_open_nothing(target: str) -> None:
    async with serving(target) as served:
        twice = {"authorization": "Bearer bt_x.y", "Authorization": f"Bearer {served.key}"}
        scope_headers = [(name.lower().encode(), value.encode()) for name, value in twice.items()]

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": b"", "more_body": False}

        statuses = list[int]()

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        scope = {
            "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "path": "/v1/spaces",
            "raw_path": b"/v1/spaces", "query_string": b"", "root_path": "", "client": None, "server": None,
            "headers": [(b"host", b"localhost"), *scope_headers],
        }  # fmt: skip
        await served.app(scope, receive, send)
        assert statuses == [401]
