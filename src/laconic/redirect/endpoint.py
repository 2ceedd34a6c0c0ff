"""Redirects that the lane has not answered: misses, refusals, and links whose entry must be checked again.

A plain ASGI application. It decides; how a refusal looks is the business of whoever gives it `show`.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from laconic.clicks.click import Visitor
from laconic.clicks.journal import Journal
from laconic.clock import now
from laconic.codes.rules import POSSIBLE_CODE
from laconic.errors import Unavailable
from laconic.redirect.cache import RedirectCache
from laconic.redirect.forwarded import TrustedProxies
from laconic.redirect.hosts import Hosts
from laconic.redirect.model import NO_STORE_HEADERS, Redirect, Tombstone

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a visitor is not sent on. `reason` is a stable word."""

    status: int
    reason: str
    code: str
    note: str | None = None
    """What the operator says of it."""


Show = Callable[[Refusal, bool], tuple[Headers, bytes]]
"""Headers and body for a refusal; the second argument says whether the visitor can read HTML."""

_MALFORMED, _UNKNOWN, _GONE, _METHOD, _AWAY = 400, 404, 410, 405, 503
_LONGEST_SHOWN_CODE = 64


class RedirectEndpoint:
    def __init__(
        self, cache: RedirectCache, hosts: Hosts, journal: Journal, proxies: TrustedProxies, show: Show
    ) -> None:
        self._cache = cache
        self._hosts = hosts
        self._journal = journal
        self._proxies = proxies
        self._show = show

    async def __call__(self, scope: Scope, receive: Any, send: Send) -> None:
        headers = dict(reversed(scope["headers"]))
        outcome = await self._decide(scope, headers)
        if isinstance(outcome, Refusal):
            host = headers.get(b"host", b"")
            if outcome.status == _UNKNOWN and (target := self._hosts.not_found_target(host)) is not None:
                await send_on(target, send)
                return
            await self._refuse(outcome, headers, scope, send)
            return
        if scope["method"] == "GET" and not _is_prefetch(headers):
            self._count(outcome, scope, headers)
        await self._redirect(outcome, send)

    async def _decide(self, scope: Scope, headers: dict[bytes, bytes]) -> Redirect | Refusal:
        code = scope["path"][1:]
        if "/" in code or not code:
            return Refusal(_UNKNOWN, "unknown", code[:_LONGEST_SHOWN_CODE])
        if not POSSIBLE_CODE.fullmatch(code):
            return Refusal(_MALFORMED, "malformed", code[:_LONGEST_SHOWN_CODE])
        if scope["method"] not in ("GET", "HEAD"):
            return Refusal(_METHOD, "method", code)
        try:
            entry = await self._cache.find(self._hosts.domain_of(headers.get(b"host", b"")), code)
        except Unavailable:
            return Refusal(_AWAY, "unavailable", code)
        if isinstance(entry, Tombstone):
            status = _UNKNOWN if entry.reason == "unknown" else _GONE
            return Refusal(status, entry.reason, code, entry.note)
        return entry

    def _count(self, entry: Redirect, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """Journaled before the answer is sent, as in the lane."""
        visitor = Visitor(
            self._address_of(scope),
            headers.get(b"user-agent", b""),
            headers.get(b"referer", b""),
            headers.get(b"accept-language", b""),
        )
        self._journal.write([(now(), entry.link_id, visitor)])

    def _address_of(self, scope: Scope) -> bytes:
        client = scope.get("client")
        peer: str = client[0] if client else ""
        address = peer.encode("ascii", "replace")
        if not self._proxies.trusts(peer):
            return address
        # A proxy may add a line of its own to those that the visitor sent: all of them count, the last one most.
        lines = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        return self._proxies.visitor_address(address, b",".join(lines)) if lines else address

    async def _redirect(self, entry: Redirect, send: Send) -> None:
        await send({"type": "http.response.start", "status": entry.status, "headers": entry.headers()})
        await send({"type": "http.response.body", "body": b""})

    async def _refuse(self, refusal: Refusal, headers: dict[bytes, bytes], scope: Scope, send: Send) -> None:
        shown, body = self._show(refusal, b"text/html" in headers.get(b"accept", b""))
        shown = [*shown, (b"content-length", b"%d" % len(body)), (b"cache-control", b"no-store")]
        if refusal.status == _AWAY:
            shown.append((b"retry-after", b"1"))
        if refusal.status == _METHOD:
            shown.append((b"allow", b"GET, HEAD"))
        await send({"type": "http.response.start", "status": refusal.status, "headers": shown})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


async def send_on(target: str, send: Send) -> None:
    """To a place that a domain's owner has chosen for those who follow no link. It is no click."""
    headers = [(b"location", target.encode("ascii")), *NO_STORE_HEADERS, (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 302, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def _is_prefetch(headers: dict[bytes, bytes]) -> bool:
    """A browser that fetches ahead has not followed the link (yet)."""
    return any(
        b"prefetch" in headers.get(name, b"").lower() for name in (b"sec-purpose", b"purpose", b"x-moz")
    )
