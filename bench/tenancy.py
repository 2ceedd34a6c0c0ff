"""python -m bench.tenancy: what authentication and row-level security cost, and how fast a revoked key stops.

Prints microseconds per request. All in one process without sockets, so that nothing else is in the figures.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncpg
from starlette.requests import Request

from laconic.clicks.journal import Journal
from laconic.errors import SignInFailed, TooManyRequests
from laconic.links.model import LinkDraft, LinkEdit
from laconic.logs import set_up_logs
from laconic.settings import Rate, Settings
from laconic.storage.engines import migrate
from laconic.web.api.authentication import ALLOWANCE, Gate
from laconic.web.app import App
from laconic.web.pages.form_tokens import FormTokens
from laconic.wiring import Services, open_services
from laconic.workspaces.model import LINKS_CREATE, command_actor
from laconic.workspaces.people.sign_in import Attempt
from laconic.workspaces.people.users import UserDraft
from tests.servers import PostgresServer

_ROUNDS = 7
_RATE = Rate(per_second=10_000_000, burst=10_000_000)


def scope(method: str, path: str, headers: dict[str, str]) -> dict[str, Any]:
    raw = [(name.encode(), value.encode()) for name, value in {"host": "localhost", **headers}.items()]
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": raw,
        "client": ("127.0.0.1", 50_000),
        "server": ("localhost", 8000),
        "scheme": "http",
        ALLOWANCE: [],
    }


async def per_call(count: int, call: Callable[[], Awaitable[Any]]) -> float:
    """Microseconds of one call, the median of several rounds, one after the other."""
    rounds = []
    for _ in range(_ROUNDS):
        begun = time.perf_counter()
        for _ in range(count):
            await call()
        rounds.append((time.perf_counter() - begun) / count * 1e6)
    return statistics.median(rounds)


async def authentication(services: Services) -> None:
    async def no_secret() -> bytes:
        return b"x" * 32

    gate = Gate(services.settings, services, FormTokens(no_secret, services.settings.base_url))
    secret, _ = await services.api_keys.create(1, "bench")
    headers = {"content-type": "application/json", "user-agent": "bench", "accept": "*/*"}

    def admit(**more: str) -> Callable[[], Awaitable[Any]]:
        return lambda: gate.admit(Request(scope("POST", "/api/v1/urls", {**headers, **more})), LINKS_CREATE)

    print(f"  admit in open mode        {await per_call(5_000, admit()):8.1f} us")
    keyed = admit(authorization=f"Bearer {secret}")
    print(f"  admit with a key, warm    {await per_call(5_000, keyed):8.1f} us")
    user = await services.people.users.create(command_actor(1), 1, UserDraft("bench@example.com", "admin"))
    token = await services.people.sessions.start(user, command_actor(1), None)
    person = {**headers, "cookie": f"laconic_session={token}"}

    async def reads() -> None:
        await gate.admit(Request(scope("GET", "/api/v1/urls", person)), "links:read")

    print(f"  admit with a session      {await per_call(500, reads):8.1f} us (asks the database each time)")


async def creates(services: Services, folder: Path) -> None:
    """POST /api/v1/urls through the application, 64 at a time, without a socket."""
    journal = Journal(folder / "journal")
    app = App(services, journal)
    secret, _ = await services.api_keys.create(1, "bench")
    body = json.dumps({"original_url": "https://example.com/a/b?c=d"}).encode()

    async def create(headers: dict[str, str]) -> None:
        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start" and message["status"] != 201:
                raise RuntimeError(message)

        await app(
            scope("POST", "/api/v1/urls", {"content-type": "application/json", **headers}), receive, send
        )

    async def many(headers: dict[str, str], count: int = 3_000) -> float:
        async def worker() -> None:
            for _ in range(count // 64):
                await create(headers)

        begun = time.perf_counter()
        await asyncio.gather(*(worker() for _ in range(64)))
        return (time.perf_counter() - begun) / (count // 64 * 64) * 1e6

    keyed = {"authorization": f"Bearer {secret}"}
    await many({}), await many(keyed)
    pairs = [(await many({}), await many(keyed)) for _ in range(_ROUNDS)]
    opened, with_key = (statistics.median(side) for side in zip(*pairs, strict=True))
    print(f"  create in open mode       {opened:8.1f} us ({1e6 / opened:.0f}/s in this process)")
    print(
        f"  create with a key         {with_key:8.1f} us (key, rate limit and audit event: {with_key - opened:+.1f} us)"
    )
    journal.close()


async def sign_ins(services: Services) -> None:
    """Bob signs in, before and while a thousand wrong sign-ins hit Ann's account, all at once."""
    users, sign_in = services.people.users, services.people.sign_in
    for name in ("ann", "bob"):
        draft = UserDraft(f"{name}@example.com", "member", password="correct horse battery")
        await users.create(command_actor(1), 1, draft)

    async def bob() -> float:
        begun = time.perf_counter()
        await sign_in.with_password(Attempt("bob@example.com", "correct horse battery", None, "192.0.2.7"))
        return (time.perf_counter() - begun) * 1e3

    async def wrong(number: int) -> bool:
        try:
            await sign_in.with_password(Attempt("ann@example.com", f"guess {number}", None, "203.0.113.9"))
        except TooManyRequests:
            return True
        except SignInFailed:
            return False
        raise RuntimeError("a guess was right")

    alone = [await bob() for _ in range(5)]
    begun = time.perf_counter()
    attack = asyncio.gather(*(wrong(number) for number in range(1_000)))
    await asyncio.sleep(0)
    during = [await bob() for _ in range(5)]
    refused = sum(await attack)
    took = (time.perf_counter() - begun) * 1e3
    ann = Attempt("ann@example.com", "correct horse battery", None, "198.51.100.1")
    await sign_in.with_password(ann)
    print(f"  bob signs in, alone       {statistics.median(alone):8.1f} ms (longest {max(alone):.1f})")
    print(f"  bob, during 1,000 wrong   {statistics.median(during):8.1f} ms (longest {max(during):.1f})")
    print(
        f"  1,000 wrong for ann: {refused} refused unseen, all in {took:.0f} ms; then ann signs in from elsewhere"
    )


async def store_calls(services: Services) -> dict[str, float]:
    link = (await services.creator.create(1, None, LinkDraft("https://example.com/"))).link
    edit = LinkEdit(frozenset({"title"}), title="x")
    actor = command_actor(1)

    async def find() -> None:
        await services.links.find(1, link.domain_id, link.short_code)

    async def change() -> None:
        await services.changer.edit(1, link.domain_id, link.short_code, edit, actor)

    async def make() -> None:
        await asyncio.gather(
            *(services.creator.create(1, None, LinkDraft("https://example.com/")) for _ in range(64))
        )

    return {
        "read a link": await per_call(300, find),
        "edit a link": await per_call(100, change),
        "create, 64 at once": await per_call(10, make) / 64,
    }


async def main() -> None:
    options: dict[str, Any] = {"base_url": "http://localhost:8000", "rate_api": _RATE}
    with tempfile.TemporaryDirectory() as place, PostgresServer() as server:
        folder = Path(place)
        sqlite = f"sqlite:///{folder}/data/laconic.db"
        await migrate(sqlite)
        settings = Settings(data=str(folder), database_url=sqlite, **options)
        print("SQLite")
        async with open_services(settings) as services:
            await creates(services, folder)
            await authentication(services)
            await sign_ins(services)
        superuser = await asyncpg.connect(server.url())
        for role in ("laconic_owner", "laconic"):
            await superuser.execute(f"CREATE ROLE {role} LOGIN")
        await superuser.execute("CREATE DATABASE bench OWNER laconic_owner")
        await superuser.close()
        owner, tenants = server.url("bench", "laconic_owner"), server.url("bench", "laconic")
        await migrate(tenants, owner)
        print("PostgreSQL, one role and two (row-level security)")
        one = Settings(data=str(folder / "pg"), database_url=owner, **options)
        two = Settings(data=str(folder / "pg"), database_url=tenants, database_owner_url=owner, **options)
        async with open_services(one) as plain, open_services(two) as held:
            runs = [(await store_calls(plain), await store_calls(held)) for _ in range(3)]
            for name in runs[0][0]:
                without, with_policies = (min(run[side][name] for run in runs) for side in (0, 1))
                print(
                    f"  {name:<22} {without:8.1f} us  {with_policies:8.1f} us  {with_policies - without:+.1f} us"
                )
        async with open_services(two) as held:
            await authentication(held)


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m bench.tenancy", description=__doc__).parse_args()
    set_up_logs("info", "text")
    asyncio.run(main())
