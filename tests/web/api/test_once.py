"""Idempotency-Key where people, keys, domains and workspaces are made: once, and no secret is kept for the retry."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.web.api.opened import Api
from tests.web.people import make_user

pytestmark = pytest.mark.anyio

KEY = {"idempotency-key": "a-key-of-ours"}
# Path, body, and the field that is shown once.
MADE: list[tuple[str, dict[str, Any], str | None]] = [
    ("/api/v1/users", {"email": "bob@example.com", "password": "a planted password"}, None),
    ("/api/v1/invitations", {"email": "bob@example.com"}, "url"),
    ("/api/v1/users/USER/password-reset", {}, "url"),
    ("/api/v1/api-keys", {"name": "ci"}, "secret"),
    ("/api/v1/api-keys/APIKEY/rotate", {}, "secret"),
    ("/api/v1/domains", {"host": "go.example.com"}, None),
    ("/api/v1/workspaces", {"name": "Acme", "slug": "acme"}, "invitation_url"),
]


@pytest.fixture
async def client(closed_every_api: Api) -> AsyncIterator[httpx.AsyncClient]:
    async with closed_every_api.client(x_api_key=await closed_every_api.key("admin", "operator")) as client:
        yield client


async def _path(api: Api, client: httpx.AsyncClient, path: str) -> str:
    if "USER" in path:
        return path.replace("USER", str((await make_user(api, "ann@example.com", password=None)).id))
    if "APIKEY" in path:
        made = await client.post("/api/v1/api-keys", json={"name": "old"})
        return path.replace("APIKEY", made.json()["id"])
    return path


@pytest.mark.parametrize(("path", "body", "secret"), MADE, ids=[path for path, _, _ in MADE])
async def test_a_retry_makes_no_second_one(
    closed_every_api: Api, client: httpx.AsyncClient, path: str, body: dict[str, Any], secret: str | None
) -> None:
    """The same answer, but for what is shown once; one audit event; nothing secret in the table."""
    path = await _path(closed_every_api, client, path)
    database = closed_every_api.services.database
    count = "SELECT count(*) FROM audit_event"
    first = await client.post(path, json=body, headers=KEY)
    assert first.status_code == 201, first.text
    assert "idempotency-replayed" not in first.headers
    events = await database.fetch_one(count)
    again = await client.post(path, json=body, headers=KEY)
    assert again.status_code == 201, again.text
    assert again.headers["idempotency-replayed"] == "true"
    expected = first.json() | ({secret: None} if secret else {})
    assert again.json() == expected
    assert await database.fetch_one(count) == events
    if secret is not None:
        shown = str(first.json()[secret]).rpartition("/")[2]
        rows = await database.fetch_all("SELECT body FROM idempotency_key")
        assert rows
        assert shown not in json.dumps([str(row[0]) for row in rows])
    other = await client.post(path, json={**body, "name": "another"}, headers=KEY)
    assert other.status_code == 422


async def test_what_was_refused_may_be_tried_again(client: httpx.AsyncClient) -> None:
    """Nothing was done, so nothing is kept."""
    refused = await client.post("/api/v1/workspaces", json={"name": "x", "slug": "api"}, headers=KEY)
    assert refused.status_code == 422
    made = await client.post("/api/v1/workspaces", json={"name": "x", "slug": "acme"}, headers=KEY)
    assert made.status_code == 201
