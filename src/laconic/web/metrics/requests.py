"""Counts and times what the application answers. What the lane answers it counts itself, see `Lane`."""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from contextvars import Token
from typing import Any, NamedTuple

import structlog

from laconic.clock import SECOND, monotonic
from laconic.codes.rules import OWN_PATHS
from laconic.logs import REQUEST_ID
from laconic.web.metrics.catalog import DURATION_BOUNDS, FIRST_BITS
from laconic.web.pages.preview import is_preview
from laconic.web.request_ids import HEADER, RequestIds

log = structlog.get_logger(__name__)

Answer = Callable[[Any], Awaitable[None]]
"""Answers one request by the `send` that it is given."""

_WATCH = frozenset({"health", "live", "metrics", "ready"})
_REPORTS = ("/analytics", "/clicks", "/stats")
_LONG = {"v1/urls/bulk": "bulk", "v1/clicks/live": "stream"}
_NO_ANSWER = 500


def class_of(method: str, path: str) -> str:
    """The class of route that a request belongs to: few, and known before anything is looked up."""
    first, _, rest = path[1:].partition("/")
    if first == "api":
        return _class_of_api(method, rest)
    if first == "shorten":
        return "create"
    if first == "stats":
        return "analytics"
    if first in _WATCH:
        return "watch"
    if is_preview(path):
        return "preview"
    return "page" if first in OWN_PATHS else "redirect"


def _class_of_api(method: str, rest: str) -> str:
    if rest in _LONG:
        return _LONG[rest]
    if rest == "v1/urls" and method == "POST":
        return "create"
    if rest.startswith("admin/"):
        return "admin"
    return "analytics" if rest.endswith(_REPORTS) or rest.endswith("export") else "api"


class Durations:
    """How long things took, by the number of bits of their microseconds."""

    def __init__(self) -> None:
        self.counts = [0] * (len(DURATION_BOUNDS) + 1)
        self.total = 0.0

    def observe(self, microseconds: int) -> None:
        place = min(max(microseconds.bit_length() - FIRST_BITS, 0), len(DURATION_BOUNDS))
        self.counts[place] += 1
        self.total += microseconds / SECOND


class Watched(NamedTuple):
    """A request that is being answered."""

    header: tuple[bytes, bytes]
    """With its id, for the answer."""
    begun: float
    token: Token[str]


class RequestMeter:
    """Belongs to one loop."""

    def __init__(self) -> None:
        self.answered: Counter[tuple[str, int]] = Counter()
        self.durations: defaultdict[str, Durations] = defaultdict(Durations)
        self._ids = RequestIds()

    async def watch(self, route_class: str, scope: Any, answer: Answer, send: Any) -> None:
        """Passes on what `answer` sends, with the request's id, and remembers the status and the time."""
        watched = self.begin(scope)
        status = _NO_ANSWER
        header = watched.header

        async def note(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if route_class != "redirect":
                    # A redirect looks the same whether the lane or the application answers it.
                    message = {**message, "headers": [*message.get("headers", ()), header]}
            await send(message)

        try:
            await answer(note)
        finally:
            self.end(watched, route_class, scope["method"], status)

    def begin(self, scope: Any) -> Watched:
        """Whoever sends its answer by itself begins and ends by itself."""
        request_id = self._ids.of(scope["headers"])
        return Watched((HEADER, request_id.encode("ascii")), monotonic(), REQUEST_ID.set(request_id))

    def end(self, watched: Watched, route_class: str, method: str, status: int = _NO_ANSWER) -> None:
        took = monotonic() - watched.begun
        self.answered[route_class, status] += 1
        self.durations[route_class].observe(int(took * SECOND))
        if route_class != "redirect":
            # Without the path: invitations and sign-ins carry secrets in it.
            log.debug("answered", method=method, route=route_class, status=status, ms=round(took * 1000, 2))
        REQUEST_ID.reset(watched.token)
