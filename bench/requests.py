"""The few requests that the program itself makes: is it up, make a link, visit these codes once each."""

import http.client
import json
import socket
import time
import urllib.request
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

_SECONDS = 30.0
_AT_ONCE = 100

# Method, path and, for JSON, a body.
Ask = tuple[str, str, str | None]


def get_status(port: int, path: str, seconds: float = _SECONDS) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


def create(port: int, url: str) -> str:
    """Makes a link; gives its code."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)
    try:
        body = json.dumps({"original_url": url})
        connection.request("POST", "/api/v1/urls", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer: dict[str, Any] = json.loads(response.read())
        if response.status != 201:
            raise RuntimeError(f"A create was answered {response.status}: {answer}")
        return str(answer["short_code"])
    finally:
        connection.close()


def times_of(port: int, asks: Iterable[Ask], status: int) -> list[float]:
    """Milliseconds from each request to its whole answer: one after the other, on one connection that stays open."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2 * _SECONDS)
    taken = []
    for method, path, body in asks:
        headers = {"Host": "localhost"} | ({"Content-Type": "application/json"} if body else {})
        began = time.perf_counter()
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        response.read()
        taken.append((time.perf_counter() - began) * 1000)
        if response.status != status:
            raise RuntimeError(f"{method} {path} was answered {response.status}")
    connection.close()
    return taken


def visit_each(port: int, codes: Sequence[str]) -> Counter[int]:
    """Asks for every code once, many to a packet; how often each status was answered."""
    statuses: Counter[int] = Counter()
    with socket.create_connection(("127.0.0.1", port), timeout=_SECONDS) as connection:
        answers = connection.makefile("rb")
        for first in range(0, len(codes), _AT_ONCE):
            some = codes[first : first + _AT_ONCE]
            connection.sendall(
                b"".join(b"GET /%b HTTP/1.1\r\nHost: localhost\r\n\r\n" % code.encode() for code in some)
            )
            statuses.update(_read_status(answers) for _ in some)
    return statuses


def _read_status(answers: Any) -> int:
    line = answers.readline()
    if not line:
        raise ConnectionError("The server has closed the connection.")
    status = int(line.split()[1])
    length = 0
    while line := answers.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    answers.read(length)
    return status


def read_metrics(port: int) -> dict[str, float]:
    """What /metrics says, by the whole name with its labels."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=_SECONDS) as answer:
        lines = answer.read().decode().splitlines()
    values = (line.rpartition(" ") for line in lines if line and not line.startswith("#"))
    return {name: float(value) for name, _, value in values}
