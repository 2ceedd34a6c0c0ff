"""The textbook shortener is a fair reference: it does what it says, for as long as it is not killed."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bench import requests
from bench.servers.textbook import Textbook, TextbookStore


@pytest.fixture(scope="module")
def shelf() -> Iterator[TextbookStore]:
    with TextbookStore(frozenset()) as shelf:
        yield shelf


@pytest.fixture
def textbook(shelf: TextbookStore, tmp_path: Path) -> Iterator[Textbook]:
    with Textbook(shelf, tmp_path / "log", cores=frozenset()) as server:
        yield server


def post(server: Textbook, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.port}/api/v1/urls",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, {}


def test_a_link_redirects_and_every_click_is_written(textbook: Textbook, shelf: TextbookStore) -> None:
    """From the table and from the cache alike; rows and counter agree."""
    before = shelf.clicks()
    status, made = post(textbook, {"original_url": "https://example.com/a"})
    assert (status, made["original_url"]) == (201, "https://example.com/a")
    assert requests.visit_each(textbook.port, [made["short_code"]] * 20) == {302: 20}
    assert textbook.settle()
    assert shelf.clicks() == before + 20
    with urllib.request.urlopen(f"http://127.0.0.1:{textbook.port}/stats/{made['short_code']}") as answer:
        assert json.load(answer)["click_count"] == 20


def test_codes_are_different_and_bad_input_is_refused(textbook: Textbook) -> None:
    """A URL that is none makes no link; a code that nobody has is 404."""
    codes = {post(textbook, {"original_url": "https://example.com/"})[1]["short_code"] for _ in range(20)}
    assert len(codes) == 20
    assert post(textbook, {"original_url": "nonsense"})[0] == 422
    assert requests.get_status(textbook.port, "/nobody1") == 404


def test_an_expired_link_is_gone(textbook: Textbook) -> None:
    """Also from the cache, which keeps nothing longer than it may be served."""
    past = (datetime.now(UTC) - timedelta(seconds=1)).isoformat()
    _, made = post(textbook, {"original_url": "https://example.com/", "expires_at": past})
    assert requests.visit_each(textbook.port, [made["short_code"]] * 2) == {410: 2}


def test_links_survive_a_kill(shelf: TextbookStore, tmp_path: Path) -> None:
    """What `killed` starts again has the links and the clicks that were written."""
    with Textbook(shelf, tmp_path / "first", cores=frozenset()) as server:
        codes = shelf.make_links(10)
        requests.visit_each(server.port, codes)
        server.settle()
        written = shelf.clicks()
        server.kill()
    with Textbook(shelf, tmp_path / "second", cores=frozenset()) as server:
        assert requests.visit_each(server.port, codes) == {302: 10}
        server.settle()
    assert shelf.clicks() == written + 10
