"""P8 over every route there is: the OpenAPI document is walked, so a route that is added later is walked, too.

Two tenants have a record of every kind. Somebody of the one calls every route with every id of the other, in the path,
in the query and in the body. Nothing of the other may come back, and nothing of it may change.

That it sees a leak was tried once: without `workspace_id = $1` in `PeopleStore.find_user`, on SQLite, the walk failed with
"GET /api/v1/users/{user_id} by user admin, path ('user_id',): 200 (expected 404)" and with the planted word in the answer, for
both users of the other tenant and for both callers who are admins. (On PostgreSQL with two roles the policy would have
answered instead.)
"""

import asyncio
import itertools
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from laconic.clock import DAY, now
from laconic.workspaces.model import command_actor
from tests.web.api.opened import Api, OpenApi
from tests.web.people import Browser, browser, make_user, make_workspace

# Paths whose answer for another tenant's value is meant, with the reason.
MEANT = {
    ("GET", "/api/v1/codes/{code}"): "all tenants share a domain's codes; says yes or no, not whose",
}
_PATIENCE_SECONDS = 60
# To prove a domain name servers are asked, and each workspace may do so only now and then.
_ASKS_THE_WORLD = {"/api/v1/domains/{host}/verify"}
# Parameters and fields that may name a record.
_NAMES_A_RECORD = re.compile(r"(^|_)(id|ids|code|domain|slug|cursor|search|action|email|host)$")
_TENANT_TABLES = ("users", "domain", "api_key", "session", "short_link", "invitation", "audit_event")
_SAMPLES = {
    "original_url": "https://example.com/",
    "url": "https://example.com/",
    "email": "new@example.com",
    "slug": "newslug",
    "password": "a long enough password",
    "current_password": "correct horse battery",
    "name": "a name",
}


@dataclass
class Tenant:
    """A workspace with a record of every kind, and words that stand in its records only."""

    workspace_id: int
    # Apart from the ids: anybody may claim a host, and then has a claim of their own to it.
    host: str = ""
    code: str = ""
    ids: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    secrets: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    parameters: tuple[str, ...]
    query: tuple[str, ...]
    media_type: str | None
    schema: dict[str, Any]

    def body(self, **changed: Any) -> dict[str, Any]:
        """Every field that is required, and some that are not."""
        names = set(self.schema.get("required", ())) | changed.keys()
        if not names:
            names = set(self.schema.get("properties", {})) & {"title", "full_name", "name"}
        return {name: _SAMPLES.get(name, "x") for name in names} | changed


def routes(document: dict[str, Any]) -> Iterator[Route]:
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            parameters = told.get("parameters", [])
            content = told.get("requestBody", {}).get("content", {})
            media_type = next(iter(content), None)
            yield Route(
                method.upper(),
                path,
                tuple(one["name"] for one in parameters if one["in"] == "path"),
                tuple(
                    one["name"]
                    for one in parameters
                    if one["in"] == "query" and _NAMES_A_RECORD.search(one["name"])
                ),
                media_type,
                content[media_type]["schema"] if media_type else {},
            )


async def plant(api: Api, slug: str) -> Tenant:
    """A record of every kind."""
    workspace_id = await make_workspace(api, slug)
    services, mark = api.services, f"planted-by-{slug}"
    tenant = Tenant(workspace_id)
    actor = command_actor(workspace_id)
    user = await make_user(api, f"{mark}@example.com", "admin", workspace_id, password=None)
    await make_user(api, f"second-{mark}@example.com", "admin", workspace_id, password=None)
    tenant.secrets.append(await services.people.sessions.start(user, actor, f"{mark}-browser"))
    await services.people.invitations.invite(actor, workspace_id, "viewer", f"invited-{mark}@example.com")
    await services.api_keys.create(workspace_id, f"{mark}-key", actor=actor)
    await services.database.execute(
        "INSERT INTO domain (id, workspace_id, host, is_default, verified_at, created_at)"
        " VALUES ($1, $2, $3, FALSE, $4, $4)",
        *(workspace_id + 1, workspace_id, f"{mark}.example.com", now()),
    )
    key, _ = await services.api_keys.create(workspace_id, f"{mark}-maker", frozenset({"admin"}), actor=actor)
    async with api.client(x_api_key=key) as client:
        made = await client.post(
            "/api/v1/urls",
            json={
                "original_url": f"https://example.com/{mark}",
                "title": f"{mark}-title",
                "metadata": {"m": mark},
            },
        )
        tenant.code = made.json()["short_code"]
        tenant.ids.add(tenant.code)
    for table in _TENANT_TABLES:
        rows = await services.database.fetch_all(
            f"SELECT id FROM {table} WHERE workspace_id = $1", workspace_id
        )
        assert rows, f"no record in {table}"
        tenant.ids |= {str(row[0]) for row in rows}
    tenant.ids.add(str(workspace_id))
    tenant.host = f"{mark}.example.com"
    tenant.words = {mark, *tenant.ids}
    return tenant


async def snapshot(api: Api, tenant: Tenant) -> str:
    """All rows of a tenant, but for what looking at them may write."""
    kept = []
    for table in ("workspace", *_TENANT_TABLES):
        column = "id" if table == "workspace" else "workspace_id"
        rows = await api.services.database.fetch_all(
            f"SELECT * FROM {table} WHERE {column} = $1 ORDER BY id", tenant.workspace_id
        )
        kept.append([table, [[str(value) for value in row] for row in rows]])
    return json.dumps(kept)


Callers = dict[str, Browser]


@dataclass(frozen=True)
class Scene:
    api: Api
    mine: Tenant
    theirs: Tenant
    callers: Callers
    routes: list[Route]


@pytest.fixture
async def scene(open_every_api: OpenApi) -> AsyncIterator[Scene]:
    async with open_every_api(host="0.0.0.0") as api, AsyncExitStack() as stack:
        theirs, mine = await plant(api, "acme"), await plant(api, "beta")
        callers: Callers = {}
        for role in ("admin", "member", "viewer"):
            user = await make_user(api, f"{role}-caller@example.com", role, mine.workspace_id, password=None)
            token = await api.services.people.sessions.start(user, command_actor(mine.workspace_id), None)
            one = browser(api)
            one.client.cookies.set("laconic_session", token)
            callers[f"user {role}"] = Browser(await stack.enter_async_context(one.client))
        scopes = ("admin", "links:read", "links:write", "analytics:read", "keys:allocate")
        key = await api.key(*scopes, workspace_id=mine.workspace_id, expires_at=now() + DAY)
        client = await stack.enter_async_context(api.client(x_api_key=key))
        callers["key of all tenants' scopes"] = Browser(client)
        document = (await client.get("/openapi.json")).json()
        yield Scene(api, mine, theirs, callers, list(routes(document)))


async def call(
    caller: Browser,
    route: Route,
    headers: dict[str, str],
    path: str,
    query: dict[str, str],
    body: dict[str, Any] | None,
) -> httpx.Response:
    options: dict[str, Any] = {"params": query} if query else {}
    if body is not None:
        options["content"] = json.dumps(body)
        headers = {**headers, "content-type": route.media_type or "application/json"}
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return await caller.client.request(route.method, path, headers=headers, **options)
    except TimeoutError:
        # A stream of what happens has no end: whoever is let in waits for ever.
        return httpx.Response(504, text="a stream was opened")


def fill(path: str, values: tuple[str, ...]) -> str:
    remaining = iter(values)
    return re.sub(r"\{\w+\}", lambda _: next(remaining), path)


Attempt = tuple[str, str, dict[str, str], dict[str, Any] | None]
"""Which field, path, query, body."""


def attempts(route: Route, theirs: Tenant, own_code: str) -> Iterator[Attempt]:
    """For every field of the route that may name a record, and every id."""
    body = route.body() if route.media_type else None
    paths = [route.path]
    if route.parameters:
        for value in sorted(theirs.ids):
            values = tuple(itertools.repeat(value, len(route.parameters)))
            yield f"path {route.parameters}", fill(route.path, values), {}, body
        # A second field may lead to what the first one alone does not.
        codes = [theirs.code, own_code] if route.parameters == ("code",) else []
        paths = [fill(route.path, (code,)) for code in codes]
    for path, name, value in itertools.product(paths, route.query, sorted({*theirs.ids, theirs.host})):
        yield f"query {name}", path, {name: value}, body
    named = list(filter(_NAMES_A_RECORD.search, route.schema.get("properties", {})))
    for path, name, value in itertools.product(paths, named, sorted(theirs.ids)):
        yield f"body {name}", path, {}, route.body(**{name: value})
    if not route.query and not route.parameters:
        yield "nothing", route.path, {}, body


async def csrf_of(name: str, caller: Browser) -> dict[str, str]:
    return await caller.csrf() if name.startswith("user") else {}


async def test_p8_no_route_gives_away_or_changes_another_tenants_records(scene: Scene) -> None:
    """Every route × every id field × every role: 404 for an id in the path, and not a word of theirs anywhere."""
    before = await snapshot(scene.api, scene.theirs)
    leaks: list[str] = []
    calls = fields = 0
    ending = {"/api/v1/sessions"}  # would sign the caller out
    for name, caller in scene.callers.items():
        headers = await csrf_of(name, caller)
        for route in scene.routes:
            if route.method == "DELETE" and route.path in ending:
                continue
            for where, path, query, body in attempts(route, scene.theirs, scene.mine.code):
                calls += 1
                fields += where != "nothing"
                answer = await call(caller, route, headers, path, query, body)
                told = f"{route.method} {route.path} by {name}, {where}: {answer.status_code}"
                if answer.status_code >= 500:
                    leaks.append(f"{told} (failed)")
                if (route.method, route.path) in MEANT:
                    continue
                if where.startswith("path") and answer.status_code not in (403, 404, 405, 429):
                    leaks.append(f"{told} (expected 404)")
                echoed = path + json.dumps(query) + json.dumps(body)
                words = {word for word in scene.theirs.words if word not in echoed}
                shown = answer.text + str(answer.headers)
                leaks += [f"{told} shows {word}" for word in words if _holds(shown, word)]
    print(
        f"\n{len(scene.routes)} routes, {len(scene.callers)} callers, {calls} calls ({fields} with an id of another tenant)"
    )
    assert not leaks, "\n".join(leaks)
    assert await snapshot(scene.api, scene.theirs) == before


def _holds(text: str, word: str) -> bool:
    """A number inside a longer one is no mention of it."""
    return re.search(rf"(?<![0-9A-Za-z]){re.escape(word)}(?![0-9])", text) is not None


async def test_the_walk_reaches_what_is_ones_own(scene: Scene) -> None:
    """With ids of one's own every route with an id gets past its 404: so the walk's requests are good ones."""
    ids = sorted(scene.mine.ids)
    unreached = []
    order = {"GET": 0, "PATCH": 1, "POST": 2, "DELETE": 3}
    # The workspace itself goes last: nobody gets in after that.
    for route in sorted(scene.routes, key=lambda one: (order[one.method], "workspaces" in one.path)):
        if not route.parameters or route.path.startswith("/api/admin") or route.path in _ASKS_THE_WORLD:
            continue
        statuses = set()
        for name in ("user admin", "key of all tenants' scopes"):
            caller = scene.callers[name]
            headers = await csrf_of(name, caller)
            body = route.body() if route.media_type else None
            owned = [
                str((await caller.client.get("/api/v1/sessions")).json().get("items", [{}])[0].get("id"))
            ]
            own = owned if "session" in route.path else [scene.mine.host] if "domain" in route.path else []
            for value in [*ids, *own]:
                values = tuple(itertools.repeat(value, len(route.parameters)))
                answer = await call(caller, route, headers, fill(route.path, values), {}, body)
                statuses.add(answer.status_code)
        if not statuses & {200, 201, 204}:
            unreached.append(f"{route.method} {route.path}: {statuses}")
    assert not unreached, "\n".join(unreached)


async def test_unknown_and_another_tenants_are_answered_the_same(scene: Scene) -> None:
    """So that nobody can find out by asking which ids exist elsewhere."""
    caller = scene.callers["key of all tenants' scopes"]
    never = "4242424242424242"
    for route in scene.routes:
        if not route.parameters or (route.method, route.path) in MEANT:
            continue
        body = route.body() if route.media_type else None
        for value in sorted(scene.theirs.ids):
            answers = [
                await call(
                    caller,
                    route,
                    {},
                    fill(route.path, tuple(itertools.repeat(one, len(route.parameters)))),
                    {},
                    body,
                )
                for one in (value, never)
            ]
            if route.path in _ASKS_THE_WORLD and answers[1].status_code == 429:
                continue  # so often, nobody is told anything
            texts = [answer.text.replace(value, "X").replace(never, "X") for answer in answers]
            assert answers[0].status_code == answers[1].status_code, route
            assert texts[0] == texts[1], route
