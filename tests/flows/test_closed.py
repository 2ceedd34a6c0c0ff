"""A server that others can reach: what `laconic serve --host 0.0.0.0` lets in, and what LACONIC_OPEN adds."""

from pathlib import Path

import httpx

from tests.flows.server import LaconicServer
from tests.flows.talk import NDJSON, URLS, make_code, problem, target


def refuses_all_but_links(client: httpx.Client, code: str) -> None:
    """Without a key: links work for everyone, everything else is a 401."""
    assert target(client, code) == "https://example.com/"
    assert client.get(f"/{code}+").status_code == 200
    for path in ("/health", "/live", "/ready", "/robots.txt", "/openapi.json"):
        assert client.get(path).status_code == 200, path
    for path in (URLS, f"{URLS}/{code}", f"{URLS}/{code}/stats", f"/stats/{code}"):
        problem(client.get(path), 401, "not_authenticated")
    problem(client.patch(f"{URLS}/{code}", json={"title": "x"}), 401, "not_authenticated")
    problem(client.delete(f"{URLS}/{code}"), 401, "not_authenticated")
    problem(client.post(f"{URLS}/bulk", content=b"{}", headers=NDJSON), 401, "not_authenticated")


def test_listening_for_others_needs_a_key(tmp_path: Path) -> None:
    """The key that `laconic key create` prints opens it, until `laconic key revoke`."""
    with LaconicServer(tmp_path, host="0.0.0.0") as server, server.client() as stranger:
        assert server.mode == "closed"
        problem(stranger.post(URLS, json={"original_url": "https://example.com/"}), 401, "not_authenticated")
        problem(stranger.post("/shorten", json={"url": "https://example.com/"}), 401, "not_authenticated")
        secret = server.run("key", "create", "flow")
        with server.client(headers={"authorization": f"Bearer {secret}"}) as owner:
            code = make_code(owner)
            assert owner.get(f"{URLS}/{code}").status_code == 200
        refuses_all_but_links(stranger, code)
        revoked = server.run("key", "create", "other")
        server.run("key", "revoke", revoked[:15])
        problem(stranger.get(URLS, headers={"x-api-key": revoked}), 401, "not_authenticated")


def test_laconic_open_lets_anyone_create_at_a_rate(tmp_path: Path) -> None:
    """201 until the burst is used up, then 429 with Retry-After; nothing else is open."""
    server = LaconicServer(tmp_path, host="0.0.0.0", open="true", rate_create="1/s burst 5")
    with server, server.client() as anyone:
        assert server.mode == "public-create"
        code = make_code(anyone)
        answers = [anyone.post("/shorten", json={"url": "https://example.com/"}) for _ in range(30)]
        statuses = [answer.status_code for answer in answers]
        assert statuses[:3] == [201] * 3
        assert set(statuses) == {201, 429}
        limited = next(answer for answer in answers if answer.status_code == 429)
        problem(limited, 429, "too_many_requests")
        assert int(limited.headers["retry-after"]) >= 1
        refuses_all_but_links(anyone, code)
