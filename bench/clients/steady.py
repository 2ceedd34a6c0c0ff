"""Asks for redirects at a fixed rate, whether or not the ones before were answered, and times each.

Open loop: a server that stands still for 20 ms is seen by all requests of these 20 ms, not by one a connection.
`late` is how far behind its own schedule the client sent: it has to be small, or the client is what was measured.
"""

import argparse
import ctypes
import json
import os
import select
import socket
import time
from collections import deque
from pathlib import Path

_CONNECTIONS = 16
_END = b"\r\n\r\n"
_LAST_ANSWERS_SECONDS = 10.0
_PR_SET_TIMERSLACK = 29


class Connection:
    """Keep-alive; requests may be under way one behind the other."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sent: deque[float] = deque()
        self._received = b""

    def fileno(self) -> int:
        return self.socket.fileno()

    def ask(self, request: bytes) -> None:
        self._sent.append(time.perf_counter())
        self.socket.sendall(request)

    def read(self) -> tuple[list[float], int]:
        """Seconds that each answer took which has come in, and how many of them were no redirects."""
        data = self.socket.recv(1 << 16)
        moment = time.perf_counter()
        if not data:
            raise ConnectionError("The server closed a connection.")
        *heads, self._received = (self._received + data).split(_END)
        # A redirect has no body. Another answer's body stands before the next head, or alone at the end.
        bad = sum(not head.startswith(b"HTTP/1.1 302") for head in heads)
        return [moment - self._sent.popleft() for _ in heads], bad


class Schedule:
    """Sends request n at its moment, and collects what is answered."""

    def __init__(self, port: int, requests: list[bytes], rate: float, seconds: float) -> None:
        self._connections = [Connection(port) for _ in range(_CONNECTIONS)]
        self._requests = requests
        self._interval = 1 / rate
        self._count = int(rate * seconds)
        self.sent = 0
        self.took: list[float] = []
        self.late: list[float] = []
        self.bad = 0

    def run(self) -> None:
        began = time.perf_counter()
        give_up_at = began + self._count * self._interval + _LAST_ANSWERS_SECONDS
        while len(self.took) < self._count and time.perf_counter() < give_up_at:
            next_at = self._send_due(began) if self.sent < self._count else give_up_at
            readable, _, _ = select.select(self._connections, [], [], max(0.0, next_at - time.perf_counter()))
            for connection in readable:
                took, bad = connection.read()
                self.took += took
                self.bad += bad

    def _send_due(self, began: float) -> float:
        """Sends what is due; gives the moment of the next one."""
        while self.sent < self._count:
            due = began + self.sent * self._interval
            moment = time.perf_counter()
            if moment < due:
                return due
            self._connections[self.sent % _CONNECTIONS].ask(self._requests[self.sent % len(self._requests)])
            self.late.append(moment - due)
            self.sent += 1
        return began


def take_priority() -> str:
    """A clock must not wait for a core. It sleeps nearly all the time, so it takes little from the others."""
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        return "none"
    return "real-time"


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--codes", type=Path, required=True)
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    asked = parser.parse_args()
    codes = asked.codes.read_bytes().split()
    requests = [b"GET /%b HTTP/1.1\r\nHost: localhost:%d\r\n\r\n" % (code, asked.port) for code in codes]
    schedule = Schedule(asked.port, requests, asked.rate, asked.seconds)
    priority = take_priority()
    began, busy = time.perf_counter(), time.process_time()
    schedule.run()
    told = {
        "answered": len(schedule.took),
        "missing": schedule.sent - len(schedule.took),
        "bad": schedule.bad,
        "p50": percentile(schedule.took, 0.5) * 1000,
        "p99": percentile(schedule.took, 0.99) * 1000,
        "longest": max(schedule.took) * 1000,
        "late_p99": percentile(schedule.late, 0.99) * 1000,
        "client_share": (time.process_time() - busy) / (time.perf_counter() - began),
        "priority": priority,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
