"""What the flows say again and again."""

from typing import Any

import httpx

URLS = "/api/v1/urls"
JSON = {"content-type": "application/json"}
NDJSON = {"content-type": "application/x-ndjson"}


def make(api: httpx.Client, url: str = "https://example.com/", **fields: Any) -> dict[str, Any]:
    """Makes a link over the API and gives what was answered."""
    answer = api.post(URLS, json={"original_url": url, **fields})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def make_code(api: httpx.Client, url: str = "https://example.com/", **fields: Any) -> str:
    return str(make(api, url, **fields)["short_code"])


def read(api: httpx.Client, code: str) -> dict[str, Any]:
    """The link as its owner sees it."""
    answer = api.get(f"{URLS}/{code}")
    assert answer.status_code == 200, answer.text
    link: dict[str, Any] = answer.json()
    return link


def target(api: httpx.Client, code: str) -> str:
    """Where a visitor is sent."""
    answer = api.get(f"/{code}")
    assert answer.status_code in (301, 302, 307, 308), answer.text
    return str(answer.headers["location"])


def problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem document of a refusal, whose form is the same everywhere."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    document: dict[str, Any] = answer.json()
    assert document.keys() >= {"type", "title", "status", "detail", "code"}
    assert (document["status"], document["code"]) == (status, code)
    return document


def fields_of(document: dict[str, Any]) -> list[str]:
    """Which fields a 422 names."""
    return [one["field"] for one in document["errors"]]
