"""The pictures in docs/screenshots, made of pages as they are.

    WRITE_SCREENSHOTS=1 python -m pytest tests/browser/test_screenshots.py

writes them anew. Without it the same pages are opened and thrown away, so that the pictures can always be made.
"""

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.window import ADMIN, PASSWORD, Scheme, Size, Window, call_api, open_window
from tests.flows.server import LaconicServer, eventually

DOCS = Path(__file__).parents[2] / "docs" / "screenshots"
# Of each: the name of its file, its page, and how it is looked at.
PICTURES: tuple[tuple[str, str, Size, Scheme], ...] = (
    ("home", "/", "desktop", "light"),
    ("links", "/dashboard/links", "desktop", "light"),
    ("link", "/dashboard/links/autumn", "desktop", "dark"),
    ("overview-phone", "/dashboard", "phone", "dark"),
    ("preview-phone", "/autumn+", "phone", "light"),
    ("qr", "/dashboard/links/autumn/qr?dark=%230b6b5d", "desktop", "light"),
)
LINKS = (
    ("autumn", "Price list, autumn", "https://shop.example.org/catalogue/autumn-2026.pdf"),
    ("letter", "Newsletter of November", "https://example.com/news/november?utm_source=letter"),
    ("talks", "Talks and slides", "https://conference.example.net/2026/talks"),
    ("garden", "Job offer: gardener", "https://example.com/jobs/gardener"),
    ("wikip", "Laconic phrase", "https://en.wikipedia.org/wiki/Laconic_phrase"),
)
AGENTS = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
)
ADDRESSES = (
    "193.99.144.80",
    "81.2.69.142",
    "133.242.0.1",
    "8.8.8.8",
    "200.147.3.157",
    "196.25.1.1",
    "1.1.1.1",
)
REFERRERS = ("https://news.example.com/", "https://www.google.com/", "https://social.example/post/7", "")


@pytest.fixture(scope="module")
def shown(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Any]]:
    """A server with some links that were followed from some places: its address, and the cookies of its admin."""
    server = LaconicServer(tmp_path_factory.mktemp("shown"), trusted_proxies="127.0.0.1")
    with server:
        server.run("user", "create-admin", ADMIN, "--name", "Ann Example", typed=f"{PASSWORD}\n")
        window = open_window(chromium, server.base_url)
        _sign_in(window)
        for code, title, url in LINKS:
            body = {"original_url": url, "custom_code": code, "title": title}
            call_api(window, "POST", "/api/v1/urls", body)
        _click(server)
        eventually(
            lambda: call_api(window, "GET", "/api/v1/urls/wikip")["click_count"] >= 10, "no clicks arrived"
        )
        state = window.context.storage_state()
        window.close()
        yield server.base_url, state


def _sign_in(window: Window) -> None:
    window.goto("/dashboard/sign-in")
    window.page.get_by_label("E-mail").fill(ADMIN)
    window.page.get_by_label("Password").fill(PASSWORD)
    window.page.get_by_role("button", name="Sign in").click()
    window.page.wait_for_url("**/dashboard")
    window.goto("/dashboard/account")


def _click(server: LaconicServer) -> None:
    chance = random.Random(3)
    with server.client() as visitor:
        for number, (code, _, _) in enumerate(LINKS):
            for _ in range(90 - 20 * number):
                headers = {
                    "user-agent": chance.choice(AGENTS),
                    "referer": chance.choice(REFERRERS),
                    "x-forwarded-for": chance.choice(ADDRESSES),
                    "accept-language": chance.choice(("en", "de", "ja")),
                }
                visitor.get(f"/{code}", headers=headers)


def test_pictures_can_be_made(chromium: Browser, shown: tuple[str, Any], tmp_path: Path) -> None:
    """Every picture of the docs, small enough for a page that shows it."""
    folder = DOCS if os.environ.get("WRITE_SCREENSHOTS") else tmp_path
    base_url, state = shown
    for name, path, size, scheme in PICTURES:
        window = open_window(chromium, base_url, size, scheme, state=state)
        assert window.goto(path) == 200, path
        window.shoot(folder / f"{name}.png")
        window.close()
        assert (folder / f"{name}.png").stat().st_size < 250_000, name


def test_every_picture_of_the_docs_is_made_here() -> None:
    """A picture that nothing makes any more would go out of date unseen."""
    assert {path.stem for path in DOCS.glob("*.png")} <= {name for name, *_ in PICTURES}
