"""Signing in through an identity provider, against one that the suite runs."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc.jwk import RSAKey

from laconic.errors import SettingInvalid
from laconic.settings import read_settings
from tests.web.api.opened import Api, opener
from tests.web.pages.provider import CLIENT_ID, CLIENT_SECRET, Provider
from tests.web.people import browser, make_user, make_workspace
from tests.web.site import form_token

ANN = "ann@example.com"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture
async def api(empty_database: str, tmp_path: Path, provider: Provider) -> AsyncIterator[Api]:
    options = {
        "host": "0.0.0.0",
        "oidc_issuer": provider.issuer,
        "oidc_client_id": CLIENT_ID,
        "oidc_client_secret": CLIENT_SECRET,
        "oidc_name": "Example ID",
    }
    async with opener(empty_database, tmp_path / "data")(**options) as api:
        yield api


async def go_through(client: httpx.AsyncClient) -> httpx.Response:
    """As a browser does: to the provider, and back to us."""
    to_provider = await client.get("/dashboard/oidc")
    assert to_provider.status_code == 303, to_provider.text
    async with httpx.AsyncClient() as elsewhere:
        back = await elsewhere.get(to_provider.headers["location"])
    return await client.get(back.headers["location"])


async def test_a_person_signs_in_through_the_provider(api: Api) -> None:
    """By a verified e-mail the first time, by the provider's subject from then on."""
    await make_user(api, ANN, "member", password=None)
    async with browser(api).client as client:
        assert "Sign in with Example ID" in (await client.get("/dashboard/sign-in")).text
        done = await go_through(client)
        assert (done.status_code, done.headers["location"]) == (303, "/dashboard")
        assert (await client.get("/api/v1/me")).json()["kind"] == "user"


async def test_the_subject_counts_and_not_the_e_mail(api: Api, provider: Provider) -> None:
    """Whoever gets a colleague's old address at the provider does not become that colleague."""
    await make_user(api, ANN, password=None)
    async with browser(api).client as client:
        assert (await go_through(client)).status_code == 303
    provider.person = {"sub": "1", "email": "ann.new@example.com", "email_verified": True}
    async with browser(api).client as client:
        assert (await go_through(client)).status_code == 303
    provider.person = {"sub": "2", "email": ANN, "email_verified": True}
    async with browser(api).client as client:
        assert (await go_through(client)).status_code == 401


@pytest.mark.parametrize(
    "person",
    [
        {"sub": "1", "email": "stranger@example.com", "email_verified": True},
        {"sub": "1", "email": ANN, "email_verified": False},
        {"sub": "1", "email": ANN},
        {"sub": "1"},
    ],
)
async def test_nobody_comes_in_uninvited(api: Api, provider: Provider, person: dict[str, Any]) -> None:
    """An unknown or unverified e-mail opens nothing."""
    await make_user(api, ANN, password=None)
    provider.person = person
    async with browser(api).client as client:
        refused = await go_through(client)
        assert refused.status_code == 401
        assert (await client.get("/dashboard")).status_code == 303


@pytest.mark.parametrize(
    "claims",
    [{"aud": "somebody-else"}, {"iss": "https://evil.example"}, {"nonce": "another"}, {"exp": 1_000_000}],
)
async def test_a_token_for_somebody_else_is_not_believed(
    api: Api, provider: Provider, claims: dict[str, Any]
) -> None:
    """Audience, issuer, nonce and expiry are checked."""
    await make_user(api, ANN, password=None)
    provider.claims = claims
    async with browser(api).client as client:
        assert (await go_through(client)).status_code == 401


async def test_a_token_with_another_signature_is_not_believed(api: Api, provider: Provider) -> None:
    """Only the provider's published keys count; new ones are found when it changes them."""
    await make_user(api, ANN, password=None)
    provider.signing_key = RSAKey.generate_key(2048, {"kid": "one"})
    async with browser(api).client as client:
        assert (await go_through(client)).status_code == 401
    provider.key = provider.signing_key
    async with browser(api).client as client:
        assert (await go_through(client)).status_code == 303


async def test_a_callback_that_nobody_asked_for_is_refused(api: Api) -> None:
    """Without this browser's own state, a code is worth nothing (sign-in CSRF)."""
    await make_user(api, ANN, password=None)
    async with browser(api).client as victim, browser(api).client as attacker:
        started = await attacker.get("/dashboard/oidc")
        async with httpx.AsyncClient() as elsewhere:
            back = (await elsewhere.get(started.headers["location"])).headers["location"]
        assert (await victim.get(back)).status_code == 401
        query = parse_qs(urlsplit(back).query)
        forged = f"/dashboard/oidc/callback?code={query['code'][0]}&state=forged"
        assert (await attacker.get(forged)).status_code == 401


async def test_somebody_in_two_workspaces_says_which(api: Api) -> None:
    """After the provider has said who it is, and not before."""
    acme = await make_workspace(api, "acme")
    await make_user(api, ANN, password=None)
    await make_user(api, ANN, "viewer", acme, password=None)
    async with browser(api).client as client:
        asked = await go_through(client)
        assert asked.status_code == 409
        chosen = await client.post(
            "/dashboard/oidc/workspace", data={"token": form_token(asked.text), "workspace": "acme"}
        )
        assert chosen.status_code == 303
        assert (await client.get("/api/v1/me")).json()["workspace"]["slug"] == "acme"


async def test_a_provider_that_is_away_is_said_so(api: Api, provider: Provider) -> None:
    """503 with a page, and no detail that could hold a secret."""
    provider.metadata = lambda: {"issuer": "https://somebody.else.example"}  # type: ignore[method-assign]
    async with browser(api).client as client:
        answer = await client.get("/dashboard/oidc")
        assert answer.status_code == 503
        assert CLIENT_SECRET not in answer.text


def test_settings_are_checked(tmp_path: Path) -> None:
    """A provider without TLS is refused, except on this machine."""
    with pytest.raises(SettingInvalid, match="LACONIC_OIDC_ISSUER"):
        read_settings({"LACONIC_OIDC_ISSUER": "http://id.example.com"}, folder=tmp_path)
    assert read_settings({"LACONIC_OIDC_ISSUER": "https://id.example.com"}, folder=tmp_path).oidc_issuer
