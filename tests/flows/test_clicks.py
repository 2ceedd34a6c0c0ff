"""Counting: every redirect answered to a GET is one click."""

from datetime import datetime

import httpx

from tests.flows.server import eventually
from tests.flows.talk import URLS, make_code, problem, read


def counted(api: httpx.Client, code: str, clicks: int) -> bool:
    """Are there exactly so many? More than that is a failure, whenever it is seen."""
    shown = read(api, code)["click_count"]
    assert shown <= clicks, "a click was counted that never was"
    return bool(shown == clicks)


def test_every_get_is_counted_once(api: httpx.Client) -> None:
    """From the cache or not, whoever asks; all numbers of the link agree."""
    code = make_code(api)
    for number in range(50):
        agent = {"user-agent": "Googlebot/2.1" if number % 2 else "Mozilla/5.0"}
        assert api.get(f"/{code}", headers=agent).status_code == 302
    eventually(lambda: counted(api, code, 50), "the clicks were not counted")
    assert api.get(f"/stats/{code}").json()["click_count"] == 50
    stats = api.get(f"{URLS}/{code}/stats").json()
    assert stats["clicks"] == 50
    assert datetime.fromisoformat(stats["last_accessed_at"]) >= datetime.fromisoformat(stats["created_at"])


def test_only_followed_links_are_counted(api: httpx.Client) -> None:
    """Not HEAD, a browser that fetches ahead, a look by the owner, the preview, or an answer that is no redirect."""
    code = make_code(api)
    for _ in range(3):
        assert api.head(f"/{code}").status_code == 302
        assert api.get(f"/{code}", headers={"sec-purpose": "prefetch"}).status_code == 302
        assert api.get(f"/{code}", headers={"sec-purpose": "prefetch;prerender"}).status_code == 302
        assert api.get(f"/{code}+").status_code == 200
        read(api, code)
    api.patch(f"{URLS}/{code}", json={"is_active": False})
    problem(api.get(f"/{code}"), 410, "link_disabled")
    api.patch(f"{URLS}/{code}", json={"is_active": True})
    # Clicks are counted in the order of the journal: when this one is, the others would have been.
    assert api.get(f"/{code}").status_code == 302
    eventually(lambda: counted(api, code, 1), "the click was not counted")


def test_permanent_redirects_are_counted_too(api: httpx.Client) -> None:
    """As often as a browser asks."""
    code = make_code(api, redirect_status=301)
    for _ in range(5):
        api.get(f"/{code}")
    eventually(lambda: counted(api, code, 5), "the clicks were not counted")


def test_edits_show_the_count(api: httpx.Client) -> None:
    """What a PATCH answers is the whole link, clicks included, with an Idempotency-Key too."""
    code = make_code(api)
    api.get(f"/{code}")
    eventually(lambda: counted(api, code, 1), "the click was not counted")
    assert api.patch(f"{URLS}/{code}", json={"title": "a"}).json()["click_count"] == 1
    answer = api.patch(f"{URLS}/{code}", json={"title": "b"}, headers={"idempotency-key": f"count-{code}"})
    assert answer.json()["click_count"] == 1


def test_list_sorts_by_clicks(api: httpx.Client) -> None:
    """Most followed first, and the other way round."""
    codes = [make_code(api, title="Sortedbyclicks") for _ in range(3)]
    for code, clicks in zip(codes, (2, 0, 5), strict=True):
        for _ in range(clicks):
            api.get(f"/{code}")
        eventually(lambda code=code, clicks=clicks: counted(api, code, clicks), "not counted")  # type: ignore[misc]
    for sort, order in (("-clicks", [2, 0, 1]), ("clicks", [1, 0, 2])):
        items = api.get(URLS, params={"search": "Sortedbyclicks", "sort": sort}).json()["items"]
        assert [item["short_code"] for item in items] == [codes[place] for place in order]
