"""What the application counts of its requests."""

import pytest

from laconic.web.metrics.catalog import DURATION_BOUNDS
from laconic.web.metrics.requests import Durations, class_of
from tests.web.api.opened import Api


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/abc1234", "redirect"),
        ("GET", "/no/such/path", "redirect"),
        ("GET", "/abc1234+", "preview"),
        ("POST", "/shorten", "create"),
        ("POST", "/api/v1/urls", "create"),
        ("GET", "/api/v1/urls", "api"),
        ("POST", "/api/v1/urls/bulk", "bulk"),
        ("GET", "/api/v1/clicks/live", "stream"),
        ("GET", "/api/v1/urls/abc1234/analytics", "analytics"),
        ("GET", "/stats/abc1234", "analytics"),
        ("GET", "/api/admin/cleanup/stats", "admin"),
        ("GET", "/dashboard/links", "page"),
        ("GET", "/", "page"),
        ("GET", "/metrics", "watch"),
        ("GET", "/ready", "watch"),
    ],
)
def test_class_of(method: str, path: str, expected: str) -> None:
    """Few classes, so that a stranger's paths never make a new series."""
    assert class_of(method, path) == expected


@pytest.mark.parametrize(
    ("microseconds", "place"),
    [(0, 0), (63, 0), (64, 1), (127, 1), (128, 2), (2**24 - 1, 18), (2**24, 19), (2**40, 19)],
)
def test_a_duration_falls_below_its_bound(microseconds: int, place: int) -> None:
    durations = Durations()
    durations.observe(microseconds)
    assert durations.counts.index(1) == place
    if place < len(DURATION_BOUNDS):
        assert microseconds / 1_000_000 < DURATION_BOUNDS[place]


async def test_answers_are_counted_by_class_and_status(api: Api) -> None:
    """Refusals too, and whatever answered them."""
    async with api.client() as client:
        await client.post("/shorten", json={"url": "https://example.com/"})
        await client.post("/shorten", json={"url": "http://10.0.0.1/"})
        await client.get("/nosuch1")
        await client.get("/api/v1/urls")
        page = (await client.get("/metrics")).text
    for line in (
        'laconic_requests_total{class="create",status="201"} 1.0',
        'laconic_requests_total{class="create",status="400"} 1.0',
        'laconic_requests_total{class="redirect",status="404"} 1.0',
        'laconic_requests_total{class="api",status="200"} 1.0',
        'laconic_targets_refused_total{reason="private_address"} 1.0',
        'laconic_request_duration_seconds_count{class="create"} 2.0',
    ):
        assert line in page
