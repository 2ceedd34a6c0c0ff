"""The textbook: FastAPI, PostgreSQL by asyncpg, Redis in front of it, clicks written after the answer.

What the books say, done with care: a random code, tried again when it is taken; cache-aside with an expiry; the visitor is
sent on first and the click is written behind, its row and the link's counter in one transaction. It is correct as
long as it is not killed, and asks of its libraries what they are good at: a pool, prepared statements, hiredis.
"""

import json
import secrets
import string
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import asyncpg
from fastapi import BackgroundTasks, FastAPI, HTTPException, Request
from fastapi.responses import RedirectResponse
from pydantic import AwareDatetime, BaseModel, HttpUrl, StringConstraints
from redis.asyncio import Redis

_SCHEMA = (Path(__file__).parent / "schema.sql").read_text()
_ALPHABET = string.ascii_letters + string.digits
_LENGTH = 7
_TRIES = 10
_CACHE_SECONDS = 3_600

Code = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]{4,16}$")]


class NewLink(BaseModel):
    original_url: HttpUrl
    expires_at: AwareDatetime | None = None


class Shortener:
    """Everything between the routes and the two servers."""

    def __init__(self, database: "asyncpg.Pool[asyncpg.Record]", cache: Redis) -> None:
        self._database = database
        self._cache = cache

    async def create(self, url: str, expires_at: datetime | None) -> str:
        for _ in range(_TRIES):
            code = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
            taken = await self._database.fetchval(
                "INSERT INTO links (short_code, original_url, expires_at) VALUES ($1, $2, $3)"
                " ON CONFLICT (short_code) DO NOTHING RETURNING id",
                code,
                url,
                expires_at,
            )
            if taken is not None:
                return code
        raise HTTPException(503, "no free code was found")

    async def find(self, code: str) -> tuple[int, str]:
        """Id and target, from the cache where it has them."""
        cached = await self._cache.get(f"link:{code}")
        if cached is not None:
            link_id, url = json.loads(cached)
            return link_id, url
        row = await self._database.fetchrow(
            "SELECT id, original_url, expires_at FROM links WHERE short_code = $1", code
        )
        if row is None:
            raise HTTPException(404, "unknown link")
        seconds = _seconds_left(row["expires_at"])
        if seconds <= 0:
            raise HTTPException(410, "the link has expired")
        if seconds >= 1:
            entry = json.dumps([row["id"], row["original_url"]])
            await self._cache.set(f"link:{code}", entry, ex=int(seconds))
        return row["id"], row["original_url"]

    async def record(self, link_id: int, address: str, agent: str | None, referer: str | None) -> None:
        async with self._database.acquire() as connection, connection.transaction():
            await connection.execute(
                "INSERT INTO clicks (link_id, ip_address, user_agent, referer) VALUES ($1, $2, $3, $4)",
                link_id,
                address,
                agent,
                referer,
            )
            await connection.execute(
                "UPDATE links SET click_count = click_count + 1, last_clicked_at = now() WHERE id = $1",
                link_id,
            )

    async def stats(self, code: str) -> dict[str, Any]:
        row = await self._database.fetchrow(
            "SELECT short_code, original_url, click_count, created_at FROM links WHERE short_code = $1", code
        )
        if row is None:
            raise HTTPException(404, "unknown link")
        return dict(row)


def _seconds_left(expires_at: datetime | None) -> float:
    """How long a link may stay in the cache; an expired one not at all."""
    if expires_at is None:
        return _CACHE_SECONDS
    return min(_CACHE_SECONDS, (expires_at - datetime.now(UTC)).total_seconds())


def make_app(database_url: str, redis_url: str) -> FastAPI:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with asyncpg.create_pool(database_url) as database:
            await database.execute(_SCHEMA)
            cache = Redis.from_url(redis_url, decode_responses=True)
            app.state.shortener = Shortener(database, cache)
            yield
            await cache.aclose()

    app = FastAPI(openapi_url=None, lifespan=lifespan)

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "healthy"}

    @app.post("/api/v1/urls", status_code=201)
    async def create(link: NewLink, request: Request) -> dict[str, str]:
        url = str(link.original_url)
        code = await request.app.state.shortener.create(url, link.expires_at)
        return {"short_code": code, "short_url": f"{request.base_url}{code}", "original_url": url}

    @app.get("/stats/{code}")
    async def stats(code: Code, request: Request) -> dict[str, Any]:
        found: dict[str, Any] = await request.app.state.shortener.stats(code)
        return found

    @app.get("/{code}")
    async def redirect(code: Code, request: Request, behind: BackgroundTasks) -> RedirectResponse:
        shortener: Shortener = request.app.state.shortener
        link_id, url = await shortener.find(code)
        address = request.client.host if request.client else "0.0.0.0"
        headers = request.headers
        behind.add_task(shortener.record, link_id, address, headers.get("user-agent"), headers.get("referer"))
        return RedirectResponse(url, 302)

    return app
