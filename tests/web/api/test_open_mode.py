"""Open mode: what it lets in, and every fence around it (DESIGN section 9)."""

import time
from typing import Any

import pytest

from laconic.clock import now
from tests.web.api.opened import Api, OpenApi
from tests.web.api.routes import ROUTES, URLS, call


async def make_user(api: Api) -> None:
    await api.services.database.execute(
        "INSERT INTO users (id, workspace_id, email, full_name, role, created_at, updated_at)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7)",
        *(7, 1, "ann@example.com", "Ann", "admin", now(), now()),
    )


LOCAL = ["localhost", "localhost:8000", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:8000"]
OTHERS = [
    *("example.com", "example.com:8000", "localhost.example.com", "127.0.0.1.example.com", "192.168.0.7"),
    *("example.com:localhost", "localhost@example.com", "0.0.0.0", "127.0.0.2", "[::2]", "::1", ""),
    "[::1].example.com",
]
PROXY_HEADERS = [
    *("Forwarded", "Via", "X-Real-IP", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"),
    *("X-Forwarded-Port", "X-Forwarded-Prefix", "X-Forwarded-Server", "X-Forwarded-Scheme", "X-Forwarded"),
    *("x-forwarded-anything", "X-FORWARDED-SSL"),
]


async def test_whoever_calls_from_here_may_do_everything(api: Api) -> None:
    """By any name of this machine, without a key."""
    for host in LOCAL:
        async with api.client(host=host) as client:
            made = await client.post(URLS, json={"original_url": "https://example.com/"})
            code = made.json()["short_code"]
            for route in ROUTES:
                expected = (404,) if "nothere" in route[1] else (200, 201, 204)
                assert (await call(client, route, code)).status_code in expected, (host, route)


async def test_another_host_is_closed(api: Api) -> None:
    """A page whose name was pointed here (DNS rebinding) gets nothing."""
    for host in OTHERS:
        async with api.client(host=host) as client:
            for route in ROUTES:
                answer = await call(client, route)
                assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated"), (
                    host,
                    route,
                )
                assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_request_through_a_proxy_is_closed(api: Api) -> None:
    """Whatever a proxy says about where the request came from, it did not come from here."""
    async with api.client() as client:
        for header in PROXY_HEADERS:
            for method, path, options, _ in ROUTES:
                headers = {**options.get("headers", {}), header: "127.0.0.1"}
                answer = await client.request(method, path, **{**options, "headers": headers})
                assert answer.status_code == 401, (header, path)


@pytest.mark.parametrize(
    "options",
    [
        {"host": "0.0.0.0"},
        {"host": "192.168.0.7"},
        {"host": "::"},
        {"base_url": "https://go.example.com"},
        {"base_url": "http://192.168.0.7:8000"},
        {"trusted_proxies": ("127.0.0.1",)},
    ],
)
async def test_settings_that_let_others_in_close_it(open_api: OpenApi, options: dict[str, Any]) -> None:
    """Listening elsewhere, an address for others, or a proxy in front: 401 without a key."""
    async with open_api(**options) as api, api.client() as client:
        for route in ROUTES:
            assert (await call(client, route)).status_code == 401, route


async def test_first_user_ends_it(api: Api) -> None:
    """Within moments of the first user nobody acts without credentials."""
    async with api.client() as client:
        assert (await client.get(URLS)).status_code == 200
        await make_user(api)
        deadline = time.monotonic() + 30
        while (await client.get(URLS)).status_code != 401:
            assert time.monotonic() < deadline, "open mode goes on"
        for route in ROUTES:
            assert (await call(client, route)).status_code == 401


async def test_installation_with_users_starts_closed(open_api: OpenApi) -> None:
    """Open mode never comes back."""
    async with open_api() as api:
        await make_user(api)
        async with api.client() as client:
            assert (await client.post(URLS, json={"original_url": "https://a.com"})).status_code == 401


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
async def test_page_elsewhere_cannot_drive_it(api: Api, kind: str) -> None:
    """What a browser sends to another site without asking is not taken: 415, and 400 for the simplest route."""
    async with api.client() as client:
        body, headers = b'{"original_url":"https://a.com","url":"https://a.com"}', {"content-type": kind}
        assert (await client.post(URLS, content=body, headers=headers)).status_code == 415
        assert (await client.post(f"{URLS}/bulk", content=body, headers=headers)).status_code == 415
        assert (await client.patch(f"{URLS}/abcd", content=body, headers=headers)).status_code == 415
        assert (await client.post("/shorten", content=body, headers=headers)).status_code == 400
        assert (await client.get(URLS)).json()["items"] == []


async def test_no_other_site_may_read_the_answers(api: Api) -> None:
    """No answer invites another origin, and the question before a request is not answered with yes."""
    async with api.client(origin="https://evil.example") as client:
        for route in ROUTES:
            answer = await call(client, route)
            assert not [name for name in answer.headers if name.startswith("access-control-")]
        asked = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
        assert (await client.options(URLS, headers=asked)).status_code == 405


async def test_bad_key_is_refused_even_here(api: Api) -> None:
    """Whoever sends credentials is judged by them."""
    async with api.client(authorization="Bearer lac_live_nonsense") as client:
        assert (await client.get(URLS)).status_code == 401


async def test_laconic_open_lets_anyone_create_and_nothing_more(open_api: OpenApi) -> None:
    """From any address and by any name; all the rest needs a key."""
    async with (
        open_api(host="0.0.0.0", base_url="https://go.example.com", open=True) as api,
        api.client("203.0.113.9", host="go.example.com") as client,
    ):
        for route in ROUTES:
            expected = (200, 201) if route[3] == "links:create" else (401,)
            assert (await call(client, route)).status_code in expected, route


async def test_laconic_open_adds_nothing_to_what_a_stranger_may_do_on_a_laptop(open_api: OpenApi) -> None:
    """A page with another host's name may create, as it was told to, and still read nothing."""
    async with open_api(open=True) as api, api.client(host="evil.example") as client:
        assert (await client.post(URLS, json={"original_url": "https://a.com"})).status_code == 201
        assert (await client.get(URLS)).status_code == 401
