"""A workspace with somebody of every role, each with a browser that is signed in, and a neighbour."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, Role, User, command_actor
from tests.web.api.opened import Api
from tests.web.people import browser, make_user, make_workspace
from tests.web.site import form_token

ROLES = ("viewer", "member", "admin", "operator")


@dataclass(frozen=True)
class Person:
    """A browser that is signed in."""

    user: User
    client: httpx.AsyncClient

    async def token(self) -> str:
        """The token of the forms that this browser was served."""
        return form_token((await self.client.get("/dashboard/account")).text)

    async def send(self, action: str, **fields: Any) -> httpx.Response:
        """A form of ours, filled in and sent."""
        return await self.client.post(action, data={"token": await self.token(), **fields})

    async def follow(self, action: str, **fields: Any) -> str:
        """The page that comes after a form."""
        answer = await self.send(action, **fields)
        assert answer.status_code == 303, answer.text
        return (await self.client.get(answer.headers["location"])).text

    async def open(self, path: str) -> str:
        page = await self.client.get(path)
        assert page.status_code == 200, page.text
        return page.text


@dataclass(frozen=True)
class Office:
    """`neighbour_id` is another tenant's workspace; `neighbour` its admin."""

    api: Api
    viewer: Person
    member: Person
    admin: Person
    operator: Person
    neighbour: Person
    neighbour_id: int

    def person(self, role: str) -> Person:
        found: Person = getattr(self, role)
        return found


@asynccontextmanager
async def open_office(api: Api) -> AsyncIterator[Office]:
    async with AsyncExitStack() as stack:

        async def person(email: str, role: Role, workspace_id: int, *, is_operator: bool = False) -> Person:
            user = await make_user(api, email, role, workspace_id, password=None, is_operator=is_operator)
            actor = command_actor(workspace_id)
            token = await api.services.people.sessions.start(user, actor, f"{email}'s browser")
            client = await stack.enter_async_context(browser(api).client)
            client.cookies.set("laconic_session", token)
            return Person(user, client)

        acme = await make_workspace(api, "acme")
        home = DEFAULT_WORKSPACE_ID
        yield Office(
            api,
            await person("viewer@example.com", "viewer", home),
            await person("member@example.com", "member", home),
            await person("admin@example.com", "admin", home),
            # A member, so that what they may do as operator is not what an admin may.
            await person("operator@example.com", "member", home, is_operator=True),
            await person("neighbour@example.com", "admin", acme),
            acme,
        )
