"""A load generator that sends an exact number of requests as fast as they are answered, and knows every one of them.

wrk is as fast, but leaves with requests under way: what it counted is not what was answered.
"""

import random
import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from urllib.parse import urlsplit

from tests.flows.server import PATIENCE_SECONDS

_CONNECTIONS = 8
# Sent before the first answer is read.
_AT_ONCE = 50
_AGENTS = (
    "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
)


def follow(base_url: str, codes: Sequence[str], requests: int) -> Counter[str]:
    """How often each code was answered with a redirect: `requests` in all, the first codes more often."""
    parts = urlsplit(base_url)
    address = (parts.hostname or "localhost", parts.port or 80)
    shares = [requests // _CONNECTIONS] * (_CONNECTIONS - 1)
    shares.append(requests - sum(shares))
    with ThreadPoolExecutor(_CONNECTIONS) as pool:
        done = pool.map(lambda pair: _follow(address, codes, *pair), enumerate(shares))
        return sum(done, Counter[str]())


def _follow(address: tuple[str, int], codes: Sequence[str], number: int, requests: int) -> Counter[str]:
    answered: Counter[str] = Counter()
    heads = {code: _request(code, address[0], number) for code in codes}
    chosen = _choices(codes, number)
    with socket.create_connection(address, PATIENCE_SECONDS) as connection:
        while batch := list(islice(chosen, min(_AT_ONCE, requests - answered.total()))):
            connection.sendall(b"".join(map(heads.__getitem__, batch)))
            _read_redirects(connection, len(batch))
            answered.update(batch)
    return answered


def _choices(codes: Sequence[str], seed: int) -> Iterator[str]:
    chance = random.Random(seed)
    weights = [1 / place for place in range(1, len(codes) + 1)]
    while True:
        yield from chance.choices(codes, weights, k=1_000)


def _request(code: str, host: str, number: int) -> bytes:
    agent = _AGENTS[number % len(_AGENTS)]
    return (
        f"GET /{code} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {agent}\r\n"
        f"Referer: https://news{number}.example/\r\nAccept-Language: de\r\n\r\n"
    ).encode()


def _read_redirects(connection: socket.socket, count: int) -> None:
    """So many answers, none of which has a body."""
    received = bytearray()
    while received.count(b"\r\n\r\n") < count:
        some = connection.recv(1 << 16)
        assert some, "the server has closed the connection"
        received += some
    assert received.endswith(b"\r\n\r\n")
    assert received.count(b"HTTP/1.1 302 ") == count, received[:500]
