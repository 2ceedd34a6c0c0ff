"""codes stats, fill, verify, jump."""

import asyncio

import pytest

from laconic.storage.engines import open_database
from tests.cli.conftest import Laconic


@pytest.fixture(autouse=True)
def small_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LACONIC_KGS_POOL_MIN_SIZE", "1000")


def test_fill_then_stats_then_verify(laconic: Laconic) -> None:
    """The pool is full, and in order."""
    assert "0 codes are ready: critical" in laconic("codes", "stats").out
    filled = laconic("codes", "fill", "--json").json()
    assert 1000 <= filled["made"] == filled["pool_size"] < 1100
    stats = laconic("codes", "stats", "--json").json()
    assert (stats["pool_size"], stats["status"]) == (filled["made"], "ok")
    assert laconic("codes", "verify", "--json").json() == {"checked": filled["made"], "problems": []}
    assert laconic("codes", "fill").line().startswith("Made 0 codes")


def test_a_command_takes_no_block_from_the_pool(laconic: Laconic) -> None:
    """A thousand codes for one link would be gone with the command."""
    made = laconic("codes", "fill", "--json").json()["made"]
    laconic("shorten", "https://example.com/")
    assert laconic("codes", "stats", "--json").json()["pool_size"] == made


def test_jump_discards_the_pool(laconic: Laconic) -> None:
    """For a restore that nothing else notices."""
    laconic("codes", "fill")
    assert laconic("codes", "jump", "--json").json()["counter"] > 10**9
    stats = laconic("codes", "stats", "--json").json()
    assert (stats["pool_size"], stats["regions"][0]["skipped"]) == (0, 10**9)
    assert laconic("codes", "fill", "--json").json()["made"] > 900
    assert laconic("codes", "verify").status == 0


def test_verify_finds_what_is_wrong(laconic: Laconic, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes that are not of this cursor: the exit status says it."""
    laconic("codes", "fill")
    monkeypatch.setenv("LACONIC_REGION", "other")
    monkeypatch.setenv("LACONIC_REGION_PREFIXES", "other=A")
    laconic("codes", "fill")
    assert laconic("codes", "verify").status == 0
    monkeypatch.setenv("LACONIC_REGION_PREFIXES", "other=B")
    found = laconic("codes", "verify")
    assert found.status == 1
    assert "another length or first character" in found.out


def test_verify_finds_a_wrong_count_and_a_cursor_that_went_back(laconic: Laconic, migrated_url: str) -> None:
    """What a restore that nobody noticed would look like, and a row that somebody removed by hand."""
    laconic("codes", "fill")

    async def break_it() -> None:
        database = await open_database(migrated_url)
        await database.execute("UPDATE kgs_range SET next = 5, taken = taken + 1")
        await database.close()

    asyncio.run(break_it())
    found = laconic("codes", "verify")
    assert found.status == 1
    assert "was the database put back?" in found.out
    assert "unused codes are counted" in found.out
