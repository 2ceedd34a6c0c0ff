"""Browsers of people: forms with their tokens, cookies as a browser keeps them."""

from dataclasses import dataclass
from typing import Any

import httpx

from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, Role, User, command_actor
from laconic.workspaces.people.users import UserDraft
from tests.web.api.opened import BASE_URL, Api
from tests.web.site import BROWSER, form_token

PASSWORD = "correct horse battery"


@dataclass(frozen=True)
class Browser:
    """A person's browser at an address of its own."""

    client: httpx.AsyncClient

    async def send(self, page: str, action: str, **fields: str) -> httpx.Response:
        """Opens a page, fills in its form and sends it."""
        shown = await self.client.get(page)
        return await self.client.post(action, data={"token": form_token(shown.text), **fields})

    async def sign_in(self, email: str, password: str = PASSWORD, **fields: str) -> httpx.Response:
        sign_in = "/dashboard/sign-in"
        return await self.send(sign_in, sign_in, email=email, password=password, **fields)

    async def csrf(self) -> dict[str, str]:
        """What a page of ours sends along when it changes something over the API."""
        page = (await self.client.get("/dashboard")).text
        return {"x-csrf-token": page.partition('name="csrf-token" content="')[2].partition('"')[0]}

    async def change(self, method: str, path: str, **options: Any) -> httpx.Response:
        return await self.client.request(method, path, headers=await self.csrf(), **options)


def browser(api: Api, address: str = "203.0.113.9", base_url: str = BASE_URL) -> Browser:
    transport = httpx.ASGITransport(api.app, client=(address, 50_000))
    return Browser(httpx.AsyncClient(transport=transport, base_url=base_url, headers=BROWSER))


async def make_user(
    api: Api,
    email: str,
    role: Role = "member",
    workspace_id: int = DEFAULT_WORKSPACE_ID,
    *,
    password: str | None = PASSWORD,
    is_operator: bool = False,
) -> User:
    draft = UserDraft(email, role, None, password, is_operator)
    return await api.services.people.users.create(command_actor(workspace_id), workspace_id, draft)


async def make_workspace(api: Api, slug: str) -> int:
    made = await api.services.tenants.create(command_actor(DEFAULT_WORKSPACE_ID), slug.title(), slug)
    return made.id
