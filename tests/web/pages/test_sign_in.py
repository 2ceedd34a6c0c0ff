"""Sign-in, set-up and invitation pages: what a person meets, and what nobody else gets out of them."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from laconic.workspaces.model import command_actor
from tests.web.api.opened import Api, OpenApi, opener
from tests.web.people import PASSWORD, Browser, browser, make_user, make_workspace
from tests.web.site import form_token

ANN = "ann@example.com"
SIGN_IN = "/dashboard/sign-in"


@pytest.fixture
def open_pages(empty_database: str, tmp_path: Path) -> OpenApi:
    return opener(empty_database, tmp_path / "data")


@pytest.fixture
async def api(open_pages: OpenApi) -> AsyncIterator[Api]:
    """On an address that others can reach."""
    async with open_pages(host="0.0.0.0") as api:
        yield api


@pytest.fixture
async def ann(api: Api) -> AsyncIterator[Browser]:
    """The browser of somebody who may sign in, and has not yet."""
    await make_user(api, ANN, "admin")
    one = browser(api)
    async with one.client:
        yield one


async def test_a_person_signs_in_and_out(ann: Browser) -> None:
    """With the right password to their own page; after signing out the cookie is worth nothing."""
    assert (await ann.client.get("/dashboard")).headers["location"] == SIGN_IN
    done = await ann.sign_in(ANN)
    assert (done.status_code, done.headers["location"]) == (303, "/dashboard")
    page = await ann.client.get("/dashboard")
    assert ANN in page.text
    kept = dict(ann.client.cookies)
    out = await ann.client.post("/dashboard/sign-out", data={"token": form_token(page.text), "where": "here"})
    assert out.status_code == 303
    ann.client.cookies.update(kept)
    assert (await ann.client.get("/dashboard")).status_code == 303


async def test_signing_out_everywhere_ends_the_other_browsers(api: Api, ann: Browser) -> None:
    """A telephone that was lost is out at once."""
    other = browser(api, "198.51.100.7")
    async with other.client:
        await ann.sign_in(ANN)
        await other.sign_in(ANN)
        page = await ann.client.get("/dashboard")
        await ann.client.post(
            "/dashboard/sign-out", data={"token": form_token(page.text), "where": "everywhere"}
        )
        assert (await other.client.get("/dashboard")).status_code == 303
        assert (await other.client.get("/api/v1/me")).status_code == 401


async def test_cookies_are_for_this_host_and_no_script(open_pages: OpenApi) -> None:
    """HttpOnly, SameSite, and Secure with the __Host- prefix where the site is served over TLS."""
    for base_url, prefix, secure in (
        ("http://localhost:8000", "", False),
        ("https://go.example.com", "__Host-", True),
    ):
        async with open_pages(host="0.0.0.0", base_url=base_url) as api:
            if not secure:
                await make_user(api, ANN)
            one = browser(api, base_url=base_url)
            async with one.client:
                cookies = (await one.sign_in(ANN)).headers.get_list("set-cookie")
        (session,) = [text for text in cookies if text.startswith(f"{prefix}laconic_session=")]
        assert "HttpOnly" in session
        assert "SameSite=lax" in session
        assert "Path=/" in session
        assert ("Secure" in session) == secure
        assert "Domain" not in session


@pytest.mark.parametrize("path", [SIGN_IN, "/dashboard/sign-out", "/dashboard/invitation"])
async def test_every_form_needs_its_token(api: Api, ann: Browser, path: str) -> None:
    """A page on another site can make a browser send a form, and gets 403 for it."""
    invitation, _ = await api.services.people.invitations.invite(command_actor(1), 1, "member")
    fields = {"email": ANN, "password": PASSWORD, "invitation": invitation}
    await ann.client.get(SIGN_IN)
    for token in ("", "0" * 64):
        answer = await ann.client.post(path, data={**fields, "token": token})
        assert answer.status_code == 403
        assert "laconic_session" not in answer.headers.get("set-cookie", "")
    right = form_token((await ann.client.get(SIGN_IN)).text)
    elsewhere = {"sec-fetch-site": "cross-site"}
    answer = await ann.client.post(path, data={**fields, "token": right}, headers=elsewhere)
    assert answer.status_code == 403


async def test_a_signed_in_browser_changes_nothing_over_the_api_without_its_page(ann: Browser) -> None:
    """The cookie alone reads; a change needs the page's token."""
    await ann.sign_in(ANN)
    assert (await ann.client.get("/api/v1/users")).status_code == 200
    refused = await ann.client.post("/api/v1/api-keys", json={"name": "x"})
    assert (refused.status_code, refused.json()["code"]) == (403, "form_expired")
    assert (await ann.change("POST", "/api/v1/api-keys", json={"name": "x"})).status_code == 201


async def test_unknown_e_mail_and_wrong_password_look_the_same(ann: Browser) -> None:
    """Nobody learns here who has an account."""
    answers = [await ann.sign_in(ANN, "wrong password"), await ann.sign_in("nobody@example.com", "wrong")]
    assert [answer.status_code for answer in answers] == [401, 401]
    texts = [answer.text.replace("nobody@example.com", ANN) for answer in answers]
    assert texts[0] == texts[1]


async def test_the_slug_is_asked_for_when_it_is_needed(api: Api, ann: Browser) -> None:
    """The same person with the same password in two workspaces says which one."""
    acme = await make_workspace(api, "acme")
    await make_user(api, ANN.upper(), "viewer", acme)
    asked = await ann.sign_in(ANN)
    assert asked.status_code == 409
    assert 'name="workspace"' in asked.text
    assert (await ann.sign_in(ANN, workspace="nowhere")).status_code == 401
    assert (await ann.sign_in(ANN, workspace="acme")).status_code == 303
    me = (await ann.client.get("/api/v1/me")).json()
    assert (me["workspace"]["slug"], me["kind"]) == ("acme", "user")


async def test_the_password_may_tell_the_workspace(api: Api, ann: Browser) -> None:
    """With another password in each, nothing needs to be asked."""
    acme = await make_workspace(api, "acme")
    await make_user(api, ANN, "viewer", acme, password="another long password")
    assert (await ann.sign_in(ANN, "another long password")).status_code == 303
    assert (await ann.client.get("/api/v1/me")).json()["workspace"]["slug"] == "acme"


async def test_a_sign_in_never_takes_over_a_planted_session(ann: Browser) -> None:
    """Whatever token the browser had before, it gets a new one."""
    ann.client.cookies.set("laconic_session", "planted-by-somebody-else", domain="localhost.local")
    await ann.sign_in(ANN)
    tokens = {cookie.value for cookie in ann.client.cookies.jar if cookie.name == "laconic_session"}
    assert any(token and token != "planted-by-somebody-else" for token in tokens)


async def test_the_set_up_link_makes_the_operator_and_dies(open_pages: OpenApi) -> None:
    """Once: the second visit finds it over, and open mode is over for everybody."""
    async with open_pages() as api:
        links = api.services.people.invitations
        token, other = await links.set_up(), await links.set_up()
        assert token
        assert other
        async with browser(api).client as client:
            page = await client.get(f"/dashboard/set-up/{token}")
            assert page.headers["referrer-policy"] == "no-referrer"
            fields = {"invitation": token, "email": ANN, "full_name": "Ann", "password": PASSWORD}
            done = await client.post("/dashboard/invitation", data={**fields, "token": form_token(page.text)})
            assert done.status_code == 303
            me = (await client.get("/api/v1/me")).json()
            assert {"admin", "operator"} <= set(me["scopes"])
            for over in (token, other):
                assert (await client.get(f"/dashboard/set-up/{over}")).status_code == 410
        assert await links.set_up() is None


async def test_an_invitation_works_once(api: Api, ann: Browser) -> None:
    """Made by an admin over the API, opened by somebody else, dead after that."""
    await ann.sign_in(ANN)
    made = await ann.change(
        "POST", "/api/v1/invitations", json={"role": "viewer", "email": "bob@example.com"}
    )
    assert made.status_code == 201
    path = made.json()["url"].removeprefix("http://localhost:8000")
    bob = browser(api, "198.51.100.7")
    async with aclosing(bob.client):
        page = await bob.client.get(path)
        assert "bob@example.com" in page.text
        fields = {
            "token": form_token(page.text),
            "invitation": path.rpartition("/")[2],
            "email": "eve@example.com",
        }
        weak = await bob.client.post("/dashboard/invitation", data={**fields, "password": "short"})
        assert weak.status_code == 422
        done = await bob.client.post("/dashboard/invitation", data={**fields, "password": PASSWORD})
        assert done.status_code == 303
        me = (await bob.client.get("/api/v1/me")).json()
        assert me["scopes"] == ["analytics:read", "links:read"]
        assert (await bob.client.get(path)).status_code == 410
        over = await bob.client.post("/dashboard/invitation", data={**fields, "password": PASSWORD})
        assert over.status_code == 410
    users = (await ann.client.get("/api/v1/users")).json()["items"]
    assert [user["email"] for user in users] == [ANN, "bob@example.com"]
    assert (await ann.client.get("/api/v1/invitations")).json()["items"] == []


async def test_a_page_that_names_nobody_says_how_to_begin(api: Api) -> None:
    """Before the first user the sign-in page tells of the set-up link."""
    async with browser(api).client as client:
        assert "laconic user create-admin" in (await client.get(SIGN_IN)).text
