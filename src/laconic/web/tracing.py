"""Traces by OpenTelemetry, for whoever has a collector: a span for each request that the application answers.

The lane's hits never come here. Without LACONIC_TRACES_ENDPOINT nothing of it is loaded.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from laconic import __version__
from laconic.errors import CannotStart
from laconic.logs import REQUEST_ID
from laconic.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

Answer = Callable[[Any], Awaitable[None]]

_EXPORT_SECONDS = 2
_PATH = "/v1/traces"
_OURS = 500


class Traces:
    """Belongs to one process; spans go out in batches from a thread of the library's."""

    def __init__(self, provider: "TracerProvider") -> None:
        from opentelemetry import propagate, trace

        self._provider = provider
        self._tracer = provider.get_tracer("laconic", __version__)
        self._extract = propagate.extract
        self._kind = trace.SpanKind.SERVER
        self._failed = trace.Status(trace.StatusCode.ERROR)

    @classmethod
    def from_settings(cls, settings: Settings) -> "Traces | None":
        if not settings.traces_endpoint:
            return None
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
            from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
        except ImportError:
            raise CannotStart(
                "LACONIC_TRACES_ENDPOINT is set, but the extra is missing: install laconic[otel]."
            ) from None
        place = settings.traces_endpoint
        endpoint = place if urlsplit(place).path.strip("/") else place.rstrip("/") + _PATH
        provider = TracerProvider(
            resource=Resource.create({"service.name": "laconic", "service.version": __version__}),
            sampler=ParentBased(TraceIdRatioBased(settings.traces_percent / 100)),
        )
        exporter = OTLPSpanExporter(endpoint=endpoint, timeout=_EXPORT_SECONDS)
        provider.add_span_processor(BatchSpanProcessor(exporter))
        return cls(provider)

    def around(self, route_class: str, scope: Any, answer: Answer) -> Answer:
        """The same answer, inside a span. Its path is not told, for some carry secrets: only which route it took."""

        async def traced(send: Any) -> None:
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            with self._tracer.start_as_current_span(
                f"{scope['method']} {route_class}",
                context=self._extract(headers),
                kind=self._kind,
                attributes={"http.request.method": scope["method"], "laconic.request_id": REQUEST_ID.get()},
            ) as span:

                async def note(message: Any) -> None:
                    if message["type"] == "http.response.start":
                        span.set_attribute("http.response.status_code", message["status"])
                        if message["status"] >= _OURS:
                            span.set_status(self._failed)
                    await send(message)

                await answer(note)
                route = getattr(scope.get("route"), "path", None)
                if route is not None:
                    span.set_attribute("http.route", route)

        return traced

    async def close(self) -> None:
        """Gives what waits a moment to be sent. A collector that is away must not hold up the end."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EXPORT_SECONDS):
                await asyncio.to_thread(self._provider.force_flush, _EXPORT_SECONDS * 1000)
