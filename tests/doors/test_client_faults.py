import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

import bethink
from bethink import Memory, Session
from bethink.errors import (
    BethinkError,
    ConfigurationError,
    ConflictError,
    DatabaseBusyError,
    DatabaseUnavailableError,
    InvalidRequestError,
    ModelUnavailableError,
    NotFoundError,
    OutcomeUnknownError,
    PermissionDeniedError,
    SessionEndedError,
    VersionConflictError,
)
from bethink.host.remote.remote import Remote
from bethink.model.access import Scope
from bethink.model.moments import from_micros
from bethink.model.operations.base import Operation, Request, Retry
from bethink.model.records import SessionInfo
from tests.doors.client_kit import GONE, KEY, STALLED, Answer, client_of, problem, scripted
from tests.requests_kit import FULL

INFO = SessionInfo(
    space="alice",
    id="ses_1",
    conversation_id="c",
    agent_id="a",
    ordinal=1,
    is_learned_from=True,
    created_at=from_micros(1),
)
STORED = Answer(status=201, body={"items": [1]})
NOTHING = Answer(status=200, body={"question": "q"})
BUSY = problem(503, "DatabaseBusyError")

Call = Callable[[Memory], Awaitable[object]]


def session_of(client: Memory) -> Session:
    return Session(client.backend, INFO)


def append(client: Memory) -> Awaitable[object]:
    return session_of(client).append([{"role": "user", "content": "tea"}])


def recall(client: Memory) -> Awaitable[object]:
    return client.space("alice").recall("q")


def forget(client: Memory) -> Awaitable[object]:
    return client.space("alice").forget(everything=True)


async def test_lost_append_is_retried_with_the_same_key() -> None:
    with scripted([GONE, GONE, STORED]) as server:
        client, pauses = client_of(server.url)
        async with client:
            assert await append(client) == [1]

    first, second, third = server.requests
    assert first == second == third
    assert first[2]["idempotency_key"].startswith("req_")
    assert len(pauses.seconds) == 2
    assert 0 < pauses.seconds[0] < pauses.seconds[1] * 2


async def test_two_calls_have_two_keys() -> None:
    with scripted([STORED]) as server:
        client, _ = client_of(server.url)
        async with client:
            await append(client)
            await append(client)

    first, second = (request[2]["idempotency_key"] for request in server.requests)
    assert first != second


@pytest.mark.parametrize(("operation", "request_"), FULL, ids=[operation.name for operation, _ in FULL])
async def test_lost_answer_is_retried_as_far_as_the_table_allows(
    operation: Operation[Any, Any], request_: Request
) -> None:
    may = request_.retry(operation.retry)
    with scripted([GONE]) as server:
        client, _ = client_of(server.url, retries=2)
        async with client:
            with pytest.raises(DatabaseUnavailableError if may is Retry.SAFE else OutcomeUnknownError):
                await client.backend.run(operation, "alice" if operation.in_space else "", request_)

    assert len(server.requests) == (1 if may is Retry.ONCE else 3)
    assert all(each == server.requests[0] for each in server.requests)


ONLY_ONCE: list[Call] = [
    forget,
    lambda client: client.space("alice").admin.context_log.mark_used(["fact:f:1"]),
    lambda client: session_of(client).strip_citations("x"),
    lambda client: session_of(client).recall("q"),
    lambda client: session_of(client).context(),
    lambda client: client.space("alice").forget("fact:f:0"),
    lambda client: client.admin.keys.create("n", [Scope.READ]),
]


@pytest.mark.parametrize("call", ONLY_ONCE)
async def test_non_idempotent_call_is_not_retried_if_outcome_unknown(call: Call) -> None:
    with scripted([GONE]) as server:
        client, _ = client_of(server.url)
        async with client:
            with pytest.raises(OutcomeUnknownError):
                await call(client)

    assert len(server.requests) == 1


async def test_counting_what_would_be_forgotten_is_a_read() -> None:
    with scripted([GONE, Answer(status=200, body={"messages": 2, "dry_run": True})]) as server:
        client, _ = client_of(server.url)
        async with client:
            assert (await client.space("alice").forget(everything=True, dry_run=True)).messages == 2

    assert len(server.requests) == 2


async def test_lost_thread_open_is_retried_with_the_same_id() -> None:
    with scripted([GONE]) as server:
        client, _ = client_of(server.url, retries=1)
        async with client:
            with pytest.raises(OutcomeUnknownError):
                await client.space("alice").threads.open()

    first, second = (request[2]["thread_id"] for request in server.requests)
    assert first == second


async def test_a_refusal_that_did_nothing_lets_anything_be_sent_again() -> None:
    with scripted([BUSY, problem(429, "TooManyRequests", retry_after="7"), Answer(status=200, body={})]) as server:
        client, pauses = client_of(server.url)
        async with client:
            await forget(client)

    assert len(server.requests) == 3
    assert pauses.seconds[1] == 7


async def test_a_read_is_sent_again_and_in_the_end_nothing_was_written() -> None:
    with scripted([GONE]) as server:
        client, pauses = client_of(server.url, retries=3)
        async with client:
            with pytest.raises(DatabaseUnavailableError) as lost:
                await recall(client)

    assert len(server.requests) == 4
    assert len(pauses.seconds) == 3
    assert lost.value.hint == DatabaseUnavailableError.default_hint


async def test_write_possibly_received_is_not_reported_as_failed() -> None:
    with scripted([GONE, BUSY]) as server:
        client, _ = client_of(server.url, retries=2)
        async with client:
            with pytest.raises(OutcomeUnknownError):
                await append(client)


@pytest.mark.parametrize(
    "answer", [problem(403, "Forbidden"), problem(409, "SessionEndedError"), problem(422, "InvalidRequestError")]
)
async def test_write_possibly_received_is_not_reported_as_rejected(answer: Answer) -> None:
    with scripted([problem(503, "OutcomeUnknownError"), answer]) as server:
        client, _ = client_of(server.url)
        async with client:
            with pytest.raises(OutcomeUnknownError, match=f"told {answer.body['code']}") as told:
                await append(client)

    assert isinstance(told.value.__cause__, BethinkError)
    assert len(server.requests) == 2


async def test_unknown_outcome_from_server_retries_only_safe_calls() -> None:
    with scripted([problem(503, "OutcomeUnknownError"), STORED]) as server:
        client, _ = client_of(server.url)
        async with client:
            assert await append(client) == [1]
    with scripted([problem(503, "OutcomeUnknownError")]) as server:
        client, _ = client_of(server.url)
        async with client:
            with pytest.raises(OutcomeUnknownError):
                await forget(client)

    assert len(server.requests) == 1


async def test_unreachable_server_raises_unavailable() -> None:
    with scripted([GONE]) as server:
        url = server.url
    client, pauses = client_of(url, retries=2)
    async with client:
        for operation in (append, recall, forget):
            with pytest.raises(DatabaseUnavailableError):
                await operation(client)

    assert len(pauses.seconds) == 6


async def test_a_server_that_cannot_be_reached_is_named_without_what_opens_it() -> None:
    with scripted([GONE]) as server:
        port = server.url.rpartition(":")[2]
    client, _ = client_of(f"http://mira:hunter2@127.0.0.1:{port}/memory/?token=s3cret", retries=0)
    async with client:
        with pytest.raises(DatabaseUnavailableError) as away:
            await recall(client)

    assert f"Cannot reach the server at http://127.0.0.1:{port}/memory/." in str(away.value)


async def test_a_server_that_wants_to_be_left_alone_for_long_is_not_waited_for() -> None:
    with scripted([problem(429, "TooManyRequests", retry_after="3600")]) as server:
        client, pauses = client_of(server.url)
        async with client:
            with pytest.raises(DatabaseUnavailableError):
                await append(client)

    assert pauses.seconds == []


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (problem(401, "Unauthorized"), PermissionDeniedError),
        (problem(403, "Forbidden"), PermissionDeniedError),
        (problem(404, "NotFoundError"), NotFoundError),
        (problem(409, "ConflictError"), ConflictError),
        (problem(409, "SessionEndedError"), SessionEndedError),
        (problem(413, "TooLarge"), InvalidRequestError),
        (problem(422, "InvalidRequestError"), InvalidRequestError),
        (problem(421, "MisdirectedRequest"), InvalidRequestError),
        (problem(503, "DatabaseBusyError"), DatabaseBusyError),
        (problem(503, "ModelUnavailableError"), ModelUnavailableError),
        (problem(500, "InternalError"), DatabaseUnavailableError),
        (problem(503, "OutcomeUnknownError"), OutcomeUnknownError),
    ],
)
async def test_problem_response_raises_its_error(answer: Answer, kind: type[BethinkError]) -> None:
    with scripted([answer]) as server:
        client, _ = client_of(server.url, retries=0)
        async with client:
            with pytest.raises(kind) as raised:
                await recall(client)

    assert type(raised.value) is kind
    assert (raised.value.args[0], raised.value.hint) == (f"told {answer.body['code']}.", "Do so.")


async def test_internal_server_error_leaves_write_unknown_unretried() -> None:
    with scripted([problem(500, "InternalError")]) as server:
        client, _ = client_of(server.url)
        async with client:
            with pytest.raises(OutcomeUnknownError):
                await append(client)

    assert len(server.requests) == 1


async def test_stale_error_has_the_current_version() -> None:
    with scripted(
        [problem(409, "VersionConflictError", current=7), problem(409, "VersionConflictError", current=None)]
    ) as server:
        client, _ = client_of(server.url)
        async with client:
            for current in (7, None):
                with pytest.raises(VersionConflictError) as stale:
                    await client.space("alice").documents.delete("d", if_version=1)
                assert stale.value.current == current


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=200, body=b"<html>hello</html>"),
        Answer(status=200, body=[]),
        Answer(status=200, body={"items": []}),
        Answer(status=200, body={"question": 3}),
        Answer(status=200, body={"question": "q", "items": [{"ref": "nothing:x:1"}]}),
        Answer(status=302, body=b"", headers={"location": "http://127.0.0.1:9/"}),
        Answer(status=404, body=b"not here"),
    ],
)
async def test_non_bethink_server_raises_misconfigured(answer: Answer) -> None:
    with scripted([answer]) as server:
        client, _ = client_of(server.url)
        async with client:
            with pytest.raises(ConfigurationError) as wrong:
                await recall(client)

    assert "server" in wrong.value.hint


async def test_gateway_error_is_retried_for_safe_calls() -> None:
    with scripted([Answer(status=502, body=b"<html>"), Answer(status=504, body=b""), STORED]) as server:
        client, _ = client_of(server.url)
        async with client:
            assert await append(client) == [1]
        with pytest.raises(DatabaseUnavailableError):
            await append(client)


async def test_a_newer_server_may_say_more() -> None:
    with scripted([Answer(status=200, body={"question": "q", "mood": "fine", "items": []})]) as server:
        client, _ = client_of(server.url)
        async with client:
            assert not await recall(client)


async def test_names_are_escaped_in_paths() -> None:
    with scripted([NOTHING]) as server:
        client, _ = client_of(server.url)
        async with client:
            for space in ("..", ".", "a/b", "a?b#c", "ä %2e", "%2e%2e"):
                await client.space(space).recall("q")
            with pytest.raises(InvalidRequestError):
                await client.space("").recall("q")

    assert [request[1].count("/") for request in server.requests] == [4] * 6
    assert server.requests[0][1] == "/v1/spaces/%2E%2E/recall"


@pytest.mark.parametrize(
    ("url", "key"), [("ftp://x", KEY), ("http://x", ""), ("http://x", "a\nb"), ("https://x", "schlüssel")]
)
def test_invalid_address_or_key_is_rejected_without_echoing_it(url: str, key: str) -> None:
    with pytest.raises(ConfigurationError) as wrong:
        bethink.connect(url, api_key=key)

    assert not key or key not in str(wrong.value)


def test_remote_needs_an_https_address() -> None:
    with pytest.raises(ConfigurationError, match="https://"):
        Remote("memory.example", key=KEY)


async def test_a_client_that_is_not_open_says_so() -> None:
    client = bethink.connect("http://127.0.0.1:9", api_key=KEY)
    with pytest.raises(DatabaseUnavailableError, match="not open"):
        await recall(client)


async def test_opening_and_closing_twice_does_no_harm() -> None:
    with scripted([NOTHING]) as server:
        client, _ = client_of(server.url)
        await client.open()
        async with client:
            await recall(client)
        await client.close()


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        (
            "bethink.connect('http://x', api_key='k')",
            ["httpx2", "fastapi", "psycopg", "apsw", "bethink.memory.recall.search"],
        ),
        (
            "from bethink.host.remote.remote import Remote",
            ["httpx2", "apsw", "bethink.store.db", "bethink.host.local"],
        ),
    ],
)
def test_client_loads_no_unneeded_modules(code: str, heavy: list[str]) -> None:
    look = f"import bethink, sys, json; {code}; print(json.dumps([name for name in {heavy} if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)

    assert json.loads(done.stdout) == []


async def test_local_only_methods_raise_unavailable_on_a_client() -> None:
    client = bethink.connect("http://127.0.0.1:9", api_key=KEY)
    alice = client.space("alice")

    for ask in (
        client.backend.local,
        alice.sessions.history,
        alice.threads.engine,
        lambda: alice.sessions.live("talk"),
    ):
        with pytest.raises(DatabaseUnavailableError, match="database in this process"):
            ask()
    with pytest.raises(DatabaseUnavailableError, match="database in this process"):
        await client.run_worker()


def test_without_its_package_the_client_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['httpx2'] = None\n"
        "import anyio, bethink, bethink.errors\n"
        "try:\n    anyio.run(bethink.connect('http://x', api_key='k').open)\n"
        "except bethink.errors.ConfigurationError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "'.[client]'" in done.stdout


@pytest.mark.parametrize("retries", [0, 1])
async def test_stalled_server_times_out_after_the_set_retries(retries: int) -> None:
    with scripted([STALLED]) as server:
        async with bethink.connect(server.url, api_key=KEY, timeout=0.5, retries=retries) as memory:
            with (
                anyio.fail_after(10),
                pytest.raises(DatabaseUnavailableError, match="Lost the connection to the server before it responded"),
            ):
                await memory.space("alice").recall("q")
            with anyio.fail_after(10), pytest.raises(OutcomeUnknownError):
                await memory.space("alice").remember("tea")

    assert len(server.requests) == 2 * (retries + 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [("timeout", 0), ("timeout", -1.0), ("timeout", float("nan")), ("timeout", float("inf")), ("timeout", "5"),
     ("timeout", True), ("retries", -1), ("retries", 1.5), ("retries", "1")],
)  # fmt: skip
def test_invalid_timeout_or_retry_count_is_rejected(name: str, value: object) -> None:
    given: dict[str, Any] = {name: value}
    with pytest.raises(ConfigurationError, match=name):
        bethink.connect("http://127.0.0.1:1", api_key=KEY, **given)
