"""Wiring: what the settings say reaches what they are about."""

from pathlib import Path
from typing import Any

import pytest

from laconic.clock import HOUR
from laconic.errors import CodeRefused, TargetRefused, TargetTooLong, Unavailable
from laconic.links.model import LinkDraft
from laconic.settings import Settings
from laconic.wiring import open_services


def settings_for(url: str, tmp_path: Path, **options: Any) -> Settings:
    return Settings(
        **{"data": str(tmp_path), "database_url": url, "base_url": "http://localhost:8000", **options}
    )


async def test_settings_reach_the_verbs(migrated_url: str, tmp_path: Path) -> None:
    """Code length, pattern, status, URL length, own host and private targets."""
    settings = settings_for(
        migrated_url,
        tmp_path,
        base_url="https://go.example.com",
        code_length=5,
        custom_code_pattern="^x[0-9]+$",
        redirect_status=307,
        max_url_length=64,
        private_targets="allow",
        max_stale=2 * HOUR,
        cache_entries=10,
    )
    async with open_services(settings) as services:
        link = (await services.creator.create(1, None, LinkDraft("http://10.0.0.1/"))).link
        assert (len(link.short_code), link.redirect_status) == (5, 307)
        custom = await services.creator.create(1, None, LinkDraft("https://a.com", custom_code="x1"))
        assert custom.link.short_code == "x1"
        for draft, error in (
            (LinkDraft("https://a.com", custom_code="abcd"), CodeRefused),
            (LinkDraft("https://a.com/" + "x" * 64), TargetTooLong),
            (LinkDraft("https://go.example.com/abc"), TargetRefused),
        ):
            with pytest.raises(error):
                await services.creator.create(1, None, draft)
        assert (services.cache.most_entries, services.cache.max_stale) == (10, 2 * HOUR)
        assert services.directory.prefix(1) == "https://go.example.com/"


async def test_default_domain_follows_the_base_url(migrated_url: str, tmp_path: Path) -> None:
    """An installation that moves keeps its links."""
    for base_url, host in (
        ("http://localhost:8000", "localhost"),
        ("https://go.example.com", "go.example.com"),
    ):
        async with open_services(settings_for(migrated_url, tmp_path, base_url=base_url)) as services:
            assert services.directory.find(1, host) is not None


async def test_services_are_over_after_the_block(migrated_url: str, tmp_path: Path) -> None:
    """The database is closed behind whatever was under way."""
    async with open_services(settings_for(migrated_url, tmp_path)) as services:
        await services.creator.create(1, None, LinkDraft("https://a.com"))
    with pytest.raises(Unavailable):
        await services.database.fetch_one("SELECT 1")
    with pytest.raises(Unavailable):
        await services.creator.create(1, None, LinkDraft("https://a.com"))
