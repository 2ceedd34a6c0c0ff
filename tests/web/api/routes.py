"""Every route of the API that needs an actor: what it takes to call it, and which scope it asks for."""

from typing import Any

import httpx

URLS = "/api/v1/urls"
_URL = {"original_url": "https://example.com/"}
_LINE = b'{"original_url":"https://example.com/"}'

# (method, path, options of the request, scope)
ROUTES: list[tuple[str, str, dict[str, Any], str]] = [
    ("POST", "/shorten", {"json": {"url": "https://example.com/"}}, "links:create"),
    ("POST", URLS, {"json": _URL}, "links:create"),
    ("GET", "/api/v1/codes/free1", {}, "links:create"),
    ("GET", URLS, {}, "links:read"),
    ("GET", f"{URLS}/{{code}}", {}, "links:read"),
    ("GET", f"{URLS}/{{code}}/stats", {}, "links:read"),
    ("GET", f"{URLS}/{{code}}/qr", {}, "links:read"),
    ("GET", "/stats/{code}", {}, "links:read"),
    ("GET", f"{URLS}/{{code}}/analytics", {}, "analytics:read"),
    ("GET", "/api/v1/analytics", {}, "analytics:read"),
    ("GET", f"{URLS}/{{code}}/clicks", {}, "analytics:read"),
    ("GET", f"{URLS}/{{code}}/clicks/export", {}, "analytics:read"),
    # Of a link that is not there: any other answer has no end.
    ("GET", "/api/v1/clicks/live?code=nothere", {}, "analytics:read"),
    ("DELETE", f"{URLS}/{{code}}/clicks", {}, "links:write"),
    ("DELETE", "/api/v1/clicks?visitor=0011223344556677", {}, "admin"),
    ("PATCH", f"{URLS}/{{code}}", {"json": {"title": "x"}}, "links:write"),
    ("DELETE", f"{URLS}/{{code}}", {}, "links:write"),
    ("GET", "/api/admin/cleanup/stats", {}, "operator"),
    ("POST", "/api/admin/cleanup/run", {}, "operator"),
    (
        "POST",
        f"{URLS}/bulk",
        {"content": _LINE, "headers": {"content-type": "application/x-ndjson"}},
        "links:write",
    ),
]


async def call(
    client: httpx.AsyncClient, route: tuple[str, str, dict[str, Any], str], code: str = "nothere"
) -> httpx.Response:
    method, path, options, _ = route
    return await client.request(method, path.format(code=code), **options)
