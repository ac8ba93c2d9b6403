from pathlib import Path
from typing import Any

import pytest

from bethink import errors
from bethink.host.local import Local
from bethink.http.problems import problem_for
from tests.doors.server_kit import serving

SECRET = "/var/lib/secret.db hunter2"


def made(kind: type[errors.BethinkError]) -> errors.BethinkError:
    if kind is errors.Stale:
        return errors.Stale(SECRET, current=3)
    return kind(SECRET)


EXPECTED = {
    "Invalid": 422, "NotFound": 404, "Conflict": 409, "Duplicate": 409, "LostClaim": 409, "SessionEnded": 409,
    "ErasedKey": 409, "UnderLegalHold": 409, "Stale": 409, "Unavailable": 503, "Busy": 503, "Moved": 503,
    "OutcomeUnknown": 503, "ModelUnavailable": 503, "ModelError": 502,
    "ModelTimeout": 502, "BadAnswer": 502, "Misconfigured": 500, "StoreError": 500, "Corrupt": 500,
    "BethinkError": 500, "Denied": 500,
}  # fmt: skip
KINDS: list[type[errors.BethinkError]] = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.BethinkError)
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_has_its_status_and_our_own_faults_are_told_without_detail(kind: type[errors.BethinkError]) -> None:
    problem = problem_for(made(kind))

    assert problem.status == EXPECTED[kind.__name__]
    if problem.status >= 500:
        assert SECRET.encode() not in problem.body()
    else:
        assert SECRET.encode() in problem.body()
        assert problem.code == kind.__name__
    if kind is errors.OutcomeUnknown:
        assert not problem.headers  # what has a Retry-After is repeated by programs that know nothing of us
    elif problem.status == 503:
        assert dict(problem.headers)[b"retry-after"].isdigit()


def test_what_is_stale_says_what_is_current_and_what_is_unknown_says_how_to_repeat() -> None:
    assert b'"current": 3' in problem_for(made(errors.Stale)).body()
    assert "Idempotency-Key" in problem_for(errors.OutcomeUnknown("lost.")).hint
    away = problem_for(errors.ModelUnavailable("busy.", retry_after=7.2))
    assert dict(away.headers)[b"retry-after"] == b"8"


async def test_a_scope_that_is_lacking_is_told_with_the_command_for_a_key_that_has_it(tmp_path: Path) -> None:
    async with serving(str(tmp_path / "m.db")) as served:
        for scopes, spaces, path, command in (
            (["read", "write"], None, "/v1/spaces/alice/forget", "--scope read --scope write --scope erase"),
            (["read"], ["alice"], "/v1/spaces/alice/remember", "--scope read --scope write --for-space SPACE"),
            (["read"], ["alice"], "/v1/learn", "--scope read --scope operate"),
        ):
            key = await served.key_for(*scopes, spaces=spaces)
            refused = await served("POST", path, {}, key=key)
            assert refused.status == 403
            assert refused.json()["hint"].endswith(f"bethink keys create NAME {command}")


def test_an_error_nobody_foresaw_is_told_without_a_word_of_it() -> None:
    problem = problem_for(RuntimeError(SECRET))

    assert (problem.status, problem.code) == (500, "InternalError")
    assert b"hunter2" not in problem.body()


async def test_an_error_nobody_foresaw_is_answered_and_logged_by_place_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(str(tmp_path / "m.db")) as served:

        async def burst(space: str, request: object) -> None:
            raise RuntimeError(SECRET)

        local = served.memory.local()
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


async def test_a_path_or_a_method_that_is_not_there_is_told_as_a_problem(tmp_path: Path) -> None:
    async with serving(str(tmp_path / "m.db")) as served:
        nowhere = await served("GET", "/v2/nothing")
        wrong = await served("PATCH", "/v1/spaces/alice/facts")

    assert (nowhere.status, nowhere.headers["content-type"]) == (404, "application/problem+json")
    assert (wrong.status, wrong.headers["allow"]) == (405, "GET")
    assert set(nowhere.json()) == {"type", "title", "status", "detail", "hint", "code"}


async def test_what_does_not_fit_is_named_and_not_repeated(tmp_path: Path) -> None:
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
