"""The pictures in docs/screenshots, made of pages as they are.

    WRITE_SCREENSHOTS=1 python -m pytest tests/browser/test_screenshots.py

writes them anew. Without it the same pages are opened and thrown away, so that the pictures can always be made.
"""

import asyncio
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from laconic.clock import MINUTE, now
from tests.browser.window import ADMIN, PASSWORD, Scheme, Size, Window, call_api, open_window
from tests.clicks.raw_events import event
from tests.flows.server import LaconicServer
from tests.web.seeding import campaign, seed

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


@pytest.fixture(scope="module")
def shown(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Any]]:
    """A server with some links that were followed from some places: its address, and the cookies of its admin."""
    with LaconicServer(tmp_path_factory.mktemp("shown")) as server:
        server.run("user", "create-admin", ADMIN, "--name", "Ann Example", typed=f"{PASSWORD}\n")
        window = open_window(chromium, server.base_url)
        _sign_in(window)
        bodies = [{"original_url": url, "custom_code": code, "title": title} for code, title, url in LINKS]
        _follow(server, [int(call_api(window, "POST", "/api/v1/urls", body)["id"]) for body in bodies])
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


def _follow(server: LaconicServer, link_ids: Sequence[int]) -> None:
    """The clicks of ten weeks: a chart of one day is none worth showing."""
    end = now()
    clicks, events = [], []
    for number, link_id in enumerate(link_ids):
        clicks += campaign(link_id, end, days=70, a_day=60 // (number + 1), seed=number)
        events += [event(link_id, end - (7 * n + number) * MINUTE) for n in range(4)]
    # Not in this thread: Playwright's loop runs in it.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, seed(server.database_url, clicks, events)).result()


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
