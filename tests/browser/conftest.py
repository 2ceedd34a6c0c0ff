"""One browser and one server for all browser tests of a worker.

Package scope, not session scope: Playwright's synchronous interface keeps an event loop running in this thread, and no
other test may run meanwhile.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.window import Window, find_chromium, open_window, set_up_admin
from tests.flows.server import LaconicServer

OpenWindow = Callable[..., Window]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # The sandbox needs what a container does not give; the pages are our own.
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def laconic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LaconicServer]:
    """A server with one account: Ann, admin and operator. Tests share it, so each makes links of its own."""
    with LaconicServer(tmp_path_factory.mktemp("browser")) as server:
        yield server


@pytest.fixture(scope="module")
def ann(chromium: Browser, laconic: LaconicServer) -> Any:
    """Ann's cookies: `open_window(state=ann)` is her browser."""
    window = open_window(chromium, laconic.base_url)
    state = set_up_admin(window)
    window.close()
    return state


@pytest.fixture
def window(chromium: Browser, laconic: LaconicServer) -> Iterator[OpenWindow]:
    """Opens windows at the server, and looks at their complaints when the test is over."""
    opened: list[Window] = []

    def open_one(*arguments: Any, **options: Any) -> Window:
        opened.append(open_window(chromium, laconic.base_url, *arguments, **options))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def fresh(chromium: Browser, tmp_path: Path) -> Iterator[Callable[..., Window]]:
    """Windows at a server of the test's own that nobody has used yet."""
    with LaconicServer(tmp_path) as server:
        opened: list[Window] = []

        def open_one(*arguments: Any, **options: Any) -> Window:
            opened.append(open_window(chromium, server.base_url, *arguments, **options))
            return opened[-1]

        yield open_one
        for one in opened:
            one.close()
