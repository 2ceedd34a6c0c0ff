"""A rate limit is the machine's, however many workers it has."""

import json
import time
from contextlib import ExitStack

import httpx

from tests.serve.conftest import MakeServer
from tests.serve.running import run

_BURST = 120


def test_the_workers_of_one_server_count_a_key_together(make_server: MakeServer) -> None:
    """As many answers as the burst and the time that went by allow, and headers that count down to zero."""
    server = make_server("--workers", "2", host="0.0.0.0", rate_api=f"1/s burst {_BURST}")
    secret = json.loads(run(server.folder, "key", "create", "website", "--json").stdout)["secret"]
    begun = time.monotonic()
    with ExitStack() as stack:
        # Many connections: the kernel spreads them over all workers.
        clients = [
            stack.enter_context(httpx.Client(base_url=server.url(""), headers={"x-api-key": secret}))
            for _ in range(30)
        ]
        answers = [client.get("/api/v1/urls") for _ in range(6) for client in clients]
    seconds = time.monotonic() - begun
    passed = [answer for answer in answers if answer.status_code == 200]
    assert {answer.status_code for answer in answers} == {200, 429}
    assert _BURST <= len(passed) <= _BURST + seconds + 1
    left = [int(answer.headers["ratelimit-remaining"]) for answer in passed]
    # Each answer takes one, whichever worker gave it, so no number is left out on the way down.
    assert set(left) == set(range(_BURST))
