"""Requests become spans at a collector; redirects from memory do not."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.serve.conftest import MakeServer
from tests.serve.numbers import Numbers

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


class Collector:
    """Takes OTLP over HTTP and keeps the spans."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                if self.path == "/v1/traces":
                    collector.keep(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def keep(self, request: ExportTraceServiceRequest) -> None:
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self.spans += scope.spans

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    yield collector
    collector.close()


def test_requests_become_spans(make_server: MakeServer, migrated_url: str, collector: Collector) -> None:
    """With route, status and the caller's trace; none for redirects from memory; all sent before the end."""
    server = make_server(database_url=migrated_url, traces_endpoint=collector.url)
    code = server.create()
    server.follow(code, times=20)
    parent = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01", "x-request-id": "known"}
    assert httpx.get(server.url("/api/v1/urls"), headers=parent).status_code == 200
    misses = Numbers(server).sum("laconic_cache_requests_total", tier="memory", result="miss")
    assert server.terminate() == 0
    by_name = {
        name: [span for span in collector.spans if span.name == name] for name in ("POST create", "GET api")
    }
    assert len(by_name["POST create"]) == 1
    (span,) = by_name["GET api"]
    assert span.trace_id.hex() == TRACE
    told = {one.key: one.value.string_value or one.value.int_value for one in span.attributes}
    assert told["http.route"] == "/api/v1/urls"
    assert told["http.response.status_code"] == 200
    assert told["laconic.request_id"] == "known"
    # A miss may be answered by the application: the first redirect, and one more when word of the new
    # link arrives after it. All others are the lane's.
    assert misses < 20
    assert sum(span.name == "GET redirect" for span in collector.spans) <= misses


def test_a_collector_that_is_away_costs_nothing(make_server: MakeServer) -> None:
    """Requests are answered, and the server ends in its orderly way."""
    server = make_server(traces_endpoint="http://127.0.0.1:1", kgs_pool_min_size="0")
    server.follow(server.create())
    assert server.terminate() == 0
