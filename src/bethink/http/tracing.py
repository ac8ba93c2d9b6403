"""Spans of memory operations: IDs and counts, with content only if the environment enables it."""

import json
import os
from collections.abc import Generator, Sized
from contextlib import contextmanager
from typing import Any

from opentelemetry import propagate, trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider

from bethink.http import names
from bethink.model.operations.base import Operation, Request, SpanName
from bethink.model.records import Deletion


class Tracing:
    """Creates the spans of one server. Without an OpenTelemetry SDK they cost almost nothing."""

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer("bethink.server", tracer_provider=provider)
        self._content = os.environ.get(names.CAPTURE_CONTENT, "").lower() == "true"

    @contextmanager
    def trace_request(
        self, operation: Operation[Any, Any], space: str, traceparent: str | None, request: Request
    ) -> Generator["TracedRequest"]:
        """Trace a request; the span continues the caller's trace. An operation without a span name has no span."""
        name = SpanName.DELETE_STORE if getattr(request, "everything", False) else operation.span_name
        if name is None:
            yield TracedRequest(None, request, content=False)
            return
        with self._tracer.start_as_current_span(
            name,
            context=propagate.extract({"traceparent": traceparent}) if traceparent else None,
            kind=SpanKind.INTERNAL,
            attributes={names.OPERATION: str(name), names.STORE_ID: space},
            record_exception=False,  # an error message may quote the request
            set_status_on_exception=False,
        ) as span:
            try:
                yield TracedRequest(span, request, content=self._content)
            except Exception as error:
                span.set_attribute(names.ERROR_TYPE, type(error).__name__)
                span.set_status(Status(StatusCode.ERROR))
                raise


class TracedRequest:
    """A request that is being traced."""

    __slots__ = ("_content", "_request", "_span")

    def __init__(self, span: Span | None, request: Request, *, content: bool) -> None:
        self._span = span
        self._request = request
        self._content = content

    def count(self, result: object) -> int:
        """Return the number of records that were stored, found or deleted, and add it to the span."""
        count = _count(result)
        span = self._span
        if span is None or not span.is_recording():
            return count
        span.set_attribute(names.RECORD_COUNT, count)
        record = _record_of(self._request, result)
        if record:
            span.set_attribute(names.RECORD_ID, record)
        if self._content:
            self._add_content(span, result)
        return count

    def _add_content(self, span: Span, result: object) -> None:
        question = getattr(self._request, "question", None) or getattr(self._request, "query", None)
        if question:
            span.set_attribute(names.QUERY_TEXT, question)
        texts = [item.text for item in getattr(result, "items", ()) if hasattr(item, "text")]
        if texts:
            span.set_attribute(names.RECORDS, json.dumps(texts, ensure_ascii=False))


def _count(result: object) -> int:
    if isinstance(result, list | dict):
        return len(result)  # pyright: ignore[reportUnknownArgumentType] - any records
    if isinstance(result, Deletion):
        return result.messages + result.facts + result.session_summaries + result.documents + result.threads
    records: Sized | None = getattr(result, "refs", None) or getattr(result, "items", None)
    if records is not None:
        return len(records)
    return 0 if hasattr(result, "items") or hasattr(result, "refs") else 1


def _record_of(request: Request, result: object) -> str:
    ids = (getattr(request, "document_id", None), getattr(request, "fact_id", None), getattr(result, "id", None))
    return next(filter(None, ids), "")
