"""Whatever people write into a link, send along with a click or type into a field: it is text and nothing else."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.browser.conftest import OpenWindow
from tests.browser.window import Window, call_api
from tests.flows.server import LaconicServer, eventually

# The well-known ways into a page: tags, attributes, schemes, templates, comments, encodings. Each calls xss().
PAYLOADS = (Path(__file__).parent / "payloads.txt").read_text().splitlines()
_TRAP = "window.ran = []; window.xss = () => window.ran.push(document.URL); window.alert = window.xss;"


def _trapped(window: Window) -> list[str]:
    """What ran in the page, and what only the policy kept from running: neither may be."""
    ran = window.page.evaluate("window.ran")
    return [f"ran in {url}" for url in ran] + window.violations()


def test_no_payload_runs_anywhere(window: OpenWindow, ann: Any, laconic: LaconicServer) -> None:
    """In title, description, URL, referrer, user agent, code and search: nothing runs, and the policy has nothing to stop."""
    one = window(state=ann)
    one.page.add_init_script(_TRAP)
    one.goto("/dashboard/account")
    codes = []
    for number, payload in enumerate(PAYLOADS):
        body = {
            "original_url": f"https://example.com/?q={payload}#{payload}",
            "title": payload,
            "description": payload,
            "custom_code": f"xss{number:03}",
        }
        codes.append(call_api(one, "POST", "/api/v1/urls", body)["short_code"])
    clicked = codes[0]
    with laconic.client() as visitor:
        for payload in PAYLOADS:
            headers = {b"user-agent": payload.encode(), b"referer": f"https://{payload}/".encode()}
            visitor.get(f"/{clicked}", headers=headers)
    eventually(
        lambda: call_api(one, "GET", f"/api/v1/urls/{clicked}")["click_count"] >= len(PAYLOADS),
        "the clicks did not arrive",
    )
    wrong: list[str] = []
    pages = [
        "/dashboard/links",
        "/dashboard/links?sort=created_at",
        "/dashboard",
        f"/dashboard/links/{clicked}",
    ]
    # Titles and URLs stand in attributes of forms, too; a dozen of them stand for all.
    pages += [f"/dashboard/links/{code}/edit" for code in codes[::6]]
    pages += [f"/{code}+" for code in codes[::6]]
    pages += [f"/dashboard/links?search={quote(payload)}" for payload in PAYLOADS[::3]]
    pages += [f"/{quote(payload, safe='')}" for payload in PAYLOADS[::6]]
    pages += [f"/dashboard/new-link?url={quote(payload)}" for payload in PAYLOADS[::6]]
    for path in pages:
        one.goto(path)
        wrong += [f"{path}: {what}" for what in _trapped(one)]
    one.goto("/dashboard/links")
    for payload in PAYLOADS[::9]:
        one.page.get_by_label("Search links").fill(payload)
        one.page.wait_for_function("text => document.getElementById('search').value === text", arg=payload)
        one.page.wait_for_timeout(250)
        wrong += [f"search {payload}: {what}" for what in _trapped(one)]
    assert not wrong, "\n".join(wrong)


def test_the_trap_works(window: OpenWindow, ann: Any) -> None:
    """A payload that reaches the page as markup is seen: the policy stops it, and says so."""
    one = window(state=ann)
    one.page.add_init_script(_TRAP)
    one.goto("/dashboard/account")
    one.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=xss()>')")
    one.page.wait_for_function("window.violations.length > 0")
    assert _trapped(one)
    # Not a complaint about the page: this was the test's own doing.
    one.page.evaluate("window.violations = []")
