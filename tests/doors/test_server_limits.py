import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from bethink.errors import InvalidRequestError
from bethink.http.limits import MAX_VALUES, Buckets, check_structure, read_body
from bethink.http.problems import RefusedRequest
from tests.doors.server_kit import PLAIN, serving

S = "/v1/spaces/alice"


async def test_oversized_body_is_rejected_by_its_length(tmp_path: Path) -> None:
    async with serving(str(tmp_path / "m.db"), replace(PLAIN, max_body=1_000)) as served:
        fits = await served("POST", f"{S}/remember", {"messages": "x" * 900})
        refused = await served("POST", f"{S}/remember", {"messages": "x" * 1_000})

        assert fits.status == 201
        assert (refused.status, refused.json()["code"]) == (413, "TooLarge")


async def test_chunked_body_is_counted_while_reading(tmp_path: Path) -> None:
    async with serving(str(tmp_path / "m.db"), replace(PLAIN, max_body=1_000)) as served:
        read, statuses = 0, list[int]()

        async def receive() -> dict[str, Any]:
            nonlocal read
            read += 100
            return {"type": "http.request", "body": b"x" * 100, "more_body": True}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        for headers in ([], [(b"content-length", b"10")], [(b"content-length", b"nonsense")]):
            read = 0
            scope = {
                "type": "http", "method": "POST", "path": f"{S}/remember", "query_string": b"", "root_path": "",
                "headers": [
                    (b"host", b"localhost"), (b"authorization", f"Bearer {served.key}".encode()),
                    (b"content-type", b"application/json"), *headers,
                ],
            }  # fmt: skip
            await served.app(scope, receive, send)

            assert read == 8_100  # so that who writes on reads our answer, and not a byte more
        assert statuses == [413, 413, 413]


@pytest.mark.parametrize("headers", [{"content-length": "8001"}, {"content-length": "1001", "expect": "100-continue"}])
async def test_far_too_large_body_is_rejected_unread(headers: dict[str, str]) -> None:
    async def receive() -> Any:
        pytest.fail("it was read")

    with pytest.raises(RefusedRequest) as refused:
        await read_body(receive, headers, 1_000)
    assert refused.value.problem.status == 413


async def test_a_body_that_is_too_large_is_read_to_its_end_and_thrown_away() -> None:
    parts = [b"x" * 600] * 3

    async def receive() -> Any:
        return {"type": "http.request", "body": parts.pop(), "more_body": bool(parts)}

    with pytest.raises(RefusedRequest) as refused:
        await read_body(receive, {"content-length": "1800"}, 1_000)
    assert (refused.value.problem.status, parts) == (413, [])


async def test_a_message_and_their_number_have_limits_of_their_own(tmp_path: Path) -> None:
    async with serving(str(tmp_path / "m.db"), replace(PLAIN, max_message=100, max_messages=3)) as served:
        long = [{"role": "user", "content": "é" * 51}]
        many = [{"role": "user", "content": "x"}] * 4

        for body in ({"messages": long}, {"messages": many}, {"messages": "é" * 51}):
            assert (await served("POST", f"{S}/remember", body)).status == 413
        opened = (await served("POST", f"{S}/sessions", {"conversation": "a:b:c"})).json()
        for messages in (long, many):
            assert (await served("POST", f"{S}/sessions/{opened['id']}/messages", {"messages": messages})).status == 413
        assert (await served("POST", f"{S}/remember", {"messages": "é" * 50})).status == 201


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 33 + b"]" * 33,
        b'{"a":' * 33 + b"1" + b"}" * 33,
        b"[" * 500_000,
        b'["\\"]", ' * 20 + b"[[[" * 20,
        b'["' + b"\\\\" * 9 + b'", ' + b"[" * 40 + b"]" * 41,
        (b"[" + b"[]," * 40 + b"[]") * 33,
    ],
)
def test_deeply_nested_json_is_rejected_before_parsing(body: bytes) -> None:
    with pytest.raises(InvalidRequestError):
        check_structure(body, 32)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 32 + b"]" * 32,
        b'["' + b"[" * 1_000 + b'"]',
        b'["\\"' + b"[{" * 100 + b'", "\\\\"]',
        b"[" + b"[]," * 1_000 + b"{}]",
        b"[" + b'{"a":[1,{"b":"]]]"}]},' * 100 + b"1]",
    ],
)
def test_json_that_is_wide_or_only_quotes_brackets_is_not_deep(body: bytes) -> None:
    check_structure(body, 32)


def test_json_with_too_many_values_is_rejected() -> None:
    """Commas and brackets in texts are no values."""
    check_structure(b'{"a": "' + b",[{" * MAX_VALUES + b'"}', 32)
    with pytest.raises(RefusedRequest, match="Too large"):
        check_structure(b"[" + b"1," * MAX_VALUES + b"1]", 32)


def test_a_hostile_megabyte_is_judged_in_a_moment() -> None:
    began = time.thread_time()
    for body in (b"[" * 1_000_000, b"[]," * 333_333, b'"\\' * 500_000, b"[[[[" + b"[{}]," * 200_000):
        with suppress(InvalidRequestError, RefusedRequest):
            check_structure(body, 32)

    assert time.thread_time() - began < 2


async def test_deep_and_invalid_json_is_rejected(tmp_path: Path) -> None:
    async with serving(str(tmp_path / "m.db")) as served:
        deep: Any = "x"
        for _ in range(40):
            deep = {"a": deep}
        message = {"role": "user", "content": "x", "metadata": deep}
        bodies: list[object] = [
            {"messages": [message]},
            b"{",
            b'{"messages": "\\ud800"}',
            b"\xff",
            b'{"messages": 1}',
            b"[]",
        ]

        answers = [await served("POST", f"{S}/remember", body) for body in bodies]

        assert [answer.status for answer in answers] == [422] * len(bodies)
        form = await served("POST", f"{S}/remember", b"messages=x", headers={"content-type": "text/plain"})
        assert form.status == 415


async def test_key_has_a_burst_and_rate_with_retry_after(tmp_path: Path) -> None:
    async with serving(str(tmp_path / "m.db"), replace(PLAIN, rate=0.5, burst=3)) as served:
        other = await served.key_for("read")

        answers = [await served("GET", f"{S}/facts") for _ in range(4)]

        assert [answer.status for answer in answers] == [200, 200, 200, 429]
        assert answers[3].headers["retry-after"] == "2"
        assert answers[3].json()["code"] == "TooManyRequests"
        assert (await served("GET", f"{S}/facts", key=other)).status == 200  # each key has its own
        assert (await served("GET", "/healthz", key="")).status == 200


def test_bucket_refills_at_its_rate_up_to_its_burst() -> None:
    now = 0.0
    buckets = Buckets(rate=2, burst=2, timer=lambda: now)

    def took() -> bool:
        try:
            buckets.take("a")
        except RefusedRequest:
            return False
        return True

    assert [took() for _ in range(3)] == [True, True, False]
    now += 0.5
    assert [took() for _ in range(2)] == [True, False]
    now += 100
    assert [took() for _ in range(3)] == [True, True, False]


async def test_a_crowd_is_sent_away_with_503_while_those_inside_are_served(tmp_path: Path) -> None:
    async with serving(str(tmp_path / "m.db"), replace(PLAIN, max_concurrency=5)) as served:
        statuses: list[tuple[int, str | None]] = []

        async def one(path: str) -> None:
            answer = await served("GET", path)
            statuses.append((answer.status, answer.headers.get("retry-after")))

        async with anyio.create_task_group() as tasks:
            for _ in range(12):
                tasks.start_soon(one, f"{S}/facts")
            tasks.start_soon(one, "/healthz")

        assert statuses.count((200, None)) == 6
        assert statuses.count((503, "1")) == 7
        assert (await served("GET", f"{S}/facts")).status == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("localhost:8377", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:8377", 200),
        ("[::1]", 200),
        ("LOCALHOST", 200),
        ("evil.example", 421),
        ("localhost.evil.example:8377", 421),
        ("evil.example:localhost", 421),
        ("", 421),
    ],
)
async def test_only_the_names_that_are_allowed_are_answered_to(tmp_path: Path, host: str, status: int) -> None:
    async with serving(str(tmp_path / "m.db")) as served:
        assert (await served("GET", f"{S}/facts", headers={"host": host})).status == status


@pytest.mark.parametrize("host", ["10.244.1.7:8377", "evil.example", ""])
async def test_probes_are_answered_by_any_name_and_without_a_key(tmp_path: Path, host: str) -> None:
    async with serving(str(tmp_path / "m.db")) as served:
        for path in ("/healthz", "/readyz"):
            answered = await served("GET", path, key="", headers={"host": host})
            assert (answered.status, answered.json()) == (200, {"status": "ok"})
        assert (await served("GET", "/metrics", headers={"host": host})).status == 200
        assert (await served("GET", "/metrics", key="", headers={"host": host})).status == 401
        assert (await served("GET", "/healthz/", headers={"host": host})).status == 421


async def test_web_pages_are_refused_unless_their_origin_is_allowed(tmp_path: Path) -> None:
    options = replace(PLAIN, allowed_origins=frozenset({"https://app.example"}), allowed_hosts=frozenset({"*"}))
    async with serving(str(tmp_path / "m.db"), options) as served:
        for origin, status in (
            ("https://app.example", 200),
            ("https://evil.example", 403),
            ("null", 403),
            ("http://app.example", 403),
        ):
            headers = {"origin": origin, "host": "any.example"}
            assert (await served("GET", f"{S}/facts", headers=headers)).status == status


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=1001",
        "limit=-1",
        "limit=",
        "limit=x",
        "limit=1e3",
        "limit=99999999999999999999",
        "as_of=" + "9" * 41,
    ],
)
async def test_numbers_in_a_query_are_bounded(tmp_path: Path, query: str) -> None:
    async with serving(str(tmp_path / "m.db")) as served:
        refused = await served("GET", f"{S}/facts?{query}")

        assert refused.status == 422
        assert refused.json()["errors"][0]["at"] == query.partition("=")[0]


async def test_a_query_of_many_parts_is_refused(tmp_path: Path) -> None:
    async with serving(str(tmp_path / "m.db")) as served:
        assert (await served("GET", f"{S}/facts?{'&'.join(f'a{n}=1' for n in range(60))}")).status == 422


async def test_a_stranger_cannot_make_up_methods_to_be_counted(target: str) -> None:
    async with serving(target) as served:
        for number in range(20):
            await served(f"XX{number}", "/healthz", key=None)
        page = (await served("GET", "/metrics")).body.decode()
    assert "XX" not in page


async def test_late_body_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bethink.http.limits.BODY_TIMEOUT", 0.01)

    async def never() -> Any:
        await anyio.sleep_forever()

    with pytest.raises(RefusedRequest) as refused:
        await read_body(never, {}, 100)
    assert refused.value.problem.status == 408
