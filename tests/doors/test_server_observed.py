"""Telemetry of requests: logs, spans and metrics with ids and counts, never content."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bethink.base.log_lines import JsonLines
from bethink.base.logs import RedactingFilter
from bethink.http import names
from bethink.providers.default_redactor import redactor_for
from tests.doors.server_kit import CANARY, furnish, operations, serving

S = "/v1/spaces/alice"


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """Everything that is logged, by anybody, as the server writes it."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLines())
    handler.addFilter(RedactingFilter(redactor_for(None)))
    logger = logging.getLogger()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield written
    logger.removeHandler(handler)
    logger.setLevel(level)


class Spans:
    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.exporter.get_finished_spans() if span.name == name]

    def everything(self) -> str:
        return "".join(span.to_json() for span in self.exporter.get_finished_spans())


@pytest.fixture
def spans() -> Spans:
    return Spans()


async def test_a_canary_turns_up_in_no_log_no_span_no_metric_and_no_error(
    target: str, lines: io.StringIO, spans: Spans
) -> None:
    async with serving(target, provider=spans.provider) as served:
        things = await furnish(served.memory, "alice")
        bob = await served.key_for(spaces=["bob"])
        errors: list[bytes] = []
        for operation in operations():
            path = things.path(operation.path) + operation.query
            body = json.loads(json.dumps(operation.body).replace("figs", CANARY))
            for key in (served.key, bob, "", f"bt_{CANARY}.{CANARY}"):
                answer = await served(operation.method, path, body, key=key)
                if answer.status >= 400:
                    errors.append(answer.body)
            wrong = await served(operation.method, path, {"unknown": CANARY, "messages": [CANARY]})
            if wrong.status >= 400:
                errors.append(wrong.body)
        metrics = (await served("GET", "/metrics")).body.decode()

        assert len(errors) > 200
        assert CANARY.encode() not in b"".join(errors)
        assert CANARY not in lines.getvalue()
        assert CANARY not in spans.everything()
        assert CANARY not in metrics
        for told in (lines.getvalue(), spans.everything(), metrics, b"".join(errors).decode()):
            assert served.key.partition(".")[2] not in told
        assert "alice" not in metrics
        assert len(lines.getvalue().splitlines()) > 300


async def test_a_request_is_logged_as_one_line_of_json(target: str, lines: io.StringIO) -> None:
    async with serving(target) as served:
        answer = await served("POST", f"{S}/remember", {"messages": [{"role": "user", "content": "x"}] * 2})
        await served("GET", f"{S}/facts/none")

        told = [json.loads(line) for line in lines.getvalue().splitlines() if '"event": "request"' in line]

    assert [line["status"] for line in told] == [201, 404]
    first = told[0]
    assert first["route"] == "/v1/spaces/{space}/remember"
    assert (first["method"], first["space"], first["count"]) == ("POST", "alice", 2)
    assert first["request_id"] == answer.headers["x-request-id"]
    assert served.key.startswith(f"bt_{first['key']}.")
    assert first["ms"] >= 0
    assert told[1]["error"] == "NotFoundError"


@pytest.mark.parametrize(
    ("method", "path", "body", "name", "count"),
    [
        ("POST", "remember", {"messages": "figs"}, "upsert_memory", 1),
        ("POST", "recall", {"question": "what does the parrot like?"}, "search_memory", 3),
        ("POST", "forget", {"everything": True}, "delete_memory_store", 5),
        ("POST", "forget", {"ref": "fact:fact-alice:1"}, "delete_memory", 1),
        ("POST", "facts", {"fact": {"id": "f2", "text": "figs"}}, "upsert_memory", 1),
        ("POST", "documents", {"draft": {"slug": "new", "title": "New"}}, "create_memory", 1),
    ],
)
async def test_memory_operation_is_a_span_by_genai_conventions(
    target: str, spans: Spans, method: str, path: str, body: object, name: str, count: int
) -> None:
    async with serving(target, provider=spans.provider) as served:
        await furnish(served.memory, "alice")
        parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        await served(method, f"{S}/{path}", body, headers={"traceparent": parent})

    [span] = spans.named(name)
    assert span.attributes is not None
    assert span.attributes["gen_ai.operation.name"] == name
    assert span.attributes["gen_ai.memory.store.id"] == "alice"
    assert span.attributes["gen_ai.memory.record.count"] == count
    assert span.kind.name == "INTERNAL"
    assert span.context is not None
    assert format(span.context.trace_id, "032x") == "0af7651916cd43dd8448eb211c80319c"
    assert not {names.QUERY_TEXT, names.RECORDS} & set(span.attributes)


async def test_content_is_in_spans_only_if_the_environment_asks_for_it(
    target: str, spans: Spans, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    async with serving(target, provider=spans.provider) as served:
        await furnish(served.memory, "alice")
        await served("POST", f"{S}/recall", {"question": "what does the parrot like?"})

    [span] = spans.named("search_memory")
    assert span.attributes is not None
    assert span.attributes["gen_ai.memory.query.text"] == "what does the parrot like?"
    assert CANARY in str(span.attributes["gen_ai.memory.records"])


async def test_a_failed_operation_names_its_error_and_nothing_more(target: str, spans: Spans) -> None:
    async with serving(target, provider=spans.provider) as served:
        await served("POST", f"{S}/forget", {"ref": "fact:none:1"})

    [span] = spans.named("delete_memory")
    assert span.attributes is not None
    assert span.attributes["error.type"] == "NotFoundError"
    assert span.events == ()
    assert span.status.description is None


async def test_the_metrics_count_captures_recalls_and_what_waits(target: str) -> None:
    async with serving(target) as served:
        await served("POST", f"{S}/remember", {"messages": "figs"})
        await served("POST", f"{S}/remember", {"messages": 1})
        await served("POST", f"{S}/recall", {"question": "figs"})
        await served("POST", f"{S}/forget", {"everything": True})
        await served.memory.space("bob").remember("figs")
        await served("GET", "/nowhere")
        reader = await served.key_for("read")
        page = await served("GET", "/metrics", key=reader)

    assert page.headers["content-type"].startswith("text/plain; version=0.0.4")
    figures = dict(line.rsplit(" ", 1) for line in page.body.decode().splitlines() if not line.startswith("#"))
    assert figures['bethink_capture_total{result="ok"}'] == "1.0"
    assert figures['bethink_capture_total{result="refused"}'] == "1.0"
    assert figures["bethink_capture_seconds_count"] == "1.0"
    assert figures["bethink_recall_seconds_count"] == "1.0"
    assert figures["bethink_erasure_seconds_count"] == "1.0"
    assert figures["bethink_invariant_violations"] == "0.0"
    assert figures['bethink_requests_total{method="-",route="(none)",status="404"}'] == "1.0"
    assert figures['bethink_queue_depth{stage="extract"}'] == "1.0"
    assert figures['bethink_dead_letter{stage="extract"}'] == "0.0"


async def test_one_look_at_the_tables_serves_many_readers(target: str) -> None:
    async with serving(target) as served:
        await served("GET", "/metrics")
        await served("POST", f"{S}/remember", {"messages": "figs"})

        page = (await served("GET", "/metrics")).body.decode()

    assert 'bethink_queue_depth{stage="extract"} 0.0' in page
