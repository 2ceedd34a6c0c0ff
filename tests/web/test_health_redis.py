"""What /health says of Redis."""

import asyncio
from pathlib import Path

from tests.servers import RedisServer
from tests.web.api.opened import opener


async def test_health_follows_redis(migrated_url: str, tmp_path: Path) -> None:
    """Away, it makes the worker degraded, not unhealthy: no redirect fails by it."""
    open_api = opener(migrated_url, tmp_path / "data")
    with RedisServer() as server:
        async with open_api(redis_url=server.url()) as api, api.client() as client:
            assert _state(await client.get("/health")) == (200, "healthy", "connected")
            server.kill()
            assert _state(await client.get("/health")) == (200, "degraded", "error")
            server.start()
            async with asyncio.timeout(30):
                while _state(await client.get("/health")) != (200, "healthy", "connected"):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
    async with open_api() as api, api.client() as client:
        assert _state(await client.get("/health")) == (200, "healthy", "off")


def _state(answer: object) -> tuple[int, str, str]:
    document = answer.json()  # type: ignore[attr-defined]
    return answer.status_code, document["status"], document["redis"]  # type: ignore[attr-defined]
