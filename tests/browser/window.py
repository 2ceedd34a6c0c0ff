"""A browser as people have it: Debian's Chromium, driven by Playwright, at a real `laconic serve`.

Whatever page a test opens, three things hold for it: no script has failed, nothing has broken the Content-Security-Policy,
and nothing came from another host. `Window.close` looks.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect

Size = Literal["desktop", "phone"]
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
SIZES: dict[Size, tuple[int, int]] = {"desktop": (1280, 900), "phone": (390, 844)}
PASSWORD = "correct horse battery"
ADMIN = "ann@example.com"
# Before any script of the page: what the policy refuses is remembered, and so is how far the layout has shifted.
_WATCH = """
window.violations = [];
window.layoutShift = 0;
window.shifted = [];
document.addEventListener("securitypolicyviolation",
  (event) => window.violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`));
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue;
    window.layoutShift += entry.value;
    window.shifted.push(...entry.sources.map(({ node }) => (node ? node.outerHTML || node.textContent : "?").slice(0, 80)));
  }
}).observe({ type: "layout-shift", buffered: true });
"""
_GRAVE = ("serious", "critical")
# How long anything may take on a machine that has other work; reached only by what never comes.
_PATIENCE_MS = 120_000
expect.set_options(timeout=_PATIENCE_MS)


def find_chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    raise FileNotFoundError(
        "Chromium was not found on PATH: install the package chromium, or run make setup-dev."
    )


@dataclass
class Window:
    """One page in a browser context of its own: own cookies, own size and colours."""

    page: Page
    context: BrowserContext
    base_url: str
    complaints: list[str] = field(default_factory=list)

    def goto(self, path: str) -> int:
        """Opens a path of the site; the status."""
        answer = self.page.goto(self.base_url + path)
        assert answer is not None
        return answer.status

    def send(self, path: str, open_page: Callable[[], Any] | None = None) -> None:
        """Waits until a click has led to this path."""
        if open_page is not None:
            open_page()
        self.page.wait_for_url(self.base_url + path)

    def grave_findings(self) -> list[str]:
        """What axe-core calls serious or critical on the page as it is."""
        found = Axe().run(self.page).response["violations"]
        return [
            f"{one['id']}: {node['target']} {node['failureSummary']}"
            for one in found
            if one["impact"] in _GRAVE
            for node in one["nodes"]
        ]

    def grave_findings_in_all_colours(self) -> list[str]:
        """The same in light and in dark. The page is loaded once: a reader's choice changes its colours alone."""
        found: list[str] = []
        for scheme in SCHEMES:
            self.page.emulate_media(color_scheme=scheme)
            found += [f"{scheme}: {finding}" for finding in self.grave_findings()]
        return found

    def layout_shift(self) -> float:
        """Chromium's cumulative layout shift of the page so far."""
        return float(self.page.evaluate("window.layoutShift"))

    def shifted(self) -> list[str]:
        """What has moved, as markup."""
        return list(self.page.evaluate("window.shifted"))

    def has_sideways_scroll(self) -> bool:
        wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        return bool(self.page.evaluate(wide))

    def violations(self) -> list[str]:
        return list(self.page.evaluate("window.violations || []"))

    def shoot(self, file: Path, *, whole: bool = False) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=file, full_page=whole)

    def close(self) -> None:
        if not self.page.is_closed() and self.page.url.startswith("http"):
            self.complaints += self.violations()
        self.context.close()
        assert not self.complaints, "\n".join(self.complaints)


def open_window(
    browser: Browser,
    base_url: str,
    size: Size = "desktop",
    scheme: Scheme = "light",
    *,
    script: bool = True,
    state: Any = None,
) -> Window:
    """`state` are the cookies of somebody who is signed in, as `sign_in` gives them."""
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        java_script_enabled=script,
        storage_state=state,
        is_mobile=size == "phone",
        has_touch=size == "phone",
        locale="en-GB",
        timezone_id="UTC",
        reduced_motion="reduce",
    )
    context.set_default_timeout(_PATIENCE_MS)
    page = context.new_page()
    window = Window(page, context, base_url)
    if script:
        page.add_init_script(_WATCH)
    page.on("pageerror", lambda error: window.complaints.append(f"script: {error}"))
    page.on("request", lambda request: _stay_home(window, request))
    return window


def _stay_home(window: Window, request: Request) -> None:
    asked = urlsplit(request.url)
    home = urlsplit(window.base_url)
    # A visitor who follows a short link leaves: that is a navigation, and it is what they want.
    if asked.scheme in ("data", "blob") or request.is_navigation_request():
        return
    if asked.netloc != home.netloc:
        window.complaints.append(f"another host: {request.url}")


def set_up_admin(window: Window) -> Any:
    """The first account, made out of open mode by the banner's button; the cookies of who is signed in."""
    window.goto("/dashboard")
    window.page.get_by_role("button", name="Create the first account").click()
    window.page.get_by_label("E-mail").fill(ADMIN)
    window.page.get_by_label("Name (if you like)").fill("Ann Example")
    window.page.get_by_label("Password").fill(PASSWORD)
    window.page.get_by_role("button", name="Come in").click()
    window.page.wait_for_url(window.base_url + "/dashboard")
    return window.context.storage_state()


def call_api(window: Window, method: str, path: str, body: Any = None) -> Any:
    """The API as a script of the page would call it: with the page's cookies and token."""
    token = window.page.locator('meta[name="csrf-token"]').get_attribute("content")
    answer = window.context.request.fetch(
        window.base_url + path,
        method=method,
        headers={"x-csrf-token": token or "", "content-type": "application/json"},
        data=None if body is None else json.dumps(body),
    )
    assert answer.ok, answer.text()
    return answer.json() if answer.text() else None
