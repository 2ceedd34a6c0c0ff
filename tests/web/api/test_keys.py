"""API keys: how they are sent, what they allow, and when they stop."""

import pytest

from laconic.clock import HOUR, now
from laconic.workspaces.api_keys import DEFAULT_SCOPES
from laconic.workspaces.model import SCOPES, command_actor
from tests.web.api.opened import Api, OpenApi
from tests.web.api.routes import ROUTES, URLS, call


@pytest.mark.parametrize("form", ["Bearer {}", "bearer {}", "BEARER  {} "])
async def test_bearer(closed_api: Api, form: str) -> None:
    """In the Authorization header, whatever the letter case of the scheme."""
    async with closed_api.client(authorization=form.format(await closed_api.key(*DEFAULT_SCOPES))) as client:
        assert (await client.post(URLS, json={"original_url": "https://a.com"})).status_code == 201


async def test_x_api_key(closed_api: Api) -> None:
    """Or in a header of its own."""
    async with closed_api.client(x_api_key=await closed_api.key(*DEFAULT_SCOPES)) as client:
        assert (await client.get(URLS)).status_code == 200


BAD_CREDENTIALS = [
    {},
    {"authorization": ""},
    {"authorization": "Bearer"},
    {"authorization": "Bearer "},
    {"authorization": "Bearer lac_live_" + "x" * 32},
    {"authorization": "Basic YTpi"},
    {"authorization": "lac_live_" + "x" * 32},
    {"x-api-key": ""},
    {"x-api-key": "nonsense"},
    {"x-api-key": "é\xff"},
    {"x-api-key": "' OR 1=1 --"},
]


async def test_no_or_bad_credentials_are_a_401(closed_api: Api) -> None:
    """On every route, with the header that says what is wanted."""
    for headers in BAD_CREDENTIALS:
        async with closed_api.client() as client:
            client.headers.update({name: value.encode("latin-1") for name, value in headers.items()})  # type: ignore[arg-type]
            for route in ROUTES:
                answer = await call(client, route)
                assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated"), (
                    headers,
                    route,
                )
                assert answer.headers["www-authenticate"] == 'Bearer realm="laconic"'


@pytest.mark.parametrize("scope", sorted(SCOPES))
async def test_each_scope_opens_its_routes_and_no_other(closed_api: Api, scope: str) -> None:
    """403 for a good key that does not allow this; writing implies creating, admin implies all of a tenant's."""
    opens = {
        "links:read": {"links:read"},
        "links:write": {"links:write", "links:create"},
        "analytics:read": {"analytics:read"},
        "admin": {"links:read", "links:write", "links:create", "analytics:read", "admin"},
        "operator": {"operator"},
    }.get(scope, set())
    async with closed_api.client(x_api_key=await closed_api.key(scope)) as client:
        for route in ROUTES:
            answer = await call(client, route)
            if route[3] in opens:
                assert answer.status_code in (200, 201, 404), route
            else:
                assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing"), route


async def test_revoked_key_is_a_401(closed_every_api: Api, open_every_api: OpenApi) -> None:
    """For a worker that has not seen the key before at once; others forget it within seconds."""
    secret = await closed_every_api.key(*DEFAULT_SCOPES)
    services = closed_every_api.services
    (key,) = await services.workspaces.list_keys(1)
    assert secret.startswith(key.key_prefix)
    await services.api_keys.revoke(command_actor(1), key.id)
    assert not (await services.workspaces.list_keys(1))[0].is_active
    async with open_every_api(host="0.0.0.0") as other_worker:
        for api in (closed_every_api, other_worker):
            async with api.client(x_api_key=secret) as client:
                assert (await client.get(URLS)).status_code == 401


async def test_expired_key_is_a_401(closed_every_api: Api) -> None:
    """From the moment of its expiry on, remembered or not."""
    over = await closed_every_api.key(*DEFAULT_SCOPES, expires_at=now() + HOUR)
    await closed_every_api.services.database.execute("UPDATE api_key SET expires_at = $1", now() - 1)
    good = await closed_every_api.key(*DEFAULT_SCOPES, expires_at=now() + HOUR)
    async with closed_every_api.client() as client:
        for _ in range(2):
            assert (await client.get(URLS, headers={"x-api-key": over})).status_code == 401
            assert (await client.get(URLS, headers={"x-api-key": good})).status_code == 200


async def test_secret_is_not_kept(closed_every_api: Api) -> None:
    """What is stored is a hash and the beginning, of which nobody can make the rest."""
    secret = await closed_every_api.key(*DEFAULT_SCOPES)
    row = await closed_every_api.services.database.fetch_one("SELECT key_hash, key_prefix, name FROM api_key")
    assert row is not None
    assert secret.startswith("lac_live_")
    assert len(secret) == len("lac_live_") + 32
    assert secret[15:] not in str(row)
    assert len(bytes(row[0])) == 32


async def test_p8_other_tenants_links_are_not_there(closed_every_api: Api) -> None:
    """A key of another workspace gets 404 for every verb, lists nothing, and changes nothing."""
    await closed_every_api.services.database.execute(
        "INSERT INTO workspace (id, name, slug, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)",
        *(2, "Other", "other", now(), now()),
    )
    owner = closed_every_api.client(x_api_key=await closed_every_api.key("admin"))
    other = closed_every_api.client(x_api_key=await closed_every_api.key("admin", workspace_id=2))
    async with owner, other:
        made = await owner.post(URLS, json={"original_url": "https://example.com/mine", "reuse": True})
        code = made.json()["short_code"]
        for route in ROUTES:
            if "{code}" in route[1]:
                answer = await call(other, route, code)
                assert (answer.status_code, answer.json()["code"]) == (404, "link_unknown"), route
        assert (await other.get(URLS, params={"search": "mine"})).json()["items"] == []
        again = await other.post(URLS, json={"original_url": "https://example.com/mine", "reuse": True})
        assert again.status_code == 201
        assert again.json()["short_code"] != code
        assert (await owner.get(f"{URLS}/{code}")).json()["title"] is None
        keyed = {"idempotency-key": "same"}
        answers = [
            await one.post(URLS, json={"original_url": "https://a.com"}, headers=keyed)
            for one in (owner, other)
        ]
        assert answers[0].json()["short_code"] != answers[1].json()["short_code"]
