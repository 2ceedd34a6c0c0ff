"""Idempotency-Key: a request that is sent again gets the answer of the first time."""

import json
import uuid
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.flows.server import LaconicServer, eventually
from tests.flows.talk import NDJSON, URLS, fields_of, make_code, problem, read, target


@pytest.fixture
def key() -> dict[str, str]:
    return {"idempotency-key": str(uuid.uuid4())}


@pytest.mark.parametrize(("path", "field"), [(URLS, "original_url"), ("/shorten", "url")])
def test_create_is_carried_out_once(api: httpx.Client, key: dict[str, str], path: str, field: str) -> None:
    """The same status and body, marked as a repetition, and one link."""
    url = f"https://example.com/once/{uuid.uuid4()}"
    first, again = (api.post(path, json={field: url}, headers=key) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert len(api.get(URLS, params={"search": url}).json()["items"]) == 1
    assert target(api, first.json()["short_code"]) == url


def test_create_without_a_key_is_carried_out_each_time(api: httpx.Client) -> None:
    """What the key is for: without one, two requests are two links."""
    assert make_code(api) != make_code(api)


def test_key_with_another_request_is_refused(api: httpx.Client, key: dict[str, str]) -> None:
    """422, whether the body, the path or the method differs; nothing is done."""
    code = make_code(api)
    first = api.post(URLS, json={"original_url": "https://example.com/1"}, headers=key)
    assert first.status_code == 201
    for answer in (
        api.post(URLS, json={"original_url": "https://example.com/2"}, headers=key),
        api.post("/shorten", json={"url": "https://example.com/1"}, headers=key),
        api.patch(f"{URLS}/{code}", json={"title": "x"}, headers=key),
        api.delete(f"{URLS}/{code}", headers=key),
    ):
        problem(answer, 422, "idempotency_key_reused")
    assert read(api, code)["title"] is None


def test_refused_request_does_not_use_up_its_key(api: httpx.Client, key: dict[str, str]) -> None:
    """After a refusal the same key works for the request that is right."""
    problem(api.post(URLS, json={"original_url": "nonsense"}, headers=key), 400, "url_refused")
    taken = {"original_url": "https://a.com", "custom_code": make_code(api, custom_code="Once1")}
    problem(api.post(URLS, json=taken, headers=key), 409, "code_taken")
    assert api.post(URLS, json={"original_url": "https://a.com"}, headers=key).status_code == 201


def test_answer_stays_the_same_when_the_world_has_changed(api: httpx.Client, key: dict[str, str]) -> None:
    """A retry is not judged anew: not when the link is gone, nor when its expiry is no longer ahead."""
    code = make_code(api, expires_in_seconds=1)
    soon = {"original_url": "https://a.com", "expires_at": read(api, code)["expires_at"]}
    first = api.post(URLS, json=soon, headers=key)
    assert first.status_code == 201
    api.delete(f"{URLS}/{first.json()['short_code']}")
    eventually(lambda: api.get(f"/{code}").status_code == 410, "the link never expired")
    again = api.post(URLS, json=soon, headers=key)
    assert (again.status_code, again.content) == (201, first.content)


def test_edit_is_carried_out_once(api: httpx.Client, key: dict[str, str]) -> None:
    """A repeated edit does not undo what came between."""
    code = make_code(api)
    first = api.patch(f"{URLS}/{code}", json={"title": "first"}, headers=key)
    assert first.json() == read(api, code)
    api.patch(f"{URLS}/{code}", json={"title": "second"})
    again = api.patch(f"{URLS}/{code}", json={"title": "first"}, headers=key)
    assert (again.status_code, again.content) == (200, first.content)
    assert read(api, code)["title"] == "second"


def test_edit_with_a_key_holds_from_the_answer_on(api: httpx.Client) -> None:
    """The cache hears of it as of any other edit."""
    code = make_code(api, "https://example.com/old")
    assert target(api, code) == "https://example.com/old"
    api.patch(
        f"{URLS}/{code}",
        json={"original_url": "https://example.com/new"},
        headers={"idempotency-key": str(uuid.uuid4())},
    )
    assert target(api, code) == "https://example.com/new"


def test_delete_is_carried_out_once(api: httpx.Client, key: dict[str, str]) -> None:
    """204 again instead of 410, and the link stays gone."""
    code = make_code(api)
    assert target(api, code)
    answers = [api.delete(f"{URLS}/{code}", headers=key) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [204, 204]
    problem(api.get(f"/{code}"), 410, "link_deleted")
    problem(api.delete(f"{URLS}/{code}"), 410, "link_deleted")


def test_custom_code_is_retried_without_a_conflict(api: httpx.Client, key: dict[str, str]) -> None:
    """With the key a retry is no competitor of its own first attempt."""
    body = {"original_url": "https://example.com/mine", "custom_code": "Mine1"}
    answers = [api.post(URLS, json=body, headers=key) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 201]
    problem(api.post(URLS, json=body), 409, "code_taken")


def test_bulk_makes_nothing_twice(api: httpx.Client, key: dict[str, str]) -> None:
    """Each line is remembered: the same bulk gives the same links, a changed line is refused alone."""
    urls = [f"https://example.com/bulk-once/{uuid.uuid4()}" for _ in range(5)]
    lines = [json.dumps({"original_url": url}) for url in urls]
    first = api.post(f"{URLS}/bulk", content="\n".join(lines), headers=NDJSON | key).text
    assert [json.loads(line)["status"] for line in first.splitlines()] == [201] * 5
    again = api.post(f"{URLS}/bulk", content="\n".join(lines), headers=NDJSON | key).text
    assert again == first
    lines[2] = json.dumps({"original_url": "https://example.com/another"})
    changed = api.post(f"{URLS}/bulk", content="\n".join(lines), headers=NDJSON | key).text
    results = [json.loads(line) for line in changed.splitlines()]
    assert [result["status"] for result in results] == [201, 201, 422, 201, 201]
    assert results[2]["code"] == "idempotency_key_reused"
    assert all(len(api.get(URLS, params={"search": url}).json()["items"]) == 1 for url in urls)


@pytest.mark.parametrize("bad", ["", "x" * 256, "tab\tinside", "\xff" * 20_000])
def test_key_is_short_and_printable(api: httpx.Client, bad: str) -> None:
    """422 names the header, for every write."""
    key, code = {"idempotency-key": bad.encode("latin-1")}, make_code(api)
    for answer in (
        api.post(URLS, json={"original_url": "https://a.com"}, headers=key),  # type: ignore[arg-type]
        api.post("/shorten", json={"url": "https://a.com"}, headers=key),  # type: ignore[arg-type]
        api.post(f"{URLS}/bulk", content=b"{}", headers=NDJSON | key),  # type: ignore[arg-type]
        api.patch(f"{URLS}/{code}", json={}, headers=key),  # type: ignore[arg-type]
        api.delete(f"{URLS}/{code}", headers=key),  # type: ignore[arg-type]
    ):
        assert fields_of(problem(answer, 422, "invalid_request")) == ["Idempotency-Key"]


def test_longest_key_serves_every_write(api: httpx.Client) -> None:
    """255 characters, for a bulk of many lines too; its parts are no keys of others."""
    key = {"idempotency-key": uuid.uuid4().hex.ljust(255, "k")}
    body = "\n".join([json.dumps({"original_url": "https://a.com"})] * 20)
    statuses = [
        json.loads(line)["status"]
        for line in api.post(f"{URLS}/bulk", content=body, headers=NDJSON | key).text.splitlines()
    ]
    assert statuses == [201] * 20
    short = uuid.uuid4().hex
    api.post(f"{URLS}/bulk", content=body, headers=NDJSON | {"idempotency-key": short})
    for look_alike in (f"{short}:1", f"{short}1", short):
        answer = api.post(
            URLS, json={"original_url": "https://a.com"}, headers={"idempotency-key": look_alike}
        )
        assert answer.status_code == 201


def test_many_at_once_with_one_key_make_one_link(server: LaconicServer, key: dict[str, str]) -> None:
    """The retry that overtakes its first attempt waits for it, or is told what it was told."""
    url = f"https://example.com/race/{uuid.uuid4()}"
    with server.client() as client, ThreadPoolExecutor(16) as pool:
        answers = list(
            pool.map(lambda _: client.post(URLS, json={"original_url": url}, headers=key), range(32))
        )
        assert {(answer.status_code, answer.content) for answer in answers} == {(201, answers[0].content)}
        assert len(client.get(URLS, params={"search": url}).json()["items"]) == 1


def test_edits_with_keys_at_once_all_succeed(server: LaconicServer) -> None:
    """Each is applied to what the one before has left."""
    with server.client() as client, ThreadPoolExecutor(8) as pool:
        code = make_code(client)

        def edit(number: int) -> httpx.Response:
            body, key = {"title": f"title {number}"}, {"idempotency-key": f"{code}-{number}"}
            return client.patch(f"{URLS}/{code}", json=body, headers=key)

        answers = list(pool.map(edit, range(24)))
        assert [answer.status_code for answer in answers] == [200] * 24
        assert [answer.json()["title"] for answer in answers] == [f"title {number}" for number in range(24)]
