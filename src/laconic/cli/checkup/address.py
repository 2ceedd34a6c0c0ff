"""The way from people to the server: the base URL, the proxy in front, the headers it sends."""

import ipaddress
import urllib.request
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlsplit

from laconic.clock import SECOND, from_datetime, now
from laconic.settings import Settings
from laconic.storage.examine import Finding

_SECONDS = 5.0
_CLOCK_SECONDS = 5.0
_ANYBODY = 2
# Without its database a server answers 503, and is there all the same.
_OF_HEALTH = (HTTPStatus.OK, HTTPStatus.SERVICE_UNAVAILABLE)
_READ_BYTES = 64 * 1024
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def look_at_address(settings: Settings) -> Iterator[Finding]:
    yield from _base_url(settings)
    yield from _proxies(settings)


def _base_url(settings: Settings) -> Iterator[Finding]:
    # Not /live and /ready: a proxy keeps them for those who watch from inside.
    url = f"{settings.base_url}/health"
    try:
        status, body, date = _ask(url)
    except (OSError, ValueError, HTTPException) as error:
        remedy = "Does the server run? Do DNS, firewall and proxy lead from LACONIC_BASE_URL to it?"
        yield Finding("base_url", "problem", f"{url} does not answer: {error}", remedy)
        return
    if status not in _OF_HEALTH or b'"ingest_lag_seconds"' not in body:
        remedy = "Does LACONIC_BASE_URL name this server? Does the proxy hand every path on to it?"
        yield Finding("base_url", "problem", f"{url} is answered by something else (status {status})", remedy)
        return
    yield Finding("base_url", "ok", f"{settings.base_url} leads to Laconic")
    if date:
        apart = abs(now() - from_datetime(parsedate_to_datetime(date))) / SECOND
        if apart > _CLOCK_SECONDS:
            text = f"the server's clock and this machine's are {apart:.0f} s apart"
            yield Finding("server_clock", "problem", text, "Let NTP (chrony) set both.")


def _ask(url: str) -> tuple[int, bytes, str]:
    """Status, body and date of whatever answers."""
    request = urllib.request.Request(url, headers={"accept": "application/json"})  # noqa: S310 (http or https)
    try:
        answer = urllib.request.urlopen(request, timeout=_SECONDS)  # noqa: S310
    except HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.read(_READ_BYTES), answer.headers.get("date", "")


def _proxies(settings: Settings) -> Iterator[Finding]:
    wide = [text for text in settings.trusted_proxies if _is_anybody(text)]
    if wide:
        text = f"LACONIC_TRUSTED_PROXIES has {', '.join(wide)}: anybody can claim any address"
        yield Finding("proxies", "problem", text, "Name the addresses of your proxies alone.")
    elif settings.trusted_proxies:
        yield Finding(
            "proxies", "ok", f"forwarded headers are believed from {', '.join(settings.trusted_proxies)}"
        )
    elif _stands_behind_a_proxy(settings):
        yield Finding(
            "proxies",
            "warning",
            "a proxy seems to stand in front, and its X-Forwarded-For is not believed: every visitor and every"
            " limit has the proxy's address",
            "Name the proxy's address in LACONIC_TRUSTED_PROXIES, such as 127.0.0.1.",
        )
    else:
        yield Finding("proxies", "ok", "no proxy: visitors' addresses are those that connect")
    if _stands_behind_a_proxy(settings) and _shows_metrics(settings.base_url):
        yield Finding(
            "proxy_headers",
            "problem",
            f"everybody may read {settings.base_url}/metrics: the proxy does not say for whom it asks, so that visitors"
            " look like programs of this machine",
            "Let it send X-Forwarded-For, and refuse /metrics: deploy/nginx and deploy/caddy show how.",
        )


def _shows_metrics(base_url: str) -> bool:
    try:
        status, body, _ = _ask(f"{base_url}/metrics")
    except (OSError, ValueError, HTTPException):
        return False
    return status == HTTPStatus.OK and b"laconic_" in body


def _is_anybody(network: str) -> bool:
    return ipaddress.ip_network(network, strict=False).prefixlen <= _ANYBODY


def _stands_behind_a_proxy(settings: Settings) -> bool:
    """Laconic speaks no TLS itself; and people come to another port than the one it listens on."""
    parts = urlsplit(settings.base_url)
    if parts.scheme == "https":
        return True
    return parts.hostname not in _LOOPBACK and (parts.port or 80) != settings.port
