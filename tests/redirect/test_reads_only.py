"""The read path is sacred: a redirect writes nothing to the database, whatever it finds."""

from pathlib import Path
from typing import Any

import pytest

from laconic import clock
from laconic.clock import HOUR
from laconic.redirect import lookup
from laconic.redirect.lookup import Lookup
from tests.web.api.opened import opener

_WRITES = ("execute", "execute_many", "insert_many", "copy_in", "transaction")
_ROW = "SELECT version, updated_at, is_active, gone_reason FROM short_link WHERE short_code = $1"


async def test_p5_an_expired_link_is_refused_without_a_write(
    migrated_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reaper has not run; nothing but the one SELECT reaches the database."""
    asked: list[str] = []
    async with opener(migrated_url, tmp_path / "data")() as api, api.client() as client:
        made = await client.post("/api/v1/urls", json={"original_url": "https://example.com/"})
        code = made.json()["short_code"]
        database = api.services.database
        await database.execute(
            "UPDATE short_link SET expires_at = $1 WHERE short_code = $2", clock.now() - 2 * HOUR, code
        )
        before = await database.fetch_one(_ROW, code)

        async def refuse(*_: Any) -> None:
            raise AssertionError("a redirect wrote to the database")

        read = database.fetch_hot

        async def look(sql: str, *arguments: Any) -> Any:
            asked.append(sql)
            return await read(sql, *arguments)

        with monkeypatch.context() as patch:
            for verb in _WRITES:
                patch.setattr(database, verb, refuse)
            patch.setattr(database, "fetch_hot", look)
            api.services.cache.look_up = Lookup(database)
            for _ in range(3):
                answer = await client.get(f"/{code}")
                assert (answer.status_code, answer.json()["code"]) == (410, "link_expired")
        assert await database.fetch_one(_ROW, code) == before
    assert asked == [lookup._LOOKUP]
    assert asked[0].startswith("SELECT ")
