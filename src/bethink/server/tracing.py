"""Spans of what is done to memory: ids and counts, and no content unless the environment asks for it."""

import json
import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Protocol

from opentelemetry import propagate, trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider

from bethink.server import names
from bethink.server.names import Operation


class HasText(Protocol):
    """Something recalled."""

    @property
    def text(self) -> str:
        """What it says."""
        ...


class Tracing:
    """Makes the spans of one server. Without an OpenTelemetry SDK they cost next to nothing and go nowhere."""

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer("bethink.server", tracer_provider=provider)
        self.content = os.environ.get(names.CAPTURE_CONTENT, "").lower() == "true"

    @contextmanager
    def span(self, operation: Operation, *, space: str, headers: Mapping[bytes, bytes]) -> Generator[Span]:
        """Be inside a span of an operation on a space; it continues the caller's trace, if there is one."""
        parent = headers.get(b"traceparent")
        context = propagate.extract({"traceparent": parent.decode("latin-1")}) if parent else None
        with self._tracer.start_as_current_span(
            operation,
            context=context,
            kind=SpanKind.INTERNAL,
            attributes={names.OPERATION: str(operation), names.STORE_ID: space},
            record_exception=False,  # an error's message may quote what was sent
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except Exception as error:
                span.set_attribute(names.ERROR_TYPE, type(error).__name__)
                span.set_status(Status(StatusCode.ERROR))
                raise


class Trail:
    """What a verb may tell of itself: how many records it touched, and, where that is wanted, what they say."""

    __slots__ = ("_content", "_span", "count")

    def __init__(self, span: Span | None = None, *, content: bool = False) -> None:
        self._span = span
        self._content = content
        self.count = 0

    def counted(self, count: int) -> None:
        """Tell how many records were stored, found or removed."""
        self.count = count
        if self._span is not None:
            self._span.set_attribute(names.RECORD_COUNT, count)

    def turned_into(self, operation: Operation) -> None:
        """Tell that it was another operation than its route is for."""
        if self._span is not None:
            self._span.update_name(operation)
            self._span.set_attribute(names.OPERATION, str(operation))

    def named(self, record: str) -> None:
        """Tell which record it was about."""
        if self._span is not None:
            self._span.set_attribute(names.RECORD_ID, record)

    def asked(self, question: str) -> None:
        """Tell what was asked, where content is wanted."""
        if self._span is not None and self._content:
            self._span.set_attribute(names.QUERY_TEXT, question)

    def found(self, items: Iterable[HasText]) -> None:
        """Tell what was found, where content is wanted."""
        if self._span is not None and self._content:
            self._span.set_attribute(names.RECORDS, json.dumps([item.text for item in items], ensure_ascii=False))
