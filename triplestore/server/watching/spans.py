"""Spans of OpenTelemetry, if its library is installed: start at `Spans`.

The program that starts the server, or `opentelemetry-instrument`, decides where they are sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any


class Spans:
    """Makes spans; without the library this does nothing.

    >>> spans = Spans(None)
    >>> with spans.span("GET /query", {}) as span:
    ...     span is None
    True
    """

    def __init__(self, api: Any) -> None:
        self._api = api
        self._tracer = None if api is None else api.get_tracer("triplestore.server")

    @classmethod
    def if_installed(cls) -> Spans:
        """Spans if the library is installed."""
        try:
            from opentelemetry import trace
        except ImportError:
            return cls(None)
        return cls(trace)

    @property
    def are_made(self) -> bool:
        """Whether the library is installed, and was told where spans are sent."""
        if self._api is None:
            return False
        return not isinstance(self._api.get_tracer_provider(), self._api.ProxyTracerProvider)

    @contextmanager
    def span(
        self, name: str, attributes: Mapping[str, Any], carrier: Mapping[str, str] | None = None
    ) -> Iterator[Any]:
        """A span around a block; `carrier` has the headers that name the caller's span."""
        if self._tracer is None:
            yield None
            return
        # Late: only if the library is installed.
        from opentelemetry.propagate import extract

        context = extract(dict(carrier)) if carrier is not None else None
        kind = self._api.SpanKind.SERVER if carrier is not None else self._api.SpanKind.INTERNAL
        with self._tracer.start_as_current_span(
            name, context=context, kind=kind, attributes=dict(attributes)
        ) as span:
            yield span
