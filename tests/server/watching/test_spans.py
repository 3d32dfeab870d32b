"""Spans of OpenTelemetry, with its library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from server.conftest import SEES, Client, wait_until

from triplestore.server.watching.spans import Spans

TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    made = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(made))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    yield made
    provider.shutdown()


def test_spans__of_a_request_and_its_query(
    exporter: InMemorySpanExporter, serving: Callable[..., Client]
) -> None:
    client = serving()
    parent = f"00-{TRACE}-b7ad6b7169203331-01"
    reply = client.ask("/query", {"query": SEES}, traceparent=parent)
    assert reply.status == 200
    wait_until(lambda: len(exporter.get_finished_spans()) == 2)
    inner, outer = sorted(exporter.get_finished_spans(), key=lambda span: span.name, reverse=True)
    assert (outer.name, inner.name) == ("GET /query", "query")
    assert outer.attributes is not None and inner.attributes is not None
    assert outer.attributes["http.response.status_code"] == 200
    assert inner.attributes["triplestore.rows"] == 1
    assert inner.parent is not None and inner.parent.span_id == outer.context.span_id
    assert f"{outer.context.trace_id:032x}" == TRACE


def test_spans__without_the_library_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    spans = Spans.if_installed()
    assert not spans.are_made
    with spans.span("x", {}) as span:
        assert span is None


def test_spans__are_not_made_before_a_program_says_where_they_go() -> None:
    assert not Spans.if_installed().are_made
